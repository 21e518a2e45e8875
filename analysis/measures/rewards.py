"""Rewards, where a source carries them: what the runner or the benchmark wrote beside a rollout.

Runs of one scenario are not independent: every interval draws scenarios whole. A run is solved when its reward is 1, as
tau-bench counts it; of an RL scenario of EnvScaler the reward is the share of its checks that hold.
"""

from typing import Literal

import polars as pl

from analysis.measures.bootstrap import mean_interval
from analysis.measures.estimates import both_ends, distinct, estimates, rewarded
from analysis.measures.expressions import share_of
from analysis.natural import natural_order
from analysis.schema import FEWEST_FOR_A_RATE, TRAJECTORIES, Column, Table

BINS = 10
# pass^k for as many trials as people run; more would be a long tail of few scenarios.
MOST_TRIALS = 16
# Trials are told up to what this share of the scenarios reach.
COHORT = 0.9
Kind = Literal["environment", "model", "trial", "mode", "ending"]
KINDS: dict[Kind, str] = {
    "environment": "env_id",
    "model": "model",
    "trial": "trial",
    "mode": "traj_type",
    "ending": "end_class",
}
_RUNS = Column("trajectories", pl.UInt32(), "trajectories with a reward: the denominator", unit="trajectories")
_SCENARIOS = Column("scenarios", pl.UInt32(), "scenarios they play: what is drawn for intervals", unit="scenarios")
_MEAN = (
    Column("reward_sum", pl.Float64(), "sum of their rewards", unit="reward"),
    Column("mean_reward", pl.Float64(), "mean of a trajectory; null over fewer than 20", unit="reward", nullable=True),
    Column("mean_low", pl.Float64(), "95 % interval over scenarios; null under 10", unit="reward", nullable=True),
    Column("mean_high", pl.Float64(), "95 % interval over scenarios; null under 10", unit="reward", nullable=True),
)
_SOLVED = (
    Column("solved", pl.UInt32(), "trajectories with a reward of 1", unit="trajectories"),
    Column("solved_share", pl.Float64(), "of those with a reward; null over fewer than 20", nullable=True),
    Column("solved_low", pl.Float64(), "95 % interval over scenarios; null under 10", nullable=True),
    Column("solved_high", pl.Float64(), "95 % interval over scenarios; null under 10", nullable=True),
    Column("solved_deff", pl.Float64(), "design effect of the runs of a scenario", nullable=True),
)

SUMMARY = Table(
    "rewards_summary",
    "all trajectories with a reward together",
    (
        Column("all_trajectories", pl.UInt32(), "trajectories, with a reward or without", unit="trajectories"),
        _RUNS,
        _SCENARIOS,
        Column("copies", pl.UInt32(), "records left out because an identical one is counted", unit="trajectories"),
        Column(
            "most_runs", pl.UInt32(), "runs of the scenario that has most, by one model in one mode", "trajectories"
        ),
        *_MEAN,
        Column("mean_by_scenario", pl.Float64(), "mean of the scenarios' means; null under 20", "reward", True),
        *_SOLVED,
        Column("step_capped", pl.UInt32(), "of these, stopped at the runner's step limit", unit="trajectories"),
    ),
)

GROUPS = Table(
    "rewards_groups",
    "environment, model, trial, mode or ending with a reward",
    (
        Column("kind", pl.Enum(list(KINDS)), "what trajectories are grouped by"),
        Column("group", pl.String(), "environment, model, trial, mode or ending", nullable=True),
        _RUNS,
        _SCENARIOS,
        *_MEAN,
        *_SOLVED,
        Column("all_trajectories", pl.UInt32(), "trajectories with a reward, of all groups", unit="trajectories"),
        Column("all_groups", pl.UInt32(), "groups there are", unit="groups"),
    ),
    key=("kind", "group"),
)

DISTRIBUTION = Table(
    "rewards_distribution",
    "bin of rewards",
    (
        Column("reward_from", pl.Float64(), "lower edge of the bin, included", unit="reward"),
        Column("reward_to", pl.Float64(), "upper edge of the bin, excluded but for the last", unit="reward"),
        Column("trajectories", pl.UInt32(), "trajectories with such a reward", unit="trajectories"),
        Column("trajectory_share", pl.Float64(), "of the trajectories with a reward"),
        Column("all_trajectories", pl.UInt32(), "trajectories with a reward", unit="trajectories"),
    ),
    key=("reward_from",),
)

