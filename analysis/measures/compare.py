"""Compare: two sources, or the two modes of one, side by side: headline numbers, distributions, tools, environments.

Left and right are two selections of the same tables: two models' rollouts, two revisions, two data sets, or a source's
conversations against its runs without a user. A difference is left - right. It describes; it does not rank.
"""

import numpy as np
import polars as pl

from analysis.measures.bootstrap import difference, mean, relative_difference
from analysis.measures.comparisons import by_chance, holm, p_value
from analysis.measures.expressions import at_most, scenario
from analysis.measures.intervals import LEVEL, Array, Interval, difference_of_rates, rate_difference
from analysis.natural import natural_order
from analysis.schema import FEWEST_FOR_A_RATE, TRAJECTORIES, Column, Table

SIDES = ("left", "right")
_PARTS = ("events", "trials")
# Three tables of a page say what differs: each has a third of the chance that any says so by mistake.
TABLES_THAT_TEST = 3
_LEVEL = (1 - LEVEL) / TABLES_THAT_TEST
_DIFFERENCE = (
    Column("difference", pl.Float64(), "left - right; null where a side has no value", nullable=True),
    Column("difference_low", pl.Float64(), "its 95 % interval over scenarios, lower end", nullable=True),
    Column("difference_high", pl.Float64(), "its 95 % interval over scenarios, upper end", nullable=True),
    Column("relative_difference", pl.Float64(), "(left - right) / right; null without an interval", nullable=True),
    Column("relative_low", pl.Float64(), "its interval, both sides drawn together, lower end", nullable=True),
    Column("relative_high", pl.Float64(), "its interval, both sides drawn together, upper end", nullable=True),
)
_VERDICT = (
    Column("p_value", pl.Float64(), "chance of so large a difference where there is none; 1 without an interval"),
    Column("is_different", pl.Boolean(), "more than chance would make any of those compared, by Holm's procedure"),
    Column("compared", pl.UInt32(), "how many have an interval"),
    Column("by_chance", pl.Float64(), "how many intervals would exclude 0 by chance alone"),
)

# Each is a sum over a sum, so that one bootstrap serves them all: (events, trials) per trajectory.
# The column of ones stands for a literal, which would be summed once a group, not once a trajectory.
_ONE = pl.col("one")
_QUANTITIES: dict[str, tuple[pl.Expr, pl.Expr]] = {
    "steps per trajectory": (pl.col("assistant_messages"), _ONE),
    "tool calls per trajectory": (pl.col("tool_calls"), _ONE),
    "user messages per trajectory": (pl.col("user_messages"), _ONE),
    "tools offered per trajectory": (pl.col("tools_offered"), _ONE),
    "distinct tools used per trajectory": (pl.col("tools_used"), _ONE),
    "reward per trajectory that has one": (
        pl.col("total_reward").fill_null(0.0),
        pl.col("total_reward").is_not_null(),
    ),
    "breadth: tools used / offered": (pl.col("tools_used"), pl.col("tools_offered")),
    "calls per step": (pl.col("tool_calls"), pl.col("assistant_messages")),
    "error rate of calls": (pl.col("errors"), pl.col("judged")),
    "unknown share of calls": (pl.col("unknown"), pl.col("tool_calls")),
    "share of steps with reasoning": (pl.col("reasoning_messages"), pl.col("assistant_messages")),
    "share that closes with its marker": (
        pl.col("end_class").cast(pl.String).is_in(["completed_marker", "stop_marker"]),
        _ONE,
    ),
}
# Shares of trials: they have Wilson's interval, and no value over fewer than FEWEST_FOR_A_RATE trials. A mean reward is
# as little of a rate over so few.
_RATES = (
    "breadth: tools used / offered",
    "error rate of calls",
    "unknown share of calls",
    "share of steps with reasoning",
    "share that closes with its marker",
)
_NONE_OVER_FEW = (*_RATES, "reward per trajectory that has one")
_QUANTITY = Column("quantity", pl.Enum(list(_QUANTITIES)), "what is compared")

