"""Dialogue and endings: how records end, how often the agent asks, what a user turn costs, what a mode changes."""

import polars as pl

from analysis.measures.bootstrap import mean_interval
from analysis.measures.calls import rate_columns
from analysis.measures.clusters import counted, placed, shares
from analysis.measures.expressions import scenario
from analysis.measures.intervals import clustered_rate
from analysis.schema import END_CLASSES, TRAJECTORIES, Column, Table

_TRAJ_TYPE = TRAJECTORIES["traj_type"]
_TRAJECTORIES = Column("trajectories", pl.UInt32(), "trajectories counted", unit="trajectories")
_MODE_TRAJECTORIES = Column("mode_trajectories", pl.UInt32(), "trajectories of the mode", unit="trajectories")

# What agent or user close a record with, and what no record is meant to end on.
MARKERS = ("completed_marker", "failed_marker", "stop_marker")
BROKEN = ("dangling_call", "ends_on_result", "exception", "step_cap", "empty")

ENDS = Table(
    "dialogue_ends",
    "mode and end class",
    (
        _TRAJ_TYPE,
        Column("end_class", pl.Enum(END_CLASSES), "how the record ends"),
        _TRAJECTORIES,
        _MODE_TRAJECTORIES,
        Column("trajectory_share", pl.Float64(), "of the mode's trajectories"),
        *rate_columns("trajectory_share", "of the mode's trajectories")[1:],
    ),
    key=("traj_type", "end_class"),
)

CLARIFICATION = Table(
    "dialogue_clarification",
    "all conversations together",
    (
        Column("conversations", pl.UInt32(), "conversations", unit="trajectories"),
        Column("asking_conversations", pl.UInt32(), "conversations in which the agent asks", unit="trajectories"),
        Column("assistant_messages", pl.UInt32(), "their assistant messages", unit="messages"),
        Column("text_messages", pl.UInt32(), "of these, without a call", unit="messages"),
        Column("questions", pl.UInt32(), "of these, ending in a question", unit="messages"),
        *rate_columns("clarification_rate", "questions over assistant messages"),
        Column("questions_before_calls", pl.UInt32(), "questions before the first call", unit="messages"),
    ),
)

QUESTIONS = Table(
    "dialogue_questions",
    "step",
    (
        Column("step", pl.UInt32(), "assistant message, from 1", unit="assistant messages"),
        Column("assistant_messages", pl.UInt32(), "conversations that reach this step", unit="messages"),
        Column("questions", pl.UInt32(), "of these, a question without a call", unit="messages"),
        Column("text_messages", pl.UInt32(), "of these, without a call", unit="messages"),
        *rate_columns("question_share", "questions over the messages at this step"),
    ),
    key=("step",),
)

USER_TURNS = Table(
    "dialogue_user_turns",
    "number of user turns",
    (
        Column(
            "user_turns", pl.UInt32(), "user messages of the conversation, the closing one included", unit="messages"
        ),
        _TRAJECTORIES,
        _MODE_TRAJECTORIES,
        Column("trajectory_share", pl.Float64(), "of the conversations"),
    ),
    key=("user_turns",),
)

CALLS_PER_TURN = Table(
    "dialogue_calls_per_turn",
    "number of calls",
    (
        Column("calls", pl.UInt32(), "calls between a user turn and the next", unit="calls"),
        Column("user_turns", pl.UInt32(), "user turns answered with that many calls", unit="user turns"),
        Column("all_user_turns", pl.UInt32(), "user turns that were answered", unit="user turns"),
        Column("user_turn_share", pl.Float64(), "of the user turns that were answered"),
        Column("mean_calls", pl.Float64(), "calls per answered user turn, over all", unit="calls"),
    ),
    key=("calls",),
)

FIRST_CALLS = Table(
    "dialogue_first_calls",
    "mode and step of the first call",
    (
        _TRAJ_TYPE,
        Column("step", pl.UInt32(), "assistant message that makes the first call, from 1; 0 = no call at all"),
        _TRAJECTORIES,
        _MODE_TRAJECTORIES,
        Column("trajectory_share", pl.Float64(), "of the mode's trajectories"),
        Column("cumulative_share", pl.Float64(), "of the mode's trajectories, with a call at this step or before"),
    ),
    key=("traj_type", "step"),
)

