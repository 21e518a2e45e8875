"""What can be chosen by: one row a trajectory, with the tools it called and how many of its calls failed."""

import polars as pl

from analysis.schema import TRAJECTORIES, Column, Table

RUNS = Table(
    "runs",
    "trajectory, with what it can be chosen by",
    (
        *TRAJECTORIES,
        Column("errors", pl.UInt32(), "calls whose result is an error", unit="calls"),
        Column("findings", pl.UInt32(), "breaches of the contract in the record", unit="findings"),
        Column("tools_called", pl.List(pl.String), "distinct tools called, by name"),
    ),
    key=("trajectory_id",),
)


def runs(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame, findings: pl.LazyFrame) -> pl.LazyFrame:
    """The trajectories with what a person chooses them by.

    Args:
        trajectories: conforms to TRAJECTORIES.
        tool_calls: conforms to TOOL_CALLS.
        findings: conforms to FINDINGS.

    Returns:
        The rows of `trajectories` by trajectory_id, with
            errors        UInt32        calls whose outcome is error
            findings      UInt32        breaches of the contract
            tools_called  List(String)  distinct names called, sorted; calls without a readable name left out
    """
    called = tool_calls.group_by("trajectory_id").agg(
        errors=(pl.col("outcome") == "error").sum(),
        tools_called=pl.col("tool_name").drop_nulls().unique().sort(),
    )
    broken = findings.group_by("trajectory_id").agg(findings=pl.len())
    joined = trajectories.join(called, on="trajectory_id", how="left").join(broken, on="trajectory_id", how="left")
    counted = joined.with_columns(
        pl.col("errors", "findings").fill_null(0), pl.col("tools_called").fill_null(pl.lit([], pl.List(pl.String)))
    )
    return RUNS.select(counted.sort("trajectory_id"))