HEADLINES = Table(
    "compare_headlines",
    "quantity both sides have",
    (
        _QUANTITY,
        Column("left", pl.Float64(), "value on the left; null for a rate over fewer than 20", nullable=True),
        Column("right", pl.Float64(), "value on the right; null for a rate over fewer than 20", nullable=True),
        *_DIFFERENCE,
        *_VERDICT,
        Column("left_events", pl.Float64(), "numerator on the left"),
        Column("left_trials", pl.Float64(), "denominator on the left"),
        Column("right_events", pl.Float64(), "numerator on the right"),
        Column("right_trials", pl.Float64(), "denominator on the right"),
        Column("left_scenarios", pl.UInt32(), "scenarios of the left that have any", unit="scenarios"),
        Column("right_scenarios", pl.UInt32(), "scenarios of the right that have any", unit="scenarios"),
        Column("scenarios", pl.UInt32(), "scenarios of either side: what is drawn", unit="scenarios"),
    ),
    key=("quantity",),
)

PAIRED = Table(
    "compare_paired",
    "quantity of the scenarios both sides have",
    (
        _QUANTITY,
        Column("left", pl.Float64(), "mean over the shared scenarios, left"),
        Column("right", pl.Float64(), "mean over the shared scenarios, right"),
        *_DIFFERENCE,
        *_VERDICT,
        Column("scenarios", pl.UInt32(), "scenarios both sides have", unit="scenarios"),
        Column("left_higher", pl.UInt32(), "of these, higher on the left", unit="scenarios"),
        Column("right_higher", pl.UInt32(), "of these, higher on the right", unit="scenarios"),
    ),
    key=("quantity",),
)

DISTRIBUTIONS = Table(
    "compare_distributions",
    "side and value",
    (
        Column("side", pl.Enum(SIDES), "side of the comparison"),
        Column("value", pl.UInt32(), "value, or the lower end of the bin"),
        Column("value_to", pl.UInt32(), "the next value or bin starts here"),
        Column("trajectories", pl.UInt32(), "trajectories counted", unit="trajectories"),
        Column("side_trajectories", pl.UInt32(), "trajectories of the side", unit="trajectories"),
        Column("trajectory_share", pl.Float64(), "of the side's trajectories"),
        Column("cumulative_share", pl.Float64(), "of the side's trajectories, with this value or less"),
        Column("median", pl.UInt32(), "half the side's trajectories have at most this; of the values, not the bins"),
        Column("p90", pl.UInt32(), "nine in ten of the side's trajectories have at most this"),
    ),
    key=("side", "value"),
)

TOOLS = Table(
    "compare_tools",
    "tool both sides offer",
    (
        TRAJECTORIES["env_id"],
        Column("tool_name", pl.String(), "tool"),
        Column("left_rate", pl.Float64(), "trajectories calling / offered, left"),
        Column("left_low", pl.Float64(), "95 % interval over scenarios, lower end", nullable=True),
        Column("left_high", pl.Float64(), "95 % interval over scenarios, upper end", nullable=True),
        Column("left_offering", pl.UInt32(), "offered it, left", unit="trajectories"),
        Column("right_rate", pl.Float64(), "trajectories calling / offered, right"),
        Column("right_low", pl.Float64(), "95 % interval over scenarios, lower end", nullable=True),
        Column("right_high", pl.Float64(), "95 % interval over scenarios, upper end", nullable=True),
        Column("right_offering", pl.UInt32(), "offered it, right", unit="trajectories"),
        Column("difference", pl.Float64(), "left - right"),
        Column("difference_low", pl.Float64(), "its 95 % interval, lower end", nullable=True),
        Column("difference_high", pl.Float64(), "its 95 % interval, upper end", nullable=True),
        *_VERDICT,
        Column("compared_tools", pl.UInt32(), "tools offered to 20 trajectories or more on both sides", unit="tools"),
        Column("different_tools", pl.UInt32(), "of these, that differ more than chance would make any", unit="tools"),
    ),
    key=("env_id", "tool_name"),
)

_BARS = 80


