"""Step lengths, drawn: histograms and ECDFs with the publisher's cuts as rules, environments, characters."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import (
    ENVIRONMENT_TOOLTIP,
    MODE_NAMES,
    MODE_TOOLTIP,
    mode_colour,
    names_axis,
    number,
    percent,
    share_axis,
)
from analysis.charts.figure import Chart, Drawn, figure
from analysis.charts.histograms import two_sides, whole_numbers
from analysis.charts.modes import counts_by_mode, rows_by_mode
from analysis.measures.step_lengths import BY_ENVIRONMENT, CHARACTERS, CUMULATIVE, DISTRIBUTION, KINDS
from analysis.wording import by_mode, count, decimal
from analysis.wording import percent as per_cent


@figure(
    DISTRIBUTION,
    definition="Trajectories by how many of the quantity they have, as a share of the mode's trajectories; a step is "
    "one assistant message with what it caused. Dashed rules, if any: the EnvScaler release keeps nothing beyond.",
)
def histogram(frame: pl.DataFrame) -> Drawn:
    """Histogram of one quantity per mode; for steps the filter's edges are drawn and named."""
    quantity = frame["quantity"][0]
    bars = whole_numbers(alt.Chart(frame), "value", f"{_UNITS[quantity]} per trajectory")
    chart = bars.encode(
        y=share_axis(alt.Y, "trajectory_share", "share of the mode", stack=None),
        color=mode_colour(),
        tooltip=_tooltips(quantity),
    )
    return Drawn(
        # A bar reaches half a step to either side of its value: so does what was kept.
        _with_edges(two_sides(chart, frame, "traj_type", MODE_NAMES), frame, beside=0.5),
        f"The median number of {quantity} is {_at_most(frame, 'half_at_most')}",
        [_n(frame), *_selection(frame)],
    )


@figure(
    CUMULATIVE,
    definition="Share of the mode's trajectories with that many or fewer of the quantity, value by value. Dashed "
    "rules: the EnvScaler release keeps nothing beyond.",
    height=220,
)
def ecdf(frame: pl.DataFrame) -> Drawn:
    """Cumulative share of one quantity per mode."""
    quantity = frame["quantity"][0]
    # A line of one value is none: where all trajectories of a mode are of one length, a point stands for it.
    is_point = frame.group_by("traj_type").len()["len"].min() == 1
    lines = alt.Chart(frame).mark_line(interpolate="step-after", strokeWidth=2, point=is_point)
    chart = lines.encode(
        x=alt.X("value:Q", title=f"{_UNITS[quantity]} per trajectory", axis=alt.Axis(tickMinStep=1)),
        y=share_axis(alt.Y, "cumulative_share", "trajectories up to here", is_whole=True),
        color=mode_colour(),
        tooltip=[tip for tip in _tooltips(quantity) if "trajectory_share" not in str(tip.shorthand)],
    )
    return Drawn(
        _with_edges(chart, frame, beside=0),
        f"Nine in ten trajectories have at most this many {quantity}: {_at_most(frame, 'nine_in_ten_at_most')}",
        [_n(frame), *_selection(frame)],
    )


@figure(
    BY_ENVIRONMENT,
    definition="Steps per trajectory by environment and mode: line from the 10th to the 90th percentile, bar from the "
    "first to the third quartile, mark at the median; sorted by the median over both modes. Descriptive: longer is not "
    "worse.",
    height=alt.Step(11),
)
def by_environment(frame: pl.DataFrame) -> Drawn:
    """Quantiles of steps for the environments with the longest and the shortest medians."""
    ends = frame.row(0, named=True), frame.row(-1, named=True)
    longest, shortest = (decimal(r["environment_median"]) for r in ends)
    shown, known = frame["env_id"].n_unique(), ends[0]["environments"]
    which = (
        count(known, "environment")
        if shown == known
        else f"{count(shown)} of {count(known, 'environment')}, those with the longest and shortest medians"
    )
    return Drawn(
        _boxes(frame),
        f"Median steps by environment, over both modes: {shortest} to {longest}"
        if shown > 1
        else f"The median is {longest} steps",
        [f"n = {count(frame['trajectories'].sum(), 'trajectory')} in {which}", *_selection(frame)],
    )


@figure(
    CHARACTERS,
    definition="Length of a text in characters by kind, on a logarithmic scale: bar from the first to the third "
    "quartile, mark at the median, dots at the 90th and 99th percentile. Lengths of 0 are drawn at 1; arguments of "
    "calls are not counted here.",
    height=alt.Step(16),
)
def characters(frame: pl.DataFrame) -> Drawn:
    """Quantiles of text length per kind and mode."""
    most = max(frame.rows(named=True), key=lambda r: r["char_share"])
    texts = {name: count(sum(r["texts"] for r in rows)) for name, rows in rows_by_mode(frame).items()}
    return Drawn(
        _lengths(frame),
        f"Most of the characters {most['traj_type']} are in one kind of text, “{most['kind']}”: "
        f"{per_cent(most['char_share'])}"
        if most["char_share"] > 0.5
        else f"No kind of text has more of the characters than “{most['kind']}” {most['traj_type']}: "
        f"{per_cent(most['char_share'])}",
        f"n = texts: {by_mode(texts)}",
    )


