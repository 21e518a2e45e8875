"""Tool usage, drawn: the busiest tools, usage over those offered, breadth, concentration, tools nobody calls."""

from statistics import median
from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import (
    ENVIRONMENT_TOOLTIP,
    MODE_NAMES,
    MODE_TOOLTIP,
    ROW,
    TOOL_TOOLTIPS,
    count_axis,
    mode_colour,
    names_axis,
    number,
    percent,
    share_axis,
    tool_label,
)
from analysis.charts.figure import Drawn, figure
from analysis.charts.histograms import two_sides
from analysis.charts.rates import dots
from analysis.measures.tool_usage import BREADTH, BUSIEST, CONCENTRATION, MODES, RATES
from analysis.schema import FEWEST_FOR_A_RATE
from analysis.wording import by_mode, count, decimal, rate, rate_of
from analysis.wording import percent as per_cent


@figure(
    BUSIEST,
    definition="Calls of a tool, for the tools called most; share is of all calls of the source. A large environment "
    "makes its tools busy: the usage rate tells how usual a tool is where it is offered.",
    height=ROW,
)
def busiest(frame: pl.DataFrame) -> Drawn:
    """The most called tools."""
    top = frame.row(0, named=True)
    tools, calls = top["all_tools"], top["all_calls"]
    bars = (
        alt.Chart(frame)
        .transform_calculate(label=tool_label(frame))
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=count_axis(alt.X, "calls", "calls"),
            y=names_axis(),
            tooltip=[
                *TOOL_TOOLTIPS,
                number("calls", "calls"),
                percent("all_call_share", "of all calls"),
                percent("call_share", "of the environment's calls"),
            ],
        )
    )
    return Drawn(
        bars,
        f"{_name(top)} is called most, {count(top['calls'], 'time')}; the {frame.height} busiest of "
        f"{count(tools, 'tool')} take {rate_of(frame['calls'].sum(), calls, 'call')}",
        f"n = {count(calls, 'call')} of {count(tools, 'tool')}, {_EACH_NAME}",
    )


@figure(
    BUSIEST,
    definition="Usage rate: trajectories that call the tool / trajectories that were OFFERED it, not all, with the "
    "95 % interval over scenarios; counts in place of a rate where it was offered to fewer than 20.",
    height=ROW,
)
def usage(frame: pl.DataFrame) -> Drawn:
    """Usage rate of the most called tools, over the trajectories offered them."""
    judged = frame.filter(pl.col("offering") >= FEWEST_FOR_A_RATE).sort("usage_rate", maintain_order=True)
    offered = sorted({frame["offering"].min(), frame["offering"].max()})  # type: ignore[type-var]
    return Drawn(
        _usage_dots(frame, TOOL_TOOLTIPS),
        "No tool was offered to 20 trajectories: usage is shown as counts"
        if judged.is_empty()
        else f"Usage of the busiest tools: {_use(judged, 0)} to {_use(judged, -1)} of the trajectories offered them",
        f"n = trajectories offered the tool, {' to '.join(map(count, offered))}",  # type: ignore[arg-type]
    )


@figure(
    RATES,
    definition="Tools of an environment by usage rate, in bands of ten points, the tools never called apart; of the "
    "tools offered to at least 20 trajectories.",
    height=220,
)
def rates(frame: pl.DataFrame) -> Drawn:
    """Spread of the usage rate over the tools of all environments."""
    first = frame.row(0, named=True)
    n, never = first["all_tools"], first["tools"]
    label = "datum.value == 0 ? 'never' : (datum.value * 10 - 10) + '–' + (datum.value * 10) + ' %'"
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("band:O", title="usage rate", axis=alt.Axis(labelExpr=label, labelAngle=-45)),
            y=count_axis(alt.Y, "tools", "tools"),
            color=alt.condition("datum.band == 0", alt.value(theme.PALETTE[5]), alt.value(theme.PALETTE[0])),
            tooltip=[
                percent("rate_from", "above"),
                percent("rate_to", "up to"),
                number("tools", "tools"),
                percent("tool_share", "of the tools"),
            ],
        )
    )
    return Drawn(
        bars,
        f"{rate_of(frame['tools'].head(2).sum(), n, 'tool')} are called by at most a tenth of the trajectories offered "
        f"them, {rate(never, n)} by none",
        f"n = {count(n, 'tool')}, {_EACH_NAME}, offered to 20 trajectories or more; {count(first['small_tools'])} "
        "offered to fewer are left out",
    )


@figure(
    MODES,
    definition="Usage rate in either mode, over the trajectories of the mode offered the tool, with 95 % "
    "interval over scenarios; the tools with the largest difference. The largest of many differences is in part "
    "chance.",
    height=alt.Step(11),
)
def modes(frame: pl.DataFrame) -> Drawn:
    """Tools whose usage differs most between the modes."""
    first = frame.row(0, named=True)
    shown, compared = frame.height // 2, first["compared_tools"]
    difference = alt.Tooltip("difference:Q", title="difference", format="+.1%")
    return Drawn(
        _usage_dots(frame, [*TOOL_TOOLTIPS, MODE_TOOLTIP, difference], has_modes=True),
        # The largest of many differences is no finding: the sentence says what is shown, and ranks nothing.
        f"Usage with and without user, for {count(shown)} of {count(compared, 'tool')} compared",
        f"n = at least {count(frame['offering'].min(), 'trajectory')} offered the tool in a mode; "  # type: ignore[arg-type]
        "shown are the tools whose rates lie furthest apart, which chance alone would make some do",
    )


