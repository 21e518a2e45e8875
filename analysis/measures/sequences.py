"""Sequences: what follows what, how predictable it is, which runs of tools recur, and whether reading comes before
writing.

`unit` says what a sequence is made of: `tool_name` within an environment; across environments, whose tools differ, the
`verb` (first word of the name) or the `kind` (reads or changes).
"""

from itertools import pairwise

import polars as pl

from analysis.measures.calls import rate_columns, trajectory_key, with_kind
from analysis.measures.clusters import counted, placed, unclustered_rate
from analysis.measures.order import END, START, Unit, in_order, names_of, spell, transition_pairs
from analysis.measures.rarefaction import bits
from analysis.natural import natural_order
from analysis.schema import TOOL_CALLS, Column, Table

LONGEST = 4
# Environments are compared over no more transitions than this: the expectation is a sum of as many terms.
MOST_RAREFIED = 2_000

TRANSITIONS = Table(
    "sequence_transitions",
    "call and what follows it",
    (
        Column("before", pl.String(), "tool, verb or kind; (start) of the trajectory"),
        Column("after", pl.String(), "tool, verb or kind that follows; (end) of the trajectory"),
        Column("transitions", pl.UInt32(), "times it follows"),
        Column("before_transitions", pl.UInt32(), "times anything follows `before`"),
        Column("all_transitions", pl.UInt32(), "transitions of the source, those not shown among them"),
        Column("probability", pl.Float64(), "P(after | before)"),
        Column(
            "lift",
            pl.Float64(),
            "transitions over as many as there would be if what follows did not hang on `before`, within environments",
        ),
    ),
    key=("before", "after"),
)

ENTROPY = Table(
    "sequence_entropy",
    "environment",
    (
        TOOL_CALLS["env_id"],
        Column("transitions", pl.UInt32(), "transitions seen, start and end among them"),
        Column("states", pl.UInt32(), "distinct tools, verbs or kinds called"),
        Column("rarefied_to", pl.UInt32(), "transitions to which every environment's are cut down", nullable=True),
        Column(
            "entropy_rate",
            pl.Float64(),
            "uncertainty of the next call given the last, expected over as many transitions; null over fewer than 20",
            unit="bits",
            nullable=True,
        ),
        Column("entropy", pl.Float64(), "the same, knowing nothing of the last call", unit="bits", nullable=True),
        Column("seen_entropy_rate", pl.Float64(), "over all transitions: grows with their number", "bits", True),
        Column(
            "effective_choices",
            pl.Float64(),
            "2 ^ entropy_rate: equally likely next calls it amounts to",
            nullable=True,
        ),
    ),
    key=("env_id",),
)

NGRAMS = Table(
    "sequence_ngrams",
    "maximal run of two to four calls that recurs",
    (
        Column("ngram", pl.String(), "the calls, in order"),
        Column("length", pl.UInt32(), "calls of the run", unit="calls"),
        Column("trajectories", pl.UInt32(), "trajectories that hold it", unit="trajectories"),
        Column("all_trajectories", pl.UInt32(), "trajectories with a call", unit="trajectories"),
        Column("occurrences", pl.UInt32(), "times it occurs, overlaps included"),
        *rate_columns("trajectory_rate", "trajectories that hold it, of those with a call"),
    ),
    key=("ngram",),
)

READS_FIRST = Table(
    "sequence_reads_first",
    "mode",
    (
        TOOL_CALLS["traj_type"],
        Column("changing_calls", pl.UInt32(), "calls of tools that change the state", unit="calls"),
        Column("after_read", pl.UInt32(), "of these, with a reading call before in the trajectory", unit="calls"),
        *rate_columns("after_read_rate", "after_read over changing calls"),
        Column("directly_after_read", pl.UInt32(), "of these, right after a reading call", unit="calls"),
        *rate_columns("directly_after_rate", "directly_after_read over changing calls"),
        Column("catalogued_calls", pl.UInt32(), "changing calls whose kind the catalogue gives", unit="calls"),
    ),
    key=("traj_type",),
)


