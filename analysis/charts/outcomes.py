"""Outcomes of calls, drawn: rates with their intervals, never a ranking of quality."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import MODE_TOOLTIP, TOOL_TOOLTIPS, mode_colour, number, percent, tool_label
from analysis.charts.figure import figure
from analysis.charts.rates import dots, rate_scale
from analysis.charts.words import title
from analysis.measures.outcomes import ENVIRONMENTS, MODES, POSITIONS, RULES, TEMPLATES, TOOLS
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate

_RATE_TITLE = "errors / (ok + errors)"
_OUTCOMES = {"ok": theme.PALETTE[2], "errors": theme.PALETTE[5], "unknown": theme.PALETTE[7]}


@figure(
    MODES,
    definition="Error rate: errors over (ok + errors) with the 95 % Wilson interval; results that say neither are "
    "unknown and stand apart. Descriptive: fewer errors are no better work.",
)
def by_mode(frame: pl.DataFrame) -> Any:
    """Error rate per mode."""
    rows = frame.rows(named=True)
    sentence = "Calls end in an error: " + each_mode({r["traj_type"]: rate(r["errors"], r["judged"]) for r in rows})
    unknown = each_mode({r["traj_type"]: rate(r["unknown"], r["calls"]) for r in rows})
    judged = each_mode({r["traj_type"]: f"{r['judged']:,}" for r in rows})
    return dots(
        frame,
        label="datum.traj_type == 'conversation' ? 'conversations' : 'runs without a user'",
        rate="error_rate",
        events="errors",
        trials="judged",
        axis_title=_RATE_TITLE,
        tooltip=[MODE_TOOLTIP, percent("unknown_share", "unknown"), number("calls", "calls")],
    ).properties(
        title=title(sentence, f"n = calls judged: {judged}", f"unknown apart: {unknown} of all calls"),
        description=sentence,
        width="container",
        height=alt.Step(30),
    )


@figure(
    RULES,
    definition="The rule that decided each outcome, strongest first: the success key, an error key, a leading error "
    "text, a well-formed object without any of these, none. The error rate up to a rule leaves the weaker ones out.",
)
def by_rule(frame: pl.DataFrame) -> Any:
    """Outcomes by the rule that decided them."""
    rows = frame.rows(named=True)
    calls = sum(r["ok"] + r["errors"] + r["unknown"] for r in rows)
    most = max(rows, key=lambda r: r["call_share"])
    decided = most["ok"] + most["errors"] + most["unknown"]
    sentence = (
        f"No rule applies to {rate(decided, calls)} of the results: their outcome is unknown"
        if most["outcome_rule"] == "none"
        else f"Most outcomes follow from the rule “{most['outcome_rule'].replace('_', ' ')}”: {rate(decided, calls)}"
    )
    return (
        alt.Chart(frame)
        .transform_fold(list(_OUTCOMES), as_=["found", "number"])
        .transform_calculate(rule="replace(datum.outcome_rule, /_/g, ' ')")
        .mark_bar()
        .encode(
            y=alt.Y("rule:N", title=None, sort=None),
            x=alt.X("number:Q", title="calls", stack="zero"),
            color=alt.Color(
                "found:N", title=None, scale=alt.Scale(domain=list(_OUTCOMES), range=list(_OUTCOMES.values()))
            ),
            tooltip=[
                alt.Tooltip("rule:N"),
                alt.Tooltip("found:N", title="outcome"),
                number("number", "calls"),
                percent("call_share", "decided by the rule"),
                percent("cumulative_error_rate", "error rate up to this rule"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {count(calls, 'call')}"),
            description=sentence,
            width="container",
            height=alt.Step(24),
        )
    )


@figure(
    ENVIRONMENTS,
    definition="Error rate per environment, errors over (ok + errors), with the 95 % Wilson interval, in natural "
    "order; counts where fewer than 20 results were judged. It describes the environment's rules as much as the agent.",
)
def by_environment(frame: pl.DataFrame) -> Any:
    """Error rate per environment."""
    rows = frame.rows(named=True)
    known = [r for r in rows if r["error_rate"] is not None]
    low, high = (pick(known, key=lambda r: r["error_rate"]) if known else None for pick in (min, max))
    sentence = (
        f"The error rate runs from {rate(low['errors'], low['judged'])} ({low['env_id'] or 'no environment'}) to "
        f"{rate(high['errors'], high['judged'])} ({high['env_id'] or 'no environment'})"
        if low and high and len(known) > 1
        else f"One environment to show: {rate(rows[0]['errors'], rows[0]['judged'])} of its calls end in an error"
        if len(rows) == 1
        else "No environment has 20 judged results: errors are shown as counts"
    )
    judged = sum(r["judged"] for r in rows)
    return dots(
        frame,
        label="datum.env_id == null ? '(no environment)' : datum.env_id",
        rate="error_rate",
        events="errors",
        trials="judged",
        axis_title=_RATE_TITLE,
        tooltip=[alt.Tooltip("env_id:N", title="environment"), percent("unknown_share", "unknown")],
    ).properties(
        title=title(sentence, f"n = {count(judged, 'call')} judged in {count(len(rows), 'environment')}"),
        description=sentence,
        width="container",
        height=alt.Step(14),
    )


@figure(
    TOOLS,
    definition="Error rate of the tools with most errors, errors over (ok + errors), with the 95 % Wilson interval; "
    "counts where fewer than 20 results were judged.",
)
def by_tool(frame: pl.DataFrame) -> Any:
    """Error rate of the tools with most errors."""
    rows = frame.rows(named=True)
    first = rows[0]
    sentence = (
        f"{first['tool_name'] or 'Unreadable blocks'} meets most errors: "
        f"{first['errors']:,}, {rate(first['errors'], first['judged'])} of its calls judged"
    )
    return dots(
        frame,
        label=tool_label(frame),
        rate="error_rate",
        events="errors",
        trials="judged",
        axis_title=_RATE_TITLE,
        tooltip=[*TOOL_TOOLTIPS, number("unknown", "unknown")],
    ).properties(
        title=title(
            sentence,
            f"n = {count(sum(r['judged'] for r in rows), 'call')} judged, of the {len(rows)} tools with most errors",
        ),
        description=sentence,
        width="container",
        height=alt.Step(18),
    )


@figure(
    POSITIONS,
    definition="Error rate by place in the trajectory: the k-th of n calls stands in tenth floor(10 (k - 1) / n) + 1; "
    "the band is the 95 % Wilson interval.",
)
def by_position(frame: pl.DataFrame) -> Any:
    """Error rate along the trajectory, in tenths of its calls."""
    rows = [r for r in frame.rows(named=True) if r["error_rate"] is not None]
    modes = {r["traj_type"] for r in rows}
    peaks = {m: max((r for r in rows if r["traj_type"] == m), key=lambda r: r["error_rate"]) for m in sorted(modes)}
    sentence = (
        "Errors are most frequent in "
        + each_mode({m: f"tenth {r['tenth']} ({rate(r['errors'], r['judged'])})" for m, r in peaks.items()})
        if peaks
        else "No tenth of the trajectories has 20 judged results: there is no rate to show"
    )
    base = alt.Chart(frame).encode(
        x=alt.X("tenth:O", title="tenth of the trajectory's calls", axis=alt.Axis(labelAngle=0)),
        color=mode_colour(),
        tooltip=[
            MODE_TOOLTIP,
            number("tenth", "tenth"),
            percent("error_rate", "error rate"),
            percent("error_rate_low", "from"),
            percent("error_rate_high", "to"),
            number("errors", "errors"),
            number("judged", "judged"),
        ],
    )
    axis, scale = alt.Axis(format="%", title=_RATE_TITLE), rate_scale(frame, "error_rate_high")
    return alt.layer(
        base.mark_area(opacity=0.2).encode(y=alt.Y("error_rate_low:Q", axis=axis, scale=scale), y2="error_rate_high:Q"),
        base.mark_line(point=True).encode(y=alt.Y("error_rate:Q", axis=axis, scale=scale)),
    ).properties(
        title=title(sentence, f"n = {count(int(frame.get_column('judged').sum()), 'call')} judged"),
        description=sentence,
        width="container",
        height=240,
    )


@figure(
    TEMPLATES,
    definition="Error texts grouped after folding times, ids (words that hold a digit) and numbers; the most frequent.",
)
def templates(frame: pl.DataFrame) -> Any:
    """The most frequent error messages, ids and numbers folded."""
    rows = frame.rows(named=True)
    first = rows[0]
    shown, n = sum(r["errors"] for r in rows), first["all_errors"]
    sentence = (
        f"{'One message makes' if len(rows) == 1 else f'{len(rows)} messages make'} up {rate(shown, n)} of the errors; "
        f"the first {rate(first['errors'], n)}"
    )
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            y=alt.Y("template:N", title=None, sort=None, axis=alt.Axis(labelLimit=360)),
            x=alt.X("errors:Q", title="errors", axis=alt.Axis(tickMinStep=1)),
            tooltip=[
                alt.Tooltip("template:N", title="message, folded"),
                alt.Tooltip("example:N", title="for example"),
                number("errors", "errors"),
                percent("error_share", "of all errors"),
                number("trajectories", "trajectories"),
                number("tools", "tools"),
                number("environments", "environments"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {count(n, 'error')}"),
            description=sentence,
            width="container",
            height=alt.Step(18),
        )
    )