PAIRED_QUANTITIES = {
    "assistant_messages": "assistant messages",
    "tool_calls": "tool calls",
    "tools_used": "distinct tools used",
    "user_messages": "user messages",
    "call_errors": "calls that failed",
}
PAIRED = Table(
    "dialogue_paired",
    "quantity",
    (
        Column("quantity", pl.Enum(list(PAIRED_QUANTITIES.values())), "what is compared, per trajectory"),
        Column("scenarios", pl.UInt32(), "scenarios run in both modes", unit="scenarios"),
        Column("conversation_mean", pl.Float64(), "mean over these scenarios, as a conversation"),
        Column("non_conversation_mean", pl.Float64(), "mean over these scenarios, without a user"),
        Column("difference", pl.Float64(), "conversation - non_conversation, mean over scenarios"),
        Column("difference_low", pl.Float64(), "95 % interval, bootstrap over scenarios", nullable=True),
        Column("difference_high", pl.Float64(), "95 % interval, bootstrap over scenarios", nullable=True),
        Column("higher_scenarios", pl.UInt32(), "scenarios where the conversation has more", unit="scenarios"),
        Column("lower_scenarios", pl.UInt32(), "scenarios where the conversation has less", unit="scenarios"),
    ),
    key=("quantity",),
)


def end_classes(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count how records end, per mode.

    Args:
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, end_class) that occurs, most frequent first, conforming to ENDS; shares sum to 1 per
        mode, their interval is null over fewer than 20 trajectories.
    """
    n, of = pl.col("trajectories"), pl.col("mode_trajectories")
    names = ("trajectories", "mode_trajectories", "trajectory_share")
    ended = shares(placed(trajectories, trajectories), ["traj_type"], "end_class", names)
    return ENDS.select(
        ended.with_columns(trajectory_share=n / of).sort(
            "traj_type", "trajectories", "end_class", descending=[False, True, False]
        )
    )


def clarification(messages: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count the agent's questions in conversations.

    A question is an assistant text that ends in a question and makes no call.

    Args:
        messages: conforms to MESSAGES.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row, conforming to CLARIFICATION; none without conversations. The rate is null over fewer than 20 messages.
    """
    asked = pl.col("is_question")
    first_call = pl.col("message").filter(pl.col("tool_calls") > 0).min()
    per_trajectory = (
        messages.filter(pl.col("role") == "assistant")
        .group_by("trajectory_id")
        .agg(
            assistant_messages=pl.len(),
            text_messages=(pl.col("tool_calls") == 0).sum(),
            questions=asked.sum(),
            questions_before_calls=(asked & (pl.col("message") < first_call).fill_null(True)).sum(),
        )
    )
    conversations = (
        trajectories.filter(pl.col("traj_type") == "conversation")
        .select("trajectory_id", scenario=scenario())
        .join(per_trajectory, on="trajectory_id", validate="1:1")
    )
    sums = ("assistant_messages", "text_messages", "questions", "questions_before_calls")
    by_scenario = conversations.group_by("scenario").agg(
        pl.len().alias("conversations"),
        (pl.col("questions") > 0).sum().alias("asking_conversations"),
        pl.col(sums).sum(),
    )
    counted = (
        by_scenario.sort("scenario")
        .select(
            pl.col("conversations", "asking_conversations", *sums).sum(),
            **clustered_rate(pl.col("questions"), pl.col("assistant_messages"), "clarification_rate"),
        )
        .filter(pl.col("assistant_messages") > 0)
    )
    return CLARIFICATION.select(counted)


