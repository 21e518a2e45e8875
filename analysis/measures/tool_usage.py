"""Tool usage: which tools are called, by which share of the trajectories OFFERED them, how evenly, and which never."""

import polars as pl

from analysis.measures.calls import rate_columns, trajectory_key
from analysis.measures.expressions import (
    effective_number,
    gini,
    normalised_entropy,
    quantile,
    scenario,
    share_of,
    top_total,
)
from analysis.measures.intervals import clustered_rate
from analysis.natural import natural_order
from analysis.schema import FEWEST_FOR_A_RATE, TOOL_CALLS, TRAJECTORIES, Column, Table

_ENV_ID = TRAJECTORIES["env_id"]
_TRAJ_TYPE = TRAJECTORIES["traj_type"]
_TOOL_NAME = TOOL_CALLS["tool_name"]
_CALLS = Column("calls", pl.UInt32(), "calls of the tool", unit="calls")
_OFFERING = Column("offering", pl.UInt32(), "trajectories that were offered the tool", unit="trajectories")
_CALLING = Column("calling", pl.UInt32(), "of these, trajectories that call it", unit="trajectories")
_OUTSIDE = Column("outside_calls", pl.UInt32(), "calls in records that declare no tools", unit="calls")
_USAGE = rate_columns("usage_rate", "trajectories calling / trajectories offered the tool")

TOOLS = Table(
    "tool_usage_tools",
    "environment and tool, offered or called",
    (
        _ENV_ID,
        _TOOL_NAME,
        _CALLS,
        Column("env_calls", pl.UInt32(), "calls in the environment, unreadable ones included", unit="calls"),
        Column("call_share", pl.Float64(), "of the environment's calls", nullable=True),
        _OFFERING,
        _CALLING,
        *_USAGE,
        _OUTSIDE,
    ),
    key=("env_id", "tool_name"),
)

BUSIEST = Table(
    "tool_usage_busiest",
    "tool among the most called",
    (
        *TOOLS.columns,
        Column("all_calls", pl.UInt32(), "calls over all tools and environments", unit="calls"),
        Column("all_tools", pl.UInt32(), "tools over all environments, offered or called", unit="tools"),
        Column("all_call_share", pl.Float64(), "of all calls"),
    ),
    key=("env_id", "tool_name"),
)

RATES = Table(
    "tool_usage_rates",
    "band of the usage rate",
    (
        Column("band", pl.UInt32(), "0 = never called, 1 = up to 10 %, … 10 = above 90 %"),
        Column("rate_from", pl.Float64(), "above this usage rate; 0 for the tools never called"),
        Column("rate_to", pl.Float64(), "up to and including this usage rate"),
        Column("tools", pl.UInt32(), "tools of an environment in the band", unit="tools"),
        Column("all_tools", pl.UInt32(), "tools of an environment offered to 20 trajectories or more", unit="tools"),
        Column("small_tools", pl.UInt32(), "tools left out: offered to fewer than 20 trajectories", unit="tools"),
        Column("tool_share", pl.Float64(), "of the tools of all environments"),
    ),
    key=("band",),
)

MODES = Table(
    "tool_usage_modes",
    "tool and mode",
    (
        _ENV_ID,
        _TOOL_NAME,
        _TRAJ_TYPE,
        _OFFERING,
        _CALLING,
        *_USAGE,
        Column("difference", pl.Float64(), "usage rate in conversations - without a user"),
        Column("compared_tools", pl.UInt32(), "tools offered to 20 trajectories or more in both modes", unit="tools"),
    ),
    key=("env_id", "tool_name", "traj_type"),
)

BREADTH = Table(
    "tool_usage_breadth",
    "mode and band of breadth",
    (
        _TRAJ_TYPE,
        Column("breadth_from", pl.Float64(), "at least this share of the offered tools is called"),
        Column("breadth_to", pl.Float64(), "and less than this; the last band includes 1"),
        Column("trajectories", pl.UInt32(), "trajectories in the band", unit="trajectories"),
        Column(
            "mode_trajectories", pl.UInt32(), "trajectories of the mode that were offered tools", unit="trajectories"
        ),
        Column("trajectory_share", pl.Float64(), "of the mode's trajectories"),
        Column("median_breadth", pl.Float64(), "median of the mode: distinct tools called / offered"),
    ),
    key=("traj_type", "breadth_from"),
)

