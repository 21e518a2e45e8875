"""Grounding: do the ids that calls carry come from what the agent was told?

Over the derived table VALUES: `data.derive(VALUES, records.values.rows, key="1")`.
"""

from hashlib import sha256

import polars as pl

from analysis.measures.calls import rate_columns
from analysis.measures.clusters import counted, placed, shares
from analysis.schema import TRAJECTORIES, VALUES, Column, Table

# Per environment and name of an argument: its values, and how many runs use each.
Pool = dict[tuple[str | None, str], tuple[tuple[str, int], ...]]
_TRAJ_TYPE = VALUES["traj_type"]
_VALUES = Column("values", pl.UInt32(), "id-like argument values", unit="values")
_UNGROUNDED = Column("ungrounded", pl.UInt32(), "values no earlier text holds but the agent's own", unit="values")
_UNGROUNDED_RATE = rate_columns("ungrounded_rate", "ungrounded over id-like values")

# Farther reuse is rare; it shares the last bar.
LONGEST_DISTANCE = 15

SOURCES = Table(
    "grounding_sources",
    "mode and place an id-like value stood first",
    (
        _TRAJ_TYPE,
        VALUES["source"],
        _VALUES,
        Column("mode_values", pl.UInt32(), "id-like argument values of the mode", unit="values"),
        *rate_columns("source_rate", "of the mode's id-like values"),
    ),
    key=("traj_type", "source"),
)

ARGUMENTS = Table(
    "grounding_arguments",
    "name of an argument",
    (VALUES["argument"], _VALUES, _UNGROUNDED, *_UNGROUNDED_RATE),
    key=("argument",),
)

DISTANCES = Table(
    "grounding_distances",
    "mode and calls from the nearest result that holds a value to its use",
    (
        _TRAJ_TYPE,
        Column("distance", pl.UInt32(), f"calls from there to here; {LONGEST_DISTANCE} or more", unit="calls"),
        Column("values", pl.UInt32(), "values reused at that distance", unit="values"),
        Column("mode_values", pl.UInt32(), "values the mode took from results", unit="values"),
        Column("value_share", pl.Float64(), "of the values the mode took from results"),
    ),
    key=("traj_type", "distance"),
)

BASELINE = Table(
    "grounding_baseline",
    "mode",
    (
        _TRAJ_TYPE,
        _VALUES,
        _UNGROUNDED,
        *_UNGROUNDED_RATE,
        Column("swapped_values", pl.UInt32(), "values taken for one of another run", unit="values"),
        Column("swapped_ungrounded", pl.UInt32(), "of these, that no text before would have held", unit="values"),
        *rate_columns("swapped_rate", "swapped_ungrounded over swapped_values"),
    ),
    key=("traj_type",),
)

CHAINS = Table(
    "grounding_chains",
    "mode and length of the longest chain of reuse",
    (
        _TRAJ_TYPE,
        Column("longest_chain", pl.UInt32(), "calls linked by reuse; 1 = no call uses a result", unit="calls"),
        Column("trajectories", pl.UInt32(), "trajectories with that longest chain", unit="trajectories"),
        Column("mode_trajectories", pl.UInt32(), "trajectories of the mode with a call", unit="trajectories"),
        Column("trajectory_share", pl.Float64(), "of the mode's trajectories with a call"),
    ),
    key=("traj_type", "longest_chain"),
)

EXAMPLES = Table(
    "ungrounded_values",
    "ungrounded value",
    (
        VALUES["trajectory_id"],
        VALUES["call"],
        VALUES["tool_name"],
        VALUES["path"],
        VALUES["value"],
        VALUES["source"],
    ),
    key=("trajectory_id", "call", "path"),
)


