"""Coverage: which environments and scenarios a source holds, how evenly, and what of the catalogue is missing."""

import polars as pl

from analysis.measures.expressions import (
    effective_number,
    gini,
    normalised_entropy,
    quantile,
    rated,
    share_of,
    top_total,
)
from analysis.natural import natural_order
from analysis.schema import FEWEST_FOR_A_RATE, TRAJECTORIES, Column, Table

_IS_CATALOGUED = Column(
    "is_catalogued", pl.Boolean(), "the catalogue given lists it; null without a catalogue", nullable=True
)
_ENV_ID = Column("env_id", pl.String(), "environment")
GRAINS = ("trajectories", "scenarios")
MODES = ("both modes", "with user only", "without user only", "not run")

ENVIRONMENTS = Table(
    "coverage_environments",
    "environment, of the catalogue or seen",
    (
        _ENV_ID,
        _IS_CATALOGUED,
        Column("trajectories", pl.UInt32(), "trajectories; 0 = absent", unit="trajectories"),
        Column("trajectory_share", pl.Float64(), "of all trajectories that name an environment", nullable=True),
        Column("conversations", pl.UInt32(), "of these, with a simulated user", unit="trajectories"),
        Column("non_conversations", pl.UInt32(), "of these, without", unit="trajectories"),
        Column("scenarios", pl.UInt32(), "distinct scenarios seen", unit="scenarios"),
        Column("scenarios_catalogued", pl.UInt32(), "scenarios the catalogue lists", unit="scenarios", nullable=True),
    ),
    key=("env_id",),
)

BALANCE = Table(
    "coverage_balance",
    "what is spread over the environments",
    (
        Column("grain", pl.Enum(GRAINS), "what is spread over the environments"),
        Column("has_catalogue", pl.Boolean(), "a catalogue of environments was given: absent ones count with 0"),
        Column("environments", pl.UInt32(), "environments: of the catalogue and seen, else seen", unit="environments"),
        Column("seen", pl.UInt32(), "environments with at least one trajectory", unit="environments"),
        Column("absent", pl.UInt32(), "environments of the catalogue without any", unit="environments"),
        Column("total", pl.UInt32(), "trajectories or scenarios in all"),
        Column("minimum", pl.UInt32(), "fewest in an environment"),
        Column("median", pl.Float64(), "median over environments"),
        Column("maximum", pl.UInt32(), "most in an environment"),
        Column("gini", pl.Float64(), "0 = all environments alike", nullable=True),
        Column("evenness", pl.Float64(), "entropy / ln(environments): 1 = all alike", nullable=True),
        Column("effective_environments", pl.Float64(), "equal ones that would be as even: exp(H)", nullable=True),
        Column("top_tenth", pl.UInt32(), "trajectories or scenarios of the largest tenth of the environments"),
        Column("top_tenth_share", pl.Float64(), "held by the largest tenth of the environments", nullable=True),
    ),
    key=("grain",),
)

LORENZ = Table(
    "coverage_lorenz",
    "what is spread, and place of an environment, the smallest first",
    (
        Column("grain", pl.Enum(GRAINS), "what is spread over the environments"),
        Column("environment_share", pl.Float64(), "share of the environments, the smallest first"),
        Column("held_share", pl.Float64(), "share they hold together"),
        Column("total", pl.UInt32(), "trajectories or scenarios in all"),
        Column("environments", pl.UInt32(), "environments in all", unit="environments"),
        Column("gini", pl.Float64(), "0 = all environments alike"),
    ),
    key=("grain", "environment_share"),
)