CONCENTRATION = Table(
    "tool_usage_concentration",
    "environment that offers tools",
    (
        _ENV_ID,
        Column("trajectories", pl.UInt32(), "trajectories of the environment", unit="trajectories"),
        Column("offered_tools", pl.UInt32(), "distinct tools offered", unit="tools"),
        Column("used_tools", pl.UInt32(), "of these, called at least once", unit="tools"),
        Column("unused_tools", pl.UInt32(), "of these, never called", unit="tools"),
        Column("unused_share", pl.Float64(), "never called / offered"),
        Column("calls", pl.UInt32(), "calls of offered tools", unit="calls"),
        Column("gini", pl.Float64(), "of calls over the offered tools: 0 all alike", nullable=True),
        Column("top_three_share", pl.Float64(), "of the calls, by the three most called tools", nullable=True),
        Column("evenness", pl.Float64(), "entropy of calls over ln(offered tools): 1 all alike", nullable=True),
        Column("effective_tools", pl.Float64(), "equal tools that would be as even: exp(entropy)", nullable=True),
    ),
    key=("env_id",),
)

ACROSS = Table(
    "tool_usage_across",
    "all environments together",
    (
        Column("environments", pl.UInt32(), "named environments that offer tools", unit="environments"),
        Column("offered_tools", pl.UInt32(), "tools offered, each name counted once per environment", unit="tools"),
        Column("distinct_names", pl.UInt32(), "distinct names among them", unit="names"),
        Column("used_tools", pl.UInt32(), "of the tools offered, called at least once", unit="tools"),
        Column("unused_tools", pl.UInt32(), "of the tools offered, never called", unit="tools"),
        Column("calls", pl.UInt32(), "calls of offered tools", unit="calls"),
        Column("undeclared_calls", pl.UInt32(), "calls of a name never offered, or of none", unit="calls"),
        _OUTSIDE,
        Column("gini", pl.Float64(), "of calls over the tools offered", nullable=True),
        Column("top_tenth_calls", pl.UInt32(), "calls to the most called tenth of the tools", unit="calls"),
        Column("top_tenth_share", pl.Float64(), "of the calls, by the most called tenth of the tools", nullable=True),
    ),
)

UNUSED = Table(
    "tool_usage_unused",
    "tool that is offered and never called",
    (_ENV_ID, Column("tool_name", pl.String(), "tool never called"), _OFFERING),
    key=("env_id", "tool_name"),
)


def by_tool(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame, tools: pl.LazyFrame) -> pl.LazyFrame:
    """Count calls and usage per environment and tool.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES.
        tools: conforms to schema.TOOLS.

    Returns:
        One row per (env_id, tool_name) that was offered or called, conforming to TOOLS, environments in natural order,
        the most called first. Shares sum to 1 per environment with calls. Blocks that name no tool share a row with a
        null tool_name; a name that was never offered has offering 0. A usage rate over fewer than 20 is null.
    """
    counted = _usage(tool_calls, trajectories, tools, ["env_id"]).with_columns(
        env_calls=pl.col("calls").sum().over("env_id")
    )
    shared = counted.with_columns(
        call_share=pl.when(pl.col("env_calls") > 0).then(pl.col("calls") / pl.col("env_calls"))
    )
    return TOOLS.select(
        shared.sort(*natural_order("env_id"), "calls", "tool_name", descending=[False, False, False, True, False])
    )


def busiest(tools: pl.LazyFrame, *, top: int) -> pl.LazyFrame:
    """The most called tools over all environments.

    Args:
        tools: conforms to TOOLS.
        top: rows at most.

    Returns:
        Conforms to BUSIEST, the most called first; tools that were never called are left out.
    """
    totals = tools.with_columns(all_calls=pl.col("calls").sum(), all_tools=pl.len()).filter(pl.col("calls") > 0)
    shared = totals.with_columns(all_call_share=pl.col("calls") / pl.col("all_calls"))
    ordered = shared.sort("calls", *natural_order("env_id"), "tool_name", descending=[True, False, False, False, False])
    return BUSIEST.select(ordered.head(top))