def sources(values: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Count id-like argument values by where they stood first.

    Args:
        values: conforms to VALUES.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per (traj_type, source) that occurs, conforming to SOURCES; values sum to mode_values.
    """
    stood = shares(placed(values, trajectories), ["traj_type"], "source", ("values", "mode_values", "source_rate"))
    return SOURCES.select(stood.sort("traj_type", "source"))


def pool(values: pl.LazyFrame, *, most: int = 200) -> Pool:
    """What runs of an environment give to each argument: what `records.values.swapped` draws from.

    Args:
        values: conforms to VALUES.
        most: values kept per environment and argument, those of most runs.

    Returns:
        Per (env_id, argument) its distinct values, each with the number of runs that use it.
    """
    used = (
        values.group_by("env_id", "argument", "value")
        .agg(runs=pl.col("trajectory_id").n_unique())
        .sort("env_id", "argument", "runs", "value", descending=[False, False, True, False])
        .group_by("env_id", "argument", maintain_order=True)
        .agg(pl.col("value", "runs").head(most))
        .collect()
    )
    return {(env, argument): tuple(zip(names, runs, strict=True)) for env, argument, names, runs in used.rows()}


def pool_key(pool: Pool) -> str:
    """A digest of a pool: what is derived from it is cached under it."""
    return sha256(repr(sorted(pool.items(), key=repr)).encode()).hexdigest()[:16]


def baseline(values: pl.LazyFrame, swapped: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Hold the rate of ungrounded values against that of values swapped in from other runs of the environment.

    Args:
        values: conforms to VALUES.
        swapped: conforms to SWAPPED_VALUES, of the same trajectories.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per traj_type with a value, conforming to BASELINE. What nothing says of the run is often found all the
        same where runs of an environment begin in one state: only the distance between both rates is the agent's.
    """
    counts = {"values": pl.len(), "ungrounded": is_ungrounded().sum()}
    own = counted(placed(values, trajectories), ["traj_type"], counts, {"ungrounded_rate": ("ungrounded", "values")})
    others = counted(
        placed(swapped, trajectories).rename({"value": "other"}),
        ["traj_type"],
        {"swapped_values": pl.len(), "swapped_ungrounded": is_ungrounded().sum()},
        {"swapped_rate": ("swapped_ungrounded", "swapped_values")},
    )
    both = own.join(others, on="traj_type", how="left", validate="1:1").with_columns(
        pl.col("swapped_values", "swapped_ungrounded", "swapped_rate_clusters").fill_null(0)
    )
    return BASELINE.select(both.sort("traj_type"))


def by_argument(values: pl.LazyFrame, trajectories: pl.LazyFrame | None = None, *, top: int = 20) -> pl.LazyFrame:
    """Count ungrounded values per name of the argument.

    Args:
        values: conforms to VALUES.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.
        top: names kept.

    Returns:
        One row per argument, most ungrounded values first, then most values, conforming to ARGUMENTS.
    """
    counts = {"values": pl.len(), "ungrounded": is_ungrounded().sum()}
    rates = {"ungrounded_rate": ("ungrounded", "values")}
    arguments = (
        counted(placed(values, trajectories), ["argument"], counts, rates)
        .sort("ungrounded", "values", "argument", descending=[True, True, False])
        .head(top)
    )
    return ARGUMENTS.select(arguments)


def distances(values: pl.LazyFrame) -> pl.LazyFrame:
    """Count how many calls lie between the nearest result that holds a value and its use.

    Args:
        values: conforms to VALUES.

    Returns:
        One row per (traj_type, distance) that occurs, conforming to DISTANCES; shares sum to 1 per mode.
    """
    counted = (
        values.filter((pl.col("source") == "result") & pl.col("nearest_distance").is_not_null())
        .group_by("traj_type", distance=pl.col("nearest_distance").clip(upper_bound=LONGEST_DISTANCE))
        .agg(values=pl.len())
        .with_columns(mode_values=pl.col("values").sum().over("traj_type"))
        .with_columns(value_share=pl.col("values") / pl.col("mode_values"))
    )
    return DISTANCES.select(counted.sort("traj_type", "distance"))


def chains(values: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count trajectories by their longest chain of calls linked by reuse.

    Args:
        values: conforms to VALUES.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, longest_chain) that occurs among trajectories with a call, conforming to CHAINS; shares
        sum to 1 per mode.
    """
    calling = trajectories.filter(pl.col(TRAJECTORIES["tool_calls"].name) > 0).select("trajectory_id", "traj_type")
    longest = values.group_by("trajectory_id").agg(longest_chain=pl.col("chain").max())
    counted = (
        calling.join(longest, on="trajectory_id", how="left", validate="1:1")
        .group_by("traj_type", pl.col("longest_chain").fill_null(1))
        .agg(trajectories=pl.len())
        .with_columns(mode_trajectories=pl.col("trajectories").sum().over("traj_type"))
        .with_columns(trajectory_share=pl.col("trajectories") / pl.col("mode_trajectories"))
    )
    return CHAINS.select(counted.sort("traj_type", "longest_chain"))


def examples(values: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """Ungrounded values, first in the order of trajectories.

    Args:
        values: conforms to VALUES.
        top: rows kept.

    Returns:
        One row per ungrounded value, conforming to EXAMPLES.
    """
    return EXAMPLES.select(values.filter(is_ungrounded()).sort("trajectory_id", "call", "path").head(top))


def is_ungrounded() -> pl.Expr:
    """No earlier result, user, system or task text holds the value."""
    return pl.col("source").is_in(["agent", "none"])
