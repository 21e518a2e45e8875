"""Rates side by side: a point with its interval, counts in its place where events are few, and bars per mode."""

from typing import Any, cast

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_NAMES, MODE_TOOLTIP, mode_colour, names_axis, number, percent
from analysis.charts.theme import PALETTE
from analysis.schema import FEWEST_FOR_A_RATE


def rate_scale(frame: pl.DataFrame, high: str, narrowest: float = 0.0) -> alt.Scale:
    """From 0 to a little over the highest interval: small rates stay readable, and no scale is without extent."""
    top = frame.get_column(high).max()
    return alt.Scale(domain=[0, min(1.0, max(1.05 * top, narrowest)) if isinstance(top, float) and top > 0 else 1.0])


def dots(
    frame: pl.DataFrame,
    *,
    label: str,
    rate: str,
    events: str,
    trials: str,
    axis_title: str,
    tooltip: list[Any],
    colour: Any = None,
    by_mode: bool = False,
    limit: int = 220,
    narrowest: float = 0.0,
) -> alt.LayerChart:
    """One row per label, in the frame's order: the rate with its interval, or "3 of 12" where it is null.

    Args:
        frame: has `rate`, `<rate>_low`, `<rate>_high` (expressions.rated) and the counts.
        label: Vega expression of the row's name.
        rate: column of the rate.
        events: column of the events counted.
        trials: column of the denominator.
        axis_title: what is divided by what.
        tooltip: what else a pointer shows, before rate, interval and counts.
        colour: encoding; one colour without it.
        by_mode: a row holds one point per mode, one above the other in the mode's colour.
        limit: pixels of the row's name.
        narrowest: the rate that the axis reaches at least, so that an interval around nothing does not look like much.
    """
    scale, axis = rate_scale(frame, f"{rate}_high", narrowest), alt.Axis(format="%", title=axis_title)
    count = f"format(datum.{events}, ',') + ' of ' + format(datum.{trials}, ',')"
    few = f"datum.{trials} < {FEWEST_FOR_A_RATE} ? {count} : ''"
    shown = [
        *tooltip,
        percent(rate, "rate"),
        percent(f"{rate}_low", "from"),
        percent(f"{rate}_high", "to"),
        number(events, events.replace("_", " ")),
        number(trials, trials.replace("_", " ")),
    ]
    base = alt.Chart(frame).transform_calculate(label=label, few=few).encode(y=names_axis(limit=limit), tooltip=shown)
    if by_mode:
        # Without a domain each layer would sort the modes by itself, of which Vega-Lite warns.
        modes = alt.Scale(domain=[mode for mode in MODE_NAMES if mode in frame["traj_type"].to_list()])
        base, colour = base.encode(yOffset=alt.YOffset("traj_type:N", scale=modes)), mode_colour()
    marks = base.encode(color=alt.value(PALETTE[0]) if colour is None else colour)
    layers = alt.layer(
        marks.mark_rule(strokeWidth=2).encode(x=alt.X(f"{rate}_low:Q", axis=axis, scale=scale), x2=f"{rate}_high:Q"),
        marks.mark_point(filled=True, size=60).encode(x=alt.X(f"{rate}:Q", axis=axis, scale=scale)),
        base.mark_text(align="left", fontSize=11).encode(x=alt.value(4), text="few:N"),
    )
    return cast(alt.LayerChart, layers)


def mode_bars(frame: pl.DataFrame, *, x: alt.X, share: str, axis_title: str, tooltip: list[Any]) -> alt.Chart:
    """Bars of a share over a count, the modes side by side."""
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=x,
            xOffset=alt.XOffset("traj_type:N"),
            y=alt.Y(f"{share}:Q", title=axis_title, axis=alt.Axis(format="%")),
            color=mode_colour(),
            tooltip=[MODE_TOOLTIP, *tooltip, percent(share, "share")],
        )
    )
    return cast(alt.Chart, bars)


def points(
    base: alt.Chart, channel: type[alt.X] | type[alt.Y], value: str, low: str, high: str, **axis: Any
) -> alt.LayerChart:
    """A point with its interval for each row of `base`, in one colour; `channel` is alt.X or alt.Y."""
    name = "x" if channel is alt.X else "y"
    is_known = f"isValid(datum['{low}'])"
    interval = base.transform_filter(is_known).mark_rule(strokeWidth=2, color=PALETTE[0])
    layers = alt.layer(
        interval.encode(**{name: channel(f"{low}:Q", **axis), f"{name}2": f"{high}:Q"}),
        base.mark_point(filled=True, size=70, color=PALETTE[0]).encode(**{name: channel(f"{value}:Q", **axis)}),
    )
    return cast(alt.LayerChart, layers)
