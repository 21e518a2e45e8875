"""Argument validity, drawn."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, TOOL_TOOLTIPS, number, percent, tool_label
from analysis.charts.figure import figure
from analysis.charts.rates import dots
from analysis.charts.words import title
from analysis.measures.arguments import BREACHES, CLASSES, VERDICTS
from analysis.wording import by_mode as each_mode
from analysis.wording import rate


@figure(
    CLASSES,
    definition="Class of each call's arguments against that record's own JSON Schema of the tool; the denominator is "
    "every call of the mode, unreadable blocks among them. Over-required: a required argument is missing and the "
    "result is ok all the same.",
)
def classes(frame: pl.DataFrame) -> Any:
    """Share of each class of arguments, per mode."""
    rows = frame.rows(named=True)
    counts = {r["traj_type"]: r["mode_calls"] for r in rows}
    sound = {r["traj_type"]: r["calls"] for r in rows if r["verdict"] == "valid"}
    sentence = "Arguments are valid in " + each_mode(
        {mode: f"{rate(sound.get(mode, 0), n)} of the calls" for mode, n in counts.items()}
    )
    chart = dots(
        frame,
        label="replace(datum.verdict, /_/g, ' ')",
        rate="class_rate",
        events="calls",
        trials="mode_calls",
        axis_title="of the mode's calls",
        tooltip=[alt.Tooltip("verdict:N", title="class"), MODE_TOOLTIP],
        by_mode=True,
    )
    return chart.properties(
        title=title(sentence, f"n = calls: {each_mode({m: f'{n:,}' for m, n in counts.items()})}"),
        description=sentence,
        width="container",
        height=alt.Step(15),
    )


@figure(
    BREACHES,
    definition="Calls whose arguments are not valid against the record's own JSON Schema, of the tools with most of "
    "them, by class; unchecked calls are left out.",
)
def breaches(frame: pl.DataFrame) -> Any:
    """Invalid calls of the tools with most of them, stacked by class."""
    rows = frame.rows(named=True)
    first = rows[0]
    tools = {(r["env_id"], r["tool_name"]): (r["tool_breaches"], r["tool_calls"]) for r in rows}
    name = f"{first['tool_name']} departs" if first["tool_name"] else "Blocks without a readable tool depart"
    sentence = f"{name} most from the schema: in {rate(first['tool_breaches'], first['tool_calls'])} of its calls"
    over = sum(r["calls"] for r in rows if r["verdict"] == "over_required")
    shown, of = (sum(pair[k] for pair in tools.values()) for k in (0, 1))
    return (
        alt.Chart(frame)
        .transform_calculate(label=tool_label(frame), kind="replace(datum.verdict, /_/g, ' ')")
        .mark_bar()
        .encode(
            y=alt.Y("label:N", title=None, sort=None),
            x=alt.X("calls:Q", title="calls that are not valid", stack="zero", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(
                    domain=[
                        v.replace("_", " ")
                        for v in VERDICTS
                        if v in frame.get_column("verdict").cast(pl.String).unique()
                    ]
                ),
            ),
            tooltip=[
                *TOOL_TOOLTIPS,
                alt.Tooltip("kind:N", title="class"),
                number("calls", "calls"),
                percent("breach_share", "of the tool's calls"),
                number("tool_calls", "calls of the tool"),
            ],
        )
        .properties(
            title=title(
                sentence,
                f"n = {shown:,} of {of:,} calls of the {len(tools)} tools shown; {rate(over, shown)} of them "
                "over-required: the result is ok all the same",
            ),
            description=sentence,
            width="container",
            height=alt.Step(18),
        )
    )
