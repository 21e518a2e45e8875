"""Variance components: how much of a spread lies between environments, between scenarios, and between runs of one.

What runs of a scenario share makes them say less than as many independent ones; from it follows the smallest
difference that a source of this size can show.
"""

import polars as pl

from analysis.measures.calls import trajectory_key
from analysis.measures.expressions import scenario
from analysis.measures.intervals import FEWEST_CLUSTERS
from analysis.schema import Column, Table

QUANTITIES = ("reward", "steps", "error rate")
# Two-sided at 5 %, found four times in five: 1.96 + 0.84 standard errors.
_DETECTED = 2.8016

COMPONENTS = Table(
    "variance_components",
    "quantity with a spread",
    (
        Column("quantity", pl.Enum(QUANTITIES), "value of a trajectory"),
        Column("trajectories", pl.UInt32(), "trajectories with a value", unit="trajectories"),
        Column("scenarios", pl.UInt32(), "scenarios they play", unit="scenarios"),
        Column("environments", pl.UInt32(), "environments they play in", unit="environments"),
        Column(
            "between_environments", pl.Float64(), "variance of environments; null with fewer than two", nullable=True
        ),
        Column(
            "between_scenarios",
            pl.Float64(),
            "variance of an environment's scenarios; null without repeats",
            nullable=True,
        ),
        Column(
            "between_trajectories", pl.Float64(), "variance of a scenario's runs; null without repeats", nullable=True
        ),
        Column(
            "intraclass_correlation",
            pl.Float64(),
            "share of the variance that a scenario's runs have in common",
            nullable=True,
        ),
        Column("mean", pl.Float64(), "mean over trajectories"),
        Column("standard_error", pl.Float64(), "of the mean, over scenarios; null below 10", nullable=True),
        Column("independent_error", pl.Float64(), "of the mean, as if trajectories were independent", nullable=True),
        Column(
            "smallest_difference",
            pl.Float64(),
            "that two sources like this one show four times in five, at 5 %: 2.8 standard errors of a difference",
            nullable=True,
        ),
    ),
    key=("quantity",),
)


def components(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Split the variance of reward, steps and error rate by environment, scenario and trajectory.

    The analysis of variance of nested groups of unequal size, components below 0 set to 0. Source: S. R. Searle,
    G. Casella and C. E. McCulloch (1992), Variance components, chapter 5.

    Args:
        trajectories: conforms to TRAJECTORIES.
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row per quantity that two trajectories have, conforming to COMPONENTS. Trajectories without an environment
        count as of one.
    """
    by_scenario = (
        _values(trajectories, tool_calls)
        .group_by("quantity", "environment", "scenario")
        .agg(n=pl.len().cast(pl.Float64), total=pl.col("value").sum(), squares=(pl.col("value") ** 2).sum())
        .sort("quantity", "environment", "scenario")
    )
    n, total = pl.col("n"), pl.col("total")
    placed = by_scenario.with_columns(
        env_n=n.sum().over("quantity", "environment"),
        env_total=total.sum().over("quantity", "environment"),
        mean=total.sum().over("quantity") / n.sum().over("quantity"),
    )
    split = placed.group_by("quantity").agg(**_sums()).filter(pl.col("trajectories") > 1)
    return COMPONENTS.select(
        split.with_columns(**_variances())
        .with_columns(
            smallest_difference=_DETECTED * 2**0.5 * pl.col("standard_error"),
            intraclass_correlation=_shared() / (_shared() + pl.col("between_trajectories")),
        )
        .with_columns(pl.col("intraclass_correlation").fill_nan(None))
        .sort("quantity")
    )


def _values(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    outcomes = tool_calls.group_by(key=trajectory_key()).agg(
        errors=(pl.col("outcome") == "error").sum(), judged=(pl.col("outcome") != "unknown").sum()
    )
    wide = (
        trajectories.with_columns(key=trajectory_key())
        .join(outcomes, on="key", how="left", validate="1:1")
        .select(
            environment=pl.col("env_id").fill_null(""),
            scenario=scenario(),
            **{
                "reward": pl.when(pl.col("total_reward").is_finite()).then("total_reward"),
                "steps": pl.col("assistant_messages").cast(pl.Float64),
                "error rate": pl.when(pl.col("judged") > 0).then(pl.col("errors") / pl.col("judged")),
            },
        )
    )
    return (
        wide.unpivot(QUANTITIES, index=["environment", "scenario"], variable_name="quantity", value_name="value")
        .drop_nulls("value")
        .with_columns(pl.col("quantity").cast(COMPONENTS["quantity"].dtype))
    )


def _sums() -> dict[str, pl.Expr]:
    """Sums of squares within scenarios, of scenarios within environments, of environments; and their sizes."""
    n, total, mean = pl.col("n"), pl.col("total"), pl.col("mean")
    own, env_n = total / n, pl.col("env_n")
    env_mean = pl.col("env_total") / env_n
    return {
        "trajectories": n.sum(),
        "scenarios": pl.len(),
        "environments": pl.col("environment").n_unique(),
        "mean": mean.first(),
        "within": (pl.col("squares") - total * own).sum().clip(lower_bound=0.0),
        "among_scenarios": (n * (own - env_mean) ** 2).sum(),
        "among_environments": (n * (env_mean - mean) ** 2).sum(),
        "all_squares": (pl.col("squares") - 2 * mean * total + n * mean**2).sum(),
        # What the residual of a scenario adds to the variance of the mean.
        "residuals": ((total - n * mean) ** 2).sum(),
        "n_over_env": (n**2 / env_n).sum(),
        "n_squared": (n**2).sum(),
        # Over an environment's scenarios n / env_n sums to 1: each row adds its part of env_n².
        "env_squared": (n * env_n).sum(),
    }


def _variances() -> dict[str, pl.Expr]:
    total, scenarios, environments = (
        pl.col(name).cast(pl.Float64) for name in ("trajectories", "scenarios", "environments")
    )
    within = pl.when(total > scenarios).then(pl.col("within") / (total - scenarios))
    among = (pl.col("among_scenarios") - (scenarios - environments) * within) / (total - pl.col("n_over_env"))
    between_scenarios = pl.when(scenarios > environments).then(among.clip(lower_bound=0.0))
    left = (
        pl.col("among_environments")
        - (environments - 1) * within
        - (pl.col("n_over_env") - pl.col("n_squared") / total) * between_scenarios.fill_null(0.0)
    )
    between_environments = left / (total - pl.col("env_squared") / total)
    clustered = (scenarios / (scenarios - 1) * pl.col("residuals")).sqrt() / total
    return {
        "between_trajectories": within,
        "between_scenarios": between_scenarios,
        "between_environments": pl.when(environments > 1).then(between_environments.clip(lower_bound=0.0)),
        "standard_error": pl.when(scenarios >= FEWEST_CLUSTERS).then(clustered),
        "independent_error": (pl.col("all_squares").clip(lower_bound=0.0) / (total - 1) / total).sqrt(),
    }


def _shared() -> pl.Expr:
    return pl.col("between_environments").fill_null(0.0) + pl.col("between_scenarios").fill_null(0.0)
