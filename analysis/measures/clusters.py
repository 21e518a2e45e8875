"""Counts per group with rates whose intervals take scenarios whole.

Every rate over calls, messages or trajectories is counted here, so that none forgets that runs of a scenario, and calls
of a run still more, say less than as many independent ones.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from analysis.measures.calls import trajectory_key
from analysis.measures.expressions import scenario, wilson
from analysis.measures.intervals import FEWEST_CLUSTERS, clustered_rate, student
from analysis.schema import FEWEST_FOR_A_RATE

Rates = Mapping[str, tuple[str, str]]


def placed(rows: pl.LazyFrame, trajectories: pl.LazyFrame | None) -> pl.LazyFrame:
    """Rows of trajectories with their `cluster`: the scenario, or the trajectory itself where none are given.

    Args:
        rows: have a `trajectory_id`, or its `key`.
        trajectories: conforms to TRAJECTORIES; None takes each trajectory for a scenario of its own.
    """
    keyed = rows if "key" in rows.collect_schema().names() else rows.with_columns(key=trajectory_key())
    if trajectories is None:
        return keyed.with_columns(cluster=pl.col("key"))
    scenarios = trajectories.select(key=trajectory_key(), cluster=scenario().hash(seed=7))
    return keyed.join(scenarios, on="key", how="left", validate="m:1").with_columns(
        pl.col("cluster").fill_null(pl.col("key"))
    )


def counted(rows: pl.LazyFrame, by: Sequence[str], counts: Mapping[str, pl.Expr], rates: Rates) -> pl.LazyFrame:
    """Sums per group, and rates of them.

    Args:
        rows: have the columns of `by`, and `cluster`.
        by: what to group by.
        counts: what is counted of a cluster: sums over clusters are the group's.
        rates: name of a rate: its events and its trials, both names of counts.

    Returns:
        One row per group, in no order: the counts and, per rate, the columns of `intervals.clustered_rate`.
    """
    by_cluster = rows.group_by(*by, "cluster").agg(**counts).sort(*by, "cluster")
    intervals = [clustered_rate(pl.col(events), pl.col(trials), name) for name, (events, trials) in rates.items()]
    return by_cluster.group_by(by, maintain_order=True).agg(
        *(pl.col(name).sum() for name in counts), **{name: end for rate in intervals for name, end in rate.items()}
    )


def shares(rows: pl.LazyFrame, by: Sequence[str], kind: str, names: tuple[str, str, str]) -> pl.LazyFrame:
    """How the rows of a group fall into kinds, each with its share of the group.

    Args:
        rows: have the columns of `by` and `kind`, and `cluster`.
        by: what to group by.
        kind: column whose values are told apart.
        names: of the count of a kind, of the count of the group, and of the share.

    Returns:
        One row per group and kind that occurs, in no order: both counts and the columns of `clustered_rate`.
    """
    events, trials, name = names
    by_cluster = rows.group_by(*by, kind, "cluster").agg(pl.len().alias(events)).cache()
    # A cluster without a row of the kind is a trial all the same.
    kinds = by_cluster.select(*by, kind).unique()
    sizes = by_cluster.group_by(*by, "cluster").agg(pl.col(events).sum().alias(trials))
    grid = kinds.join(sizes, on=list(by), how="inner", nulls_equal=True) if by else kinds.join(sizes, how="cross")
    filled = grid.join(by_cluster, on=[*by, kind, "cluster"], how="left", nulls_equal=True).with_columns(
        pl.col(events).fill_null(0)
    )
    return (
        filled.sort(*by, kind, "cluster")
        .group_by(*by, kind, maintain_order=True)
        .agg(pl.col(events, trials).sum(), **clustered_rate(pl.col(events), pl.col(trials), name))
    )


def unclustered_rate(events: str, trials: str, name: str) -> dict[str, pl.Expr]:
    """The columns of `clustered_rate` where clusters are known, as `<name>_clusters`, but not which the events are of.

    On the safe side: as if all runs of a scenario did alike, so that scenarios are the effective number of trials.
    """
    n, of, clusters = pl.col(events), pl.col(trials), pl.col(f"{name}_clusters").cast(pl.Float64)
    bears_rate = of >= FEWEST_FOR_A_RATE
    deff = of / clusters * (student(clusters - 1) / student(float("inf"))) ** 2
    bears_interval = bears_rate & (clusters >= FEWEST_CLUSTERS)
    ends = {"low": False, "high": True}
    return {
        name: pl.when(bears_rate).then(n / of),
        **{
            f"{name}_{end}": pl.when(bears_interval).then(wilson(n / deff, of / deff, upper=upper))
            for end, upper in ends.items()
        },
        f"{name}_deff": pl.when(bears_interval).then(deff),
    }
