"""What goes with a reward: told within scenarios, and beside it over all runs, which mixes in how hard scenarios are.

Hard scenarios take more steps and are solved less often, so that over all runs longer ones look worse. Two runs of one
scenario are equally hard: what differs between a solved one and one that is not is the agent's.
"""

import polars as pl

from analysis.measures.calls import argument_key, is_hand_over, trajectory_key, with_kind
from analysis.measures.estimates import TOLERANCE
from analysis.measures.expressions import scenario
from analysis.measures.intervals import clustered_rate
from analysis.schema import FEWEST_FOR_A_RATE, Column, Table

QUANTITIES = ("steps", "calls", "writes", "errors", "error rate", "repeated calls", "tools used", "user messages")

EFFECTS = Table(
    "effects",
    "quantity of a trajectory",
    (
        Column("quantity", pl.Enum(QUANTITIES), "what is compared; writes are changing calls that hand nothing over"),
        Column("within_share", pl.Float64(), "share of pairs whose solved run has more, ties half", nullable=True),
        Column("within_share_low", pl.Float64(), "95 % interval over scenarios, lower end", nullable=True),
        Column("within_share_high", pl.Float64(), "95 % interval over scenarios, upper end", nullable=True),
        Column("within_share_clusters", pl.UInt32(), "scenarios with such a pair", unit="scenarios"),
        Column("within_share_deff", pl.Float64(), "design effect of the pairs of a scenario", nullable=True),
        Column("more", pl.UInt32(), "pairs in which the solved run has more", unit="pairs"),
        Column("ties", pl.UInt32(), "pairs in which both have as much", unit="pairs"),
        Column("pairs", pl.UInt32(), "a solved and an unsolved run of one scenario, mode and model", unit="pairs"),
        Column("pooled_share", pl.Float64(), "the same over all pairs of a solved and an unsolved run", nullable=True),
        Column("pooled_pairs", pl.UInt64(), "pairs over all scenarios", unit="pairs"),
    ),
    key=("quantity",),
)  # fmt: skip


def effects(
    trajectories: pl.LazyFrame,
    tool_calls: pl.LazyFrame,
    environment_tools: pl.LazyFrame,
    replays: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Compare solved runs with runs that are not, within a scenario and over all.

    The share of pairs is the probability of superiority, half the ties included: 1/2 where nothing goes with solving.
    Source: A. Vargha and H. D. Delaney (2000), A critique and improvement of the CL common language effect size.

    Args:
        trajectories: conforms to TRAJECTORIES; a reward of 1 is solved, runs without a reward stay out.
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.
        replays: conforms to REPLAYS, to judge by the checks as played again; None judges by the recorded rewards.

    Returns:
        One row per quantity, in a fixed order, conforming to EFFECTS; shares are null over fewer than 20 pairs. None
        where no pair of runs differs in being solved.
    """
    judged = trajectories
    if replays is not None:
        anew = replays.select("trajectory_id", total_reward="reward")
        judged = trajectories.drop("total_reward").join(anew, on="trajectory_id", how="left", validate="1:1")
    runs = _runs(judged, tool_calls, environment_tools)
    within = (
        _against(runs, ["quantity", "scenario", "traj_type", "model"])
        .group_by("quantity", "scenario")
        .agg(pl.col("more", "ties", "pairs").sum())
        .group_by("quantity")
        .agg(
            **clustered_rate(pl.col("more") + pl.col("ties") / 2, pl.col("pairs"), "within_share"),
            **{name: pl.col(name).sum() for name in ("more", "ties", "pairs")},
        )
    )
    pairs = pl.col("pairs")
    share = pl.when(pairs >= FEWEST_FOR_A_RATE).then((pl.col("more") + pl.col("ties") / 2) / pairs)
    pooled = _against(runs, ["quantity"]).select("quantity", pooled_share=share, pooled_pairs=pairs)
    return EFFECTS.select(
        pooled.join(within, on="quantity", how="left", validate="1:1")
        .with_columns(pl.col("within_share_clusters", "more", "ties", "pairs").fill_null(0))
        .sort("quantity")
    )


def _runs(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame) -> pl.LazyFrame:
    """`quantity`, `value`, `is_solved`, `scenario`, `traj_type`, `model` of every run with a reward."""
    named = pl.col("tool_name").is_not_null()
    calls = (
        with_kind(tool_calls, environment_tools)
        .group_by(key=trajectory_key())
        .agg(
            errors=(pl.col("outcome") == "error").sum(),
            judged=(pl.col("outcome") != "unknown").sum(),
            writes=((pl.col("kind") == "change") & ~is_hand_over()).sum(),
            repeated=named.sum()
            - pl.struct("tool_name", argument_key(pl.col("arguments").fill_null("{}"))).filter(named).n_unique(),
        )
    )
    counts = ("errors", "judged", "writes", "repeated")
    reward = pl.col("total_reward")
    wide = (
        trajectories.filter(reward.is_finite())
        .with_columns(key=trajectory_key())
        .join(calls, on="key", how="left", validate="1:1")
        .with_columns(pl.col(counts).fill_null(0).cast(pl.Float64))
        .select(
            "traj_type",
            "model",
            scenario=scenario(),
            is_solved=(reward - 1).abs() <= TOLERANCE,
            **{
                "steps": pl.col("assistant_messages"),
                "calls": pl.col("tool_calls"),
                "writes": pl.col("writes"),
                "errors": pl.col("errors"),
                # A run whose calls say nothing has no error.
                "error rate": (pl.col("errors") / pl.col("judged")).fill_nan(0.0),
                "repeated calls": pl.col("repeated"),
                "tools used": pl.col("tools_used"),
                "user messages": pl.col("user_messages"),
            },
        )
    )
    index = ["traj_type", "model", "scenario", "is_solved"]
    return (
        wide.with_columns(pl.col(QUANTITIES).cast(pl.Float64))
        .unpivot(QUANTITIES, index=index, variable_name="quantity", value_name="value")
        .with_columns(pl.col("quantity").cast(EFFECTS["quantity"].dtype))
    )


def _against(runs: pl.LazyFrame, by: list[str]) -> pl.LazyFrame:
    """Per group: pairs of a solved and an unsolved run, those in which the solved one has more, and ties.

    Counted by rank, so that no pair is ever made: with midranks over both, the solved ones' ranks less the smallest
    they could have are the unsolved runs below them, ties half.
    """
    solved, value = pl.col("is_solved"), pl.col("value")
    s, u = solved.sum().cast(pl.Float64), (~solved).sum().cast(pl.Float64)
    ranks = runs.with_columns(rank=value.rank("average").over(by), tied=pl.len().over(*by, "value"))
    # Of runs with one value, each solved one ties with each unsolved one.
    ties = ranks.group_by(*by, "value").agg(ties=solved.sum() * (~solved).sum()).group_by(by).agg(pl.col("ties").sum())
    won = ranks.group_by(by).agg(pairs=s * u, halves=pl.col("rank").filter(solved).sum() - s * (s + 1) / 2)
    return (
        won.join(ties, on=by, nulls_equal=True, validate="1:1")
        .filter(pl.col("pairs") > 0)
        .with_columns(more=pl.col("halves") - pl.col("ties") / 2)
        .sort(by)
    )