def rates(tools: pl.LazyFrame) -> pl.LazyFrame:
    """Spread of the usage rate over the tools of all environments.

    Args:
        tools: conforms to TOOLS.

    Returns:
        One row per band of a tenth, the tools never called apart, conforming to RATES; shares sum to 1. Empty bands
        are rows with 0; tools offered to fewer than 20 trajectories are counted apart.
    """
    offered = tools.filter(pl.col("offering") > 0)
    judged = offered.filter(pl.col("offering") >= FEWEST_FOR_A_RATE)
    # Whole numbers: 3 of 10 must not land above 30 % by a rounding of the quotient.
    band = (pl.col("calling") * 10 + pl.col("offering") - 1) // pl.col("offering")
    counted = judged.group_by(band=band.cast(pl.UInt32)).agg(tools=pl.len())
    small = offered.select(small_tools=(pl.col("offering") < FEWEST_FOR_A_RATE).sum())
    banded = (
        pl.LazyFrame({"band": range(11)}, schema={"band": pl.UInt32})
        .join(counted, on="band", how="left", validate="1:1")
        .join(small, how="cross")
        .with_columns(pl.col("tools").fill_null(0))
        .with_columns(all_tools=pl.col("tools").sum())
        .filter(pl.col("all_tools") > 0)
        .with_columns(
            tool_share=pl.col("tools") / pl.col("all_tools"),
            rate_from=(pl.col("band").cast(pl.Int32) - 1).clip(0) / 10,
            rate_to=pl.col("band") / 10,
        )
    )
    return RATES.select(banded.sort("band"))


def modes(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame, tools: pl.LazyFrame, *, top: int) -> pl.LazyFrame:
    """The tools whose usage rate differs most between conversations and runs without a user.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES.
        tools: conforms to schema.TOOLS.
        top: tools at most.

    Returns:
        Two rows a tool, one a mode, conforming to MODES, the largest difference first. Only tools that were offered to
        20 trajectories or more in either mode. The largest of many differences is in part chance: read the intervals.
    """
    keys = ["env_id", "tool_name"]
    usage = _usage(tool_calls, trajectories, tools, ["env_id", "traj_type"]).filter(
        pl.col("offering") >= FEWEST_FOR_A_RATE
    )
    talk = pl.col("usage_rate").filter(pl.col("traj_type") == "conversation").first()
    solo = pl.col("usage_rate").filter(pl.col("traj_type") == "non_conversation").first()
    widest = (
        usage.group_by(keys)
        .agg(difference=talk - solo)
        .drop_nulls("difference")
        .with_columns(compared_tools=pl.len())
        .sort(pl.col("difference").abs(), *natural_order("env_id"), "tool_name", descending=[True] + [False] * 4)
        .head(top)
        .with_row_index("place")
    )
    paired = usage.join(widest, on=keys, nulls_equal=True, validate="m:1").sort("place", "traj_type")
    return MODES.select(paired)


