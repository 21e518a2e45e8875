"""Which trajectories to read first: the most errors, the longest, the most repeated calls, and some at random."""

import polars as pl

from analysis.measures.calls import argument_key
from analysis.schema import TRAJECTORIES, Column, Table

MOST_ERRORS, LONGEST, MOST_REPEATS, AT_RANDOM = "most errors", "longest", "most repeated calls", "at random"
REASONS = (MOST_ERRORS, LONGEST, MOST_REPEATS, AT_RANDOM)

TELLING = Table(
    "telling",
    "trajectory worth reading",
    (
        TRAJECTORIES["trajectory_id"],
        Column("reason", pl.Enum(REASONS), "why it was chosen"),
        TRAJECTORIES["env_id"],
        TRAJECTORIES["assistant_messages"],
        TRAJECTORIES["tool_calls"],
        Column("errors", pl.UInt32(), "calls that failed", unit="calls"),
        Column(
            "repeated_calls", pl.UInt32(), "calls whose name and arguments occurred before in the record", unit="calls"
        ),
    ),
    key=("trajectory_id",),
)

# A reason and the column it goes by.
_COLUMNS = {MOST_ERRORS: "errors", LONGEST: "assistant_messages", MOST_REPEATS: "repeated_calls"}


def telling(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame, *, each: int = 2, seed: int = 0) -> pl.LazyFrame:
    """Choose trajectories to read.

    Args:
        trajectories: conforms to TRAJECTORIES.
        tool_calls: conforms to TOOL_CALLS.
        each: how many for each reason; a trajectory chosen for one is not chosen for a later one.
        seed: of the choice at random.

    Returns:
        One row per chosen trajectory, by reason and then by how much of it there is, conforming to TELLING.
    """
    counted = _counted(trajectories, tool_calls)
    chosen: list[pl.LazyFrame] = []
    for reason, column in _COLUMNS.items():
        left = counted if not chosen else counted.join(pl.concat(chosen), on="trajectory_id", how="anti")
        best = left.filter(pl.col(column) > 0).sort(column, "trajectory_id", descending=[True, False]).head(each)
        chosen.append(best.with_columns(reason=pl.lit(reason, pl.Enum(REASONS))))
    left = counted.join(pl.concat(chosen), on="trajectory_id", how="anti")
    by_chance = left.sort(pl.col("trajectory_id").hash(seed), "trajectory_id").head(each)
    chosen.append(by_chance.with_columns(reason=pl.lit(AT_RANDOM, pl.Enum(REASONS))))
    # The sorts within a reason hold: the concatenation keeps them.
    return TELLING.select(pl.concat(chosen).sort("reason", maintain_order=True))


def _counted(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    named = pl.col("tool_name").is_not_null()
    same = argument_key(pl.col("arguments").fill_null("{}"))
    calls = tool_calls.group_by("trajectory_id").agg(
        errors=(pl.col("outcome") == "error").sum(),
        repeated_calls=named.sum() - pl.struct("tool_name", same).filter(named).n_unique(),
    )
    return trajectories.join(calls, on="trajectory_id", how="left").select(
        "trajectory_id",
        "env_id",
        "assistant_messages",
        "tool_calls",
        pl.col("errors", "repeated_calls").fill_null(0).cast(pl.UInt32),
    )