PASS = Table(
    "rewards_pass",
    "model, mode and number of trials k",
    (
        TRAJECTORIES["model"],
        TRAJECTORIES["traj_type"],
        Column("k", pl.UInt32(), "trials of a scenario, up to what nine in ten scenarios reach", unit="trials"),
        Column("scenarios", pl.UInt32(), "scenarios run as often as the largest k: of every k", unit="scenarios"),
        Column("all_scenarios", pl.UInt32(), "scenarios that the model plays in the mode", unit="scenarios"),
        Column("pass_all", pl.Float64(), "pass^k: chance that k trials are all solved; null under 20", nullable=True),
        Column("pass_all_low", pl.Float64(), "95 % interval over scenarios; null under 10", nullable=True),
        Column("pass_all_high", pl.Float64(), "95 % interval over scenarios; null under 10", nullable=True),
        Column("pass_any", pl.Float64(), "pass@k: chance that one of k is solved; null under 20", nullable=True),
        Column("pass_any_low", pl.Float64(), "95 % interval over scenarios; null under 10", nullable=True),
        Column("pass_any_high", pl.Float64(), "95 % interval over scenarios; null under 10", nullable=True),
    ),
    key=("model", "traj_type", "k"),
)

BY_SCENARIO = Table(
    "rewards_by_scenario",
    "scenario with a reward",
    (
        TRAJECTORIES["env_id"],
        TRAJECTORIES["task_id"],
        _RUNS,
        Column("solved", pl.UInt32(), "trajectories with a reward of 1", unit="trajectories"),
        Column("reward_sum", pl.Float64(), "sum of its trajectories' rewards", unit="reward"),
        Column("mean_reward", pl.Float64(), "their mean; null over fewer than 20", unit="reward", nullable=True),
        Column("min_reward", pl.Float64(), "smallest reward", unit="reward"),
        Column("max_reward", pl.Float64(), "largest reward", unit="reward"),
        Column("checks", pl.UInt32(), "checks that judge its final state; null when not known", "checks", True),
    ),
    key=("env_id", "task_id"),
)

SOLVED_RUNS = Table(
    "rewards_solved_runs",
    "model, mode, number of runs of a scenario, and how many of them are solved",
    (
        TRAJECTORIES["model"],
        TRAJECTORIES["traj_type"],
        Column("runs", pl.UInt32(), "runs of a scenario that have a reward", unit="trajectories"),
        Column("solved", pl.UInt32(), "of these, with a reward of 1", unit="trajectories"),
        Column("scenarios", pl.UInt32(), "scenarios with so many", unit="scenarios"),
        Column("scenario_share", pl.Float64(), "of the model's scenarios in the mode with as many runs"),
        Column("all_scenarios", pl.UInt32(), "scenarios with a reward, of the model in the mode", unit="scenarios"),
    ),
    key=("model", "traj_type", "runs", "solved"),
)

CHECKS = Table(
    "rewards_checks",
    "number of checks of a scenario that has a reward",
    (
        Column("checks", pl.UInt32(), "checks that judge a scenario's final state", unit="checks"),
        _RUNS,
        _SCENARIOS,
        *_MEAN,
    ),
    key=("checks",),
)


def told_by(trajectories: pl.LazyFrame, told: Literal["model", "file"]) -> pl.LazyFrame:
    """The trajectories with `model` filled by what tells models apart.

    Args:
        trajectories: conforms to TRAJECTORIES.
        told: `model`, as records name it; or `file`, where a file holds the rollouts of one model and its records do
            not say which, as the runner writes them. Without either, runs of two models would count as trials of one.

    Raises:
        ValueError: neither of the two.
    """
    if told not in ("model", "file"):
        raise ValueError(f"models are told apart by model or file, not by {told!r}")
    file = pl.col("origin").str.replace(r"@[^@]*$", "")
    # A file that lies there twice is no second model.
    return trajectories if told == "model" else distinct(trajectories).with_columns(model=file)


