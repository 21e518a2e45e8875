"""Sequences: what follows what, how predictable it is, which runs of tools recur, and whether reading comes before
writing.

`unit` says what a sequence is made of: `tool_name` within an environment; across environments, whose tools differ, the
`verb` (first word of the name) or the `kind` (reads or changes).
"""

from itertools import pairwise
from typing import Literal

import polars as pl

from analysis.measures.calls import offer_key, rate_columns, trajectory_key, verb, with_kind
from analysis.measures.expressions import rated
from analysis.natural import natural_order
from analysis.schema import TOOL_CALLS, Column, Table

Unit = Literal["tool_name", "verb", "kind"]
START, END = "(start)", "(end)"
UNREADABLE = "(unreadable)"
LONGEST = 4

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
        Column("lift", pl.Float64(), "P(after | before) over P(after): 1 = as often as after anything"),
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
        Column(
            "entropy_rate",
            pl.Float64(),
            "uncertainty of the next call given the last, weighted by how often it occurs; null over fewer than 20",
            unit="bits",
            nullable=True,
        ),
        Column("entropy", pl.Float64(), "uncertainty of the next call, knowing nothing", unit="bits", nullable=True),
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
    names = _names(tool_calls, environment_tools, unit)
    counted = (
        _spell(_pairs(_ordered(tool_calls, names)).group_by("before", "after").agg(transitions=pl.len()), names)
        .with_columns(
            before_transitions=n.sum().over("before"),
            after_transitions=n.sum().over("after"),
            all_transitions=n.sum(),
        )
        .with_columns(probability=n / pl.col("before_transitions"))
        .with_columns(lift=pl.col("probability") / (pl.col("after_transitions") / pl.col("all_transitions")))
    )
    kept = (
        counted.filter((pl.col("before") != START) & (pl.col("before_transitions") >= min_n))
        .group_by("before")
        .agg(pl.col("before_transitions").first())
        .sort("before_transitions", "before", descending=[True, False])
        .head(top)
        .select(call="before")
    )
    shown = counted.join(
        pl.concat([kept, pl.LazyFrame({"call": [START]})]), left_on="before", right_on="call", how="semi"
    ).join(pl.concat([kept, pl.LazyFrame({"call": [END]})]), left_on="after", right_on="call", how="semi")
    order = ["before_transitions", "before", "transitions", "after"]
    return TRANSITIONS.select(shown.sort(order, descending=[True, False, True, False]))


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
        One row per env_id, most predictable first, conforming to ENTROPY. Entropies are of the observed frequencies
        (plug-in), which lies below the truth where transitions are few against states squared.
    """
    n, of, total = pl.col("transitions"), pl.col("before_transitions"), pl.col("all_transitions")
    # Summed in order of size: groups come in any order, and the last bits of a sum depend on it.
    bits = (n / total) * (n / of).log(2)
    counted = (
        _pairs(_ordered(tool_calls, _names(tool_calls, environment_tools, unit), "env_id"), "env_id")
        .group_by("env_id", "before", "after")
        .agg(transitions=pl.len())
        .with_columns(before_transitions=n.sum().over("env_id", "before"), all_transitions=n.sum().over("env_id"))
    )
    by_last = counted.group_by("env_id").agg(
        transitions=n.sum(), states=pl.col("before").filter(pl.col("before") > 0).n_unique(), bits=-bits.sort().sum()
    )
    share = pl.col("after_transitions") / pl.col("after_transitions").sum()
    by_nothing = (
        counted.group_by("env_id", "after")
        .agg(after_transitions=n.sum())
        .group_by("env_id")
        .agg(flat=-(share * share.log(2)).sort().sum())
    )
    known = n >= min_n
    rows = (
        by_last.join(by_nothing, on="env_id", nulls_equal=True, validate="1:1")
        # Sums of logarithms of exactly 1 come out as -0.0.
        .with_columns(entropy_rate=pl.when(known).then(pl.col("bits").abs()), entropy=pl.when(known).then("flat"))
        .with_columns(effective_choices=pl.lit(2.0).pow(pl.col("entropy_rate")))
    )
    return ENTROPY.select(rows.sort(pl.col("entropy_rate").round(9), *natural_order("env_id"), nulls_last=True))


def ngrams(
    tool_calls: pl.LazyFrame,
    environment_tools: pl.LazyFrame,
    *,
    unit: Unit = "tool_name",
    min_n: int = 20,
    top: int = 20,
) -> pl.LazyFrame:
    """Find runs of two to four calls that many trajectories share.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.
        unit: what a sequence is made of.
        min_n: support: trajectories that must hold a run.
        top: runs kept.

    Returns:
        One row per maximal run (no run of up to four that holds it reaches the support), by trajectories, conforming
        to NGRAMS.
    """
    names = _names(tool_calls, environment_tools, unit)
    ordered = _ordered(tool_calls, names)
    sizes = [_recurring(ordered, size, min_n) for size in range(2, LONGEST + 1)]
    # A longer run holds a shorter one as its beginning or its end; support cannot grow with length.
    maximal = [
        shorter.join(_beginnings_and_ends(longer, size), on=_codes(size), how="anti")
        for size, (shorter, longer) in enumerate(pairwise(sizes), start=2)
    ]
    tokens = names.select("code", "token").unique()
    named = pl.concat([_named(frame, tokens, size) for size, frame in enumerate([*maximal, sizes[-1]], start=2)])
    rows = (
        named.join(ordered.select(all_trajectories=pl.col("key").n_unique()), how="cross")
        .with_columns(**rated("trajectories", "all_trajectories", "trajectory_rate"))
        .sort("trajectories", "length", "ngram", descending=[True, True, False])
        .head(top)
    )
    return NGRAMS.select(rows)


def reads_first(tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame) -> pl.LazyFrame:
    """Say how many changing calls come after a reading one.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.

    Returns:
        One row per traj_type with a changing call, conforming to READS_FIRST.
    """
    key = pl.col("key")
    reading_key = pl.when(pl.col("kind") == "query").then(key)
    counted = (
        with_kind(tool_calls, environment_tools)
        .select("traj_type", "call", "kind", "is_catalogued", key=trajectory_key())
        .sort("key", "call")
        .with_columns(
            is_after=(reading_key.forward_fill().shift(1) == key).fill_null(False),
            is_directly_after=(reading_key.shift(1) == key).fill_null(False),
        )
        .filter(pl.col("kind") == "change")
        .group_by("traj_type")
        .agg(
            changing_calls=pl.len(),
            after_read=pl.col("is_after").sum(),
            directly_after_read=pl.col("is_directly_after").sum(),
            catalogued_calls=pl.col("is_catalogued").sum(),
        )
        .with_columns(**rated("after_read", "changing_calls", "after_read_rate"))
        .with_columns(**rated("directly_after_read", "changing_calls", "directly_after_rate"))
    )
    return READS_FIRST.select(counted.sort("traj_type"))


def _names(tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame, unit: Unit) -> pl.LazyFrame:
    """`token` and `code` of each (env_id, tool_name): text is handled once a tool, calls carry the number."""
    tools = tool_calls.select("env_id", "tool_name").unique()
    if unit == "kind":
        named = with_kind(tools, environment_tools).with_columns(token=pl.col("kind").cast(pl.String))
    else:
        spelled = verb() if unit == "verb" else pl.col("tool_name")
        named = tools.with_columns(token=spelled.fill_null(UNREADABLE))
    code = pl.col("token").rank("dense").cast(pl.UInt32)
    return named.sort("token").select(tool=offer_key(), token=pl.col("token"), code=code).cache()


def _ordered(tool_calls: pl.LazyFrame, names: pl.LazyFrame, *carried: str) -> pl.LazyFrame:
    """Calls in order, each with its code; codes count from 1."""
    return (
        tool_calls.select("call", *carried, key=trajectory_key(), tool=offer_key())
        .join(names.select("tool", "code"), on="tool", how="left")
        .select("key", "call", "code", *carried)
        .sort("key", "call")
        .cache()
    )


def _pairs(ordered: pl.LazyFrame, *by: str) -> pl.LazyFrame:
    """`before` and `after` of every transition: each call and what follows it; 0 stands for the start and the end."""
    key, code, edge = pl.col("key"), pl.col("code"), pl.lit(0, pl.UInt32)
    is_first = key.ne_missing(key.shift(1))
    is_last = key.ne_missing(key.shift(-1))
    following = ordered.select(*by, before=code, after=pl.when(is_last).then(edge).otherwise(code.shift(-1)))
    starts = ordered.filter(is_first).select(*by, before=edge, after=code)
    return pl.concat([following, starts])


def _spell(pairs: pl.LazyFrame, names: pl.LazyFrame) -> pl.LazyFrame:
    """Replace the codes of `before` and `after` by their names."""
    tokens = names.select("code", "token").unique()
    return (
        pairs.join(tokens.rename({"code": "before", "token": "before_name"}), on="before", how="left", validate="m:1")
        .join(tokens.rename({"code": "after", "token": "after_name"}), on="after", how="left", validate="m:1")
        .with_columns(before=pl.col("before_name").fill_null(START), after=pl.col("after_name").fill_null(END))
    )


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
