"""Step lengths: how long trajectories are, in steps, calls, user turns and characters, and where the publisher cut."""

import polars as pl

from analysis.measures.bootstrap import ratio_interval
from analysis.measures.expressions import at_most, counted_quantile, quantile, scenario
from analysis.natural import natural_order
from analysis.schema import TRAJECTORIES, Column, Table

QUANTITIES = {"assistant_messages": "steps", "tool_calls": "tool calls", "user_messages": "user messages"}
_KIND_OF_ROLE = {"assistant": "assistant text", "tool": "result"}
KINDS = ("system", "user", "assistant text", "reasoning", "result", "other")

# What the publisher's filter kept, in assistant messages: the ends of the histograms are selection, not behaviour.
EDGES = {"non_conversation": (3, 29), "conversation": (5, 39)}
# How the publisher names the environments of that set; of anything else nothing was cut there.
PUBLISHED = r"^env_\d+_sft$"
# Longer distributions are binned so that a histogram has at most about this many bars a mode.
_BARS = 80
# Points of a curve: more tell nothing to the eye.
MOST_VALUES = 500

_TRAJ_TYPE = TRAJECTORIES["traj_type"]
_QUANTITY = Column(
    "quantity", pl.Enum(list(QUANTITIES.values())), "what is counted per trajectory; steps are assistant messages"
)
_TRAJECTORIES = Column("trajectories", pl.UInt32(), "trajectories counted", unit="trajectories")
_MODE = Column("mode_trajectories", pl.UInt32(), "trajectories of the mode", unit="trajectories")

_EDGES_KEPT = (
    Column("edge_low", pl.UInt32(), "shortest the publisher kept; null for what was not filtered", nullable=True),
    Column("edge_high", pl.UInt32(), "longest the publisher kept; null for what was not filtered", nullable=True),
)
# What titles say of a mode: of its values, whatever bins or curves show of them.
_WHOLE = (
    Column("half_at_most", pl.UInt32(), "half the mode's trajectories have at most this; a value that occurs"),
    Column("nine_in_ten_at_most", pl.UInt32(), "nine in ten of them have at most this; a value that occurs"),
    *_EDGES_KEPT,
)

DISTRIBUTION = Table(
    "step_lengths_distribution",
    "quantity, mode and value",
    (
        _QUANTITY,
        _TRAJ_TYPE,
        Column("value", pl.UInt32(), "value, or the lower end of the bin"),
        Column("value_to", pl.UInt32(), "the next value or bin starts here"),
        _TRAJECTORIES,
        _MODE,
        Column("trajectory_share", pl.Float64(), "of the mode's trajectories"),
        Column("cumulative_share", pl.Float64(), "of the mode's trajectories, with this value or less"),
        *_WHOLE,
    ),
    key=("quantity", "traj_type", "value"),
)

CUMULATIVE = Table(
    "step_lengths_cumulative",
    "quantity, mode and value",
    (
        _QUANTITY,
        _TRAJ_TYPE,
        Column("value", pl.UInt32(), "value"),
        _TRAJECTORIES,
        _MODE,
        Column("cumulative_share", pl.Float64(), "of the mode's trajectories, with this value or less"),
        *_WHOLE,
    ),
    key=("quantity", "traj_type", "value"),
)

SUMMARY = Table(
    "step_lengths_summary",
    "quantity and mode",
    (
        _QUANTITY,
        _TRAJ_TYPE,
        _TRAJECTORIES,
        Column("total", pl.UInt64(), "sum over trajectories"),
        Column("mean", pl.Float64(), "mean per trajectory"),
        Column("mean_low", pl.Float64(), "95 % interval, bootstrap over scenarios", nullable=True),
        Column("mean_high", pl.Float64(), "95 % interval, bootstrap over scenarios", nullable=True),
        Column("minimum", pl.UInt32(), "smallest value"),
        Column("p25", pl.Float64(), "first quartile, linear interpolation"),
        Column("median", pl.Float64(), "median"),
        Column("p75", pl.Float64(), "third quartile"),
        Column("p90", pl.Float64(), "90th percentile"),
        Column("p95", pl.Float64(), "95th percentile"),
        Column("p99", pl.Float64(), "99th percentile"),
        Column("half_at_most", pl.UInt32(), "half the trajectories have at most this; a value that occurs"),
        Column("nine_in_ten_at_most", pl.UInt32(), "nine in ten trajectories have at most this; a value that occurs"),
        Column("maximum", pl.UInt32(), "largest value"),
        *_EDGES_KEPT,
        Column("at_edge_low", pl.UInt32(), "trajectories exactly at the lower edge", nullable=True),
        Column("at_edge_high", pl.UInt32(), "trajectories exactly at the upper edge", nullable=True),
        Column("outside_edges", pl.UInt32(), "trajectories the filter would not have kept", nullable=True),
    ),
    key=("quantity", "traj_type"),
)