def headlines(
    left: pl.LazyFrame, right: pl.LazyFrame, left_calls: pl.LazyFrame, right_calls: pl.LazyFrame, *, seed: int = 0
) -> pl.LazyFrame:
    """Every headline number on both sides, with the difference and its interval.

    Scenarios are drawn, a scenario with all its runs on both sides: runs of one scenario are not independent, and what
    both sides play alike cancels out.

    Args:
        left: conforms to TRAJECTORIES.
        right: conforms to TRAJECTORIES.
        left_calls: conforms to TOOL_CALLS, of the trajectories on the left.
        right_calls: conforms to TOOL_CALLS, of the trajectories on the right.
        seed: of the bootstrap.

    Returns:
        One row per quantity both sides have a denominator for, conforming to HEADLINES, in a fixed order.
    """
    wide = _sides(left, right, left_calls, right_calls)
    return HEADLINES.select(
        wide.map_batches(lambda scenarios: _headlines(scenarios, seed), schema=HEADLINES.schema, streamable=False)
    )


def paired(
    left: pl.LazyFrame, right: pl.LazyFrame, left_calls: pl.LazyFrame, right_calls: pl.LazyFrame, *, seed: int = 0
) -> pl.LazyFrame:
    """The same on the scenarios both sides have: each scenario counts once, its difficulty taken out.

    Args:
        left: conforms to TRAJECTORIES.
        right: conforms to TRAJECTORIES.
        left_calls: conforms to TOOL_CALLS, of the trajectories on the left.
        right_calls: conforms to TOOL_CALLS, of the trajectories on the right.
        seed: of the bootstrap.

    Returns:
        One row per quantity with a shared scenario, conforming to PAIRED, in a fixed order.
    """
    wide = _sides(left, right, left_calls, right_calls)
    return PAIRED.select(
        wide.map_batches(lambda scenarios: _paired(scenarios, seed), schema=PAIRED.schema, streamable=False)
    )


