"""What a trajectory did, as one value: its calls with canonical arguments, in the order of messages."""

import polars as pl

from analysis.measures.calls import canonical_arguments

_CALL, _END = "\x1f", "\x1e"


def signatures(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Per trajectory its `signature`: the calls with canonical arguments.

    Copies call the same tools in the same order. Only trajectories that share as much have their arguments read, which
    is most of the work; for the others the names alone already tell them apart.
    """
    named = (
        _with_calls(trajectories, _by_trajectory(tool_calls, names=_name()), "names")
        .with_columns(calls=pl.col("names").list.len(), names=pl.col("names").list.join(_END))
        .with_columns(scenario=scenario_text())
        .filter(pl.col("scenario").is_not_null() | (pl.col("calls") > 0))
        .with_columns(is_shared=pl.len().over("env_id", "scenario", "names") > 1)
    )
    shared = tool_calls.join(named.filter("is_shared"), on="trajectory_id", how="semi")
    read = _by_trajectory(shared, sequence=_call()).with_columns(pl.col("sequence").list.join(_END))
    return named.join(read, on="trajectory_id", how="left", validate="1:1").with_columns(
        signature=pl.concat_str("names", pl.col("sequence").fill_null(""), separator=_END)
    )


def call_lists(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Per trajectory: `names`, the tools called, and `sequence`, the calls with canonical arguments, as lists."""
    return _with_calls(trajectories, _by_trajectory(tool_calls, names=_name(), sequence=_call()), "names", "sequence")


def _by_trajectory(tool_calls: pl.LazyFrame, **columns: pl.Expr) -> pl.LazyFrame:
    """Lists in the order of messages; calls of one message are a set, and stand in order of the alphabet."""
    return (
        tool_calls.select("trajectory_id", "message", **columns)
        .group_by("trajectory_id")
        .agg(pl.col(name).sort_by("message", name) for name in columns)
    )


def _with_calls(trajectories: pl.LazyFrame, calls: pl.LazyFrame, *lists: str) -> pl.LazyFrame:
    none = pl.lit([], pl.List(pl.String))
    return (
        trajectories.select("trajectory_id", "traj_type", "env_id", "task_id", "task")
        .join(calls, on="trajectory_id", how="left", validate="1:1")
        .with_columns(pl.col(*lists).fill_null(none))
    )


def scenario_text() -> pl.Expr:
    """Within an environment, what tells scenarios apart: the id, or the text where there is none."""
    return pl.coalesce("task_id", "task")


def _name() -> pl.Expr:
    return pl.col("tool_name").fill_null("")


def _call() -> pl.Expr:
    return pl.concat_str(_name(), canonical().fill_null(""), separator=_CALL)


def canonical() -> pl.Expr:
    """`arguments` in the one form in which all questions compare them."""
    return pl.col("arguments").map_batches(
        lambda texts: pl.Series([canonical_arguments(t or "") for t in texts], dtype=pl.String),
        return_dtype=pl.String,
        is_elementwise=True,
    )