@figure(
    BREADTH,
    definition="Breadth of a trajectory: distinct offered tools it calls / tools it was offered, in bands of five "
    "points; share of the mode's trajectories.",
)
def breadth(frame: pl.DataFrame) -> Drawn:
    """How much of what is offered a trajectory uses."""
    rows = frame.rows(named=True)
    medians = {
        r["traj_type"]: per_cent(r["median_breadth"])
        if r["mode_trajectories"] >= FEWEST_FOR_A_RATE
        else "too few to say"
        for r in rows
    }
    trajectories = {r["traj_type"]: count(r["mode_trajectories"]) for r in rows}
    bars = alt.Chart(frame).encode(
        x=share_axis(alt.X, "breadth_from", "distinct tools called / tools offered", is_whole=True, bin="binned"),
        x2="breadth_to:Q",
        y=share_axis(alt.Y, "trajectory_share", "share of the mode's trajectories", stack=None),
        color=mode_colour(),
        tooltip=[
            MODE_TOOLTIP,
            percent("breadth_from", "breadth from"),
            percent("breadth_to", "to"),
            number("trajectories", "trajectories"),
            percent("trajectory_share", "share"),
        ],
    )
    return Drawn(
        two_sides(bars, frame, "traj_type", MODE_NAMES),
        f"The median trajectory calls this much of the tools it is offered: {by_mode(medians)}",
        f"n = trajectories that were offered tools: {by_mode(trajectories)}",
    )


@figure(
    CONCENTRATION,
    definition="Distinct tools an environment offers, and how many of them some trajectory calls; the environments "
    "with the largest share of unused tools. With few trajectories, unused says little about the tool.",
    height=ROW,
)
def used_and_offered(frame: pl.DataFrame) -> Drawn:
    """Used against offered tools per environment."""
    offered, unused = frame["offered_tools"].sum(), frame["unused_tools"].sum()
    whole = frame.filter(unused_tools=0).height
    base = alt.Chart(frame).encode(
        y=names_axis("env_id", 220),
        tooltip=[
            ENVIRONMENT_TOOLTIP,
            number("used_tools", "tools used"),
            number("unused_tools", "tools never called"),
            number("offered_tools", "tools offered"),
            number("trajectories", "trajectories"),
            number("calls", "calls"),
        ],
    )
    axis = "distinct tools: used (dark) of offered (light)"
    light = base.mark_bar(color=theme.PALETTE[4], opacity=0.45).encode(x=count_axis(alt.X, "offered_tools", axis))
    dark = base.mark_bar(color=theme.PALETTE[0], height=alt.RelativeBandSize(0.55)).encode(
        x=count_axis(alt.X, "used_tools", axis)
    )
    several = f"; {whole} of {frame.height} environments use all" if frame.height > 1 else ""
    return Drawn(
        alt.layer(light, dark),
        f"{rate_of(unused, offered, 'tool')} offered here are never called{several}",
        f"n = {count(offered, 'tool')} offered, {count(frame.height, 'environment')} shown",
    )


@figure(
    CONCENTRATION,
    definition="Gini coefficient of an environment's calls over the tools it offers, unused ones included: 0 when all "
    "are called alike, near 1 when one takes all. One mark per environment.",
)
def concentration(frame: pl.DataFrame) -> Drawn:
    """How unevenly calls are spread over tools, one mark per environment."""
    rows = frame.drop_nulls("gini").rows(named=True)
    judged = [r for r in rows if r["calls"] >= FEWEST_FOR_A_RATE]
    where = "the one environment" if len(rows) == 1 else "the median environment"
    dots_ = (
        alt.Chart(frame)
        .mark_circle(size=70, opacity=0.55, color=theme.PALETTE[0])
        .encode(
            x=alt.X("gini:Q", title="Gini of calls over offered tools", scale=alt.Scale(domain=[0, 1])),
            y=share_axis(alt.Y, "top_three_share", "calls to the top three tools", is_whole=True),
            tooltip=[
                ENVIRONMENT_TOOLTIP,
                alt.Tooltip("gini:Q", title="Gini", format=".2f"),
                percent("top_three_share", "top three"),
                alt.Tooltip("effective_tools:Q", title="effective tools", format=".1f"),
                number("offered_tools", "tools offered"),
                number("calls", "calls"),
            ],
        )
    )
    return Drawn(
        dots_,
        f"In {where} three tools take {per_cent(median(r['top_three_share'] for r in judged))} of the calls "
        f"(Gini {decimal(median(r['gini'] for r in judged), 2)})"
        if judged
        else "No environment has 20 calls to offered tools: too few to say how evenly tools are called",
        f"n = {count(len(judged), 'environment')} with 20 calls or more to offered tools; {count(len(rows))} with any",
    )


_EACH_NAME = "each name counted once per environment"


def _usage_dots(frame: pl.DataFrame, tooltip: list[Any], *, has_modes: bool = False) -> alt.LayerChart:
    return dots(
        frame,
        label=tool_label(frame),
        rate="usage_rate",
        events="calling",
        trials="offering",
        axis_title="trajectories calling / offered the tool",
        tooltip=tooltip,
        by_mode=has_modes,
    )


def _name(row: dict[str, Any]) -> str:
    return str(row["tool_name"]) if row["tool_name"] is not None else "(unreadable block)"


def _use(judged: pl.DataFrame, place: int) -> str:
    row = judged.row(place, named=True)
    return rate(row["calling"], row["offering"])
