"""Training budget: tokens by part, samples over a length, what a cutoff costs, what one sample per step costs.

Two layouts of the same trajectories. `whole`: one sample per trajectory, all reasoning kept, every assistant turn
supervised, a sample that is too long cut at its end. `per_turn`: as the publisher trained, one sample per assistant
turn, only that turn supervised, the reasoning of earlier turns removed; a sample that is too long is cut as
LLaMA-Factory cuts it under `mask_history`: the last turn has priority, so history goes first.
"""

from collections.abc import Sequence

import polars as pl

from analysis.measures import samples
from analysis.measures.calls import rate_columns
from analysis.measures.clusters import counted, placed
from analysis.schema import TRAJECTORIES, Column, Table

_TRAJ_TYPE = TRAJECTORIES["traj_type"]
_LAYOUT = Column("layout", pl.Enum(samples.LAYOUTS), "one sample per trajectory (whole) or per step (per_turn)")
_SAMPLES = Column("samples", pl.UInt32(), "training samples: the denominator", unit="samples")

# In the order they stand in a rendered sample.
PART_COLUMNS = {
    "tools and system": ("tools_tokens", "system_tokens"),
    "user": ("user_tokens",),
    "reasoning": ("reasoning_tokens",),
    "assistant text": ("text_tokens",),
    "calls": ("call_tokens",),
    "results": ("result_tokens",),
    "template": ("header_tokens", "thought_tokens", "template_tokens"),
}
LIMITS_ASKED = (4_096, 8_192, 16_384, 32_768, 65_536)
# What the publisher trained with.
CUTOFF_LEN = 32_768
PARTS = Table(
    "budget_parts",
    "mode and part of the rendered text",
    (
        _TRAJ_TYPE,
        Column("part", pl.Enum(list(PART_COLUMNS)), "part of the rendered text"),
        Column("trajectories", pl.UInt32(), "trajectories of the mode", unit="trajectories"),
        Column("tokens", pl.UInt64(), "tokens of the part, all reasoning kept", unit="tokens"),
        Column("token_share", pl.Float64(), "of all the mode's tokens"),
        Column("tokens_per_trajectory", pl.Float64(), "mean over the mode's trajectories", unit="tokens"),
    ),
    key=("traj_type", "part"),
)

LENGTHS = Table(
    "budget_lengths",
    "layout, mode and bin of length",
    (
        _LAYOUT,
        _TRAJ_TYPE,
        Column("tokens_from", pl.UInt32(), "lower edge of the bin, included", unit="tokens"),
        Column("tokens_to", pl.UInt32(), "upper edge of the bin, excluded", unit="tokens"),
        Column("samples", pl.UInt32(), "samples that long", unit="samples"),
        Column("sample_share", pl.Float64(), "of the layout's samples of that mode"),
        Column("mode_samples", pl.UInt32(), "the layout's samples of that mode", unit="samples"),
    ),
    key=("layout", "traj_type", "tokens_from"),
)

LIMITS = Table(
    "budget_limits",
    "layout, mode and length limit",
    (
        _LAYOUT,
        _TRAJ_TYPE,
        Column("limit", pl.UInt32(), "length limit", unit="tokens"),
        _SAMPLES,
        Column("over", pl.UInt32(), "samples longer than the limit", unit="samples"),
        *rate_columns("over_share", "samples longer than the limit, of all"),
    ),
    key=("layout", "traj_type", "limit"),
)

CUTOFF = Table(
    "budget_cutoff",
    "layout and mode",
    (
        _LAYOUT,
        _TRAJ_TYPE,
        Column("cutoff", pl.UInt32(), "longest sample the training takes", unit="tokens"),
        _SAMPLES,
        Column("samples_cut", pl.UInt32(), "samples longer than the cutoff", unit="samples"),
        Column("supervised_tokens", pl.UInt64(), "tokens the loss is computed on, before the cut", unit="tokens"),
        Column("supervised_lost", pl.UInt64(), "of these, cut off", unit="tokens"),
        Column("lost_share", pl.Float64(), "supervised tokens lost, of all supervised"),
        Column("context_lost", pl.UInt64(), "tokens cut off that were context only", unit="tokens"),
    ),
    key=("layout", "traj_type"),
)

