"""Repeats and loops, drawn."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import MODE_TOOLTIP, TOOL_TOOLTIPS, number, tool_label
from analysis.charts.figure import figure
from analysis.charts.rates import dots
from analysis.charts.words import title
from analysis.measures.calls import KIND_DEFINITION
from analysis.measures.repeats import FEWEST_TURNS, LONGEST_PERIOD, LOOPING, SHARES, TOOLS
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate

_REPEAT = "A repeat has a name and canonical arguments (keys sorted) that occurred before in the trajectory. "


@figure(SHARES, definition=f"{_REPEAT}{KIND_DEFINITION}.")
def shares(frame: pl.DataFrame) -> Any:
    """Share of repeated calls, reading and changing tools apart, per mode."""
    rows = frame.rows(named=True)
    by_kind = {
        kind: [sum(r[c] for r in rows if r["kind"] == kind) for c in ("repeats", "calls", "idle_repeats")]
        for kind in ("query", "change")
    }
    parts = [
        f"{rate(repeats, calls)} of the calls of {word} tools"
        for word, (repeats, calls, _) in zip(("reading", "changing"), by_kind.values(), strict=True)
        if calls
    ]
    sentence = "Repeated unchanged: " + ", ".join(parts)
    repeats, calls, idle, catalogued = (
        sum(r[c] for r in rows) for c in ("repeats", "calls", "idle_repeats", "catalogued_calls")
    )
    return dots(
        frame,
        label="datum.kind == 'query' ? 'reading tools' : datum.kind == 'change' ? 'changing tools' : 'unknown'",
        rate="repeat_rate",
        events="repeats",
        trials="calls",
        axis_title="repeats / calls that name a tool",
        tooltip=[
            MODE_TOOLTIP,
            number("idle_repeats", "with no change since"),
            number("catalogued_calls", "catalogued"),
        ],
        by_mode=True,
    ).properties(
        title=title(
            sentence,
            f"n = {count(calls, 'call')}, {count(repeats, 'repeat')}, {idle:,} of them with no changing call since "
            "the earlier one",
            f"kind by the catalogue: {rate(catalogued, calls)} of the calls; by the name's first word: the rest",
        ),
        description=sentence,
        width="container",
        height=alt.Step(15),
    )


@figure(
    TOOLS,
    definition=f"{_REPEAT}Repeats over calls of the tool, with the 95 % Wilson interval, of the tools repeated most; "
    "counts under 20 calls.",
)
def by_tool(frame: pl.DataFrame) -> Any:
    """Repeat rate of the tools repeated most."""
    rows = frame.rows(named=True)
    first = rows[0]
    sentence = (
        f"{first['tool_name']} is repeated most: {first['repeats']:,} times, "
        f"{rate(first['repeats'], first['calls'])} of its calls"
    )
    kinds = alt.Color(
        "kind:N",
        title="tool",
        scale=alt.Scale(
            domain=["query", "change", "unknown"], range=[theme.PALETTE[4], theme.PALETTE[5], theme.PALETTE[7]]
        ),
        legend=alt.Legend(
            labelExpr="datum.label == 'query' ? 'reads' : datum.label == 'change' ? 'changes' : 'unknown'"
        ),
    )
    return dots(
        frame,
        label=tool_label(frame),
        rate="repeat_rate",
        events="repeats",
        trials="calls",
        axis_title="repeats / calls",
        tooltip=[*TOOL_TOOLTIPS, alt.Tooltip("kind:N", title="kind")],
        colour=kinds,
    ).properties(
        title=title(
            sentence, f"n = {count(sum(r['calls'] for r in rows), 'call')} of the {len(rows)} tools repeated most"
        ),
        description=sentence,
        width="container",
        height=alt.Step(18),
    )


@figure(
    LOOPING,
    definition=f"A loop is a block of at most {LONGEST_PERIOD} calls that occurs at least {FEWEST_TURNS} times in a "
    "row with the same names and canonical arguments, counted at its shortest period. Shares of the mode's "
    "trajectories with a call.",
)
def looping(frame: pl.DataFrame) -> Any:
    """Share of trajectories that loop, per mode and period."""
    rows = frame.rows(named=True)
    whole = [r for r in rows if r["period"] == 0]
    sentence = "Trajectories that loop: " + each_mode(
        {r["traj_type"]: rate(r["trajectories"], r["mode_trajectories"]) for r in whole}
    )
    return dots(
        frame,
        label="datum.period == 0 ? 'any loop' : 'block of ' + datum.period",
        rate="looping_rate",
        events="trajectories",
        trials="mode_trajectories",
        axis_title="of the mode's trajectories with a call",
        tooltip=[MODE_TOOLTIP, number("period", "calls of the block"), number("loops", "loops")],
        by_mode=True,
    ).properties(
        title=title(
            sentence,
            "n = trajectories: " + each_mode({r["traj_type"]: format(r["mode_trajectories"], ",") for r in whole}),
        ),
        description=sentence,
        width="container",
        height=alt.Step(15),
    )