def summary(trajectories: pl.LazyFrame, *, seed: int = 0) -> pl.LazyFrame:
    """The rewards of a source in one row.

    Args:
        trajectories: conforms to TRAJECTORIES.
        seed: of the bootstrap.

    Returns:
        One row, conforming to SUMMARY; none where no trajectory has a reward.
    """
    capped = pl.col("end_class").cast(pl.String) == "step_cap"
    facts = (
        rewarded(trajectories)
        .with_columns(runs=pl.len().over("scenario", "traj_type", "model"))
        .select(most_runs=pl.col("runs").max(), step_capped=capped.sum())
    )
    by_scenario = (
        rewarded(trajectories)
        .group_by("scenario")
        .agg(mean=pl.col("total_reward").mean())
        .select(mean_by_scenario=pl.when(pl.len() >= FEWEST_FOR_A_RATE).then(pl.col("mean").sort().mean()))
    )
    facts = facts.join(by_scenario, how="cross")
    everything = trajectories.select(all_trajectories=pl.len()).join(
        distinct(trajectories).select(distinct=pl.len()), how="cross"
    )
    everything = everything.with_columns(copies=pl.col("all_trajectories") - pl.col("distinct"))
    counted = estimates(rewarded(trajectories).with_columns(everything=pl.lit(1)), ["everything"], seed)
    return SUMMARY.select(counted.join(facts, how="cross").join(everything, how="cross"))


def groups(trajectories: pl.LazyFrame, kind: Kind, *, seed: int = 0) -> pl.LazyFrame:
    """Mean reward and solved share of every environment, model, trial, mode or ending.

    Args:
        trajectories: conforms to TRAJECTORIES.
        kind: what to group by.
        seed: of the bootstrap.

    Returns:
        One row per group, in natural order, conforming to GROUPS; the group is null where the source names none.
    """
    grouped = rewarded(trajectories).with_columns(group=pl.col(KINDS[kind]).cast(pl.String))
    estimated = estimates(grouped, ["group"], seed).with_columns(
        kind=pl.lit(kind).cast(GROUPS["kind"].dtype), all_trajectories=pl.col("trajectories").sum(), all_groups=pl.len()
    )
    return GROUPS.select(estimated.sort(*natural_order("group"), nulls_last=True))