EXPANSION = Table(
    "budget_expansion",
    "mode",
    (
        _TRAJ_TYPE,
        Column("trajectories", pl.UInt32(), "trajectories with a step", unit="trajectories"),
        _SAMPLES,
        Column("trajectory_tokens", pl.UInt64(), "tokens of the trajectories rendered once", unit="tokens"),
        Column("prefix_tokens", pl.UInt64(), "context of the samples, without earlier reasoning", unit="tokens"),
        Column("output_tokens", pl.UInt64(), "supervised steps of the samples, reasoning included", unit="tokens"),
        Column("expansion_factor", pl.Float64(), "(prefix + output) over the tokens rendered once"),
    ),
    key=("traj_type",),
)

EXPANSION_BY_STEPS = Table(
    "budget_expansion_by_steps",
    "mode and number of steps",
    (
        _TRAJ_TYPE,
        Column("turns", pl.UInt32(), "steps, each a sample", unit="steps"),
        Column("trajectories", pl.UInt32(), "trajectories with that many", unit="trajectories"),
        Column("tokens_per_trajectory", pl.Float64(), "mean tokens, rendered once", unit="tokens"),
        Column("sample_tokens_per_trajectory", pl.Float64(), "mean tokens over all its samples", unit="tokens"),
        Column("expansion_factor", pl.Float64(), "tokens of the samples over tokens rendered once"),
    ),
    key=("traj_type", "turns"),
)


