"""Rewards of trajectories, and what they say of a group: identical records once, scenarios taken whole."""

import polars as pl

from analysis.measures.bootstrap import ratio_interval
from analysis.measures.expressions import scenario
from analysis.measures.intervals import clustered_rate
from analysis.schema import FEWEST_FOR_A_RATE, TRAJECTORIES

# Rewards are sums and quotients of floats: tau-bench, too, lets 1 be 1 within this.
TOLERANCE = 1e-6


def distinct(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """The trajectories, identical records once: those that agree in all columns but where they stand.

    Args:
        trajectories: conforms to TRAJECTORIES.
    """
    content = [name for name in TRAJECTORIES.names if name not in ("trajectory_id", "origin")]
    return trajectories.sort("trajectory_id").unique(content, keep="first", maintain_order=True)


def rewarded(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """The distinct trajectories with a reward, their `scenario`, and whether they are solved (`is_solved`)."""
    return (
        distinct(trajectories)
        .filter(pl.col("total_reward").is_finite())
        .with_columns(scenario=scenario(), is_solved=(pl.col("total_reward") - 1).abs() <= TOLERANCE)
    )


def estimates(runs_with_reward: pl.LazyFrame, by: list[str], seed: int) -> pl.LazyFrame:
    """Per group: trajectories, scenarios, mean reward and solved share, each with its interval."""
    sums = (
        runs_with_reward.group_by(*by, "scenario")
        .agg(runs=pl.len(), reward=pl.col("total_reward").sum(), solved=pl.col("is_solved").sum())
        .sort(*by, "scenario")
    )
    runs, n = pl.col("runs"), pl.col("runs").sum()
    bears_rate = n >= FEWEST_FOR_A_RATE
    mean = pl.col("reward").sum() / n
    is_share = pl.col("reward").is_between(0.0, runs).all()
    ends = [ratio_interval(pl.col("reward"), runs, seed, is_share=share) for share in (True, False)]
    return (
        sums.group_by(*by, maintain_order=True)
        .agg(
            pl.col("solved").sum(),
            trajectories=n,
            scenarios=pl.len(),
            reward_sum=pl.col("reward").sum(),
            mean_reward=pl.when(bears_rate).then(mean),
            mean_ends=pl.when(is_share).then(ends[0]).otherwise(ends[1]),
            **clustered_rate(pl.col("solved"), runs, "solved_share"),
        )
        .with_columns(**both_ends("mean", "mean_reward"))
        .rename({f"solved_share_{end}": f"solved_{end}" for end in ("low", "high", "deff")})
    )


def both_ends(name: str, value: str) -> dict[str, pl.Expr]:
    """Both ends of an interval; none where there is no value."""
    ends, has_value = pl.col(f"{name}_ends").list, pl.col(value).is_not_null()
    return {f"{name}_low": pl.when(has_value).then(ends.first()), f"{name}_high": pl.when(has_value).then(ends.last())}