def breadth(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Spread of breadth, distinct tools called / tools offered per trajectory, in bands of 5 %.

    Args:
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, band) that occurs, conforming to BREADTH; shares sum to 1 per mode. Trajectories that
        were offered no tool have no breadth and are left out.
    """
    band = ((pl.col("tools_used") * 20) // pl.col("tools_offered")).clip(0, 19)
    counted = (
        trajectories.filter(pl.col("tools_offered") > 0)
        .with_columns(band=band, breadth=pl.col("tools_used") / pl.col("tools_offered"))
        .with_columns(
            mode_trajectories=pl.len().over("traj_type"),
            median_breadth=quantile("breadth", 0.5).over("traj_type"),
        )
        .group_by("traj_type", "band")
        .agg(pl.len().alias("trajectories"), pl.col("mode_trajectories", "median_breadth").first())
        .with_columns(
            breadth_from=pl.col("band") / 20,
            breadth_to=(pl.col("band") + 1) / 20,
            trajectory_share=pl.col("trajectories") / pl.col("mode_trajectories"),
        )
    )
    return BREADTH.select(counted.sort("traj_type", "breadth_from"))


def concentration(tools: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """How evenly an environment's calls are spread over the tools it offers.

    Args:
        tools: conforms to TOOLS.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per environment that offers tools, conforming to CONCENTRATION, the largest share of unused tools first.
    """
    calls = pl.col("calls")
    spread = (
        tools.filter(pl.col("offering") > 0)
        .group_by("env_id")
        .agg(
            offered_tools=pl.len(),
            used_tools=(pl.col("calling") > 0).sum(),
            unused_tools=(pl.col("calling") == 0).sum(),
            gini=gini(calls),
            top_three_share=pl.when(calls.sum() > 0).then(calls.top_k(3).sum() / calls.sum()),
            evenness=normalised_entropy(calls),
            effective_tools=effective_number(calls),
            calls=calls.sum(),
        )
        .with_columns(unused_share=pl.col("unused_tools") / pl.col("offered_tools"))
        .join(
            trajectories.group_by("env_id").agg(trajectories=pl.len()),
            on="env_id",
            how="left",
            nulls_equal=True,
            validate="1:1",
        )
    )
    return CONCENTRATION.select(
        spread.sort("unused_share", *natural_order("env_id"), descending=[True, False, False, False])
    )


def across(tools: pl.LazyFrame) -> pl.LazyFrame:
    """The same over the tools of all environments at once.

    Args:
        tools: conforms to TOOLS.

    Returns:
        One row, conforming to ACROSS; none without any tool.
    """
    is_offered = pl.col("offering") > 0
    calls = pl.col("calls").filter(is_offered)
    return ACROSS.select(
        tools.select(
            environments=pl.col("env_id").filter(is_offered).drop_nulls().n_unique(),
            offered_tools=is_offered.sum(),
            distinct_names=pl.col("tool_name").filter(is_offered).n_unique(),
            used_tools=(is_offered & (pl.col("calling") > 0)).sum(),
            unused_tools=(is_offered & (pl.col("calling") == 0)).sum(),
            calls=calls.sum(),
            undeclared_calls=(pl.col("calls") - pl.col("outside_calls")).filter(~is_offered).sum(),
            outside_calls=pl.col("outside_calls").filter(~is_offered).sum(),
            gini=gini(calls),
            top_tenth_calls=top_total(calls, 0.1),
            top_tenth_share=share_of(top_total(calls, 0.1), calls.sum()),
        ).filter(pl.col("offered_tools") + pl.col("undeclared_calls") + pl.col("outside_calls") > 0)
    )


def unused(tools: pl.LazyFrame) -> pl.LazyFrame:
    """List the tools that are offered and never called.

    Args:
        tools: conforms to TOOLS.

    Returns:
        Conforms to UNUSED, environments in natural order, the tool offered most often first.
    """
    never = tools.filter((pl.col("offering") > 0) & (pl.col("calling") == 0))
    return UNUSED.select(
        never.sort(*natural_order("env_id"), "offering", "tool_name", descending=[False, False, False, True, False])
    )


def _usage(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame, tools: pl.LazyFrame, by: list[str]) -> pl.LazyFrame:
    """Offering, calling and calls per group and tool; what was offered is counted by tool set: there are few."""
    keys = [*by, "tool_name"]
    by_scenario = [*keys, "scenario"]
    placed = trajectories.with_columns(key=trajectory_key(), scenario=scenario().hash(seed=7))
    offered = (
        placed.group_by(*by, "tool_set", "scenario")
        .agg(offering=pl.len())
        .join(tools.select("tool_set", "tool_name"), on="tool_set")
        .group_by(by_scenario)
        .agg(pl.col("offering").sum())
    )
    called = (
        tool_calls.group_by(*keys, key=trajectory_key())
        .agg(pl.len().alias("calls"), pl.col("is_offered").first(), outside_calls=pl.col("is_offered").is_null().sum())
        .join(placed.select("key", "scenario"), on="key", how="left", validate="m:1")
        .group_by(by_scenario)
        .agg(pl.col("calls", "outside_calls").sum(), calling=pl.col("is_offered").sum())
    )
    calling, offering = pl.col("calling"), pl.col("offering")
    return (
        offered.join(called, on=by_scenario, how="full", coalesce=True, nulls_equal=True, validate="1:1")
        .with_columns(pl.col("offering", "calling", "calls", "outside_calls").fill_null(0).cast(pl.UInt32))
        .sort(by_scenario)
        .group_by(keys, maintain_order=True)
        .agg(
            pl.col("offering", "calling", "calls", "outside_calls").sum(),
            **clustered_rate(calling, offering, "usage_rate"),
        )
    )
