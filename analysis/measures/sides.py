"""Sides of a comparison: what each has, what both have, and what only one has."""

import polars as pl

from analysis.natural import natural_order
from analysis.schema import TRAJECTORIES, Column, Table

COUNTS = Table(
    "compare_counts",
    "what is counted",
    (
        Column("counted", pl.String(), "what is counted"),
        Column("left", pl.UInt32(), "on the left"),
        Column("right", pl.UInt32(), "on the right"),
        Column("shared", pl.UInt32(), "on both sides; null where things have no identity", nullable=True),
    ),
    key=("counted",),
)

CHANGES = ("gained", "lost")
MEMBERSHIP = Table(
    "compare_membership",
    "environment or tool that only one side has",
    (
        Column("kind", pl.Enum(["environment", "tool"]), "what is gained or lost"),
        Column("change", pl.Enum(CHANGES), "gained: only on the left; lost: only on the right"),
        TRAJECTORIES["env_id"],
        Column("tool_name", pl.String(), "tool; null for an environment", nullable=True),
        Column("trajectories", pl.UInt32(), "trajectories that have it, on its side", unit="trajectories"),
    ),
    key=("kind", "env_id", "tool_name"),
)


def counts(
    left: pl.LazyFrame, right: pl.LazyFrame, left_tools: pl.LazyFrame, right_tools: pl.LazyFrame
) -> pl.LazyFrame:
    """Count what either side holds, and what both do.

    Args:
        left: conforms to TRAJECTORIES.
        right: conforms to TRAJECTORIES.
        left_tools: conforms to tool_usage.TOOLS, of the left.
        right_tools: conforms to tool_usage.TOOLS, of the right.

    Returns:
        Conforms to COUNTS: trajectories, scenarios, environments, tools.
    """
    scenarios = [side.filter(pl.col("task_id").is_not_null()).select("env_id", "task_id") for side in (left, right)]
    environments = [side.filter(pl.col("env_id").is_not_null()).select("env_id") for side in (left, right)]
    tools = [side.filter(pl.col("offering") > 0).select("env_id", "tool_name") for side in (left_tools, right_tools)]
    runs = left.select(left=pl.len()).join(right.select(right=pl.len()), how="cross")
    rows = [
        runs.with_columns(place=pl.lit(0), counted=pl.lit("trajectories"), shared=pl.lit(None, dtype=pl.UInt32())),
        *[
            _shared(one, other).with_columns(place=pl.lit(place), counted=pl.lit(name))
            for place, (name, (one, other)) in enumerate(
                {"scenarios": scenarios, "environments": environments, "tools offered": tools}.items(), start=1
            )
        ],
    ]
    order = ["place", "counted", "left", "right", "shared"]
    return COUNTS.select(pl.concat([row.select(order) for row in rows], how="vertical_relaxed").sort("place"))


def membership(
    left: pl.LazyFrame, right: pl.LazyFrame, left_tools: pl.LazyFrame, right_tools: pl.LazyFrame
) -> pl.LazyFrame:
    """List the environments and tools that only one side has.

    Args:
        left: conforms to TRAJECTORIES.
        right: conforms to TRAJECTORIES.
        left_tools: conforms to tool_usage.TOOLS, of the left.
        right_tools: conforms to tool_usage.TOOLS, of the right.

    Returns:
        Conforms to MEMBERSHIP, environments first, in natural order. Tools of an environment that is itself gained or
        lost are not listed one by one.
    """
    environments = [
        side.filter(pl.col("env_id").is_not_null()).group_by("env_id").agg(trajectories=pl.len())
        for side in (left, right)
    ]
    tools = [
        side.filter(pl.col("offering") > 0).select("env_id", "tool_name", trajectories="offering")
        for side in (left_tools, right_tools)
    ]
    found = []
    for change, (one, other) in zip(CHANGES, ((0, 1), (1, 0)), strict=True):
        alone = environments[one].join(environments[other], on="env_id", how="anti")
        missing = (
            tools[one]
            .join(tools[other], on=["env_id", "tool_name"], how="anti", nulls_equal=True)
            .join(alone, on="env_id", how="anti")
        )
        found += [
            alone.with_columns(
                kind=pl.lit("environment"), change=pl.lit(change), tool_name=pl.lit(None, dtype=pl.String())
            ),
            missing.with_columns(kind=pl.lit("tool"), change=pl.lit(change)),
        ]
    ordered = MEMBERSHIP.select(pl.concat([frame.select(MEMBERSHIP.names) for frame in found], how="vertical_relaxed"))
    return ordered.sort("kind", "change", *natural_order("env_id"), "tool_name")


def _shared(one: pl.LazyFrame, other: pl.LazyFrame) -> pl.LazyFrame:
    """Distinct rows on either side and on both."""
    left, right = one.unique(), other.unique()
    both = left.join(right, on=left.collect_schema().names(), how="semi", nulls_equal=True)
    return (
        left.select(left=pl.len())
        .join(right.select(right=pl.len()), how="cross")
        .join(both.select(shared=pl.len()), how="cross")
    )