def distributions(left: pl.LazyFrame, right: pl.LazyFrame, column: str = "assistant_messages") -> pl.LazyFrame:
    """The distribution of a count on both sides, to be overlaid.

    Args:
        left: conforms to TRAJECTORIES.
        right: conforms to TRAJECTORIES.
        column: a count of TRAJECTORIES.

    Returns:
        One row per (side, value) that occurs, conforming to DISTRIBUTIONS; shares sum to 1 per side, bins are shared.
    """
    side = DISTRIBUTIONS["side"].dtype
    both = pl.concat(
        frame.select(pl.lit(name).cast(side).alias("side"), value=column)
        for name, frame in zip(SIDES, (left, right), strict=True)
    )
    counted = (
        both.with_columns(width=pl.col("value").max() // _BARS + 1)
        .with_columns(
            value=pl.col("value") // pl.col("width") * pl.col("width"),
            median=at_most("value", 0.5).over("side"),
            p90=at_most("value", 0.9).over("side"),
        )
        .group_by("side", "value")
        .agg(pl.len().alias("trajectories"), pl.col("width", "median", "p90").first())
        .sort("side", "value")
        .with_columns(
            value_to=pl.col("value") + pl.col("width"),
            side_trajectories=pl.col("trajectories").sum().over("side"),
            cumulative=pl.col("trajectories").cum_sum().over("side"),
        )
        .with_columns(
            trajectory_share=pl.col("trajectories") / pl.col("side_trajectories"),
            cumulative_share=pl.col("cumulative") / pl.col("side_trajectories"),
        )
    )
    return DISTRIBUTIONS.select(counted)


def tools(left_tools: pl.LazyFrame, right_tools: pl.LazyFrame, *, top: int) -> pl.LazyFrame:
    """The tools whose usage rate differs most between the sides.

    Args:
        left_tools: conforms to tool_usage.TOOLS, of the left.
        right_tools: conforms to tool_usage.TOOLS, of the right.
        top: rows at most.

    Returns:
        Conforms to TOOLS, those that differ more than chance would make any first, then by the size of the difference;
        only tools offered to 20 trajectories or more on both sides.
    """
    keys = ["env_id", "tool_name"]
    ends = {"rate": "usage_rate", "low": "usage_rate_low", "high": "usage_rate_high", "offering": "offering"}
    ends |= {"clusters": "usage_rate_clusters"}
    sides = [
        frame.filter(pl.col("offering") >= FEWEST_FOR_A_RATE).select(
            *keys, **{f"{side}_{name}": pl.col(column) for name, column in ends.items()}
        )
        for side, frame in zip(SIDES, (left_tools, right_tools), strict=True)
    ]
    low, high = rate_difference(
        ("left_rate", "left_low", "left_high"), ("right_rate", "right_low", "right_high"), pl.lit(0.0)
    )
    compared = (
        sides[0]
        .join(sides[1], on=keys, nulls_equal=True, validate="1:1")
        .with_columns(
            difference=pl.col("left_rate") - pl.col("right_rate"),
            difference_low=low,
            difference_high=high,
            clusters=pl.min_horizontal("left_clusters", "right_clusters"),
            compared_tools=pl.len(),
        )
    )
    judged = compared.map_batches(_judged_tools, schema=compared.collect_schema() | _verdict_schema())
    widest = judged.with_columns(different_tools=pl.col("is_different").sum()).sort(
        ~pl.col("is_different"), -pl.col("difference").abs(), *natural_order("env_id"), "tool_name"
    )
    return TOOLS.select(widest.head(top))


def _judged_tools(compared: pl.DataFrame) -> pl.DataFrame:
    ends = compared.select("difference", "difference_low", "difference_high", "clusters").rows()
    rows = _verdicts([Interval(*row[:3]) for row in ends], [row[3] for row in ends])
    return compared.with_columns(pl.DataFrame(rows, schema=_verdict_schema(), orient="row"))


def _verdict_schema() -> pl.Schema:
    return pl.Schema({column.name: column.dtype for column in _VERDICT})


def _verdicts(differences: list[Interval], clusters: list[int]) -> list[tuple[float, bool, int, float]]:
    """The columns of _VERDICT for all that a table compares; what has no interval is not compared."""
    compared = sum(found.low is not None for found in differences)
    p_values = [p_value(found, k) for found, k in zip(differences, clusters, strict=True)]
    tested = iter(holm([p for p, found in zip(p_values, differences, strict=True) if found.low is not None], _LEVEL))
    return [
        (p, found.low is not None and next(tested), compared, by_chance(compared))
        for p, found in zip(p_values, differences, strict=True)
    ]


def _headlines(scenarios: pl.DataFrame, seed: int) -> pl.DataFrame:
    sums = _sums(scenarios)
    quantities = [q for q in enumerate(_QUANTITIES) if sums[:, q[0], 1].sum() and sums[:, q[0], 3].sum()]
    found = [_side_by_side(quantity, sums[:, place], seed) for place, quantity in quantities]
    clusters = [[int((sums[:, place, trials] > 0).sum()) for trials in (1, 3)] for place, _ in quantities]
    verdicts = _verdicts([row[2] for row in found], [min(k) for k in clusters])
    rows = [
        (quantity, *row[:2], *row[2], *row[3], *verdict, *sums[:, place].sum(axis=0).tolist(), *k, len(scenarios))
        for (place, quantity), row, verdict, k in zip(quantities, found, verdicts, clusters, strict=True)
    ]
    return pl.DataFrame(rows, schema=HEADLINES.schema, orient="row")


_Sides = tuple[float | None, float | None, Interval, tuple[float | None, ...]]


def _side_by_side(quantity: str, clusters: Array, seed: int) -> _Sides:
    """Both values, their difference and their relative difference; nothing of a rate that has too few trials."""
    events, trials = clusters.sum(axis=0)[::2], clusters.sum(axis=0)[1::2]
    left, right = (float(value) for value in events / trials)
    if quantity in _NONE_OVER_FEW and trials.min() < FEWEST_FOR_A_RATE:
        values = [v if n >= FEWEST_FOR_A_RATE else None for v, n in zip((left, right), trials, strict=True)]
        return values[0], values[1], Interval(None), (None, None, None)
    apart = difference_of_rates(clusters) if quantity in _RATES else difference(clusters, seed)
    return left, right, apart, relative_difference(clusters, seed) or (None, None, None)


def _paired(scenarios: pl.DataFrame, seed: int) -> pl.DataFrame:
    sums = _sums(scenarios)
    left, right = _divide(sums[..., 0], sums[..., 1]), _divide(sums[..., 2], sums[..., 3])
    is_shared = np.isfinite(left - right)
    quantities = [quantity for quantity in enumerate(_QUANTITIES) if is_shared[:, quantity[0]].any()]
    pairs = [np.stack([side[is_shared[:, place], place] for side in (left, right)], axis=1) for place, _ in quantities]
    ones = [np.ones(len(pair)) for pair in pairs]
    apart = [
        mean(np.stack([pair[:, 0] - pair[:, 1], one], axis=1), seed) for pair, one in zip(pairs, ones, strict=True)
    ]
    verdicts = _verdicts(apart, [len(pair) for pair in pairs])
    rows = []
    for (_, quantity), pair, one, found, verdict in zip(quantities, pairs, ones, apart, verdicts, strict=True):
        relative = relative_difference(np.stack([pair[:, 0], one, pair[:, 1], one], axis=1), seed) or (None, None, None)
        higher = [int((pair[:, 0] > pair[:, 1]).sum()), int((pair[:, 0] < pair[:, 1]).sum())]
        rows.append((quantity, *pair.mean(axis=0).tolist(), *found, *relative, *verdict, len(pair), *higher))
    return pl.DataFrame(rows, schema=PAIRED.schema, orient="row")


def _sums(scenarios: pl.DataFrame) -> Array:
    """Scenarios x quantities x (left events, left trials, right events, right trials)."""
    values: Array = scenarios.select(_wide_columns()).to_numpy()
    return values.reshape(len(scenarios), len(_QUANTITIES), 4)


def _divide(events: Array, trials: Array) -> Array:
    """events / trials, not a number where nothing was tried."""
    share: Array = np.divide(events, trials, out=np.full(events.shape, np.nan), where=trials > 0)
    return share


def _wide_columns() -> list[str]:
    return [f"{side}/{name}/{part}" for name in _QUANTITIES for side in SIDES for part in _PARTS]


def _sides(
    left: pl.LazyFrame, right: pl.LazyFrame, left_calls: pl.LazyFrame, right_calls: pl.LazyFrame
) -> pl.LazyFrame:
    """Events and trials of every quantity, summed by scenario, both sides in one row; zeros where a side lacks one."""
    sums = [
        _by_scenario(frame, calls, side)
        for side, frame, calls in zip(SIDES, (left, right), (left_calls, right_calls), strict=True)
    ]
    return (
        sums[0]
        .join(sums[1], on="scenario", how="full", coalesce=True, validate="1:1")
        .with_columns(pl.col(_wide_columns()).fill_null(0.0))
        .sort("scenario")
    )


def _by_scenario(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame, side: str) -> pl.LazyFrame:
    outcomes = tool_calls.group_by("trajectory_id").agg(
        errors=(pl.col("outcome") == "error").sum(),
        judged=(pl.col("outcome") != "unknown").sum(),
        unknown=(pl.col("outcome") == "unknown").sum(),
    )
    known = (
        trajectories.join(outcomes, on="trajectory_id", how="left", validate="1:1")
        .with_columns(pl.col("errors", "judged", "unknown").fill_null(0))
        # Where no scenario is named a trajectory stands for itself, and two sources number theirs alike.
        .with_columns(pl.concat_str(pl.lit(f"{side}\x1f"), "trajectory_id").alias("trajectory_id"), one=1.0)
    )
    return known.group_by(scenario=scenario()).agg(
        expression.cast(pl.Float64).sum().alias(f"{side}/{name}/{part}")
        for name, pair in _QUANTITIES.items()
        for part, expression in zip(_PARTS, pair, strict=True)
    )
