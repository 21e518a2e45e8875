"""Environments, from the sibling sets: what each offers, how many scenarios it has, how its scenarios are checked."""

import polars as pl

from analysis.natural import natural_order
from analysis.schema import ENVIRONMENTS, Column, Table

# Published for EnvScaler-191-Env: quantity -> (mean, median).
PUBLISHED = {
    "query tools": (10.44, 10.0),
    "state-change tools": (8.14, 8.0),
    "state categories": (21.38, 21.0),
    "scenarios": (37.28, 42.0),
}
QUANTITIES = {
    "query tools": "query_tools",
    "state-change tools": "change_tools",
    "state categories": "state_categories",
    "scenarios": "scenarios",
    "state entities": "state_entities",
    "rules": "rules",
}
# The published histograms draw scenarios in wider bins; the others take few values, a bin each.
_BIN = {"scenarios": 5}
_QUANTITY = Column("quantity", pl.Enum(list(QUANTITIES)), "what is counted, per environment")

SUMMARY = Table(
    "environments_summary",
    "quantity",
    (
        _QUANTITY,
        Column("environments", pl.UInt32(), "environments counted: the denominator", unit="environments"),
        Column("mean", pl.Float64(), "mean per environment"),
        Column("median", pl.Float64(), "median per environment"),
        Column("min", pl.UInt32(), "smallest"),
        Column("max", pl.UInt32(), "largest"),
        Column("published_mean", pl.Float64(), "mean the publisher gives", nullable=True),
        Column("published_median", pl.Float64(), "median the publisher gives", nullable=True),
        Column("is_equal", pl.Boolean(), "mean to two digits and median are those published", nullable=True),
    ),
    key=("quantity",),
)

HISTOGRAM = Table(
    "environments_histogram",
    "quantity and bin",
    (
        _QUANTITY,
        Column("count_from", pl.UInt32(), "lower edge of the bin, included"),
        Column("count_to", pl.UInt32(), "upper edge of the bin, excluded"),
        Column("environments", pl.UInt32(), "environments with that many", unit="environments"),
        Column("environment_share", pl.Float64(), "of all environments"),
    ),
    key=("quantity", "count_from"),
)

PER_ENVIRONMENT = Table(
    "environments_each",
    "environment",
    (
        ENVIRONMENTS["env_id"],
        ENVIRONMENTS["summary"],
        ENVIRONMENTS["split"],
        ENVIRONMENTS["query_tools"],
        ENVIRONMENTS["change_tools"],
        ENVIRONMENTS["state_entities"],
        ENVIRONMENTS["state_categories"],
        ENVIRONMENTS["rules"],
        Column("scenarios", pl.UInt32(), "scenarios of the sibling set; null when no such set is given", nullable=True),
        ENVIRONMENTS["code_lines"],
    ),
    key=("env_id",),
)

CHECKS_PER_SCENARIO = Table(
    "environments_checks",
    "number of checks",
    (
        Column("checks", pl.UInt32(), "checks that judge the scenario's final state", unit="checks"),
        Column("scenarios", pl.UInt32(), "scenarios with that many", unit="scenarios"),
        Column("scenario_share", pl.Float64(), "of the scenarios that have checks"),
        Column("all_scenarios", pl.UInt32(), "scenarios that have checks", unit="scenarios"),
        Column("mean_checks", pl.Float64(), "checks per scenario that has any", unit="checks"),
    ),
    key=("checks",),
)


def per_environment(environments: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """Put the counts of each environment beside each other.

    Args:
        environments: conforms to ENVIRONMENTS.
        scenarios: conforms to SCENARIOS.

    Returns:
        One row per environment in natural order, conforming to PER_ENVIRONMENT. An environment without scenarios counts
        0 where a scenario set is given, null where none is.
    """
    counted = scenarios.group_by("env_id").agg(counted=pl.len())
    given = scenarios.select(is_given=pl.len() > 0)
    joined = (
        environments.join(counted, on="env_id", how="left", validate="1:1")
        .join(given, how="cross")
        .with_columns(scenarios=pl.when("is_given").then(pl.col("counted").fill_null(0)))
    )
    return PER_ENVIRONMENT.select(joined.sort(natural_order("env_id")))


def summary(environments: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """Mean and median per environment, beside what the publisher gives.

    Args:
        environments: conforms to ENVIRONMENTS.
        scenarios: conforms to SCENARIOS.

    Returns:
        One row per quantity, conforming to SUMMARY; no row for scenarios when no scenario set is given.
    """
    quantity = pl.col("quantity").cast(pl.String)
    published = {
        f"published_{name}": quantity.replace_strict(
            {key: values[place] for key, values in PUBLISHED.items()}, default=None, return_dtype=pl.Float64
        )
        for place, name in enumerate(("mean", "median"))
    }
    counted = (
        _long(environments, scenarios)
        .group_by("quantity")
        .agg(
            environments=pl.len(),
            mean=pl.col("count").mean(),
            median=pl.col("count").median(),
            min=pl.col("count").min(),
            max=pl.col("count").max(),
        )
        .with_columns(**published)
        .with_columns(
            is_equal=(pl.col("mean").round(2) == pl.col("published_mean"))
            & (pl.col("median") == pl.col("published_median"))
        )
    )
    return SUMMARY.select(counted.sort("quantity"))


def histogram(environments: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """The published histograms: environments by their number of tools, state categories and scenarios; and two more.

    Args:
        environments: conforms to ENVIRONMENTS.
        scenarios: conforms to SCENARIOS.

    Returns:
        One row per (quantity, bin) that holds an environment, conforming to HISTOGRAM; shares sum to 1 per quantity.
    """
    width = pl.col("quantity").cast(pl.String).replace_strict(_BIN, default=1, return_dtype=pl.UInt32)
    binned = (
        _long(environments, scenarios)
        .group_by("quantity", width=width, count_from=pl.col("count") // width * width)
        .agg(environments=pl.len())
        .with_columns(
            count_to=pl.col("count_from") + pl.col("width"),
            environment_share=pl.col("environments") / pl.col("environments").sum().over("quantity"),
        )
    )
    return HISTOGRAM.select(binned.sort("quantity", "count_from"))


def checks_per_scenario(scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """Count the checks of the scenarios that have any: those of the RL set.

    Args:
        scenarios: conforms to SCENARIOS.

    Returns:
        One row per number of checks that occurs, conforming to CHECKS_PER_SCENARIO; shares sum to 1.
    """
    n = pl.col("scenarios")
    counted = (
        scenarios.filter(pl.col("checks") > 0)
        .group_by("checks")
        .agg(scenarios=pl.len())
        .with_columns(
            scenario_share=n / n.sum(),
            all_scenarios=n.sum(),
            mean_checks=(pl.col("checks") * n).sum() / n.sum(),
        )
    )
    return CHECKS_PER_SCENARIO.select(counted.sort("checks"))


def _long(environments: pl.LazyFrame, scenarios: pl.LazyFrame) -> pl.LazyFrame:
    """One row per environment and quantity that is known."""
    return (
        per_environment(environments, scenarios)
        .select("env_id", **{quantity: pl.col(column) for quantity, column in QUANTITIES.items()})
        .unpivot(index="env_id", variable_name="quantity", value_name="count")
        .drop_nulls("count")
        .with_columns(pl.col("quantity").cast(_QUANTITY.dtype))
    )
