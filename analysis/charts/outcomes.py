"""Outcomes of calls, drawn: rates with their intervals, never a ranking of quality."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import (
    ENVIRONMENT_TOOLTIP,
    MODE_TOOLTIP,
    TOOL_TOOLTIPS,
    count_axis,
    kind_colour,
    mode_colour,
    names_axis,
    number,
    percent,
    tool_label,
    words_label,
)
from analysis.charts.figure import Chart, Drawn, figure
from analysis.charts.modes import counts_by_mode, rate_by_mode, rows_by_mode
from analysis.charts.rates import dots, rate_scale
from analysis.measures.outcomes import ENVIRONMENTS, MODES, POSITIONS, RULES, TEMPLATES, TOOLS
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate, rate_of, words


@figure(
    MODES,
    definition="Error rate: errors over (ok + errors) with the 95 % interval over scenarios; results that say "
    "neither are "
    "unknown and counted apart. Descriptive: fewer errors do not mean better work.",
    height=alt.Step(30),
)
def by_mode(frame: pl.DataFrame) -> Drawn:
    """Error rate per mode."""
    tooltip = [MODE_TOOLTIP, percent("unknown_share", "unknown"), number("calls", "calls")]
    return Drawn(
        _error_dots(frame, "datum.traj_type", tooltip),
        f"Calls that end in an error: {rate_by_mode(frame, 'errors', 'judged')}",
        [
            f"n = calls with a known outcome: {counts_by_mode(frame, 'judged')}",
            f"unknown outcomes, of all calls: {rate_by_mode(frame, 'unknown', 'calls')}",
        ],
    )


@figure(
    RULES,
    definition="The rule that decided each outcome, strongest first: the success key, an error key, a leading error "
    "text, a well-formed object without any of these, none. The error rate up to a rule leaves the weaker ones out.",
    height=alt.Step(24),
)
def by_rule(frame: pl.DataFrame) -> Drawn:
    """Outcomes by the rule that decided them."""
    calls = frame.select(pl.sum_horizontal("ok", "errors", "unknown").sum()).item()
    most = max(frame.rows(named=True), key=lambda r: r["call_share"])
    decided = rate_of(most["ok"] + most["errors"] + most["unknown"], calls, "call")
    folded = alt.Chart(frame).transform_fold(list(_OUTCOMES), as_=["outcome", "number"])
    return Drawn(
        folded.transform_calculate(rule=words_label("outcome_rule"))
        .mark_bar()
        .encode(
            y=names_axis("rule"),
            x=alt.X("number:Q", title="calls", stack="zero"),
            color=kind_colour("outcome", _OUTCOMES),
            tooltip=_RULE_TOOLTIPS,
        ),
        f"No rule applies to {decided}: the outcome is unknown"
        if most["outcome_rule"] == "none"
        else f"The rule “{words(most['outcome_rule'])}” decides more calls than any other: {decided}",
        f"n = {count(calls, 'call')}",
    )


@figure(
    ENVIRONMENTS,
    definition="Error rate per environment, errors over (ok + errors), with the 95 % interval over scenarios, in "
    "natural "
    "order; counts for fewer than 20 known outcomes. It describes the environment's rules as much as the agent.",
    height=alt.Step(14),
)
def by_environment(frame: pl.DataFrame) -> Drawn:
    """Error rate per environment."""
    return Drawn(
        _error_dots(
            frame,
            "datum.env_id == null ? '(no environment)' : datum.env_id",
            [ENVIRONMENT_TOOLTIP, percent("unknown_share", "unknown")],
        ),
        _lowest_to_highest(frame),
        f"n = {count(frame['judged'].sum(), 'call')} with a known outcome, in {count(frame.height, 'environment')}",
    )


@figure(
    TOOLS,
    definition="Error rate of the tools with the most errors, errors over (ok + errors), with the 95 % "
    "interval over scenarios; counts for fewer than 20 known outcomes.",
    height=alt.Step(18),
)
def by_tool(frame: pl.DataFrame) -> Drawn:
    """Error rate of the tools with most errors."""
    first = frame.row(0, named=True)
    name = first["tool_name"] or "unreadable blocks"
    return Drawn(
        _error_dots(frame, tool_label(frame), [*TOOL_TOOLTIPS, number("unknown", "unknown")]),
        f"{count(frame['errors'].sum(), 'error')} in the tools shown, {count(first['errors'])} of them of {name}",
        f"n = {count(frame['judged'].sum(), 'call')} with a known outcome; "
        f"{count(frame.height, 'tool')} with the most errors",
    )


@figure(
    POSITIONS,
    definition="Error rate by place in the trajectory: the k-th of n calls stands in the tenth that holds "
    "(k - 1/2) / n, of trajectories of ten calls or more; the band is the 95 % interval over scenarios.",
)
def by_position(frame: pl.DataFrame) -> Drawn:
    """Error rate along the trajectory, in tenths of its calls."""
    # Of ten rates one is the highest, which is no finding: the span is told, and no tenth is named.
    spans = {mode: _span(rows) for mode, rows in rows_by_mode(frame.drop_nulls("error_rate")).items()}
    return Drawn(
        _band(frame),
        f"Error rate by tenth of the trajectory: {each_mode(spans)}"
        if spans
        else "No tenth of the trajectories has 20 known outcomes: there is no rate to show",
        f"n = {count(frame['judged'].sum(), 'call')} with a known outcome",
    )


@figure(
    TEMPLATES,
    definition="Error messages that differ only in times, ids (words with a digit) and numbers count as one; the most "
    "frequent ones are shown.",
    height=alt.Step(18),
)
def templates(frame: pl.DataFrame) -> Drawn:
    """The most frequent error messages, ids and numbers folded."""
    first, n = frame["errors"][0], frame["all_errors"][0]
    shown = rate_of(frame["errors"].sum(), n, "error")
    bars = alt.Chart(frame).mark_bar()
    return Drawn(
        bars.encode(y=names_axis("template", 360), x=count_axis(alt.X, "errors", "errors"), tooltip=_TEMPLATE_TOOLTIPS),
        f"One message makes up {shown}"
        if frame.height == 1
        else f"{count(frame.height)} messages make up {shown}; the most frequent {rate(first, n)}",
        f"n = {count(n, 'error')}",
    )


_RATE = "errors / (ok + errors)"
_OUTCOMES = {"ok": theme.PALETTE[2], "errors": theme.PALETTE[5], "unknown": theme.PALETTE[7]}
_RULE_TOOLTIPS = [
    alt.Tooltip("rule:N"),
    alt.Tooltip("outcome:N"),
    number("number", "calls"),
    percent("call_share", "decided by the rule"),
    percent("cumulative_error_rate", "error rate up to this rule"),
]
_TEMPLATE_TOOLTIPS = [
    alt.Tooltip("template:N", title="message"),
    alt.Tooltip("example:N", title="for example"),
    number("errors", "errors"),
    percent("error_share", "of all errors"),
    number("trajectories", "trajectories"),
    number("tools", "tools"),
    number("environments", "environments"),
]
_POSITION_TOOLTIPS = [
    MODE_TOOLTIP,
    number("tenth", "tenth"),
    percent("error_rate", "error rate"),
    percent("error_rate_low", "from"),
    percent("error_rate_high", "to"),
    number("errors", "errors"),
    number("judged", "known outcomes"),
]


def _error_dots(frame: pl.DataFrame, label: str, tooltip: list[Any]) -> alt.LayerChart:
    return dots(
        frame, label=label, rate="error_rate", events="errors", trials="judged", axis_title=_RATE, tooltip=tooltip
    )


def _lowest_to_highest(frame: pl.DataFrame) -> str:
    rated = frame.drop_nulls("error_rate").rows(named=True)
    if len(rated) > 1:
        return f"Error rate by environment: {_span(rated)}"
    if frame.height == 1:
        only = frame.row(0, named=True)
        return f"Calls that end in an error in the only environment: {rate(only['errors'], only['judged'])}"
    return "No environment has 20 known outcomes: errors are shown as counts"


def _span(rated: list[dict[str, Any]]) -> str:
    """The lowest and the highest of some rates."""
    low, high = (pick(rated, key=lambda r: r["error_rate"]) for pick in (min, max))
    ends = [rate(each["errors"], each["judged"]) for each in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _band(frame: pl.DataFrame) -> Chart:
    base = alt.Chart(frame).encode(
        x=alt.X("tenth:O", title="tenth of the trajectory's calls", axis=alt.Axis(labelAngle=0)),
        color=mode_colour(),
        tooltip=_POSITION_TOOLTIPS,
    )
    axis, scale = alt.Axis(format="%", title=_RATE), rate_scale(frame, "error_rate_high")
    area = base.mark_area(opacity=0.2).encode(
        y=alt.Y("error_rate_low:Q", axis=axis, scale=scale), y2="error_rate_high:Q"
    )
    line = base.mark_line(point=True).encode(y=alt.Y("error_rate:Q", axis=axis, scale=scale))
    return alt.layer(area, line)
