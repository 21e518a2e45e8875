"""Dialogue and endings, drawn: how records end, questions, user turns, first calls, and what the mode changes."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import (
    MODE_TOOLTIP,
    ends,
    mode_colour,
    number,
    percent,
    plain_axis,
    precise,
    share_axis,
)
from analysis.charts.figure import Drawn, figure
from analysis.charts.modes import counts_by_mode, each_mode, rate_by_mode
from analysis.charts.rates import points
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
from analysis.wording import count, decimal, more, rate, rate_of, words


@figure(
    ENDS,
    definition="Trajectories by how the record ends, as a share of the mode's trajectories, with the 95 % "
    "interval over scenarios. A completed marker is the agent's own word, not a success.",
    height=alt.Step(16),
)
def end_classes(frame: pl.DataFrame) -> Drawn:
    """End classes per mode."""
    commonest = frame.sort("trajectories", descending=True, maintain_order=True)
    spelled = alt.Axis(labelExpr="replace(datum.label, /_/g, ' ')")
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=share_axis(alt.X, "trajectory_share", "share of the mode's trajectories"),
            y=alt.Y("end_class:N", title=None, sort=list(END_CLASSES), axis=spelled),
            yOffset="traj_type:N",
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                alt.Tooltip("end_class:N", title="ends with"),
                percent("trajectory_share", "share"),
                *ends("trajectory_share"),
                number("trajectories", "trajectories"),
                number("mode_trajectories", "of"),
            ],
        )
    )
    ending = each_mode(
        commonest, lambda r: f"{words(r['end_class'])} ({rate(r['trajectories'], r['mode_trajectories'])})"
    )
    return Drawn(
        bars,
        f"The most common ending is {ending}",
        f"n = trajectories: {counts_by_mode(frame, 'mode_trajectories')}",
    )


@figure(
    QUESTIONS,
    definition="At each step, the share of conversations whose assistant message ends in a question and makes no call, "
    "with the 95 % interval over scenarios over the conversations that reach the step; counts where fewer than 20 do.",
)
def questions_by_step(frame: pl.DataFrame) -> Drawn:
    """Share of questions along the steps of conversations."""
    first, messages = frame.row(0, named=True), frame["assistant_messages"].sum()
    base = alt.Chart(frame).encode(x=alt.X("step:Q", title="step of the conversation"), tooltip=_QUESTION)
    scale = alt.Scale(domain=[0, max(0.05, *frame["question_share_high"].fill_null(0))])
    axis: dict[str, Any] = {"axis": alt.Axis(format="%", title="messages that are a question"), "scale": scale}
    band = base.mark_area(opacity=0.18, color=theme.PALETTE[0]).encode(
        y=alt.Y("question_share_low:Q", **axis), y2="question_share_high:Q"
    )
    line = base.mark_line(point=True, color=theme.PALETTE[0]).encode(y=alt.Y("question_share:Q", **axis))
    few = base.transform_filter("datum.question_share === null").transform_calculate(
        counted="datum.questions + '/' + datum.assistant_messages"
    )
    counts = few.mark_text(fontSize=9, angle=270, align="left", dx=4).encode(y=alt.YDatum(0, **axis), text="counted:N")
    return Drawn(
        alt.layer(band, line, counts),
        f"The agent asks a question in {rate_of(frame['questions'].sum(), messages, 'message')}, and in "
        f"{rate_of(first['questions'], first['assistant_messages'], 'first message')}",
        f"n = {count(messages, 'assistant message')} of conversations",
    )


_QUESTION = [
    number("step", "step"),
    percent("question_share", "questions"),
    *ends("question_share"),
    number("questions", "questions"),
    number("assistant_messages", "conversations that reach it"),
]


@figure(
    USER_TURNS,
    definition="Conversations by their number of user messages, including the task and the closing message.",
    height=220,
)
def user_turns(frame: pl.DataFrame) -> Drawn:
    """Number of user messages of conversations."""
    n = frame["mode_trajectories"][0]
    mean = (frame["user_turns"] * frame["trajectories"]).sum() / n
    bars = (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=plain_axis(alt.X, "user_turns", "user messages of a conversation"),
            y=share_axis(alt.Y, "trajectory_share", "share of conversations"),
            tooltip=[
                number("user_turns", "user messages"),
                number("trajectories", "conversations"),
                percent("trajectory_share", "share"),
            ],
        )
    )
    return Drawn(
        bars,
        f"A conversation has {decimal(mean, 2)} user messages on average",
        f"n = {count(n, 'conversation')}",
    )


@figure(
    CALLS_PER_TURN,
    definition="User turns of conversations by the number of calls the agent makes before the user writes again. A "
    "closing message that no assistant message follows does not count.",
    height=220,
)
def calls_per_user_turn(frame: pl.DataFrame) -> Drawn:
    """Calls between one user turn and the next."""
    first = frame.row(0, named=True)
    n, without = first["all_user_turns"], first["user_turns"] if first["calls"] == 0 else 0
    bars = (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=plain_axis(alt.X, "calls", "calls before the user writes again"),
            y=share_axis(alt.Y, "user_turn_share", "share of user turns"),
            tooltip=[
                number("calls", "calls"),
                number("user_turns", "user turns"),
                percent("user_turn_share", "share"),
            ],
        )
    )
    return Drawn(
        bars,
        f"A user turn takes {decimal(first['mean_calls'], 2)} calls on average; {rate(without, n)} need none",
        f"n = {count(n, 'user turn')} with an answer",
    )


@figure(
    FIRST_CALLS,
    definition="Share of the mode's trajectories that have made their first call by a step. The rest "
    "makes no call at all.",
)
def first_calls(frame: pl.DataFrame) -> Drawn:
    """When the first call comes, as a cumulative share."""
    is_first = pl.col("step") == 1
    never = frame.filter(step=0)["trajectories"].sum()
    steps = alt.Axis(tickMinStep=1)
    line = (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", point=True)
        .encode(
            x=alt.X("step:Q", title="step that makes the first call (0: none does)", axis=steps),
            y=share_axis(alt.Y, "cumulative_share", "trajectories with a call by then", is_whole=True),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("step", "step"),
                number("trajectories", "first call here"),
                percent("trajectory_share", "share"),
                percent("cumulative_share", "by this step"),
            ],
        )
    )
    at_once = rate_by_mode(frame, "trajectories", "mode_trajectories", is_first)
    return Drawn(
        line,
        f"Trajectories that call a tool in their first message: {at_once}"
        if frame.filter(is_first).height
        else "No trajectory calls a tool in its first message",
        f"n = trajectories: {counts_by_mode(frame, 'mode_trajectories')}; {count(never)} never call a tool",
    )


_PAIRED = [
    alt.Tooltip("quantity:N"),
    precise("difference", "difference", is_difference=True),
    precise("difference_low", "from", is_difference=True),
    precise("difference_high", "to", is_difference=True),
    precise("conversation_mean", "with user"),
    precise("non_conversation_mean", "without user"),
    number("higher_scenarios", "scenarios with more"),
    number("lower_scenarios", "scenarios with less"),
]


@figure(
    PAIRED,
    definition="With user minus without user on the same scenario, averaged over the scenarios in both modes, with a "
    "bootstrap interval over scenarios. Descriptive: more steps or failed calls are not worse work.",
    height=alt.Step(30),
)
def paired_difference(frame: pl.DataFrame) -> Drawn:
    """Mean difference between the modes on the same scenario, with its interval."""
    difference = dict(frame.select("quantity", "difference").iter_rows())
    quantities = alt.Y("quantity:N", title=None, sort=list(PAIRED_QUANTITIES.values()))
    base = alt.Chart(frame).encode(y=quantities, tooltip=_PAIRED)
    zero = alt.Chart(frame).mark_rule(color="#999999", strokeDash=[4, 3]).encode(x=alt.datum(0))
    axis = alt.Axis(title="with user minus without user, per trajectory")
    interval = points(base, alt.X, "difference", "difference_low", "difference_high", axis=axis)
    return Drawn(
        alt.layer(zero, interval),
        "On the same scenario a conversation takes "
        f"{more(difference['assistant messages'], 'assistant message')} and {more(difference['tool calls'], 'call')}",
        f"n = {count(frame['scenarios'][0], 'scenario')} in both modes",
    )
