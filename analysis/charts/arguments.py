"""Argument validity, drawn."""

import altair as alt
import polars as pl

from analysis.charts.encodings import (
    MODE_TOOLTIP,
    TOOL_TOOLTIPS,
    names_axis,
    number,
    percent,
    tool_label,
    words_label,
)
from analysis.charts.figure import Drawn, figure
from analysis.charts.modes import counts_by_mode, rate_by_mode
from analysis.charts.rates import dots
from analysis.measures.arguments import BREACHES, CLASSES, VERDICTS
from analysis.wording import count, rate, words


@figure(
    CLASSES,
    definition="Class of each call's arguments against that record's own JSON Schema of the tool; the denominator is "
    "every call of the mode, including unreadable blocks. Over-required: a required argument is missing and the "
    "result is ok all the same.",
    height=alt.Step(15),
)
def classes(frame: pl.DataFrame) -> Drawn:
    """Share of each class of arguments, per mode."""
    valid = rate_by_mode(frame, "calls", "mode_calls", pl.col("verdict") == "valid", noun="call")
    chart = dots(
        frame,
        label=words_label("verdict"),
        rate="class_rate",
        events="calls",
        trials="mode_calls",
        axis_title="of the mode's calls",
        tooltip=[alt.Tooltip("verdict:N", title="class"), MODE_TOOLTIP],
        by_mode=True,
    )
    return Drawn(chart, f"Arguments are valid in {valid}", f"n = calls: {counts_by_mode(frame, 'mode_calls')}")


@figure(
    BREACHES,
    definition="Calls whose arguments are not valid against the record's own JSON Schema, by class, for the tools "
    "with the most of them; unchecked calls are left out.",
    height=alt.Step(18),
)
def breaches(frame: pl.DataFrame) -> Drawn:
    """Invalid calls of the tools with most of them, stacked by class."""
    first = frame.row(0, named=True)
    tools = frame.unique(["env_id", "tool_name"], maintain_order=True)
    shown, calls, over = (
        tools["tool_breaches"].sum(),
        tools["tool_calls"].sum(),
        frame.filter(verdict="over_required")["calls"].sum(),
    )
    name = first["tool_name"] or "blocks without a readable tool"
    return Drawn(
        _stacked(frame),
        f"{count(shown, 'call')} with invalid arguments, {count(first['tool_breaches'])} of them to {name}",
        f"n = {count(shown)} of {count(calls, 'call')} to the {count(tools.height, 'tool')} shown; over-required, with "
        f"an ok result all the same: {rate(over, shown)}",
    )


def _stacked(frame: pl.DataFrame) -> alt.Chart:
    seen = set(frame["verdict"])
    kinds = alt.Scale(domain=[words(verdict) for verdict in VERDICTS if verdict in seen])
    bars = alt.Chart(frame).transform_calculate(label=tool_label(frame), kind=words_label("verdict")).mark_bar()
    return bars.encode(  # type: ignore[no-any-return]
        y=names_axis(),
        x=alt.X("calls:Q", title="calls that are not valid", stack="zero", axis=alt.Axis(tickMinStep=1)),
        color=alt.Color("kind:N", title=None, scale=kinds),
        tooltip=[
            *TOOL_TOOLTIPS,
            alt.Tooltip("kind:N", title="class"),
            number("calls", "calls"),
            percent("breach_share", "of the tool's calls"),
            number("tool_calls", "calls of the tool"),
        ],
    )