def transitions(
    tool_calls: pl.LazyFrame,
    environment_tools: pl.LazyFrame,
    *,
    unit: Unit = "tool_name",
    min_n: int = 20,
    top: int = 20,
) -> pl.LazyFrame:
    """Estimate P(next | last) with start and end.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.
        unit: what a sequence is made of.
        min_n: support: calls followed fewer times are left out.
        top: calls kept, the most frequent.

    Returns:
        One row per pair that occurs between kept calls, start and end always kept, conforming to TRANSITIONS. All
        denominators count what is left out as well, so the shown probabilities of a row may sum to less than 1.
    """
    n = pl.col("transitions")
    names = names_of(tool_calls, environment_tools, unit)
    ordered, tokens = in_order(tool_calls, names, "env_id")
    seen = transition_pairs(ordered, "env_id").group_by("env_id", "before", "after").agg(transitions=pl.len()).cache()
    followed = (
        spell(
            seen.group_by("before", "after").agg(n.sum()).join(_expected(seen), on=["before", "after"], validate="1:1"),
            tokens,
        )
        .with_columns(before_transitions=n.sum().over("before"), all_transitions=n.sum())
        .with_columns(probability=n / pl.col("before_transitions"), lift=n / pl.col("expected"))
    )
    kept = (
        followed.filter((pl.col("before") != START) & (pl.col("before_transitions") >= min_n))
        .group_by("before")
        .agg(pl.col("before_transitions").first())
        .sort("before_transitions", "before", descending=[True, False])
        .head(top)
        .select(call="before")
    )
    shown = followed.join(
        pl.concat([kept, pl.LazyFrame({"call": [START]})]), left_on="before", right_on="call", how="semi"
    ).join(pl.concat([kept, pl.LazyFrame({"call": [END]})]), left_on="after", right_on="call", how="semi")
    order = ["before_transitions", "before", "transitions", "after"]
    return TRANSITIONS.select(shown.sort(order, descending=[True, False, True, False]))


def _expected(seen: pl.LazyFrame) -> pl.LazyFrame:
    """Transitions there would be of each pair if what follows did not hang on what came before, within environments.

    A tool that lives in one environment follows its neighbours there often and elsewhere never: over all environments
    together that would look like order.
    """
    n = pl.col("transitions")
    befores = seen.group_by("env_id", "before").agg(of_before=n.sum())
    afters = seen.group_by("env_id", "after").agg(of_after=n.sum())
    totals = seen.group_by("env_id").agg(of_env=n.sum())
    pairs = seen.select("before", "after").unique()
    return (
        befores.join(pairs, on="before")
        .join(afters, on=["env_id", "after"], how="inner", nulls_equal=True)
        .join(totals, on="env_id", nulls_equal=True)
        .with_columns(expected=pl.col("of_before") * pl.col("of_after") / pl.col("of_env"))
        .group_by("before", "after")
        .agg(pl.col("expected").sort().sum())
    )


def entropy(
    tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame, *, unit: Unit = "tool_name", min_n: int = 20
) -> pl.LazyFrame:
    """Measure how predictable the next call is, per environment.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.
        unit: what a sequence is made of.
        min_n: transitions below which no entropy is given.

    Returns:
        One row per env_id, most predictable first, conforming to ENTROPY. The entropy of what was seen grows with how
        much was seen, and would order environments by their size: every environment's is what it is expected to be over
        as many transitions as the smallest one with `min_n` has, MOST_RAREFIED at most.
    """
    n = pl.col("transitions")
    ordered, _ = in_order(tool_calls, names_of(tool_calls, environment_tools, unit), "env_id")
    seen = transition_pairs(ordered, "env_id").group_by("env_id", "before", "after").agg(transitions=pl.len()).cache()
    sizes = seen.group_by("env_id").agg(
        transitions=n.sum(), states=pl.col("before").filter(pl.col("before") > 0).n_unique()
    )
    known = n >= min_n
    rarefied = pl.min_horizontal(n.filter(known).min(), MOST_RAREFIED)
    placed_sizes = sizes.with_columns(rarefied_to=pl.when(known).then(rarefied))
    rows = (
        seen.join(
            placed_sizes.select("env_id", "rarefied_to", "transitions"), on="env_id", nulls_equal=True, suffix="_all"
        )
        .filter(pl.col("rarefied_to").is_not_null())
        .group_by("env_id")
        .agg(
            entropy_rate=bits(["before", "after"], "rarefied_to") - bits(["before"], "rarefied_to"),
            entropy=bits(["after"], "rarefied_to"),
            seen_entropy_rate=bits(["before", "after"], "transitions_all") - bits(["before"], "transitions_all"),
        )
    )
    return ENTROPY.select(
        placed_sizes.join(rows, on="env_id", how="left", nulls_equal=True, validate="1:1")
        # Differences of equal numbers come out as -0.0.
        .with_columns(pl.col("entropy_rate", "entropy", "seen_entropy_rate").clip(lower_bound=0.0).abs())
        .with_columns(effective_choices=pl.lit(2.0).pow(pl.col("entropy_rate")))
        .sort(pl.col("entropy_rate").round(9), *natural_order("env_id"), nulls_last=True)
    )