SCENARIO_SUMMARY = Table(
    "coverage_scenario_summary",
    "all scenarios together",
    (
        Column("has_catalogue", pl.Boolean(), "a catalogue of scenarios was given; else only what was seen is known"),
        Column("scenarios", pl.UInt32(), "denominator: scenarios of the catalogue, else seen", unit="scenarios"),
        Column("present", pl.UInt32(), "of these, with at least one trajectory", unit="scenarios"),
        Column("missing", pl.UInt32(), "of these, without any", unit="scenarios"),
        Column("uncatalogued", pl.UInt32(), "seen, but not in the catalogue", unit="scenarios"),
        Column("coverage_rate", pl.Float64(), "present / catalogue; null without a catalogue", nullable=True),
        Column("seen", pl.UInt32(), "scenarios with at least one trajectory, catalogued or not", unit="scenarios"),
        Column("paired", pl.UInt32(), "of those seen, run in both modes", unit="scenarios"),
        Column("pair_rate", pl.Float64(), "run in both modes / seen", nullable=True),
        Column("pair_rate_low", pl.Float64(), "95 % Wilson interval, lower end", nullable=True),
        Column("pair_rate_high", pl.Float64(), "95 % Wilson interval, upper end", nullable=True),
        Column("repeated_keys", pl.UInt32(), "(traj_type, scenario) that occur more than once"),
        Column("repeats", pl.UInt32(), "trajectories beyond the first of such a key", unit="trajectories"),
        Column("trajectories", pl.UInt32(), "trajectories that name a scenario", unit="trajectories"),
        Column("unnamed", pl.UInt32(), "trajectories that name none", unit="trajectories"),
    ),
)

PER_SCENARIO = Table(
    "coverage_per_scenario",
    "number of trajectories a scenario has, and the modes they are in",
    (
        Column("trajectories", pl.UInt32(), "trajectories of the scenario", unit="trajectories"),
        Column("modes", pl.Enum(MODES), "modes the scenario was run in"),
        Column("scenarios", pl.UInt32(), "scenarios with that many, in those modes", unit="scenarios"),
        Column("all_scenarios", pl.UInt32(), "scenarios of the catalogue or seen", unit="scenarios"),
        Column("scenario_share", pl.Float64(), "of all these scenarios"),
        Column("has_catalogue", pl.Boolean(), "a catalogue of scenarios was given"),
    ),
    key=("trajectories", "modes"),
)

MISSING = Table(
    "coverage_missing",
    "scenario of the catalogue without a trajectory",
    (_ENV_ID, Column("task_id", pl.String(), "scenario without a trajectory")),
    key=("env_id", "task_id"),
)

REPEATED = Table(
    "coverage_repeated",
    "mode and scenario that occur more than once",
    (
        TRAJECTORIES["env_id"],
        TRAJECTORIES["task_id"],
        TRAJECTORIES["traj_type"],
        Column("trajectories", pl.UInt32(), "trajectories of this key", unit="trajectories"),
    ),
    key=("env_id", "task_id", "traj_type"),
)

_IS_TALK = pl.col("traj_type") == "conversation"


