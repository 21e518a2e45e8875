"""What is asked here?"""

import polars as pl

from analysis.schema import TRAJECTORIES, Column, Table

RESULT = Table(
    "new_question",
    "environment and mode",
    (
        TRAJECTORIES["env_id"],
        TRAJECTORIES["traj_type"],
        Column("trajectories", pl.UInt32(), "trajectories: the denominator", unit="trajectories"),
        Column("calls", pl.UInt32(), "calls of all of them", unit="calls"),
        Column("mean_calls", pl.Float64(), "calls over trajectories", unit="calls"),
    ),
    key=("env_id", "traj_type"),
)


def by_environment(trajectories: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """Count the calls of an environment's trajectories, in each mode.

    Args:
        trajectories: conforms to TRAJECTORIES; those that name no environment are left out.
        top: keep only that many environments, those with the most trajectories.

    Returns:
        One row per (env_id, traj_type), conforming to RESULT, the environment with the most trajectories first.
    """
    size = pl.col("trajectories").sum().over("env_id")
    counted = (
        trajectories.drop_nulls("env_id")
        .group_by("env_id", "traj_type")
        .agg(trajectories=pl.len(), calls=pl.col("tool_calls").sum())
        .with_columns(mean_calls=pl.col("calls") / pl.col("trajectories"))
        .sort(size, "env_id", "traj_type", descending=[True, False, False])
        .filter(pl.col("env_id").rle_id() < top)
    )
    return RESULT.select(counted)
