"""Diversity: how many tools, verbs and sequences are in use, how evenly, and how many more more data might show."""

import msgspec
import polars as pl

from analysis.canonical import canonical
from analysis.measures.calls import trajectory_key, verb
from analysis.natural import natural_order
from analysis.schema import TOOL_CALLS, Column, Table

UNITS = ("tools", "verbs", "pairs of tools", "triples of tools")

HILL = Table(
    "diversity",
    "unit with a use",
    (
        Column("unit", pl.Enum(UNITS), "what is counted; tools of two environments are two, sequences stay in one"),
        Column("uses", pl.UInt64(), "uses counted"),
        Column("hill_0", pl.Float64(), "distinct ones: the Hill number of order 0"),
        Column("hill_1", pl.Float64(), "as many used equally often would be as diverse: order 1, exp of the entropy"),
        Column("hill_2", pl.Float64(), "the same of order 2, which counts the common ones: 1 / sum of squared shares"),
        Column("singletons", pl.UInt64(), "used once"),
        Column("doubletons", pl.UInt64(), "used twice"),
        Column("coverage", pl.Float64(), "chance that the next use is of one seen: Good and Turing", nullable=True),
        Column("chao1", pl.Float64(), "distinct ones there are at least, those unseen included: Chao's lower bound"),
        Column("offered", pl.UInt64(), "distinct ones on offer; null where that cannot be told", nullable=True),
    ),
    key=("unit",),
)  # fmt: skip

PARALLEL = Table(
    "parallel_calls",
    "mode",
    (
        TOOL_CALLS["traj_type"],
        Column("call_messages", pl.UInt64(), "assistant messages that make a call", unit="messages"),
        Column("parallel_messages", pl.UInt64(), "of these, with two calls or more", unit="messages"),
        Column("calls", pl.UInt64(), "calls", unit="calls"),
        Column("parallel_calls", pl.UInt64(), "calls made beside another in one message", unit="calls"),
        Column("parallel_share", pl.Float64(), "parallel_calls over calls"),
        Column("most_calls", pl.UInt32(), "calls of the message that makes most", unit="calls"),
    ),
    key=("traj_type",),
)

DEPTHS = Table(
    "dependency_depths",
    "mode and number of calls",
    (
        TOOL_CALLS["traj_type"],
        Column("calls", pl.UInt32(), "calls of the trajectory", unit="calls"),
        Column("trajectories", pl.UInt32(), "trajectories with as many", unit="trajectories"),
        Column("mean_depth", pl.Float64(), "calls of the longest chain linked by reuse, mean", unit="calls"),
        Column("mean_depth_share", pl.Float64(), "depth over calls: 1 where each call needs the one before"),
    ),
    key=("traj_type", "calls"),
)

PARAMETERS = Table(
    "parameter_values",
    "parameter of a tool",
    (
        TOOL_CALLS["env_id"],
        TOOL_CALLS["tool_name"],
        Column("parameter", pl.String(), "top-level name in the arguments"),
        Column("uses", pl.UInt32(), "calls that give it a value", unit="calls"),
        Column("values", pl.UInt32(), "distinct values, as canonical JSON", unit="values"),
        Column("values_per_use", pl.Float64(), "values over uses: 1 where no value comes twice"),
        Column("top_share", pl.Float64(), "uses of the most frequent value, of all uses"),
    ),
    key=("env_id", "tool_name", "parameter"),
)


def hill(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame, tools: pl.LazyFrame) -> pl.LazyFrame:
    """Hill numbers of order 0, 1 and 2, sample coverage and Chao1 of tools, verbs and sequences of tools.

    Sources: M. O. Hill (1973), Diversity and evenness; I. J. Good (1953), The population frequencies of species and the
    estimation of population parameters; A. Chao (1984), Nonparametric estimation of the number of classes.

    Args:
        tool_calls: conforms to TOOL_CALLS; calls that name no tool stay out.
        trajectories: conforms to TRAJECTORIES.
        tools: conforms to TOOLS: what is on offer.

    Returns:
        One row per unit, conforming to HILL; none without a call. Calls of one message are a set: sequences go from
        one message to the next, by its first call in order of the alphabet.
    """
    named = tool_calls.filter(pl.col("tool_name").is_not_null())
    uses = [
        named.select(unit=pl.lit("tools"), kind=_tool()),
        named.select(unit=pl.lit("verbs"), kind=verb()),
        *(_sequences(named, size).select(unit=pl.lit(UNITS[size]), kind="kind") for size in (2, 3)),
    ]
    counted = (
        pl.concat(uses)
        .group_by("unit", "kind")
        .agg(n=pl.len().cast(pl.Float64))
        .sort("unit", "kind")
        .group_by("unit")
        .agg(**_hill_numbers())
        .with_columns(pl.col("unit").cast(HILL["unit"].dtype), **_unseen())
    )
    offers = trajectories.select("env_id", "tool_set").unique().join(tools, on="tool_set").select(kind=_tool())
    offered = offers.select(offered=pl.col("kind").n_unique(), unit=pl.lit("tools").cast(HILL["unit"].dtype))
    return HILL.select(
        counted.join(offered.filter(pl.col("offered") > 0), on="unit", how="left", validate="1:1").sort("unit")
    )