def ngrams(
    tool_calls: pl.LazyFrame,
    environment_tools: pl.LazyFrame,
    trajectories: pl.LazyFrame | None = None,
    *,
    unit: Unit = "tool_name",
    min_n: int = 20,
    top: int = 20,
) -> pl.LazyFrame:
    """Find runs of two to four calls that many trajectories share.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.
        unit: what a sequence is made of.
        min_n: support: trajectories that must hold a run.
        top: runs kept.

    Returns:
        One row per maximal run (no run of up to four that holds it reaches the support), by trajectories, conforming
        to NGRAMS.
    """
    ordered, tokens = in_order(tool_calls, names_of(tool_calls, environment_tools, unit))
    sizes = [_recurring(ordered, size, min_n) for size in range(2, LONGEST + 1)]
    # A longer run holds a shorter one as its beginning or its end; support cannot grow with length.
    maximal = [
        shorter.join(_beginnings_and_ends(longer, size), on=_codes(size), how="anti")
        for size, (shorter, longer) in enumerate(pairwise(sizes), start=2)
    ]
    named = pl.concat([_named(frame, tokens, size) for size, frame in enumerate([*maximal, sizes[-1]], start=2)])
    calling = placed(ordered.select("key").unique(), trajectories)
    totals = calling.select(all_trajectories=pl.len(), trajectory_rate_clusters=pl.col("cluster").n_unique())
    rows = (
        named.join(totals, how="cross")
        .with_columns(**unclustered_rate("trajectories", "all_trajectories", "trajectory_rate"))
        .sort("trajectories", "length", "ngram", descending=[True, True, False])
        .head(top)
    )
    return NGRAMS.select(rows)


def reads_first(
    tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame, trajectories: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Say how many changing calls come after a reading one.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per traj_type with a changing call, conforming to READS_FIRST. Before and right before is in an earlier
        message and in the last one that makes a call: a read beside the change is neither.
    """
    calls = with_kind(tool_calls, environment_tools).select(
        "traj_type", "message", "kind", "is_catalogued", key=trajectory_key()
    )
    is_same = (pl.col("key") == pl.col("key").shift(1)).fill_null(False)
    read_before = pl.col("reads").cum_max().over("key").shift(1)
    messages = (
        calls.group_by("key", "message")
        .agg(reads=(pl.col("kind") == "query").any())
        .sort("key", "message")
        .select(
            "key",
            "message",
            is_after=is_same & read_before.fill_null(False),
            is_directly_after=is_same & pl.col("reads").shift(1).fill_null(False),
        )
    )
    changing = calls.filter(pl.col("kind") == "change").join(messages, on=["key", "message"], validate="m:1")
    counts = {
        "changing_calls": pl.len(),
        "after_read": pl.col("is_after").sum(),
        "directly_after_read": pl.col("is_directly_after").sum(),
        "catalogued_calls": pl.col("is_catalogued").sum(),
    }
    rates = {
        "after_read_rate": ("after_read", "changing_calls"),
        "directly_after_rate": ("directly_after_read", "changing_calls"),
    }
    return READS_FIRST.select(counted(placed(changing, trajectories), ["traj_type"], counts, rates).sort("traj_type"))


def _codes(size: int) -> list[str]:
    return [f"code_{place}" for place in range(size)]


def _recurring(ordered: pl.LazyFrame, size: int, min_n: int) -> pl.LazyFrame:
    """Runs of `size` calls in at least `min_n` trajectories: code_0…, trajectories, occurrences."""
    codes = {name: pl.col("code").shift(-place) for place, name in enumerate(_codes(size))}
    return (
        ordered.select("key", last=pl.col("key").shift(1 - size), **codes)
        .filter(pl.col("key") == pl.col("last"))
        .group_by(*codes)
        .agg(trajectories=pl.col("key").n_unique(), occurrences=pl.len())
        .filter(pl.col("trajectories") >= min_n)
    )


def _beginnings_and_ends(longer: pl.LazyFrame, size: int) -> pl.LazyFrame:
    codes = _codes(size + 1)
    beginnings = longer.select(codes[:-1])
    ends = longer.select(pl.col(code).alias(f"code_{place}") for place, code in enumerate(codes[1:]))
    return pl.concat([beginnings, ends]).unique()


def _named(runs: pl.LazyFrame, tokens: pl.LazyFrame, size: int) -> pl.LazyFrame:
    for code in _codes(size):
        runs = runs.join(tokens.rename({"code": code, "token": f"{code}_name"}), on=code, validate="m:1")
    return runs.select(
        "trajectories",
        "occurrences",
        ngram=pl.concat_str([f"{code}_name" for code in _codes(size)], separator=" → "),
        length=pl.lit(size),
    )