def questions_by_step(messages: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Follow the agent's questions along the steps of conversations.

    Args:
        messages: conforms to MESSAGES.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per step some conversation reaches, conforming to QUESTIONS; the share is null over fewer than 20.
    """
    spoken = messages.filter(pl.col("role") == "assistant").join(
        _conversations(trajectories), on="trajectory_id", how="semi"
    )
    counts = {
        "assistant_messages": pl.len(),
        "questions": pl.col("is_question").sum(),
        "text_messages": (pl.col("tool_calls") == 0).sum(),
    }
    rates = {"question_share": ("questions", "assistant_messages")}
    return QUESTIONS.select(counted(placed(spoken, trajectories), ["step"], counts, rates).sort("step"))


def user_turns(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count the user messages of conversations.

    Args:
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per number of user messages that occurs, conforming to USER_TURNS; shares sum to 1.
    """
    counted = (
        _conversations(trajectories)
        .group_by(user_turns="user_messages")
        .agg(trajectories=pl.len())
        .with_columns(mode_trajectories=pl.col("trajectories").sum())
        .with_columns(trajectory_share=pl.col("trajectories") / pl.col("mode_trajectories"))
    )
    return USER_TURNS.select(counted.sort("user_turns"))


def calls_per_user_turn(messages: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count the calls the agent makes between a user's message and the next.

    Args:
        messages: conforms to MESSAGES.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per number of calls that occurs, conforming to CALLS_PER_TURN. Only user turns of conversations that an
        assistant message follows are counted: the closing message expects no answer.
    """
    is_user = pl.col("role") == "user"
    counted = (
        messages.join(_conversations(trajectories), on="trajectory_id", how="semi")
        .sort("trajectory_id", "message")
        .with_columns(turn=is_user.cast(pl.UInt32).cum_sum().over("trajectory_id"))
        .filter(pl.col("turn") > 0)
        .group_by("trajectory_id", "turn")
        .agg(calls=pl.col("tool_calls").sum(), is_answered=(pl.col("role") == "assistant").any())
        .filter("is_answered")
        .group_by("calls")
        .agg(user_turns=pl.len())
        .with_columns(all_user_turns=pl.col("user_turns").sum())
        .with_columns(
            user_turn_share=pl.col("user_turns") / pl.col("all_user_turns"),
            mean_calls=(pl.col("calls") * pl.col("user_turns")).sum() / pl.col("all_user_turns"),
        )
    )
    return CALLS_PER_TURN.select(counted.sort("calls"))


def first_calls(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Find the step of the first call.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, step) that occurs, conforming to FIRST_CALLS; step 0 stands for no call at all and has a
        cumulative share of 0.
    """
    n = pl.col("trajectories")
    has_call = pl.when(pl.col("step") > 0).then(n).otherwise(0)
    found = (
        trajectories.select("trajectory_id", "traj_type")
        .join(tool_calls.group_by("trajectory_id").agg(pl.col("step").min()), on="trajectory_id", how="left")
        .with_columns(pl.col("step").fill_null(0))
        .group_by("traj_type", "step")
        .agg(trajectories=pl.len())
        .sort("traj_type", "step")
        .with_columns(mode_trajectories=n.sum().over("traj_type"))
        .with_columns(
            trajectory_share=n / pl.col("mode_trajectories"),
            cumulative_share=has_call.cum_sum().over("traj_type") / pl.col("mode_trajectories"),
        )
    )
    return FIRST_CALLS.select(found)


def paired_difference(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame, *, seed: int = 0) -> pl.LazyFrame:
    """Compare the two modes on the scenarios that were run in both.

    Runs of one scenario in one mode are averaged first, so that a scenario counts once; the interval is a bootstrap
    over scenarios.

    Args:
        trajectories: conforms to TRAJECTORIES.
        tool_calls: conforms to TOOL_CALLS.
        seed: of the bootstrap.

    Returns:
        One row per quantity, in the order of PAIRED_QUANTITIES, conforming to PAIRED; none where no scenario was run in
        both modes. Descriptive: more steps or errors are not worse work.
    """
    errors = tool_calls.filter(pl.col("outcome") == "error").group_by("trajectory_id").agg(call_errors=pl.len())
    means = (
        trajectories.filter(pl.col("task_id").is_not_null())
        .join(errors, on="trajectory_id", how="left", validate="1:1")
        .with_columns(pl.col("call_errors").fill_null(0))
        .group_by("env_id", "task_id", "traj_type")
        .agg(pl.col(*PAIRED_QUANTITIES).cast(pl.Float64).mean())
        .unpivot(index=["env_id", "task_id", "traj_type"], variable_name="column", value_name="mean")
    )
    keys = ["env_id", "task_id", "column"]
    talk = means.filter(pl.col("traj_type") == "conversation").select(*keys, conversation="mean")
    solo = means.filter(pl.col("traj_type") == "non_conversation").select(*keys, non_conversation="mean")
    change = pl.col("conversation") - pl.col("non_conversation")
    compared = (
        talk.join(solo, on=keys, nulls_equal=True, validate="1:1")
        .with_columns(change=change)
        .sort("env_id", "task_id")
        .group_by("column", maintain_order=True)
        .agg(
            scenarios=pl.len(),
            conversation_mean=pl.col("conversation").mean(),
            non_conversation_mean=pl.col("non_conversation").mean(),
            difference=pl.col("change").mean(),
            interval=mean_interval(pl.col("change"), seed),
            higher_scenarios=(pl.col("change") > 0).sum(),
            lower_scenarios=(pl.col("change") < 0).sum(),
        )
        .with_columns(
            quantity=pl.col("column").replace_strict(PAIRED_QUANTITIES, return_dtype=PAIRED["quantity"].dtype),
            difference_low=pl.col("interval").list.first(),
            difference_high=pl.col("interval").list.last(),
        )
    )
    return PAIRED.select(compared.sort("quantity"))


def _conversations(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    return trajectories.filter(pl.col("traj_type") == "conversation")
