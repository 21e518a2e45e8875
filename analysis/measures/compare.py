"""Compare: two sources, or the two modes of one, side by side: headline numbers, distributions, tools, environments.

Left and right are two selections of the same tables: two models' rollouts, two revisions, two data sets, or a source's
conversations against its runs without a user. A difference is left - right. It describes; it does not rank.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.measures.expressions import scenario, wilson
from analysis.measures.resampling import percentile_ends, resampled_sums
from analysis.natural import natural_order
from analysis.schema import FEWEST_FOR_A_RATE, TRAJECTORIES, Column, Table

SIDES = ("left", "right")
_PARTS = ("events", "trials")
_DIFFERENCE = (
    Column("difference", pl.Float64(), "left - right"),
    Column("difference_low", pl.Float64(), "95 % interval, bootstrap over scenarios", nullable=True),
    Column("difference_high", pl.Float64(), "95 % interval, bootstrap over scenarios", nullable=True),
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
_QUANTITY = Column("quantity", pl.Enum(list(_QUANTITIES)), "what is compared")

HEADLINES = Table(
    "compare_headlines",
    "quantity both sides have",
    (
        _QUANTITY,
        Column("left", pl.Float64(), "value on the left"),
        Column("right", pl.Float64(), "value on the right"),
        *_DIFFERENCE,
        Column("relative_difference", pl.Float64(), "(left - right) / right; null where right is 0", nullable=True),
        Column("relative_low", pl.Float64(), "its interval, lower end", nullable=True),
        Column("relative_high", pl.Float64(), "its interval, upper end", nullable=True),
        Column("left_trials", pl.Float64(), "denominator on the left"),
        Column("right_trials", pl.Float64(), "denominator on the right"),
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
        Column("left_low", pl.Float64(), "95 % Wilson interval, lower end"),
        Column("left_high", pl.Float64(), "95 % Wilson interval, upper end"),
        Column("left_offering", pl.UInt32(), "offered it, left", unit="trajectories"),
        Column("right_rate", pl.Float64(), "trajectories calling / offered, right"),
        Column("right_low", pl.Float64(), "95 % Wilson interval, lower end"),
        Column("right_high", pl.Float64(), "95 % Wilson interval, upper end"),
        Column("right_offering", pl.UInt32(), "offered it, right", unit="trajectories"),
        Column("difference", pl.Float64(), "left - right"),
        Column("compared_tools", pl.UInt32(), "tools offered to 20 trajectories or more on both sides", unit="tools"),
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
        .with_columns(value=pl.col("value") // pl.col("width") * pl.col("width"))
        .group_by("side", "value")
        .agg(pl.len().alias("trajectories"), pl.col("width").first())
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
        Conforms to TOOLS, the largest difference first; only tools offered to 20 trajectories or more on both sides.
    """
    keys = ["env_id", "tool_name"]
    sides = [
        frame.filter(pl.col("offering") >= FEWEST_FOR_A_RATE).select(
            *keys,
            (pl.col("calling") / pl.col("offering")).alias(f"{side}_rate"),
            wilson(pl.col("calling"), pl.col("offering"), upper=False).alias(f"{side}_low"),
            wilson(pl.col("calling"), pl.col("offering"), upper=True).alias(f"{side}_high"),
            pl.col("offering").alias(f"{side}_offering"),
        )
        for side, frame in zip(SIDES, (left_tools, right_tools), strict=True)
    ]
    compared = (
        sides[0]
        .join(sides[1], on=keys, nulls_equal=True, validate="1:1")
        .with_columns(difference=pl.col("left_rate") - pl.col("right_rate"), compared_tools=pl.len())
    )
    widest = compared.sort(
        pl.col("difference").abs(), *natural_order("env_id"), "tool_name", descending=[True] + [False] * 4
    )
    return TOOLS.select(widest.head(top))


def _headlines(scenarios: pl.DataFrame, seed: int) -> pl.DataFrame:
    sums = _sums(scenarios)
    drawn = _drawn(sums, seed)
    rows = []
    for place, quantity in enumerate(_QUANTITIES):
        left_events, left_trials, right_events, right_trials = sums[:, place].sum(axis=0).tolist()
        if not (left_trials and right_trials):
            continue
        left, right = left_events / left_trials, right_events / right_trials
        low, high = percentile_ends(
            _divide(drawn[:, place, 0], drawn[:, place, 1]) - _divide(drawn[:, place, 2], drawn[:, place, 3])
        )
        difference = (left - right, low, high)
        relative = [end / right if right and end is not None else None for end in difference]
        rows.append((quantity, left, right, *difference, *relative, left_trials, right_trials, len(scenarios)))
    return pl.DataFrame(rows, schema=HEADLINES.schema, orient="row")


def _paired(scenarios: pl.DataFrame, seed: int) -> pl.DataFrame:
    sums = _sums(scenarios)
    left, right = _divide(sums[..., 0], sums[..., 1]), _divide(sums[..., 2], sums[..., 3])
    change = left - right
    is_shared = np.isfinite(change)
    # A scenario that a side lacks adds nothing to the sum of changes and nothing to their number.
    drawn = _drawn(np.stack([np.where(is_shared, change, 0.0), is_shared], axis=-1), seed)
    rows = []
    for place, quantity in enumerate(_QUANTITIES):
        shared = is_shared[:, place]
        if not shared.any():
            continue
        changes = change[shared, place]
        means = (left[shared, place].mean(), right[shared, place].mean(), changes.mean())
        ends = percentile_ends(_divide(drawn[:, place, 0], drawn[:, place, 1])) if len(changes) > 1 else (None, None)
        rows.append(
            (quantity, *map(float, means), *ends, len(changes), int((changes > 0).sum()), int((changes < 0).sum()))
        )
    return pl.DataFrame(rows, schema=PAIRED.schema, orient="row")


def _sums(scenarios: pl.DataFrame) -> NDArray[np.float64]:
    """Scenarios x quantities x (left events, left trials, right events, right trials)."""
    values: NDArray[np.float64] = scenarios.select(_wide_columns()).to_numpy()
    return values.reshape(len(scenarios), len(_QUANTITIES), 4)


def _drawn(sums: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Sums over the drawn scenarios: resamples x quantities x the same; none below two scenarios."""
    n, *shape = sums.shape
    if n < 2:
        return np.full((1, *shape), np.nan)
    return resampled_sums(sums.reshape(n, -1), seed).reshape(-1, *shape)


def _divide(events: NDArray[np.float64], trials: NDArray[np.float64]) -> NDArray[np.float64]:
    """events / trials, not a number where nothing was tried."""
    share: NDArray[np.float64] = np.divide(events, trials, out=np.full(events.shape, np.nan), where=trials > 0)
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
