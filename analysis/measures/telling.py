"""Which trajectories to read first: the most errors, the longest, the most repeated calls, and some at random."""

import polars as pl

from analysis.measures.headlines import Number, count, decimal, rows, say, side_by_side
from analysis.schema import TRAJECTORIES, Column, Table

TELLING = Table(
    "telling",
    "trajectory worth reading",
    (
        TRAJECTORIES["trajectory_id"],
        Column("reason", pl.String(), "why it was chosen"),
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

# A reason, the column it goes by, and how it is said of a trajectory.
_REASONS = (
    ("errors", "most errors: {} of its calls failed"),
    ("assistant_messages", "longest: {} steps"),
    ("repeated_calls", "most repeated calls: {} made again with the same arguments"),
)


def in_brief(chosen: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Say how many trajectories are shown, and how far the farthest go.

    Args:
        chosen: conforms to TELLING.
        trajectories: conforms to TRAJECTORIES: those that were chosen from.

    Returns:
        Four rows, conforming to headlines.HEADLINES, in the order they are read. Who has most of a thing is chosen for
        it or for an earlier reason, so that the most of those shown is the most of all.
    """
    known = side_by_side(
        chosen.select(
            shown=pl.len(),
            errors=pl.col("errors").max(),
            steps=pl.col("assistant_messages").max(),
            repeated=pl.col("repeated_calls").max(),
        ),
        trajectories.select(all=pl.len()),
    )
    return rows(
        known,
        Number(count("shown"), "trajectories shown", say("of {}: those that tell most, and some by chance", "all")),
        Number(decimal("errors"), "failed calls, most", pl.lit("in one trajectory of the selection")),
        Number(decimal("steps"), "steps, most", pl.lit("assistant messages of the longest trajectory")),
        Number(
            decimal("repeated"),
            "calls made again, most",
            pl.lit("with the same arguments, in one trajectory of the selection"),
        ),
    )


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
    for place, (column, sentence) in enumerate(_REASONS):
        left = counted if not chosen else counted.join(pl.concat(chosen), on="trajectory_id", how="anti")
        best = left.filter(pl.col(column) > 0).sort(column, "trajectory_id", descending=[True, False]).head(each)
        chosen.append(best.with_columns(reason=pl.format(sentence, column), place=pl.lit(place)))
    left = counted.join(pl.concat(chosen), on="trajectory_id", how="anti")
    by_chance = left.sort(pl.col("trajectory_id").hash(seed), "trajectory_id").head(each)
    chosen.append(by_chance.with_columns(reason=pl.lit("at random"), place=pl.lit(len(_REASONS))))
    # The sorts within a reason hold: the concatenation keeps them.
    return TELLING.select(pl.concat(chosen).sort("place", maintain_order=True))


def _counted(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    named = pl.col("tool_name").is_not_null()
    calls = tool_calls.group_by("trajectory_id").agg(
        errors=(pl.col("outcome") == "error").sum(),
        repeated_calls=named.sum() - pl.struct("tool_name", "arguments").filter(named).n_unique(),
    )
    return trajectories.join(calls, on="trajectory_id", how="left").select(
        "trajectory_id",
        "env_id",
        "assistant_messages",
        "tool_calls",
        pl.col("errors", "repeated_calls").fill_null(0).cast(pl.UInt32),
    )