def parallel(tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Count calls made beside another in one message.

    Args:
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row per traj_type with a call, conforming to PARALLEL.
    """
    n, is_parallel = pl.col("n").cast(pl.UInt64), pl.col("n") > 1
    counted = (
        tool_calls.group_by("traj_type", "message", key=trajectory_key())
        .agg(n=pl.len())
        .group_by("traj_type")
        .agg(
            call_messages=pl.len(),
            parallel_messages=is_parallel.sum(),
            calls=n.sum(),
            parallel_calls=n.filter(is_parallel).sum(),
            most_calls=n.max(),
        )
        .with_columns(parallel_share=pl.col("parallel_calls") / pl.col("calls"))
    )
    return PARALLEL.select(counted.sort("traj_type"))


def depths(values: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Depth of the graph of calls that use each other's results, over the number of calls.

    Args:
        values: conforms to VALUES.
        trajectories: conforms to TRAJECTORIES; those without a call stay out.

    Returns:
        One row per (traj_type, calls) that occurs, conforming to DEPTHS; a trajectory whose calls use no result has
        depth 1.
    """
    longest = values.group_by("trajectory_id").agg(depth=pl.col("chain").max())
    calls, depth = pl.col("calls"), pl.col("depth")
    counted = (
        trajectories.filter(pl.col("tool_calls") > 0)
        .select("trajectory_id", "traj_type", calls="tool_calls")
        .join(longest, on="trajectory_id", how="left", validate="1:1")
        .with_columns(depth.fill_null(1))
        .group_by("traj_type", "calls")
        .agg(trajectories=pl.len(), mean_depth=depth.mean(), mean_depth_share=(depth / calls).mean())
    )
    return DEPTHS.select(counted.sort("traj_type", "calls"))


def parameters(tool_calls: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """Count the distinct values that calls give to each parameter.

    Args:
        tool_calls: conforms to TOOL_CALLS; arguments that are no object have no parameters.
        top: parameters kept.

    Returns:
        One row per (env_id, tool_name, parameter), most uses first, conforming to PARAMETERS.
    """
    by = ["env_id", "tool_name", "parameter"]
    given = (
        tool_calls.filter(pl.col("tool_name").is_not_null() & (pl.col("arguments_state") == "object"))
        .select("env_id", "tool_name", pl.col("arguments").map_batches(_pairs, return_dtype=_PAIRS))
        .explode("arguments", empty_as_null=False, keep_nulls=False)
        .unnest("arguments")
    )
    uses = pl.col("uses")
    counted = (
        given.group_by(*by, "value")
        .agg(uses=pl.len())
        .group_by(by)
        .agg(uses=uses.sum(), values=pl.len(), top=uses.max())
        .with_columns(values_per_use=pl.col("values") / uses, top_share=pl.col("top") / uses)
        .sort("uses", *natural_order("env_id"), "tool_name", "parameter", descending=[True] + [False] * 5)
        .head(top)
    )
    return PARAMETERS.select(counted)


_PAIRS = pl.List(pl.Struct({"parameter": pl.String(), "value": pl.String()}))


def _pairs(texts: pl.Series) -> pl.Series:
    """Names and canonical values of the arguments' top level, each distinct text read once."""
    read = {text: _read(text) for text in texts.drop_nulls().unique().to_list()}
    return pl.Series([read.get(text, []) for text in texts.to_list()], dtype=_PAIRS)


def _read(text: str) -> list[dict[str, str]]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return []
    if not isinstance(value, dict):
        return []
    return [{"parameter": name, "value": canonical(part)} for name, part in value.items()]


def _tool() -> pl.Expr:
    return pl.concat_str(pl.col("env_id").fill_null(""), "tool_name", separator="\x1f")


def _sequences(named: pl.LazyFrame, size: int) -> pl.LazyFrame:
    """`kind` of every run of as many messages that call a tool."""
    steps = (
        named.group_by("env_id", "message", key=trajectory_key())
        .agg(tool=pl.col("tool_name").min())
        .sort("key", "message")
    )
    tools = [pl.col("tool").shift(-place) for place in range(size)]
    is_one_run = pl.col("key") == pl.col("key").shift(1 - size)
    return steps.select(
        is_one_run=is_one_run, kind=pl.concat_str(pl.col("env_id").fill_null(""), *tools, separator="\x1f")
    ).filter("is_one_run")


def _hill_numbers() -> dict[str, pl.Expr]:
    n = pl.col("n")
    share = n / n.sum()
    return {
        "uses": n.sum(),
        "hill_0": pl.len(),
        # Summed in order of size: groups come in any order, and the last bits of a sum depend on it.
        "hill_1": (-(share * share.log()).sort().sum()).exp(),
        "hill_2": 1 / (share**2).sort().sum(),
        "singletons": (n == 1).sum(),
        "doubletons": (n == 2).sum(),
    }


def _unseen() -> dict[str, pl.Expr]:
    uses, once, twice = (pl.col(name).cast(pl.Float64) for name in ("uses", "singletons", "doubletons"))
    # Bias-corrected, so that it holds without a doubleton as well.
    return {
        "coverage": pl.when(uses > once).then(1 - once / uses).when(uses > 0).then(0.0),
        "chao1": pl.col("hill_0") + (uses - 1) / uses * once * (once - 1) / (2 * (twice + 1)),
    }
