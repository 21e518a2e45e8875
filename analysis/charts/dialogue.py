"""Dialogue and termination, drawn: how records end, questions, user turns, first calls, and what the mode changes."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import MODE_TOOLTIP, mode_colour, number, percent
from analysis.charts.figure import figure
from analysis.charts.words import MODES, title
from analysis.measures.dialogue import (
    CALLS_PER_TURN,
    ENDS,
    FIRST_CALLS,
    PAIRED,
    PAIRED_QUANTITIES,
    QUESTIONS,
    USER_TURNS,
)
from analysis.schema import END_CLASSES
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate, signed


@figure(
    ENDS,
    definition="Trajectories by how the record ends, as a share of the mode's trajectories, with the 95 % Wilson "
    "interval. A completed marker is the agent's own word, not a success.",
)
def end_classes(frame: pl.DataFrame) -> Any:
    """End classes per mode."""
    rows = frame.sort("trajectories").rows(named=True)
    most = {r["traj_type"]: r for r in rows}
    found = {
        mode: f"{_words(most[mode])} ({rate(most[mode]['trajectories'], most[mode]['mode_trajectories'])})"
        for mode in MODES
        if mode in most
    }
    counts = {mode: f"{most[mode]['mode_trajectories']:,}" for mode in MODES if mode in most}
    sentence = f"Most records end with: {each_mode(found)}"
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("trajectory_share:Q", title="share of the mode's trajectories", axis=alt.Axis(format="%")),
            y=alt.Y(
                "end_class:N",
                title=None,
                sort=list(END_CLASSES),
                axis=alt.Axis(labelExpr="replace(datum.label, /_/g, ' ')"),
            ),
            yOffset="traj_type:N",
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                alt.Tooltip("end_class:N", title="ends with"),
                percent("trajectory_share", "share"),
                percent("trajectory_share_low", "from"),
                percent("trajectory_share_high", "to"),
                number("trajectories", "trajectories"),
                number("mode_trajectories", "of"),
            ],
        )
        .properties(
            title=title(sentence, f"n = trajectories: {each_mode(counts)}"),
            description=sentence,
            width="container",
            height=alt.Step(16),
        )
    )


@figure(
    QUESTIONS,
    definition="At each step, the share of conversations whose assistant message ends in a question and makes no call, "
    "with the 95 % Wilson interval over the conversations that reach the step; counts where under 20 do.",
)
def questions_by_step(frame: pl.DataFrame) -> Any:
    """Share of questions along the steps of conversations."""
    rows = frame.rows(named=True)
    questions, messages = sum(r["questions"] for r in rows), sum(r["assistant_messages"] for r in rows)
    first = rows[0]
    sentence = (
        f"The agent asks in {rate(questions, messages)} of its messages, and in "
        f"{rate(first['questions'], first['assistant_messages'])} of the first ones"
    )
    tooltip = [
        number("step", "step"),
        percent("question_share", "questions"),
        percent("question_share_low", "from"),
        percent("question_share_high", "to"),
        number("questions", "questions"),
        number("assistant_messages", "conversations that reach it"),
    ]
    base = alt.Chart(frame).encode(x=alt.X("step:Q", title="assistant message of the conversation"), tooltip=tooltip)
    axis = alt.Axis(format="%", title="messages that are a question")
    scale = alt.Scale(domain=[0, max(0.05, *(r["question_share_high"] or 0 for r in rows))])
    band = base.mark_area(opacity=0.18, color=theme.PALETTE[0]).encode(
        y=alt.Y("question_share_low:Q", axis=axis, scale=scale), y2="question_share_high:Q"
    )
    line = base.mark_line(point=True, color=theme.PALETTE[0]).encode(
        y=alt.Y("question_share:Q", axis=axis, scale=scale)
    )
    counts = (
        base.transform_filter("datum.question_share === null")
        .transform_calculate(counted="datum.questions + '/' + datum.assistant_messages")
        .mark_text(fontSize=9, angle=270, align="left", dx=4)
        .encode(y=alt.YDatum(0, axis=axis, scale=scale), text="counted:N")
    )
    return alt.layer(band, line, counts).properties(
        title=title(
            sentence,
            f"n = {messages:,} assistant messages of conversations; the publisher kept 5 to 39 a conversation",
        ),
        description=sentence,
        width="container",
        height=240,
    )


@figure(
    USER_TURNS,
    definition="Conversations by their number of user messages, the task and the closing message included.",
)
def user_turns(frame: pl.DataFrame) -> Any:
    """Number of user turns of conversations."""
    rows = frame.rows(named=True)
    n = rows[0]["mode_trajectories"]
    mean = sum(r["user_turns"] * r["trajectories"] for r in rows) / n
    sentence = f"A conversation has {mean:.2f} user messages in the mean"
    return (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X("user_turns:O", title="user messages of a conversation", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("trajectory_share:Q", title="share of conversations", axis=alt.Axis(format="%")),
            tooltip=[
                number("user_turns", "user messages"),
                number("trajectories", "conversations"),
                percent("trajectory_share", "share"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {count(n, 'conversation')}"),
            description=sentence,
            width="container",
            height=220,
        )
    )


@figure(
    CALLS_PER_TURN,
    definition="User turns of conversations by the number of calls the agent makes before the user speaks again; a "
    "closing message that no assistant message follows is not counted.",
)
def calls_per_user_turn(frame: pl.DataFrame) -> Any:
    """Calls between one user turn and the next."""
    rows = frame.rows(named=True)
    none = sum(r["user_turns"] for r in rows if r["calls"] == 0)
    n = rows[0]["all_user_turns"]
    sentence = (
        f"A user turn costs {rows[0]['mean_calls']:.2f} calls in the mean; {rate(none, n)} are answered without a call"
    )
    return (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X("calls:O", title="calls before the user speaks again", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("user_turn_share:Q", title="share of user turns", axis=alt.Axis(format="%")),
            tooltip=[
                number("calls", "calls"),
                number("user_turns", "user turns"),
                percent("user_turn_share", "share"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {n:,} user turns that were answered"),
            description=sentence,
            width="container",
            height=220,
        )
    )


@figure(
    FIRST_CALLS,
    definition="Share of the mode's trajectories that have made their first call by a step; the rest of the way to "
    "100 % makes no call at all.",
)
def first_calls(frame: pl.DataFrame) -> Any:
    """When the first call comes, as a cumulative share."""
    rows = frame.rows(named=True)
    at_once = {r["traj_type"]: rate(r["trajectories"], r["mode_trajectories"]) for r in rows if r["step"] == 1}
    counts = {r["traj_type"]: f"{r['mode_trajectories']:,}" for r in rows}
    sentence = (
        f"The first message already calls a tool in {each_mode(at_once)}"
        if at_once
        else ("No trajectory calls a tool in its first message")
    )
    never = sum(r["trajectories"] for r in rows if r["step"] == 0)
    return (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", point=True)
        .encode(
            x=alt.X(
                "step:Q",
                title="assistant message that makes the first call (0: none does)",
                axis=alt.Axis(tickMinStep=1),
            ),
            y=alt.Y(
                "cumulative_share:Q",
                title="trajectories with a call by then",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("step", "step"),
                number("trajectories", "first call here"),
                percent("trajectory_share", "share"),
                percent("cumulative_share", "by this step"),
            ],
        )
        .properties(
            title=title(sentence, f"n = trajectories: {each_mode(counts)}; {never:,} never call"),
            description=sentence,
            width="container",
            height=240,
        )
    )


@figure(
    PAIRED,
    definition="Conversation minus run without a user on the same scenario, averaged over scenarios run in both modes, "
    "with its bootstrap interval over scenarios. Descriptive: more steps or failed calls are no worse work.",
)
def paired_difference(frame: pl.DataFrame) -> Any:
    """Mean difference between the modes on the same scenario, with its interval."""
    rows = {r["quantity"]: r for r in frame.rows(named=True)}
    steps, calls = rows["assistant messages"], rows["tool calls"]
    n = steps["scenarios"]
    sentence = (
        f"On the same scenario a conversation takes {signed(steps['difference'])} assistant messages and "
        f"{signed(calls['difference'])} calls"
    )
    base = alt.Chart(frame).encode(
        y=alt.Y("quantity:N", title=None, sort=list(PAIRED_QUANTITIES.values()), axis=alt.Axis(labelLimit=200)),
        tooltip=[
            alt.Tooltip("quantity:N"),
            alt.Tooltip("difference:Q", format="+.2f"),
            alt.Tooltip("difference_low:Q", title="from", format="+.2f"),
            alt.Tooltip("difference_high:Q", title="to", format="+.2f"),
            alt.Tooltip("conversation_mean:Q", title="as a conversation", format=".2f"),
            alt.Tooltip("non_conversation_mean:Q", title="without a user", format=".2f"),
            number("higher_scenarios", "scenarios with more"),
            number("lower_scenarios", "scenarios with less"),
        ],
    )
    axis = alt.Axis(title="conversation - without a user, per trajectory")
    zero = alt.Chart(frame).mark_rule(color="#999999", strokeDash=[4, 3]).encode(x=alt.datum(0))
    interval = base.mark_rule(strokeWidth=2, color=theme.PALETTE[0]).encode(
        x=alt.X("difference_low:Q", axis=axis), x2="difference_high:Q"
    )
    points = base.mark_point(filled=True, size=80, color=theme.PALETTE[0]).encode(x=alt.X("difference:Q", axis=axis))
    return alt.layer(zero, interval, points).properties(
        title=title(sentence, f"n = {count(n, 'scenario')} run in both modes"),
        description=sentence,
        width="container",
        height=alt.Step(30),
    )


def _words(row: dict[str, Any]) -> str:
    return str(row["end_class"]).replace("_", " ")
