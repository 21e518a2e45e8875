"""Repeats and loops, drawn."""

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import MODE_TOOLTIP, TOOL_TOOLTIPS, kind_colour, number, tool_label
from analysis.charts.figure import Drawn, figure
from analysis.charts.modes import counts_by_mode, rate_by_mode
from analysis.charts.rates import dots
from analysis.measures.calls import KIND_DEFINITION
from analysis.measures.repeats import FEWEST_TURNS, LONGEST_PERIOD, LOOPING, SHARES, TOOLS
from analysis.wording import count, rate, rate_of

_REPEAT = "A repeat has a name and canonical arguments (keys sorted) that occurred before in the trajectory. "


@figure(SHARES, definition=f"{_REPEAT}{KIND_DEFINITION}.", height=alt.Step(15))
def shares(frame: pl.DataFrame) -> Drawn:
    """Share of repeated calls, reading and changing tools apart, per mode."""
    sums = frame.select(pl.col("repeats", "calls", "idle_repeats", "catalogued_calls").sum()).row(0, named=True)
    kinds = {r["kind"]: r for r in frame.group_by("kind").agg(pl.col("repeats", "calls").sum()).iter_rows(named=True)}
    known = rate_of(sums["catalogued_calls"], sums["calls"], "call")
    parts = [
        f"{rate(kinds[kind]['repeats'], kinds[kind]['calls'])} for {name}"
        for kind, name in _KINDS.items()
        if kind in kinds and kinds[kind]["calls"]
    ]
    return Drawn(
        _repeat_dots(frame, _KIND, "repeats / calls that name a tool", _SHARE_TOOLTIPS, by_mode=True),
        f"Calls that repeat an earlier one: {', '.join(parts)}",
        [
            f"n = {count(sums['calls'], 'call')}, {count(sums['repeats'], 'repeat')}; {count(sums['idle_repeats'])} of "
            "them with no changing call since the earlier one",
            f"the catalogue says whether a tool reads or changes for {known}, the first word of its name for the rest",
        ],
    )


@figure(
    TOOLS,
    definition=f"{_REPEAT}Repeats over calls of the tool, with the 95 % interval over scenarios, of the tools "
    "repeated most; "
    "counts under 20 calls.",
    height=alt.Step(18),
)
def by_tool(frame: pl.DataFrame) -> Drawn:
    """Repeat rate of the tools repeated most."""
    first = frame.row(0, named=True)
    names = "datum.label == 'query' ? 'reads' : datum.label == 'change' ? 'changes' : 'unknown'"
    return Drawn(
        _repeat_dots(
            frame,
            tool_label(frame),
            "repeats / calls",
            [*TOOL_TOOLTIPS, alt.Tooltip("kind:N", title="kind")],
            colour=kind_colour("kind", _COLOURS, title="tool", labelExpr=names),
        ),
        f"{count(frame['repeats'].sum(), 'repeat')} in the tools shown, {count(first['repeats'])} of them of "
        f"{first['tool_name']}",
        f"n = {count(frame['calls'].sum(), 'call')}; {count(frame.height, 'tool')} with the most repeats",
    )


@figure(
    LOOPING,
    definition=f"A loop is a block of at most {LONGEST_PERIOD} calls that occurs at least {FEWEST_TURNS} times in a "
    "row with the same names and canonical arguments, counted at its shortest period. Shares of the mode's "
    "trajectories with a call.",
    height=alt.Step(15),
)
def looping(frame: pl.DataFrame) -> Drawn:
    """Share of trajectories that loop, per mode and period."""
    whole = frame.filter(period=0)
    chart = dots(
        frame,
        label="datum.period == 0 ? 'any loop' : 'block of ' + datum.period",
        rate="looping_rate",
        events="trajectories",
        trials="mode_trajectories",
        axis_title="of the mode's trajectories with a call",
        tooltip=[MODE_TOOLTIP, number("period", "calls of the block"), number("loops", "loops")],
        by_mode=True,
    )
    return Drawn(
        chart,
        f"Trajectories that loop: {rate_by_mode(whole, 'trajectories', 'mode_trajectories')}",
        f"n = trajectories: {counts_by_mode(whole, 'mode_trajectories')}",
    )


_KINDS = {"query": "tools that read", "change": "tools that change something"}
_KIND = " : ".join(f"datum.kind == '{kind}' ? '{name}'" for kind, name in _KINDS.items()) + " : 'unknown'"
_COLOURS = {"query": theme.PALETTE[4], "change": theme.PALETTE[5], "unknown": theme.PALETTE[7]}
_SHARE_TOOLTIPS = [
    MODE_TOOLTIP,
    number("idle_repeats", "with no change since"),
    number("catalogued_calls", "catalogued"),
]


def _repeat_dots(
    frame: pl.DataFrame,
    label: str,
    axis_title: str,
    tooltip: list[alt.Tooltip],
    *,
    colour: alt.Color | None = None,
    by_mode: bool = False,
) -> alt.LayerChart:
    return dots(
        frame,
        label=label,
        rate="repeat_rate",
        events="repeats",
        trials="calls",
        axis_title=axis_title,
        tooltip=tooltip,
        colour=colour,
        by_mode=by_mode,
    )
