"""Recovery: what follows an error. A recovered error is a positive training signal, not dirt."""

import polars as pl

from analysis.measures.calls import argument_key, rate_columns, tool_key, trajectory_key
from analysis.measures.clusters import counted, placed, shares
from analysis.schema import TOOL_CALLS, Column, Table

_TRAJ_TYPE = TOOL_CALLS["traj_type"]
_ERRORS = Column("errors", pl.UInt32(), "errors of calls that name a tool", unit="calls")
_MODE_ERRORS = Column("mode_errors", pl.UInt32(), "the mode's errors of calls that name a tool", unit="calls")
_RECOVERED = Column("recovered", pl.UInt32(), "errors after which a call of the same tool is ok", unit="calls")
_RECOVERED_RATE = rate_columns("recovered_rate", "recovered over errors")
_EPISODES = Column(
    "episodes", pl.UInt32(), "errors of one tool until it is ok again or the trajectory ends", unit="episodes"
)

# What the agent's next call is.
RESPONSES = ("identical_retry", "same_tool", "other_tool", "no_further_call")
# Later recoveries are rare.
LONGEST_LATENCY = 10

SUMMARY = Table(
    "recovery_summary",
    "mode",
    (
        _TRAJ_TYPE,
        _ERRORS,
        _RECOVERED,
        *_RECOVERED_RATE,
        Column("identical_retries", pl.UInt32(), "errors whose next call repeats it", unit="calls"),
        *rate_columns("retry_rate", "identical retries over errors"),
        _EPISODES,
        Column("recovered_episodes", pl.UInt32(), "episodes that end with an ok of the tool", unit="episodes"),
        Column(
            "median_latency",
            pl.UInt32(),
            "calls within which half the episodes are recovered; null where fewer are",
            unit="calls",
            nullable=True,
        ),
        Column("unnamed_errors", pl.UInt32(), "errors of blocks that name no tool, left out", unit="calls"),
    ),
    key=("traj_type",),
)

NEXT_CALLS = Table(
    "recovery_next_calls",
    "mode and kind of the next call after an error",
    (
        _TRAJ_TYPE,
        Column("response", pl.Enum(RESPONSES), "the call after the error, against the one that failed"),
        _ERRORS,
        _MODE_ERRORS,
        *rate_columns("response_rate", "of the mode's errors"),
        _RECOVERED,
        *_RECOVERED_RATE,
    ),
    key=("traj_type", "response"),
)

LATENCIES = Table(
    "recovery_latencies",
    "mode and calls until the same tool is ok",
    (
        _TRAJ_TYPE,
        Column("latency", pl.UInt32(), "calls from an episode's first error to the ok", unit="calls"),
        Column("recovered", pl.UInt32(), "episodes recovered after just as many calls", unit="episodes"),
        Column("open", pl.UInt32(), "episodes neither recovered sooner nor ended with fewer calls", unit="episodes"),
        Column("cumulative_share", pl.Float64(), "episodes recovered by then, had no trajectory ended before"),
        Column("mode_episodes", pl.UInt32(), "the mode's episodes", unit="episodes"),
        Column("mode_recovered", pl.UInt32(), "the mode's episodes that are recovered at all", unit="episodes"),
    ),
    key=("traj_type", "latency"),
)

RUNS = Table(
    "recovery_runs",
    "mode and length of the longest run of errors",
    (
        _TRAJ_TYPE,
        Column("longest_run", pl.UInt32(), "consecutive errors, the longest run of the trajectory", unit="calls"),
        Column("trajectories", pl.UInt32(), "trajectories with that longest run", unit="trajectories"),
        Column("mode_trajectories", pl.UInt32(), "trajectories of the mode with a call", unit="trajectories"),
        Column("trajectory_share", pl.Float64(), "of the mode's trajectories with a call"),
    ),
    key=("traj_type", "longest_run"),
)

TOOLS = Table(
    "recovery_by_tool",
    "tool",
    (TOOL_CALLS["env_id"], TOOL_CALLS["tool_name"], _ERRORS, _RECOVERED, *_RECOVERED_RATE),
    key=("env_id", "tool_name"),
)


