"""Reasoning: how much of it an assistant message carries, where it is missing, and how it changes along the way."""

import polars as pl

from analysis.measures.calls import rate_columns
from analysis.measures.clusters import counted, placed
from analysis.measures.expressions import FEWEST_FOR_TENTHS, tenth
from analysis.schema import MESSAGES, TRAJECTORIES, Column, Table

_TRAJ_TYPE = TRAJECTORIES["traj_type"]
_MESSAGES = Column("assistant_messages", pl.UInt32(), "assistant messages: the denominator", unit="messages")

SUMMARY = Table(
    "reasoning_summary",
    "mode",
    (
        _TRAJ_TYPE,
        _MESSAGES,
        Column("without_reasoning", pl.UInt32(), "assistant messages that carry no reasoning", unit="messages"),
        *rate_columns("missing_rate", "messages without reasoning over assistant messages"),
        Column("call_messages", pl.UInt32(), "assistant messages that make a call", unit="messages"),
        Column("thoughts_before_calls", pl.UInt32(), "call messages that carry reasoning", unit="messages"),
        *rate_columns("thought_before_call_share", "call messages with reasoning over call messages"),
        Column("mean_chars", pl.Float64(), "mean length where there is reasoning", unit="characters", nullable=True),
        Column("p50_chars", pl.Float64(), "median length where there is reasoning", unit="characters", nullable=True),
        Column("p90_chars", pl.Float64(), "90th percentile of the length", unit="characters", nullable=True),
        Column("p99_chars", pl.Float64(), "99th percentile of the length", unit="characters", nullable=True),
        Column("max_chars", pl.UInt32(), "longest reasoning", unit="characters", nullable=True),
    ),
    key=("traj_type",),
)

LENGTHS = Table(
    "reasoning_lengths",
    "mode and bin of length",
    (
        _TRAJ_TYPE,
        Column("chars_from", pl.Float64(), "lower edge of the bin, included", unit="characters"),
        Column("chars_to", pl.Float64(), "upper edge of the bin, excluded", unit="characters"),
        Column("thoughts", pl.UInt32(), "assistant messages whose reasoning is that long", unit="messages"),
        Column("thought_share", pl.Float64(), "of the mode's messages that carry reasoning"),
        Column("mode_thoughts", pl.UInt32(), "the mode's messages that carry reasoning", unit="messages"),
    ),
    key=("traj_type", "chars_from"),
)

POSITIONS = Table(
    "reasoning_positions",
    "mode and tenth of the trajectory, its first and its last message apart",
    (
        _TRAJ_TYPE,
        Column(
            "decile",
            pl.UInt32(),
            "tenth of the trajectory's assistant messages, 1 to 10; 0 is the first message alone, 11 the last",
            unit="tenths",
        ),
        _MESSAGES,
        Column("without_reasoning", pl.UInt32(), "assistant messages that carry no reasoning", unit="messages"),
        Column("missing_rate", pl.Float64(), "messages without reasoning over assistant messages"),
        Column("p25_chars", pl.Float64(), "lower quartile of the length", unit="characters", nullable=True),
        Column("p50_chars", pl.Float64(), "median length where there is reasoning", unit="characters", nullable=True),
        Column("p75_chars", pl.Float64(), "upper quartile of the length", unit="characters", nullable=True),
    ),
    key=("traj_type", "decile"),
)

FIRST, LAST = 0, 11

# Lengths spread over three powers of ten: bins of equal ratio, ten to each.
BINS_PER_DECADE = 10


def summary(messages: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count missing thoughts, thoughts before calls, and the lengths of those there are.

    Args:
        messages: conforms to MESSAGES.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per traj_type, conforming to SUMMARY. `missing_rate` is over all assistant messages,
        `thought_before_call_share` over those that make a call, both null over fewer than 20; lengths are over the
        messages that carry reasoning.
    """
    makes_call = pl.col(MESSAGES["tool_calls"].name) > 0
    spoken = _assistant(messages, trajectories)
    lengths = spoken.group_by("traj_type").agg(
        mean_chars=_chars().mean(),
        p50_chars=_chars().quantile(0.5, "linear"),
        p90_chars=_chars().quantile(0.9, "linear"),
        p99_chars=_chars().quantile(0.99, "linear"),
        max_chars=_chars().max(),
    )
    counts = {
        "assistant_messages": pl.len(),
        "without_reasoning": _missing().sum(),
        "call_messages": makes_call.sum(),
        "thoughts_before_calls": (makes_call & ~_missing()).sum(),
    }
    rates = {
        "missing_rate": ("without_reasoning", "assistant_messages"),
        "thought_before_call_share": ("thoughts_before_calls", "call_messages"),
    }
    modes = counted(placed(spoken, trajectories), ["traj_type"], counts, rates)
    return SUMMARY.select(modes.join(lengths, on="traj_type", validate="1:1").sort("traj_type"))


def lengths(messages: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Bin the lengths of the reasoning, in bins of equal ratio.

    Args:
        messages: conforms to MESSAGES.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, bin) that holds a message, conforming to LENGTHS; `thought_share` sums to 1 per mode.
    """
    # The nudge keeps 1,000 in the bin that starts at 1,000: its logarithm may come out a hair below 3.
    number = ((_chars().log10() + 1e-12) * BINS_PER_DECADE).floor()
    binned = (
        _assistant(messages, trajectories)
        .filter(~_missing())
        .group_by("traj_type", bin=number)
        .agg(thoughts=pl.len())
        .with_columns(
            chars_from=10 ** (pl.col("bin") / BINS_PER_DECADE),
            chars_to=10 ** ((pl.col("bin") + 1) / BINS_PER_DECADE),
            mode_thoughts=pl.col("thoughts").sum().over("traj_type"),
            thought_share=pl.col("thoughts") / pl.col("thoughts").sum().over("traj_type"),
        )
    )
    return LENGTHS.select(binned.sort("traj_type", "bin"))


def positions(messages: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Follow the length and the absence of reasoning along the trajectory, in tenths of its assistant messages.

    Args:
        messages: conforms to MESSAGES.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, decile) that holds a message, conforming to POSITIONS; none for a mode without any
        reasoning, and none of trajectories of fewer than ten assistant messages. A message stands in the tenth that
        holds its midpoint; the first, which plans, and the last, which closes, stand by themselves.
    """
    step, n = pl.col("step"), pl.col("assistant_messages")
    decile = pl.when(step == 1).then(FIRST).when(step == n).then(LAST).otherwise(tenth(step, n))
    followed = (
        _assistant(messages, trajectories)
        .filter(pl.col("assistant_messages") >= FEWEST_FOR_TENTHS)
        .group_by("traj_type", decile=decile)
        .agg(
            assistant_messages=pl.len(),
            without_reasoning=_missing().sum(),
            missing_rate=_missing().mean(),
            p25_chars=_chars().quantile(0.25, "linear"),
            p50_chars=_chars().quantile(0.5, "linear"),
            p75_chars=_chars().quantile(0.75, "linear"),
        )
    )
    has_length = pl.col("p50_chars").is_not_null().any().over("traj_type")
    return POSITIONS.select(followed.filter(has_length).sort("traj_type", "decile"))


def _assistant(messages: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    modes = trajectories.select("trajectory_id", "traj_type", "assistant_messages")
    return messages.filter(pl.col("role") == "assistant").join(modes, on="trajectory_id", validate="m:1")


def _missing() -> pl.Expr:
    # A thought of no characters is none.
    return pl.col("reasoning_chars").fill_null(0) == 0


def _chars() -> pl.Expr:
    return pl.col("reasoning_chars").filter(~_missing()).cast(pl.Float64)