def parts(tokens: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Split the tokens of the rendered trajectories by what they are part of.

    Args:
        tokens: conforms to TOKENS.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, part), parts in the order they are rendered, conforming to PARTS; `token_share` sums to
        1 per mode. Visible text counts as system, user or assistant text by who speaks.
    """
    content, role = pl.col("content_tokens"), pl.col("role")
    totals = (
        samples.with_mode(tokens, trajectories)
        .with_columns(
            system_tokens=pl.when(role == "system").then(content).otherwise(0),
            text_tokens=pl.when(role == "assistant").then(content).otherwise(0),
            user_tokens=pl.when(role.is_in(["system", "assistant"])).then(0).otherwise(content),
        )
        .group_by("traj_type")
        .agg(
            trajectories=pl.col("trajectory_id").n_unique(),
            **{
                part: pl.sum_horizontal(pl.col(c).cast(pl.UInt64).sum() for c in cs)
                for part, cs in PART_COLUMNS.items()
            },
        )
        .unpivot(index=["traj_type", "trajectories"], variable_name="part", value_name="tokens")
        .with_columns(
            pl.col("part").cast(pl.Enum(list(PART_COLUMNS))),
            token_share=pl.col("tokens") / pl.col("tokens").sum().over("traj_type"),
            tokens_per_trajectory=pl.col("tokens") / pl.col("trajectories"),
        )
    )
    return PARTS.select(totals.sort("traj_type", "part"))


def lengths(tokens: pl.LazyFrame, trajectories: pl.LazyFrame, *, bin_tokens: int = 1_024) -> pl.LazyFrame:
    """Bin the lengths of the samples, in both layouts.

    Args:
        tokens: conforms to TOKENS.
        trajectories: conforms to TRAJECTORIES.
        bin_tokens: width of a bin.

    Returns:
        One row per (layout, traj_type, bin) that holds a sample, conforming to LENGTHS; `sample_share` sums to 1 per
        layout and mode.
    """
    binned = (
        samples.sample_lengths(tokens, trajectories)
        .group_by("layout", "traj_type", tokens_from=pl.col("length") // bin_tokens * bin_tokens)
        .agg(samples=pl.len())
        .with_columns(
            tokens_to=pl.col("tokens_from") + bin_tokens,
            mode_samples=pl.col("samples").sum().over("layout", "traj_type"),
            sample_share=pl.col("samples") / pl.col("samples").sum().over("layout", "traj_type"),
        )
    )
    return LENGTHS.select(binned.sort("layout", "traj_type", "tokens_from"))


def over_limits(
    tokens: pl.LazyFrame, trajectories: pl.LazyFrame, *, limits: Sequence[int] = LIMITS_ASKED
) -> pl.LazyFrame:
    """Count the samples longer than each limit, in both layouts.

    Args:
        tokens: conforms to TOKENS.
        trajectories: conforms to TRAJECTORIES.
        limits: in tokens.

    Returns:
        One row per (layout, traj_type, limit), conforming to LIMITS; a sample of exactly the limit is not over it.
        The share is null over fewer than 20 samples.
    """
    by = ["layout", "traj_type"]
    by_cluster = (
        placed(samples.sample_lengths(tokens, trajectories), trajectories)
        .group_by(*by, "cluster")
        .agg(pl.len().alias("samples"), *((pl.col("length") > limit).sum().alias(str(limit)) for limit in limits))
        .unpivot(index=[*by, "cluster", "samples"], variable_name="limit", value_name="over")
        .with_columns(pl.col("limit").cast(pl.UInt32))
    )
    counts = {"samples": pl.col("samples").sum(), "over": pl.col("over").sum()}
    over = counted(by_cluster, [*by, "limit"], counts, {"over_share": ("over", "samples")})
    return LIMITS.select(over.sort(*by, "limit"))


def cutoff_loss(tokens: pl.LazyFrame, trajectories: pl.LazyFrame, *, cutoff: int = CUTOFF_LEN) -> pl.LazyFrame:
    """Count what is cut off samples longer than the cutoff, by closed form.

    Args:
        tokens: conforms to TOKENS.
        trajectories: conforms to TRAJECTORIES.
        cutoff: longest sample, in tokens.

    Returns:
        One row per (layout, traj_type), conforming to CUTOFF. Supervised are the tokens of an assistant turn after its
        opening `<|im_start|>assistant`, thought and closing marker included. `whole` is cut at its end. In `per_turn`
        the last turn's prompt S and output T are fitted first: T whole if 2 T < cutoff, else S whole if 2 S < cutoff,
        else both in proportion; older turns get what room is left.
    """
    turns = samples.turns(tokens, trajectories)
    too_long = (pl.col("length") - cutoff).clip(0)
    supervised = pl.col("output").sum()
    after_the_cut = pl.min_horizontal("output", (pl.col("end") - cutoff).clip(0))
    lost = pl.col("output") - samples.kept_of_last_turn(cutoff)
    per_turn = turns.group_by("traj_type").agg(
        layout=pl.lit("per_turn"),
        samples=pl.len(),
        samples_cut=(too_long > 0).sum(),
        supervised_tokens=supervised,
        supervised_lost=lost.sum(),
        beyond=too_long.sum(),
    )
    whole = (
        samples.wholes(tokens, trajectories)
        .group_by("traj_type")
        .agg(layout=pl.lit("whole"), samples=pl.len(), samples_cut=(too_long > 0).sum(), beyond=too_long.sum())
        .join(
            turns.group_by("traj_type").agg(supervised_tokens=supervised, supervised_lost=after_the_cut.sum()),
            on="traj_type",
            validate="1:1",
        )
        .select("traj_type", "layout", "samples", "samples_cut", "supervised_tokens", "supervised_lost", "beyond")
    )
    counted = pl.concat([whole, per_turn]).with_columns(
        pl.col("layout").cast(pl.Enum(samples.LAYOUTS)),
        cutoff=pl.lit(cutoff),
        lost_share=pl.col("supervised_lost") / pl.col("supervised_tokens"),
        context_lost=pl.col("beyond") - pl.col("supervised_lost"),
    )
    return CUTOFF.select(counted.sort("layout", "traj_type"))


def expansion(tokens: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Add up what one sample per step costs, by closed form.

    A message stands in the context of every assistant turn after it, so its history tokens count as often as there are
    such turns.

    Args:
        tokens: conforms to TOKENS.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per traj_type, conforming to EXPANSION.
    """
    added = (
        samples.per_trajectory(tokens, trajectories)
        .group_by("traj_type")
        .agg(
            trajectories=pl.len(),
            samples=pl.col("turns").sum(),
            trajectory_tokens=pl.col("whole_length").sum(),
            prefix_tokens=pl.col("prefix").sum(),
            output_tokens=pl.col("output").sum(),
        )
        .with_columns(
            expansion_factor=(pl.col("prefix_tokens") + pl.col("output_tokens")) / pl.col("trajectory_tokens")
        )
    )
    return EXPANSION.select(added.sort("traj_type"))


def expansion_by_steps(tokens: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Follow the expansion along the number of assistant turns.

    Args:
        tokens: conforms to TOKENS.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, turns) that occurs, conforming to EXPANSION_BY_STEPS.
    """
    read = pl.col("prefix") + pl.col("output")
    followed = (
        samples.per_trajectory(tokens, trajectories)
        .group_by("traj_type", "turns")
        .agg(
            trajectories=pl.len(),
            tokens_per_trajectory=pl.col("whole_length").mean(),
            sample_tokens_per_trajectory=read.mean(),
            expansion_factor=read.sum() / pl.col("whole_length").sum(),
        )
    )
    return EXPANSION_BY_STEPS.select(followed.sort("traj_type", "turns"))
