"""Edges and endings that a source has itself: where its trajectories were cut, and on what they end.

A publisher's rule says what its own data should look like. Of any other source only this can be said: many trajectories
stop at one length and none goes on, or end on the same last call; and what reward goes with it, where there is one.
"""

import polars as pl

from analysis.measures.calls import is_hand_over
from analysis.measures.estimates import TOLERANCE
from analysis.measures.expressions import share_of
from analysis.schema import TRAJECTORIES, Column, Table

# A pile-up: so many trajectories at the longest length, and more than at the lengths just below it together.
FEWEST_AT_AN_EDGE = 5
LENGTHS_BELOW = 3

_TRAJECTORIES = Column("trajectories", pl.UInt32(), "trajectories that end so", unit="trajectories")
_MODE = Column("mode_trajectories", pl.UInt32(), "trajectories of the mode", unit="trajectories")
_REWARD = (
    Column("rewarded", pl.UInt32(), "of these, with a reward", unit="trajectories"),
    Column("solved", pl.UInt32(), "of these, with a reward of 1", unit="trajectories"),
    Column("mean_reward", pl.Float64(), "their mean reward; null without one", unit="reward", nullable=True),
)

EDGES = Table(
    "edges",
    "mode whose trajectories pile up at their longest",
    (
        TRAJECTORIES["traj_type"],
        Column("edge", pl.UInt32(), "steps of the longest trajectory", unit="steps"),
        Column("trajectories", pl.UInt32(), "trajectories with exactly as many", unit="trajectories"),
        Column(
            "below", pl.UInt32(), f"trajectories of the {LENGTHS_BELOW} lengths below together", unit="trajectories"
        ),
        _MODE,
        *_REWARD,
    ),
    key=("traj_type",),
)

ENDINGS = Table(
    "endings",
    "mode, way of ending and last tool",
    (
        TRAJECTORIES["traj_type"],
        TRAJECTORIES["end_class"],
        Column("last_tool", pl.String(), "tool of the call it ends on; null where text follows", nullable=True),
        Column("is_hand_over", pl.Boolean(), "the last tool hands the user over to a person"),
        _TRAJECTORIES,
        _MODE,
        Column("trajectory_share", pl.Float64(), "of the mode's trajectories; null over fewer than 20", nullable=True),
        *_REWARD,
    ),
    key=("traj_type", "end_class", "last_tool"),
)


def edges(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Find the modes whose trajectories pile up at one length, past which none goes.

    Args:
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per such mode, conforming to EDGES: at least FEWEST_AT_AN_EDGE trajectories have the most steps of all,
        and more than have one of the LENGTHS_BELOW numbers of steps below it.
    """
    steps = pl.col("assistant_messages").cast(pl.Int64)
    edge = steps.max().over("traj_type")
    placed = trajectories.with_columns(edge=edge, is_at_edge=steps == edge, is_below=edge - steps <= LENGTHS_BELOW)
    at_edge = pl.col("is_at_edge")
    counted = placed.group_by("traj_type", "edge").agg(
        trajectories=at_edge.sum(),
        below=(pl.col("is_below") & ~at_edge).sum(),
        mode_trajectories=pl.len(),
        **{name: value.filter(at_edge).sum() for name, value in _rewards().items()},
    )
    piled = (pl.col("trajectories") >= FEWEST_AT_AN_EDGE) & (pl.col("trajectories") > pl.col("below"))
    return EDGES.select(counted.filter(piled).with_columns(mean_reward=_mean()).sort("traj_type"))


def endings(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """Count trajectories by what they end on.

    Args:
        trajectories: conforms to TRAJECTORIES.
        tool_calls: conforms to TOOL_CALLS.
        top: rows kept.

    Returns:
        One row per (traj_type, end_class, last_tool), most trajectories first, conforming to ENDINGS. The last tool
        tells endings apart only where the record ends on a call or its result.
    """
    ends_on_call = pl.col("end_class").cast(pl.String).is_in(["ends_on_result", "dangling_call", "step_cap"])
    last = tool_calls.group_by("trajectory_id").agg(tool_name=pl.col("tool_name").sort_by("call").last())
    placed = trajectories.join(last, on="trajectory_id", how="left", validate="1:1").with_columns(
        last_tool=pl.when(ends_on_call).then("tool_name"),
        is_hand_over=ends_on_call & is_hand_over(),
    )
    counted = (
        placed.group_by("traj_type", "end_class", "last_tool", "is_hand_over")
        .agg(trajectories=pl.len(), **{name: value.sum() for name, value in _rewards().items()})
        .with_columns(mode_trajectories=pl.col("trajectories").sum().over("traj_type"), mean_reward=_mean())
        .with_columns(trajectory_share=share_of(pl.col("trajectories"), pl.col("mode_trajectories")))
        .sort("trajectories", "traj_type", "end_class", "last_tool", descending=[True, False, False, False])
        .head(top)
    )
    return ENDINGS.select(counted)


def _rewards() -> dict[str, pl.Expr]:
    reward = pl.col("total_reward")
    has_one = reward.is_finite().fill_null(False)
    return {
        "rewarded": has_one,
        "solved": (has_one & ((reward - 1).abs() <= TOLERANCE)).fill_null(False),
        "reward": pl.when(has_one).then(reward).otherwise(0.0),
    }


def _mean() -> pl.Expr:
    return share_of(pl.col("reward"), pl.col("rewarded"))