def distribution(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count trajectories by their reward, in tenths of the span from the smallest (or 0) to the largest (or 1).

    Args:
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per bin that holds one, conforming to DISTRIBUTION; shares sum to 1.
    """
    reward = pl.col("total_reward")
    low, high = pl.min_horizontal(reward.min(), 0.0), pl.max_horizontal(reward.max(), 1.0)
    width = (high - low) / BINS
    place = ((reward - low) / width + 1e-9).floor().clip(0, BINS - 1)
    binned = (
        rewarded(trajectories)
        .select(place=place, low=low, width=width)
        .group_by("place", "low", "width")
        .agg(trajectories=pl.len())
        .with_columns(
            reward_from=pl.col("low") + pl.col("place") * pl.col("width"),
            reward_to=pl.col("low") + (pl.col("place") + 1) * pl.col("width"),
            trajectory_share=pl.col("trajectories") / pl.col("trajectories").sum(),
            all_trajectories=pl.col("trajectories").sum(),
        )
    )
    return DISTRIBUTION.select(binned.sort("place"))


def pass_k(trajectories: pl.LazyFrame, *, seed: int = 0) -> pl.LazyFrame:
    """Chances that k trials of a scenario are all solved (pass^k), or one at least (pass@k), by unbiased estimators.

    Of a scenario with n runs, c of them solved, C(c, k) / C(n, k) of the ways to draw k of them are solved throughout,
    and 1 - C(n - c, k) / C(n, k) at least once; the mean over scenarios is reported. Sources: S. Yao et al.
    (2024), tau-bench, for pass^k; M. Chen et al. (2021), Evaluating large language models trained on code, for pass@k.

    Args:
        trajectories: conforms to TRAJECTORIES.
        seed: of the bootstrap.

    Returns:
        One row per (model, mode, k), k up to what nine in ten of its scenarios were run, at most MOST_TRIALS,
        conforming to PASS. Every k is told of the same scenarios; identical records count once.
    """
    n, c, k = pl.col("n"), pl.col("c"), pl.col("k")
    series = ["model", "traj_type"]
    drawn = (
        _cohorts(trajectories)
        .with_columns(k=pl.int_ranges(1, pl.col("deepest") + 1))
        .explode("k", empty_as_null=True, keep_nulls=True)
        .sort(*series, "scenario", "k")
        # C(c, k) / C(n, k) is the product of (c - i) / (n - i) over i from 0 to k - 1.
        .with_columns(
            pass_all=((c - k + 1).clip(0) / (n - k + 1)).cum_prod().over(*series, "scenario"),
            pass_any=1 - ((n - c - k + 1).clip(0) / (n - k + 1)).cum_prod().over(*series, "scenario"),
        )
    )
    names = ("pass_all", "pass_any")
    bears_rate = pl.len() >= FEWEST_FOR_A_RATE
    estimated = (
        drawn.group_by(*series, "k", maintain_order=True)
        .agg(
            pl.len().alias("scenarios"),
            pl.col("all_scenarios").first(),
            *(pl.when(bears_rate).then(pl.col(name).mean()).alias(name) for name in names),
            *(mean_interval(pl.col(name), seed, is_share=True).alias(f"{name}_ends") for name in names),
        )
        .with_columns(**both_ends("pass_all", "pass_all"), **both_ends("pass_any", "pass_any"))
    )
    return PASS.select(estimated.sort(*series, "k", nulls_last=True))


def _cohorts(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Per (model, mode, scenario) its `n` runs and `c` solved, for the scenarios run as often as nine in ten are.

    One cohort serves every k: over other scenarios at each k a curve would mix what it shows with who is in it.
    """
    series = ["model", "traj_type"]
    n = pl.col("n")
    # Nine in ten have at least as many runs: a tenth may have fewer.
    reached = n.sort().get((pl.len() * (1 - COHORT) + 1e-9).floor().cast(pl.UInt32))
    return (
        rewarded(trajectories)
        .group_by(*series, "scenario")
        .agg(n=pl.len().cast(pl.Float64), c=pl.col("is_solved").sum().cast(pl.Float64))
        .with_columns(
            deepest=reached.over(series).clip(upper_bound=MOST_TRIALS).cast(pl.Int64),
            all_scenarios=pl.len().over(series),
        )
        .filter(n >= pl.col("deepest"))
    )


def by_scenario(trajectories: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """Rewards of every scenario, with the number of its checks where the sibling set tells.

    Args:
        trajectories: conforms to TRAJECTORIES; those without a task_id have no scenario and stay out.
        scenarios: conforms to SCENARIOS.

    Returns:
        One row per scenario, lowest mean first, conforming to BY_SCENARIO.
    """
    reward = pl.col("total_reward")
    played = (
        rewarded(trajectories)
        .filter(pl.col("task_id").is_not_null())
        .group_by("env_id", "task_id")
        .agg(
            trajectories=pl.len(),
            solved=pl.col("is_solved").sum(),
            reward_sum=reward.sum(),
            mean=reward.mean(),
            min_reward=reward.min(),
            max_reward=reward.max(),
        )
        .with_columns(mean_reward=share_of(pl.col("reward_sum"), pl.col("trajectories")))
        .join(_checked(scenarios), on=["env_id", "task_id"], how="left", validate="m:1")
    )
    return BY_SCENARIO.select(played.sort("mean", *natural_order("env_id"), *natural_order("task_id"), nulls_last=True))


def solved_runs(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count scenarios by how many of their runs are solved: never, at times, or always.

    Args:
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (model, traj_type, runs, solved) that occurs, conforming to SOLVED_RUNS; shares sum to 1 per model,
        mode and number of runs. Two models are never taken together: one always right and one never are no scenario
        that is solved now and then.
    """
    series = ["model", "traj_type"]
    counted = (
        rewarded(trajectories)
        .group_by(*series, "scenario")
        .agg(runs=pl.len(), solved=pl.col("is_solved").sum())
        .group_by(*series, "runs", "solved")
        .agg(scenarios=pl.len())
        .with_columns(
            scenario_share=pl.col("scenarios") / pl.col("scenarios").sum().over(*series, "runs"),
            all_scenarios=pl.col("scenarios").sum().over(series),
        )
    )
    return SOLVED_RUNS.select(counted.sort(*series, "runs", "solved", nulls_last=True))


def checks(trajectories: pl.LazyFrame, scenarios: pl.LazyFrame, *, seed: int = 0) -> pl.LazyFrame:
    """Mean reward by how many checks judge the scenario.

    Args:
        trajectories: conforms to TRAJECTORIES.
        scenarios: conforms to SCENARIOS: the RL set; scenarios without checks are not counted.
        seed: of the bootstrap.

    Returns:
        One row per number of checks, conforming to CHECKS.
    """
    judged = rewarded(trajectories).join(_checked(scenarios), on=["env_id", "task_id"], how="inner", validate="m:1")
    return CHECKS.select(estimates(judged, ["checks"], seed).sort("checks"))


def _checked(scenarios: pl.LazyFrame) -> pl.LazyFrame:
    return scenarios.filter(pl.col("checks") > 0).select("env_id", "task_id", "checks")