def summary(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Say how many errors are recovered, how soon, and how many are retried unchanged.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per traj_type with an error, conforming to SUMMARY.
    """
    is_named = pl.col("tool_name").is_not_null()
    errors = _errors(tool_calls).cache()
    counts = {
        "errors": is_named.sum(),
        "recovered": pl.col("ok_call").filter(is_named).count(),
        "identical_retries": (pl.col("response").filter(is_named) == "identical_retry").sum(),
        "unnamed_errors": (~is_named).sum(),
    }
    rates = {"recovered_rate": ("recovered", "errors"), "retry_rate": ("identical_retries", "errors")}
    episodes = _episodes(errors.filter(is_named), tool_calls).cache()
    sizes = episodes.group_by("traj_type").agg(episodes=pl.len(), recovered_episodes=pl.col("is_recovered").sum())
    half = _followed(episodes).filter(pl.col("cumulative_share") >= 0.5).group_by("traj_type")
    modes = (
        counted(placed(errors, trajectories), ["traj_type"], counts, rates)
        .join(sizes, on="traj_type", how="left", validate="1:1")
        .join(half.agg(median_latency=pl.col("latency").min()), on="traj_type", how="left", validate="1:1")
        .with_columns(pl.col("episodes", "recovered_episodes").fill_null(0))
    )
    return SUMMARY.select(modes.sort("traj_type"))


def next_calls(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Say what the agent does next after an error, and how often that recovers it.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per (traj_type, response) that occurs, conforming to NEXT_CALLS. What comes next is the next message
        that makes a call: identical_retry where one of its calls has the same name and canonical arguments, same_tool
        where one has the name. Errors sum to mode_errors.
    """
    errors = placed(_named_errors(tool_calls), trajectories).cache()
    by = ["traj_type", "response"]
    recovered = counted(
        errors,
        by,
        {"errors": pl.len(), "recovered": pl.col("ok_call").count()},
        {"recovered_rate": ("recovered", "errors")},
    ).drop("errors")
    responses = shares(errors, ["traj_type"], "response", ("errors", "mode_errors", "response_rate"))
    return NEXT_CALLS.select(responses.join(recovered, on=by, validate="1:1").sort(by))


def latencies(tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Count the calls from an episode's first error to the call of the same tool that is ok.

    Errors of a tool without an ok of it between them are one episode. A trajectory that ends before an ok says only how
    long none came: the share recovered by then is Kaplan and Meier's. Source: E. L. Kaplan and P. Meier (1958),
    Nonparametric estimation from incomplete observations.

    Args:
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row per (traj_type, latency) that occurs, up to LONGEST_LATENCY calls, conforming to LATENCIES.
    """
    followed = _followed(_episodes(_named_errors(tool_calls), tool_calls))
    return LATENCIES.select(followed.filter(pl.col("latency") <= LONGEST_LATENCY))


def runs(tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Count trajectories by their longest run of consecutive errors.

    Args:
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row per (traj_type, longest_run) that occurs, 0 for trajectories without an error, conforming to RUNS;
        shares sum to 1 per mode. Unreadable blocks count; an unknown outcome ends a run.
    """
    # Without a group per run: where an error stands in its trajectory minus where the last non-error stood.
    is_error = pl.col("outcome") == "error"
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    starts = pl.col("key").ne_missing(pl.col("key").shift(1))
    before = pl.when(~is_error).then(row).when(starts).then(row - 1).forward_fill()
    longest = (
        tool_calls.select("traj_type", "outcome", "call", key=trajectory_key())
        .sort("key", "call")
        .with_columns(run=pl.when(is_error).then(row - before).otherwise(0))
        .group_by("key")
        .agg(pl.col("traj_type").first(), longest_run=pl.col("run").max())
        .group_by("traj_type", "longest_run")
        .agg(trajectories=pl.len())
        .with_columns(mode_trajectories=pl.col("trajectories").sum().over("traj_type"))
        .with_columns(trajectory_share=pl.col("trajectories") / pl.col("mode_trajectories"))
    )
    return RUNS.select(longest.sort("traj_type", "longest_run"))


def by_tool(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None, *, top: int = 20) -> pl.LazyFrame:
    """Count errors and recoveries of the tools with most errors.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.
        top: tools kept.

    Returns:
        One row per (env_id, tool_name) with an error, most errors first, conforming to TOOLS.
    """
    by = ["env_id", "tool_name"]
    tools = (
        counted(
            placed(_named_errors(tool_calls), trajectories),
            by,
            {"errors": pl.len(), "recovered": pl.col("ok_call").count()},
            {"recovered_rate": ("recovered", "errors")},
        )
        .sort("errors", *by, descending=[True, False, False], nulls_last=True)
        .head(top)
    )
    return TOOLS.select(tools)


def _episodes(errors: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """`traj_type`, `is_recovered` and `latency` of every episode: to the ok, or to the trajectory's last call."""
    last = tool_calls.group_by(key=trajectory_key()).agg(last_call=pl.col("call").max())
    return (
        errors.group_by("traj_type", "key", "tool", "ok_call")
        .agg(pl.col("call").min())
        .join(last, on="key", validate="m:1")
        .select(
            "traj_type",
            is_recovered=pl.col("ok_call").is_not_null(),
            latency=pl.coalesce("ok_call", "last_call") - pl.col("call"),
        )
    )


def _followed(episodes: pl.LazyFrame) -> pl.LazyFrame:
    """Rows of LATENCIES at every number of calls after which an episode is recovered."""
    recovered, ended = pl.col("recovered"), pl.col("ended")
    return (
        episodes.group_by("traj_type", "latency")
        .agg(recovered=pl.col("is_recovered").sum(), ended=pl.len())
        .sort("traj_type", "latency")
        .with_columns(
            open=ended.cum_sum(reverse=True).over("traj_type"),
            mode_episodes=ended.sum().over("traj_type"),
            mode_recovered=recovered.sum().over("traj_type"),
        )
        .with_columns(cumulative_share=1 - (1 - recovered / pl.col("open")).cum_prod().over("traj_type"))
        .filter(recovered > 0)
    )


def _named_errors(tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    return _errors(tool_calls).filter(pl.col("tool_name").is_not_null())


def _errors(tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Errors with `ok_call`, the next ok of the same tool in the trajectory (null for none), and `response`.

    Calls of one message are made at once: an ok beside the error is no recovery, and no second call a retry.
    """
    calls = tool_calls.select(
        *("env_id", "traj_type", "tool_name", "arguments", "outcome", "call", "message"),
        key=trajectory_key(),
        tool=tool_key(),
    )
    errors = calls.filter(pl.col("outcome") == "error")
    return (
        errors.join(_next_oks(calls), on=["tool", "message"], how="left", validate="m:1")
        .join(_responses(calls, errors), on=["key", "call"], how="left", validate="1:1")
        .drop("arguments")
    )


def _next_oks(calls: pl.LazyFrame) -> pl.LazyFrame:
    """Per tool and message, the first call of the tool in a later message that is ok: `ok_call`."""
    is_ok = pl.col("outcome") == "ok"
    by_message = (
        calls.filter(pl.col("tool").is_not_null())
        .group_by("tool", "message")
        .agg(first_ok=pl.col("call").filter(is_ok).min())
        .sort("tool", "message")
    )
    # Filled backwards with the tool's key beside it, this needs no group: a neighbour's ok carries another key.
    return by_message.with_columns(
        ok_call=pl.col("first_ok").shift(-1).backward_fill(),
        ok_tool=pl.when(pl.col("first_ok").is_not_null()).then("tool").shift(-1).backward_fill(),
    ).select("tool", "message", ok_call=pl.when(pl.col("ok_tool") == pl.col("tool")).then("ok_call"))


def _key(column: str) -> pl.Expr:
    return argument_key(pl.col(column).fill_null("{}"))


def _responses(calls: pl.LazyFrame, errors: pl.LazyFrame) -> pl.LazyFrame:
    """Per error (key, call) its `response`: what the next message that makes a call does."""
    messages = calls.select("key", "message").unique().sort("key", "message")
    following = messages.with_columns(
        next_message=pl.when(pl.col("key") == pl.col("key").shift(-1)).then(pl.col("message").shift(-1))
    )
    failed = errors.join(following, on=["key", "message"], how="left", validate="m:1")
    # Only errors and what the same tool does next are made canonical: a few of the calls, as a rule.
    tried = (
        failed.join(
            calls.select("tool", "message", tried="arguments"),
            left_on=["tool", "next_message"],
            right_on=["tool", "message"],
            how="inner",
        )
        .with_columns(is_same=_key("arguments") == _key("tried"))
        .group_by("key", "call")
        .agg(pl.col("is_same").any())
    )
    return (
        failed.select("key", "call", "next_message")
        .join(tried, on=["key", "call"], how="left", validate="1:1")
        .select(
            "key",
            "call",
            response=pl.when(pl.col("next_message").is_null())
            .then(pl.lit("no_further_call"))
            .when(pl.col("is_same"))
            .then(pl.lit("identical_retry"))
            .when(pl.col("is_same").is_not_null())
            .then(pl.lit("same_tool"))
            .otherwise(pl.lit("other_tool"))
            .cast(pl.Enum(RESPONSES)),
        )
    )