BY_ENVIRONMENT = Table(
    "step_lengths_by_environment",
    "environment and mode, among the longest and the shortest",
    (
        TRAJECTORIES["env_id"],
        _TRAJ_TYPE,
        _TRAJECTORIES,
        Column("environment_median", pl.Float64(), "median steps over both modes: what environments are sorted by"),
        Column("p10", pl.Float64(), "10th percentile of steps", unit="steps"),
        Column("p25", pl.Float64(), "first quartile of steps", unit="steps"),
        Column("median", pl.Float64(), "median steps", unit="steps"),
        Column("p75", pl.Float64(), "third quartile of steps", unit="steps"),
        Column("p90", pl.Float64(), "90th percentile of steps", unit="steps"),
        Column("environments", pl.UInt32(), "environments in all", unit="environments"),
        *_EDGES_KEPT,
    ),
    key=("env_id", "traj_type"),
)

CHARACTERS = Table(
    "step_lengths_characters",
    "mode and kind of text",
    (
        _TRAJ_TYPE,
        Column("kind", pl.Enum(KINDS), "kind of text; assistant text and reasoning where a message has any"),
        Column("texts", pl.UInt32(), "texts of the kind", unit="texts"),
        Column("total_chars", pl.UInt64(), "sum", unit="characters"),
        Column("char_share", pl.Float64(), "of all characters of the mode's messages"),
        Column("mean_chars", pl.Float64(), "mean per text", unit="characters"),
        Column("p25", pl.Float64(), "first quartile", unit="characters"),
        Column("median", pl.Float64(), "median", unit="characters"),
        Column("p75", pl.Float64(), "third quartile", unit="characters"),
        Column("p90", pl.Float64(), "90th percentile", unit="characters"),
        Column("p99", pl.Float64(), "99th percentile", unit="characters"),
        Column("maximum", pl.UInt32(), "longest", unit="characters"),
    ),
    key=("traj_type", "kind"),
)


