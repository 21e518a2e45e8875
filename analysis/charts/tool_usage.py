"""Tool usage, drawn: the busiest tools, usage over those offered, breadth, concentration, tools nobody calls."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.rates import TOOL_TOOLTIPS, dots, tool_label
from analysis.charts.words import (
    FEWEST_FOR_A_RATE,
    MODE_TOOLTIP,
    each_mode,
    mode_colour,
    number,
    percent,
    rate,
    title,
)
from analysis.counted import counted
from analysis.measures.tool_usage import BREADTH, BUSIEST, CONCENTRATION, RATES
from analysis.measures.tool_usage import MODES as MODE_USAGE


@theme.figure(
    BUSIEST,
    definition="Calls of a tool, for the tools called most; share is of all calls of the source. A large environment "
    "makes its tools busy: the usage rate tells how usual a tool is where it is offered.",
)
def busiest(frame: pl.DataFrame) -> Any:
    """The most called tools."""
    rows = frame.rows(named=True)
    n, tools = rows[0]["all_calls"], rows[0]["all_tools"]
    held = sum(r["calls"] for r in rows)
    sentence = (
        f"{_name(rows[0])} is called most, {rows[0]['calls']:,} times; the {len(rows)} busiest of {tools:,} tools "
        f"take {rate(held, n)}{' of the' if n >= FEWEST_FOR_A_RATE else ''} calls"
    )
    return (
        alt.Chart(frame)
        .transform_calculate(label=tool_label(frame))
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X("calls:Q", title="calls", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            tooltip=[
                *TOOL_TOOLTIPS,
                number("calls", "calls"),
                percent("all_call_share", "of all calls"),
                percent("call_share", "of the environment's calls"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {counted(n, 'call')} of {counted(tools, 'tool')}, one a name and environment"),
            description=sentence,
            width="container",
            height=alt.Step(17),
        )
    )


@theme.figure(
    BUSIEST,
    definition="Usage rate: trajectories that call the tool / trajectories that were OFFERED it, not all, with the "
    "95 % Wilson interval; counts in place of a rate where it was offered to fewer than 20.",
)
def usage(frame: pl.DataFrame) -> Any:
    """Usage rate of the most called tools, over the trajectories offered them."""
    rows = frame.rows(named=True)
    judged = [r for r in rows if r["offering"] >= FEWEST_FOR_A_RATE]
    most, least = (pick(judged, key=lambda r: r["usage_rate"]) if judged else None for pick in (max, min))
    sentence = (
        f"Among the busiest tools, usage runs from {_use(least)} to {_use(most)} of the trajectories offered them"
        if most and least
        else "No tool was offered to 20 trajectories: usage is shown as counts"
    )
    offered = {min(r["offering"] for r in rows), max(r["offering"] for r in rows)}
    drawn = dots(
        frame,
        label=tool_label(frame),
        rate="usage_rate",
        events="calling",
        trials="offering",
        axis_title="trajectories calling / offered the tool",
        tooltip=TOOL_TOOLTIPS,
    )
    return drawn.properties(
        title=title(sentence, f"n = trajectories offered the tool, {' to '.join(f'{n:,}' for n in sorted(offered))}"),
        description=sentence,
        width="container",
        height=alt.Step(17),
    )


@theme.figure(
    RATES,
    definition="Tools of an environment by usage rate, in bands of ten points, the tools never called apart; of the "
    "tools offered to at least 20 trajectories.",
)
def rates(frame: pl.DataFrame) -> Any:
    """Spread of the usage rate over the tools of all environments."""
    rows = frame.rows(named=True)
    n, small = rows[0]["all_tools"], rows[0]["small_tools"]
    never = rows[0]["tools"]
    rare = never + rows[1]["tools"]
    sentence = (
        f"{_tools(rare, n)} are called by at most a tenth of the trajectories offered them, {rate(never, n)} by none"
    )
    label = "datum.value == 0 ? 'never' : (datum.value * 10 - 10) + '–' + (datum.value * 10) + ' %'"
    return (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X("band:O", title="usage rate", axis=alt.Axis(labelExpr=label, labelAngle=-45)),
            y=alt.Y("tools:Q", title="tools", axis=alt.Axis(tickMinStep=1)),
            color=alt.condition("datum.band == 0", alt.value(theme.PALETTE[5]), alt.value(theme.PALETTE[0])),
            tooltip=[
                percent("rate_from", "above"),
                percent("rate_to", "up to"),
                number("tools", "tools"),
                percent("tool_share", "of the tools"),
            ],
        )
        .properties(
            title=title(
                sentence,
                f"n = {counted(n, 'tool')}, one a name and environment, offered to 20 trajectories or more; "
                f"{small:,} offered to fewer are left out",
            ),
            description=sentence,
            width="container",
            height=220,
        )
    )


@theme.figure(
    MODE_USAGE,
    definition="Usage rate in either mode, over the trajectories of the mode offered the tool, with 95 % Wilson "
    "intervals; the tools with the largest difference. The largest of many differences is in part chance.",
)
def modes(frame: pl.DataFrame) -> Any:
    """Tools whose usage differs most between the modes."""
    rows = frame.rows(named=True)
    first = {r["traj_type"]: rate(r["calling"], r["offering"]) for r in rows[:2]}
    sentence = f"Usage differs most for {_name(rows[0])}: {each_mode(first)}"
    least = min(r["offering"] for r in rows)
    drawn = dots(
        frame,
        label=tool_label(frame),
        rate="usage_rate",
        events="calling",
        trials="offering",
        axis_title="trajectories calling / offered the tool",
        tooltip=[*TOOL_TOOLTIPS, MODE_TOOLTIP, alt.Tooltip("difference:Q", title="difference", format="+.1%")],
        by_mode=True,
    )
    return drawn.properties(
        title=title(
            sentence,
            f"n = at least {least:,} trajectories offered the tool in a mode; {len(rows) // 2} of "
            f"{rows[0]['compared_tools']:,} tools compared are shown",
        ),
        description=sentence,
        width="container",
        height=alt.Step(11),
    )


@theme.figure(
    BREADTH,
    definition="Breadth of a trajectory: distinct offered tools it calls / tools it was offered, in bands of five "
    "points; share of the mode's trajectories.",
)
def breadth(frame: pl.DataFrame) -> Any:
    """How much of what is offered a trajectory uses."""
    rows = frame.rows(named=True)
    medians = {r["traj_type"]: f"{100 * r['median_breadth']:.0f} %" for r in rows}
    counts = {r["traj_type"]: f"{r['mode_trajectories']:,}" for r in rows}
    sentence = f"The median trajectory calls this much of the tools it is offered: {each_mode(medians)}"
    return (
        alt.Chart(frame)
        .mark_bar(opacity=0.6)
        .encode(
            x=alt.X(
                "breadth_from:Q",
                title="distinct tools called / tools offered",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
                bin="binned",
            ),
            x2="breadth_to:Q",
            y=alt.Y(
                "trajectory_share:Q", title="share of the mode's trajectories", axis=alt.Axis(format="%"), stack=None
            ),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                percent("breadth_from", "breadth from"),
                percent("breadth_to", "to"),
                number("trajectories", "trajectories"),
                percent("trajectory_share", "share"),
            ],
        )
        .properties(
            title=title(sentence, f"n = trajectories that were offered tools: {each_mode(counts)}"),
            description=sentence,
            width="container",
            height=240,
        )
    )


@theme.figure(
    CONCENTRATION,
    definition="Distinct tools an environment offers, and how many of them some trajectory calls; the environments "
    "with the largest share of unused tools. With few trajectories, unused says little about the tool.",
)
def used_and_offered(frame: pl.DataFrame) -> Any:
    """Used against offered tools per environment."""
    rows = frame.rows(named=True)
    offered, unused = (sum(r[c] for r in rows) for c in ("offered_tools", "unused_tools"))
    whole = sum(r["unused_tools"] == 0 for r in rows)
    sentence = f"{_tools(unused, offered)} offered here are never called"
    if len(rows) > 1:
        sentence += f"; {whole} of {len(rows)} environments use all"
    base = alt.Chart(frame).encode(
        y=alt.Y("env_id:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
        tooltip=[
            alt.Tooltip("env_id:N", title="environment"),
            number("used_tools", "tools used"),
            number("unused_tools", "tools never called"),
            number("offered_tools", "tools offered"),
            number("trajectories", "trajectories"),
            number("calls", "calls"),
        ],
    )
    axis = alt.Axis(title="distinct tools: used (dark) of offered (light)", tickMinStep=1)
    light = base.mark_bar(color=theme.PALETTE[4], opacity=0.45).encode(x=alt.X("offered_tools:Q", axis=axis))
    dark = base.mark_bar(color=theme.PALETTE[0], height=alt.RelativeBandSize(0.55)).encode(
        x=alt.X("used_tools:Q", axis=axis)
    )
    return alt.layer(light, dark).properties(
        title=title(sentence, f"n = {counted(offered, 'tool')} offered, {counted(len(rows), 'environment')} shown"),
        description=sentence,
        width="container",
        height=alt.Step(17),
    )


@theme.figure(
    CONCENTRATION,
    definition="Gini coefficient of an environment's calls over the tools it offers, unused ones included: 0 when all "
    "are called alike, near 1 when one takes all. One mark an environment.",
)
def concentration(frame: pl.DataFrame) -> Any:
    """How unevenly calls are spread over tools, one mark per environment."""
    rows = [r for r in frame.rows(named=True) if r["gini"] is not None]
    middle = pl.Series([r["gini"] for r in rows]).median() if rows else None
    thirds = pl.Series([r["top_three_share"] for r in rows]).median() if rows else None
    where = "the one environment" if len(rows) == 1 else "the median environment"
    sentence = (
        f"In {where} three tools take {100 * _float(thirds):.0f} % of the calls (Gini {_float(middle):.2f})"
        if rows
        else "No environment calls any tool"
    )
    return (
        alt.Chart(frame)
        .mark_circle(size=70, opacity=0.55, color=theme.PALETTE[0])
        .encode(
            x=alt.X("gini:Q", title="Gini of calls over offered tools", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y(
                "top_three_share:Q",
                title="calls by the top three tools",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            tooltip=[
                alt.Tooltip("env_id:N", title="environment"),
                alt.Tooltip("gini:Q", title="Gini", format=".2f"),
                percent("top_three_share", "top three"),
                alt.Tooltip("effective_tools:Q", title="effective tools", format=".1f"),
                number("offered_tools", "tools offered"),
                number("calls", "calls"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {counted(len(rows), 'environment')} with calls of offered tools"),
            description=sentence,
            width="container",
            height=240,
        )
    )


def _name(row: dict[str, Any]) -> str:
    return str(row["tool_name"]) if row["tool_name"] is not None else "(unreadable block)"


def _tools(events: int, trials: int) -> str:
    share = rate(events, trials)
    return f"{share} tools" if trials < FEWEST_FOR_A_RATE else f"{share} of the tools"


def _use(row: dict[str, Any]) -> str:
    return f"{rate(row['calling'], row['offering'])} ({_name(row)})"


def _float(value: Any) -> float:
    return float(value)