def environments(trajectories: pl.LazyFrame, environments: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """Count trajectories and scenarios per environment, from the catalogue where one is given.

    Args:
        trajectories: conforms to TRAJECTORIES; those without an environment are left out.
        environments: conforms to schema.ENVIRONMENTS; empty = no catalogue.
        scenarios: conforms to schema.SCENARIOS; empty = no catalogue.

    Returns:
        One row per environment of the catalogue or seen, conforming to ENVIRONMENTS, in natural order. An absent
        environment is a row of zeros, never dropped.
    """
    seen = (
        trajectories.filter(pl.col("env_id").is_not_null())
        .group_by("env_id")
        .agg(
            trajectories=pl.len(),
            conversations=_IS_TALK.sum(),
            non_conversations=(~_IS_TALK).sum(),
            scenarios=pl.col("task_id").drop_nulls().n_unique(),
        )
    )
    catalogue = environments.select("env_id", is_listed=pl.lit(True))
    listed = scenarios.group_by("env_id").agg(scenarios_listed=pl.len())
    counts = ["trajectories", "conversations", "non_conversations", "scenarios"]
    total = pl.col("trajectories").sum()
    joined = (
        catalogue.join(seen, on="env_id", how="full", coalesce=True, validate="1:1")
        .join(listed, on="env_id", how="left", validate="1:1")
        .join(environments.select(has_environments=pl.len() > 0), how="cross")
        .join(scenarios.select(has_scenarios=pl.len() > 0), how="cross")
        .with_columns(
            pl.col(counts).fill_null(0),
            is_catalogued=pl.when("has_environments").then(pl.col("is_listed").fill_null(False)),
            scenarios_catalogued=pl.when("has_scenarios").then(pl.col("scenarios_listed").fill_null(0)),
        )
        .with_columns(trajectory_share=share_of(pl.col("trajectories"), total))
    )
    return ENVIRONMENTS.select(joined.sort(natural_order("env_id")))


def balance(counted: pl.LazyFrame) -> pl.LazyFrame:
    """How evenly trajectories and scenarios are spread over the environments.

    Args:
        counted: conforms to ENVIRONMENTS.

    Returns:
        One row per grain, conforming to BALANCE; none without environments.
    """
    held = pl.col("held")
    spread = (
        _long(counted)
        .group_by("grain")
        .agg(
            has_catalogue=pl.col("is_catalogued").is_not_null().any(),
            environments=pl.len(),
            seen=(pl.col("present") > 0).sum(),
            absent=(pl.col("present") == 0).sum(),
            total=held.sum(),
            minimum=held.min(),
            median=quantile("held", 0.5),
            maximum=held.max(),
            gini=gini(held),
            evenness=normalised_entropy(held),
            effective_environments=effective_number(held),
            top_tenth=top_total(held, 0.1),
            top_tenth_share=share_of(top_total(held, 0.1), held.sum()),
        )
    )
    return BALANCE.select(spread.sort("grain"))


def lorenz(counted: pl.LazyFrame, *, points: int = 400) -> pl.LazyFrame:
    """The Lorenz curve: what the smallest share of the environments holds.

    Args:
        counted: conforms to ENVIRONMENTS.
        points: environments drawn one by one; beyond, every second, third, … so that a chart stays small.

    Returns:
        From (0, 0) to (1, 1) per grain, conforming to LORENZ; none for a grain without a total, or for a single
        environment: there is nothing to spread.
    """
    held, n = pl.col("held"), pl.len().over("grain")
    place = pl.col("place")
    curve = (
        _long(counted)
        .filter((held.sum().over("grain") > 0) & (n > 1))
        .sort("grain", "held")
        .with_columns(
            place=pl.int_range(1, pl.len() + 1).over("grain"),
            held_share=held.cum_sum().over("grain") / held.sum().over("grain"),
            total=held.sum().over("grain"),
            environments=n,
            gini=gini(held).over("grain"),
        )
        .filter((place % (n // points + 1) == 0) | (place == n))
        .with_columns(environment_share=place / pl.col("environments"))
    )
    origin = curve.group_by("grain").agg(
        pl.col("total", "environments", "gini").first(), environment_share=pl.lit(0.0), held_share=pl.lit(0.0)
    )
    return LORENZ.select(pl.concat([LORENZ.select(origin), LORENZ.select(curve)]).sort("grain", "environment_share"))


def scenario_summary(trajectories: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """Coverage of the scenarios, pairs of modes and repeats.

    Args:
        trajectories: conforms to TRAJECTORIES.
        scenarios: conforms to schema.SCENARIOS; empty = no catalogue, and only what was seen is known.

    Returns:
        One row, conforming to SCENARIO_SUMMARY; none where neither a scenario nor a trajectory is known. Rates over
        fewer than 20 scenarios are null.
    """
    has = pl.col("has_catalogue")
    listed, seen = pl.col("is_listed"), pl.col("trajectories") > 0
    runs = [pl.col("conversations"), pl.col("non_conversations")]
    n, present = pl.col("scenarios"), pl.col("present")
    counted = (
        _per_scenario(trajectories, scenarios)
        .select(
            has_catalogue=listed.any(),
            scenarios=pl.when(listed.any()).then(listed.sum()).otherwise(seen.sum()),
            present=pl.when(listed.any()).then((listed & seen).sum()).otherwise(seen.sum()),
            uncatalogued=pl.when(listed.any()).then((~listed & seen).sum()).otherwise(0),
            seen=seen.sum(),
            paired=((runs[0] > 0) & (runs[1] > 0)).sum(),
            repeated_keys=sum(((run > 1).sum() for run in runs), start=pl.lit(0)),
            repeats=sum(((run.cast(pl.Int64) - 1).clip(0).sum() for run in runs), start=pl.lit(0)),
            trajectories=pl.col("trajectories").sum(),
        )
        .join(trajectories.select(unnamed=pl.col("task_id").is_null().sum()), how="cross")
        .filter(n + pl.col("unnamed") > 0)
        .with_columns(
            has_catalogue=has.fill_null(False),
            missing=n - present,
            # A census: what is there and what is missing is counted, not estimated.
            coverage_rate=pl.when(has & (n >= FEWEST_FOR_A_RATE)).then(present / n),
            **rated("paired", "seen", "pair_rate"),
        )
    )
    return SCENARIO_SUMMARY.select(counted)


def per_scenario(trajectories: pl.LazyFrame, scenarios: pl.LazyFrame, *, most: int = 20) -> pl.LazyFrame:
    """How many trajectories a scenario has, and in which modes.

    Args:
        trajectories: conforms to TRAJECTORIES.
        scenarios: conforms to schema.SCENARIOS; empty = no catalogue.
        most: scenarios with more trajectories than this are counted with it.

    Returns:
        One row per (trajectories, modes) that occurs, conforming to PER_SCENARIO; shares sum to 1. With a catalogue
        the absent scenarios are a row with 0 trajectories.
    """
    talk, solo = pl.col("conversations") > 0, pl.col("non_conversations") > 0
    modes = (
        pl.when(talk & solo)
        .then(pl.lit(MODES[0]))
        .when(talk)
        .then(pl.lit(MODES[1]))
        .when(solo)
        .then(pl.lit(MODES[2]))
        .otherwise(pl.lit(MODES[3]))
    )
    counted = (
        _per_scenario(trajectories, scenarios)
        .with_columns(has_catalogue=pl.col("is_listed").any())
        .group_by(pl.col("trajectories").clip(upper_bound=most), modes=modes.cast(PER_SCENARIO["modes"].dtype))
        .agg(pl.len().alias("scenarios"), pl.col("has_catalogue").first())
        .with_columns(all_scenarios=pl.col("scenarios").sum())
        .with_columns(scenario_share=pl.col("scenarios") / pl.col("all_scenarios"))
    )
    return PER_SCENARIO.select(counted.sort("trajectories", "modes"))


def missing(trajectories: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """List the scenarios of the catalogue that no trajectory plays.

    Args:
        trajectories: conforms to TRAJECTORIES.
        scenarios: conforms to schema.SCENARIOS.

    Returns:
        Conforms to MISSING, in natural order; empty without a catalogue.
    """
    absent = scenarios.join(trajectories, on=["env_id", "task_id"], how="anti")
    return MISSING.select(absent.sort(*natural_order("env_id"), *natural_order("task_id")))


def repeated(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """List the (traj_type, scenario) that occur more than once: trials where a source runs them, else duplicates.

    Args:
        trajectories: conforms to TRAJECTORIES.

    Returns:
        Conforms to REPEATED, the most frequent first.
    """
    counted = (
        trajectories.filter(pl.col("task_id").is_not_null())
        .group_by("env_id", "task_id", "traj_type")
        .agg(trajectories=pl.len())
        .filter(pl.col("trajectories") > 1)
    )
    return REPEATED.select(
        counted.sort(
            "trajectories",
            *natural_order("env_id"),
            *natural_order("task_id"),
            "traj_type",
            descending=[True] + [False] * 7,
        )
    )


def _per_scenario(trajectories: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """One row per scenario of the catalogue or seen, with its runs in either mode.

    A scenario is environment and task together: outside the release task ids such as "3" repeat between environments.
    """
    counts = ["trajectories", "conversations", "non_conversations"]
    seen = (
        trajectories.filter(pl.col("task_id").is_not_null())
        .group_by("env_id", "task_id")
        .agg(trajectories=pl.len(), conversations=_IS_TALK.sum(), non_conversations=(~_IS_TALK).sum())
    )
    listed = scenarios.select("env_id", "task_id", is_listed=pl.lit(True))
    return listed.join(
        seen, on=["env_id", "task_id"], how="full", coalesce=True, nulls_equal=True, validate="1:1"
    ).with_columns(pl.col(counts).fill_null(0), pl.col("is_listed").fill_null(False))


def _long(counted: pl.LazyFrame) -> pl.LazyFrame:
    """One row per environment and grain: what it holds, and whether it is there at all."""
    return (
        counted.select("env_id", "is_catalogued", *GRAINS, present="trajectories")
        .unpivot(
            on=list(GRAINS), index=["env_id", "is_catalogued", "present"], variable_name="grain", value_name="held"
        )
        .with_columns(pl.col("grain").cast(BALANCE["grain"].dtype))
    )