def distribution(trajectories: pl.LazyFrame, quantity: str = "") -> pl.LazyFrame:
    """Histogram and ECDF of steps, calls and user messages per mode.

    Args:
        trajectories: conforms to TRAJECTORIES.
        quantity: steps, tool calls or user messages; empty = all three.

    Returns:
        One row per (quantity, traj_type, value) that occurs, conforming to DISTRIBUTION. Values are kept one by one up
        to a maximum of 80, else put into bins of equal width; shares sum to 1 per quantity and mode.
    """
    width = pl.col("value").max().over("quantity") // _BARS + 1
    counted = (
        _long(trajectories)
        .filter(pl.lit(not quantity) | (pl.col("quantity") == (quantity or "steps")))
        .pipe(_with_wholes)
        .with_columns(width=width)
        .with_columns(value=pl.col("value") // pl.col("width") * pl.col("width"))
        .group_by("quantity", "traj_type", "value")
        .agg(pl.len().alias("trajectories"), pl.col("width", *_WHOLE_NAMES).first())
        .sort("quantity", "traj_type", "value")
        .with_columns(
            value_to=pl.col("value") + pl.col("width"),
            mode_trajectories=pl.col("trajectories").sum().over("quantity", "traj_type"),
            cumulative=pl.col("trajectories").cum_sum().over("quantity", "traj_type"),
        )
        .with_columns(
            trajectory_share=pl.col("trajectories") / pl.col("mode_trajectories"),
            cumulative_share=pl.col("cumulative") / pl.col("mode_trajectories"),
        )
    )
    return DISTRIBUTION.select(counted)


def cumulative(trajectories: pl.LazyFrame, quantity: str = "") -> pl.LazyFrame:
    """The ECDF of steps, calls and user messages per mode, of the values themselves and not of bins.

    Args:
        trajectories: conforms to TRAJECTORIES.
        quantity: steps, tool calls or user messages; empty = all three.

    Returns:
        One row per (quantity, traj_type, value) that occurs, conforming to CUMULATIVE. Of more than MOST_VALUES values
        of a mode, only those are kept at which the share passes the next of as many equal parts.
    """
    keys = ["quantity", "traj_type"]
    share = pl.col("cumulative_share")
    part = (share * MOST_VALUES).ceil()
    counted = (
        _long(trajectories)
        .filter(pl.lit(not quantity) | (pl.col("quantity") == (quantity or "steps")))
        .pipe(_with_wholes)
        .group_by(*keys, "value")
        .agg(pl.len().alias("trajectories"), pl.col(_WHOLE_NAMES).first())
        .sort(*keys, "value")
        .with_columns(mode_trajectories=pl.col("trajectories").sum().over(keys))
        .with_columns(cumulative_share=pl.col("trajectories").cum_sum().over(keys) / pl.col("mode_trajectories"))
        .filter((pl.len().over(keys) <= MOST_VALUES) | (part != part.shift(1).over(keys)).fill_null(True))
    )
    return CUMULATIVE.select(counted)


def summary(trajectories: pl.LazyFrame, *, seed: int = 0) -> pl.LazyFrame:
    """Quantiles, means with their interval, and the mass at the publisher's edges, per mode.

    Args:
        trajectories: conforms to TRAJECTORIES.
        seed: of the bootstrap over scenarios.

    Returns:
        One row per (quantity, traj_type), conforming to SUMMARY. The edges concern steps alone, both modes differ, and
        they are counted over the publisher's own environments: of other sources they are null, and `endings.edges`
        finds what edges those have.
    """
    keys = ["quantity", "traj_type"]
    value = pl.col("value")
    low, high = pl.col("edge_low"), pl.col("edge_high")
    edged = _long(trajectories).pipe(_with_edges)
    intervals = (
        edged.group_by(*keys, "scenario")
        .agg(total=value.sum(), size=pl.len())
        .group_by(keys)
        .agg(interval=ratio_interval(pl.col("total"), pl.col("size"), seed))
    )
    described = (
        edged.group_by(keys)
        .agg(
            trajectories=pl.len(),
            total=value.sum(),
            mean=value.mean(),
            minimum=value.min(),
            p25=quantile("value", 0.25),
            median=quantile("value", 0.5),
            p75=quantile("value", 0.75),
            p90=quantile("value", 0.9),
            p95=quantile("value", 0.95),
            p99=quantile("value", 0.99),
            half_at_most=at_most("value", 0.5),
            nine_in_ten_at_most=at_most("value", 0.9),
            maximum=value.max(),
            edge_low=low.drop_nulls().first(),
            edge_high=high.drop_nulls().first(),
            at_edge_low=pl.when(low.is_not_null().any()).then((value == low).sum()),
            at_edge_high=pl.when(high.is_not_null().any()).then((value == high).sum()),
            outside_edges=pl.when(low.is_not_null().any()).then(((value < low) | (value > high)).sum()),
        )
        .join(intervals, on=keys, validate="1:1")
        .with_columns(mean_low=pl.col("interval").list.first(), mean_high=pl.col("interval").list.last())
    )
    return SUMMARY.select(described.sort(keys))


def by_environment(trajectories: pl.LazyFrame, *, top: int) -> pl.LazyFrame:
    """Quantiles of steps per environment and mode, for the environments with the longest and the shortest medians.

    Args:
        trajectories: conforms to TRAJECTORIES; records without an environment are left out.
        top: environments at most, half of them the longest and half the shortest.

    Returns:
        One row per (env_id, traj_type), conforming to BY_ENVIRONMENT, the longest first.
    """
    named = trajectories.filter(pl.col("env_id").is_not_null())
    ordered = (
        named.group_by("env_id")
        .agg(environment_median=quantile("assistant_messages", 0.5))
        .sort("environment_median", *natural_order("env_id"), descending=[True, False, False, False])
        .with_row_index("place")
        .with_columns(environments=pl.len())
        .filter(
            (pl.col("place") < (top + 1) // 2) | (pl.col("place") >= pl.col("environments").cast(pl.Int64) - top // 2)
        )
    )
    edges = _edges().filter(pl.col("quantity") == "steps").drop("quantity")
    is_published = pl.col("env_id").str.contains(PUBLISHED)
    described = (
        named.group_by("env_id", "traj_type")
        .agg(
            trajectories=pl.len(),
            p10=quantile("assistant_messages", 0.1),
            p25=quantile("assistant_messages", 0.25),
            median=quantile("assistant_messages", 0.5),
            p75=quantile("assistant_messages", 0.75),
            p90=quantile("assistant_messages", 0.9),
        )
        .join(ordered, on="env_id", validate="m:1")
        .join(edges, on="traj_type", how="left", validate="m:1")
        .with_columns(pl.when(is_published).then(pl.col("edge_low", "edge_high")))
    )
    return BY_ENVIRONMENT.select(described.sort("place", "traj_type"))


def characters(messages: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Length of texts by kind, per mode.

    Args:
        messages: conforms to MESSAGES.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, kind) that occurs, conforming to CHARACTERS; shares sum to 1 per mode. Arguments of
        calls are no text here. Empty results, user and system messages count as texts of length 0; an assistant message
        without text, or without reasoning, is no text of that kind.
    """
    total, texts, chars = pl.col("total_chars"), pl.col("texts"), pl.col("chars").cast(pl.Int64)
    placed = messages.join(trajectories.select("trajectory_id", "traj_type"), on="trajectory_id", validate="m:1")
    # Counted first, named afterwards: lengths repeat, so that there is little left to name and to sort.
    content = (
        placed.group_by("traj_type", "role", chars="content_chars")
        .agg(texts=pl.len())
        .filter((pl.col("role") != "assistant") | (pl.col("chars") > 0))
        .with_columns(kind=pl.col("role").cast(pl.String).replace(_KIND_OF_ROLE))
    )
    reasoning = (
        placed.filter(pl.col("reasoning_chars") > 0)
        .group_by("traj_type", chars="reasoning_chars")
        .agg(texts=pl.len())
        .with_columns(kind=pl.lit("reasoning"))
    )
    columns = ["traj_type", "kind", "chars", "texts"]
    described = (
        pl.concat([content.select(columns), reasoning.select(columns)])
        .with_columns(pl.col("kind").cast(CHARACTERS["kind"].dtype), texts.cast(pl.Int64))
        .sort("traj_type", "kind", "chars")
        .group_by("traj_type", "kind")
        .agg(
            texts=texts.sum(),
            total_chars=(chars * texts).sum(),
            mean_chars=(chars * texts).sum() / texts.sum(),
            p25=counted_quantile("chars", "texts", 0.25),
            median=counted_quantile("chars", "texts", 0.5),
            p75=counted_quantile("chars", "texts", 0.75),
            p90=counted_quantile("chars", "texts", 0.9),
            p99=counted_quantile("chars", "texts", 0.99),
            maximum=chars.max(),
        )
        .filter(total.sum().over("traj_type") > 0)
        .with_columns(char_share=total / total.sum().over("traj_type"))
    )
    return CHARACTERS.select(described.sort("traj_type", "kind"))


def _long(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """One row per trajectory and quantity."""
    return (
        trajectories.select(
            "traj_type",
            *QUANTITIES,
            scenario=scenario(),
            is_published=pl.col("env_id").str.contains(PUBLISHED).fill_null(False),
        )
        .unpivot(
            on=list(QUANTITIES),
            index=["traj_type", "scenario", "is_published"],
            variable_name="column",
            value_name="value",
        )
        .with_columns(quantity=pl.col("column").replace_strict(QUANTITIES, return_dtype=_QUANTITY.dtype))
    )


_WHOLE_NAMES = [column.name for column in _WHOLE]


def _with_edges(long: pl.LazyFrame) -> pl.LazyFrame:
    """`edge_low` and `edge_high` beside the values of trajectories that the publisher's filter kept."""
    return long.join(_edges(), on=["quantity", "traj_type"], how="left", validate="m:1").with_columns(
        pl.when("is_published").then(pl.col("edge_low", "edge_high"))
    )


def _with_wholes(long: pl.LazyFrame) -> pl.LazyFrame:
    """What titles say of a mode beside each of its values."""
    keys = ["quantity", "traj_type"]
    return _with_edges(long).with_columns(
        half_at_most=at_most("value", 0.5).over(keys),
        nine_in_ten_at_most=at_most("value", 0.9).over(keys),
        edge_low=pl.col("edge_low").max().over(keys),
        edge_high=pl.col("edge_high").max().over(keys),
    )


def _edges() -> pl.LazyFrame:
    return pl.LazyFrame(
        [
            {"quantity": "steps", "traj_type": mode, "edge_low": low, "edge_high": high}
            for mode, (low, high) in EDGES.items()
        ],
        schema={
            "quantity": _QUANTITY.dtype,
            "traj_type": _TRAJ_TYPE.dtype,
            "edge_low": pl.UInt32(),
            "edge_high": pl.UInt32(),
        },
    )