_UNITS = {"steps": "assistant messages", "tool calls": "tool calls", "user messages": "user messages"}
_QUANTILES = {"p10": "10th", "p25": "25th", "median": "median", "p75": "75th", "p90": "90th"}
_TEXT_QUANTILES = {"p25": "25th", "median": "median", "p75": "75th", "p90": "90th", "p99": "99th", "maximum": "longest"}
# Pixels from one line of the edges' names to the next.
_LINE = 13
_NAME: Any = {"baseline": "top", "fontSize": 10}


def _boxes(frame: pl.DataFrame) -> Chart:
    quantiles = [alt.Tooltip(f"{c}:Q", title=heading, format=".1f") for c, heading in _QUANTILES.items()]
    base = alt.Chart(frame).encode(
        y=names_axis("env_id", 220),
        yOffset="traj_type:N",
        color=mode_colour(),
        tooltip=[ENVIRONMENT_TOOLTIP, MODE_TOOLTIP, number("trajectories", "trajectories"), *quantiles],
    )
    axis = alt.Axis(title="steps: assistant messages per trajectory", tickMinStep=1)
    whiskers = base.mark_rule().encode(x=alt.X("p10:Q", axis=axis), x2="p90:Q")
    boxes = base.mark_bar(opacity=0.5).encode(x=alt.X("p25:Q", axis=axis), x2="p75:Q")
    medians = base.mark_tick(thickness=3).encode(x=alt.X("median:Q", axis=axis))
    return alt.layer(whiskers, boxes, medians)


def _lengths(frame: pl.DataFrame) -> Chart:
    drawn = {f"{column}_drawn": f"max(1, datum.{column})" for column in ("p25", "p75", "median", "p90", "p99")}
    tooltip = [
        MODE_TOOLTIP,
        alt.Tooltip("kind:N"),
        number("texts", "texts"),
        percent("char_share", "of all characters"),
        number("mean_chars", "mean"),
        *[number(c, heading) for c, heading in _TEXT_QUANTILES.items()],
    ]
    kinds = alt.Y("kind:N", title=None, sort=list(KINDS))
    base = alt.Chart(frame).transform_calculate(**drawn)
    base = base.encode(y=kinds, yOffset="traj_type:N", color=mode_colour(), tooltip=tooltip)
    axis, scale = alt.Axis(title="characters of a text", format="~s"), alt.Scale(type="log", domainMin=1)
    p25, middle, p90, p99 = (
        alt.X(f"{column}_drawn:Q", axis=axis, scale=scale) for column in ("p25", "median", "p90", "p99")
    )
    return alt.layer(
        base.mark_bar(opacity=0.5).encode(x=p25, x2="p75_drawn:Q"),
        base.mark_tick(thickness=3).encode(x=middle),
        base.mark_point(size=30, filled=True).encode(x=p90),
        base.mark_point(size=30, filled=False).encode(x=p99),
    )


def _with_edges(marks: Any, frame: pl.DataFrame, *, beside: float) -> Chart:
    """The marks with the publisher's cuts: a rule and its name at either end, in the colour of the mode."""
    kept = _kept(frame)
    if not kept:
        return alt.layer(marks)
    modes = list(kept)
    edges = [
        {"traj_type": name, "edge": edge + shift, "named": f"{end} {edge}", "line": line - len(modes)}
        for line, name in enumerate(modes)
        for end, edge, shift in zip(("from", "to"), kept[name], (-beside, beside), strict=True)
    ]
    base = alt.Chart(pl.DataFrame(edges)).encode(x="edge:Q", color=mode_colour())
    rules = base.mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
    # Above the plot, where no curve runs, and a line of names per mode: "from 3" and "from 5" stand close.
    above = alt.Scale(domain=[-len(modes), 0], range=[-_LINE * len(modes), 0], nice=False, zero=False)
    names = base.encode(y=alt.Y("line:Q", scale=above, axis=None), text="named:N")
    lower = names.transform_filter("indexof(datum.named, 'from') == 0").mark_text(align="left", **_NAME)
    upper = names.transform_filter("indexof(datum.named, 'to') == 0").mark_text(align="right", **_NAME)
    layers: Chart = alt.layer(alt.layer(marks, rules), alt.layer(lower, upper), data=frame)
    return layers.resolve_scale(y="independent")  # type: ignore[no-any-return]


def _selection(frame: pl.DataFrame) -> list[str]:
    """What of the figure is the publisher's doing, where steps are concerned."""
    kept = {name: "{} to {} steps".format(*edges) for name, edges in _kept(frame).items()}
    if not kept:
        return []
    return [f"selection: the EnvScaler release keeps {by_mode(kept)}; a sharp end there is the filter, not behaviour"]


def _kept(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """The fewest and the most steps that the publisher kept, in each mode of its own data."""
    edged = frame.drop_nulls("edge_low").unique("traj_type", keep="first", maintain_order=True)
    return {name: (low, high) for name, low, high in edged.select("traj_type", "edge_low", "edge_high").iter_rows()}


def _tooltips(quantity: str) -> list[alt.Tooltip]:
    return [
        MODE_TOOLTIP,
        number("value", quantity),
        number("trajectories", "trajectories"),
        percent("trajectory_share", "share of the mode"),
        percent("cumulative_share", "up to here"),
    ]


def _n(frame: pl.DataFrame) -> str:
    return f"n = trajectories: {counts_by_mode(frame, 'mode_trajectories')}"


def _at_most(frame: pl.DataFrame, column: str) -> str:
    """In each mode the value that a share of the trajectories does not exceed: of the values, not of their bins."""
    return by_mode({name: count(rows[0][column]) for name, rows in rows_by_mode(frame).items()})
