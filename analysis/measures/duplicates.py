"""Duplication: trajectories that do the same, runs of one scenario that do nearly so, tasks that read nearly the same.

Nothing here says that a duplicate is wrong: two modes of one scenario are meant to resemble each other.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import polars as pl
from rapidfuzz.distance import Levenshtein

from analysis.measures.expressions import share_of
from analysis.measures.shingles import bands, proposals, shingles
from analysis.measures.signatures import call_lists, scenario_text, signatures
from analysis.natural import natural_order
from analysis.schema import FEWEST_FOR_A_RATE, TRAJECTORIES, Column, Table

_COPIES = Column("copies", pl.UInt32(), "trajectories of the group", unit="trajectories")

EXACT = Table(
    "duplicates_exact",
    "group of trajectories with the same scenario and calls",
    (
        TRAJECTORIES["env_id"],
        TRAJECTORIES["task_id"],
        _COPIES,
        Column("conversations", pl.UInt32(), "of these, conversations", unit="trajectories"),
        Column("tool_calls", pl.UInt32(), "calls each of them makes", unit="calls"),
        Column("first_id", pl.String(), "trajectory_id of the first of the group"),
        Column("second_id", pl.String(), "trajectory_id of the second"),
    ),
    key=("first_id",),
)

EXACT_SUMMARY = Table(
    "duplicates_exact_summary",
    "all trajectories together",
    (
        Column("trajectories", pl.UInt32(), "trajectories compared: the denominator", unit="trajectories"),
        Column("distinct", pl.UInt32(), "distinct (scenario, calls)", unit="trajectories"),
        Column("groups", pl.UInt32(), "groups of more than one", unit="groups"),
        Column("extra_copies", pl.UInt32(), "trajectories that repeat an earlier one", unit="trajectories"),
        Column("extra_share", pl.Float64(), "extra copies over trajectories; null under 20", nullable=True),
        Column("largest_group", pl.UInt32(), "trajectories in the largest group", unit="trajectories"),
    ),
)

PAIR_KINDS = ("same mode", "across modes")
COMPARED = ("calls with arguments", "tool names")
PAIRS = Table(
    "duplicates_pairs",
    "pair of runs of one scenario",
    (
        TRAJECTORIES["env_id"],
        Column("task_id", pl.String(), "scenario"),
        Column("kind", pl.Enum(PAIR_KINDS), "whether the two were run in the same mode"),
        Column("similarity", pl.Float64(), "1 - edit distance / longer length, over calls with their arguments"),
        Column("name_similarity", pl.Float64(), "the same over tool names alone"),
        Column("left_id", pl.String(), "trajectory_id of the one"),
        Column("right_id", pl.String(), "trajectory_id of the other"),
        Column("left_calls", pl.UInt32(), "calls of the one", unit="calls"),
        Column("right_calls", pl.UInt32(), "calls of the other", unit="calls"),
    ),
    key=("left_id", "right_id"),
)

SIMILARITY = Table(
    "duplicates_similarity",
    "kind of pair, measure and bin of similarity",
    (
        Column("kind", pl.Enum(PAIR_KINDS), "whether the two were run in the same mode"),
        Column("compared", pl.Enum(COMPARED), "what the edit distance runs over"),
        Column("similarity_from", pl.Float64(), "lower edge of the bin, included"),
        Column("similarity_to", pl.Float64(), "upper edge of the bin, excluded; 1 is in the last"),
        Column("pairs", pl.UInt32(), "pairs that similar", unit="pairs"),
        Column("pair_share", pl.Float64(), "of the pairs of that kind, those of a scenario weighing one together"),
        Column("kind_pairs", pl.UInt32(), "pairs of that kind", unit="pairs"),
    ),
    key=("kind", "compared", "similarity_from"),
)

SIMILARITY_SUMMARY = Table(
    "duplicates_similarity_summary",
    "kind of pair",
    (
        Column("kind", pl.Enum(PAIR_KINDS), "whether the two were run in the same mode"),
        Column("pairs", pl.UInt32(), "pairs of that kind", unit="pairs"),
        Column("scenarios", pl.UInt32(), "scenarios they are of: each weighs one", unit="scenarios"),
        Column("identical", pl.UInt32(), "pairs that make the same calls with the same arguments", unit="pairs"),
        Column("identical_share", pl.Float64(), "of a scenario's pairs, mean over scenarios"),
        Column("similarity", pl.Float64(), "median over calls with arguments, by scenario"),
        Column("name_similarity", pl.Float64(), "median over tool names, by scenario"),
    ),
    key=("kind",),
)

TASK_PAIRS = Table(
    "duplicates_tasks",
    "pair of scenarios whose tasks read nearly the same",
    (
        Column("left_env_id", pl.String(), "environment of the one", nullable=True),
        Column("left_task_id", pl.String(), "scenario of the one", nullable=True),
        Column("right_env_id", pl.String(), "environment of the other", nullable=True),
        Column("right_task_id", pl.String(), "scenario of the other", nullable=True),
        Column("jaccard", pl.Float64(), "shared over all distinct shingles of five words"),
        Column("left_id", pl.String(), "trajectory_id of a run of the one"),
        Column("right_id", pl.String(), "trajectory_id of a run of the other"),
    ),
    key=("left_id", "right_id"),
)

TASKS_SUMMARY = Table(
    "duplicates_tasks_summary",
    "all tasks together",
    (
        Column("tasks", pl.UInt32(), "distinct scenarios with a task text: the denominator", unit="scenarios"),
        Column("candidates", pl.UInt32(), "pairs that MinHash proposes", unit="pairs"),
        Column("verified", pl.UInt32(), "of these, with a Jaccard similarity of at least the threshold", unit="pairs"),
        Column("identical", pl.UInt32(), "of these, the same set of shingles", unit="pairs"),
        Column("tasks_in_pairs", pl.UInt32(), "scenarios that stand in a verified pair", unit="scenarios"),
        Column("tasks_in_pairs_share", pl.Float64(), "of all scenarios with a task text; null under 20", nullable=True),
        Column("threshold", pl.Float64(), "smallest Jaccard similarity of a pair that is asked for"),
        Column("expected_recall", pl.Float64(), "share of pairs at the threshold that MinHash is expected to propose"),
    ),
)

THRESHOLD = 0.8
BINS = 20


def exact(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Group trajectories that have the same scenario and sequence of calls with arguments.

    A scenario is an environment and a task_id, or the text of the task where there is no id. Arguments are compared as
    values: neither the order of keys nor spacing tells two calls apart, nor does the order of calls of one message.
    Trajectories with neither a task nor a call have nothing to compare and stay out.

    Args:
        trajectories: conforms to TRAJECTORIES.
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row per group of two or more, largest first, conforming to EXACT.
    """
    grouped = (
        signatures(trajectories, tool_calls)
        .sort("trajectory_id")
        .group_by("env_id", "scenario", "signature", maintain_order=True)
        .agg(
            copies=pl.len(),
            task_id=pl.col("task_id").first(),
            conversations=(pl.col("traj_type") == "conversation").sum(),
            tool_calls=pl.col("calls").first(),
            first_id=pl.col("trajectory_id").first(),
            second_id=pl.col("trajectory_id").slice(1, 1).first(),
        )
        .filter(pl.col("copies") > 1)
    )
    return EXACT.select(grouped.sort("copies", "tool_calls", "first_id", descending=[True, True, False]))


def exact_summary(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Count the trajectories that repeat an earlier one.

    Args:
        trajectories: conforms to TRAJECTORIES.
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row, conforming to EXACT_SUMMARY; none without trajectories.
    """
    n, distinct = pl.col("copies").sum(), pl.len()
    counted = (
        signatures(trajectories, tool_calls)
        .group_by("env_id", "scenario", "signature")
        .agg(copies=pl.len())
        .select(
            trajectories=n,
            distinct=distinct,
            groups=(pl.col("copies") > 1).sum(),
            extra_copies=n - distinct,
            extra_share=share_of(n - distinct, n),
            largest_group=pl.col("copies").max(),
        )
        .filter(pl.col("trajectories") > 0)
    )
    return EXACT_SUMMARY.select(counted)


def run_pairs(trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Compare every two runs of one scenario by the edit distance between their sequences of calls.

    Args:
        trajectories: conforms to TRAJECTORIES; those without a task_id have no scenario and stay out.
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row per pair, most similar first, conforming to PAIRS. Two runs without any call are equal.
    """
    runs = (
        call_lists(trajectories, tool_calls)
        .filter(pl.col("task_id").is_not_null())
        .filter(pl.len().over("env_id", "task_id") > 1)
        .sort("trajectory_id")
        .group_by("env_id", "task_id", maintain_order=True)
        .agg("trajectory_id", "traj_type", "sequence", "names")
    )
    compared = runs.map_batches(
        lambda frame: pl.DataFrame(_pairs(frame), PAIRS.schema, orient="row"), schema=PAIRS.schema
    )
    order = [pl.col("similarity"), pl.col("name_similarity"), pl.col("left_id"), pl.col("right_id")]
    return PAIRS.select(compared.sort(order, descending=[True, True, False, False]))


def similarity(pairs: pl.LazyFrame) -> pl.LazyFrame:
    """Bin the similarity of runs of one scenario.

    Args:
        pairs: conforms to PAIRS.

    Returns:
        One row per (kind, compared, bin) that holds a pair, conforming to SIMILARITY; shares sum to 1 per kind and
        measure.
    """
    bin_number = (pl.col("value") * BINS + 1e-9).floor().clip(upper_bound=BINS - 1)
    binned = (
        pairs.select(
            "kind",
            pl.col("similarity").alias("calls with arguments"),
            pl.col("name_similarity").alias("tool names"),
            weight=_weight(),
        )
        .unpivot(index=["kind", "weight"], variable_name="compared", value_name="value")
        .with_columns(pl.col("compared").cast(SIMILARITY["compared"].dtype))
        .group_by("kind", "compared", bin=bin_number)
        .agg(pairs=pl.len(), weight=pl.col("weight").sort().sum())
        .with_columns(
            similarity_from=pl.col("bin") / BINS,
            similarity_to=(pl.col("bin") + 1) / BINS,
            kind_pairs=pl.col("pairs").sum().over("kind", "compared"),
            pair_share=pl.col("weight") / pl.col("weight").sum().over("kind", "compared"),
        )
    )
    return SIMILARITY.select(binned.sort("kind", "compared", "bin"))


def similarity_summary(pairs: pl.LazyFrame) -> pl.LazyFrame:
    """How alike runs of one scenario are, a scenario with many runs weighing no more than one with two.

    Args:
        pairs: conforms to PAIRS.

    Returns:
        One row per kind that occurs, conforming to SIMILARITY_SUMMARY.
    """
    weight = pl.col("weight")

    def median(column: str) -> pl.Expr:
        ordered = pl.col(column).sort_by(column)
        reached = weight.sort_by(column).cum_sum() >= weight.sum() / 2 - 1e-9
        return ordered.filter(reached).first()

    summed = (
        pairs.with_columns(weight=_weight())
        .group_by("kind")
        .agg(
            pairs=pl.len(),
            scenarios=pl.struct("env_id", "task_id").n_unique(),
            identical=(pl.col("similarity") == 1).sum(),
            identical_share=weight.filter(pl.col("similarity") == 1).sort().sum() / weight.sort().sum(),
            similarity=median("similarity"),
            name_similarity=median("name_similarity"),
        )
    )
    return SIMILARITY_SUMMARY.select(summed.sort("kind"))


def _weight() -> pl.Expr:
    """Of a scenario with n runs about n² pairs are made: together they weigh one."""
    return 1 / pl.len().over("env_id", "task_id", "kind").cast(pl.Float64)


def task_pairs(trajectories: pl.LazyFrame, *, threshold: float = THRESHOLD) -> pl.LazyFrame:
    """Find scenarios whose task texts read nearly the same.

    MinHash proposes pairs, the exact Jaccard similarity of their sets of shingles (five words in lower case) decides.

    Args:
        trajectories: conforms to TRAJECTORIES.
        threshold: smallest Jaccard similarity of a pair.

    Returns:
        One row per pair of scenarios, most similar first, conforming to TASK_PAIRS.
    """
    found = _tasks(trajectories).map_batches(
        lambda frame: pl.DataFrame(list(_candidates(frame, threshold)), TASK_PAIRS.schema, orient="row"),
        schema=TASK_PAIRS.schema,
    )
    verified = found.filter(pl.col("jaccard") >= threshold)
    return TASK_PAIRS.select(verified.sort("jaccard", "left_id", "right_id", descending=[True, False, False]))


def tasks_summary(trajectories: pl.LazyFrame, *, threshold: float = THRESHOLD) -> pl.LazyFrame:
    """Count candidate and verified pairs of near-duplicate tasks.

    Args:
        trajectories: conforms to TRAJECTORIES.
        threshold: smallest Jaccard similarity of a pair.

    Returns:
        One row, conforming to TASKS_SUMMARY; none without task texts.
    """

    def count(frame: pl.DataFrame) -> pl.DataFrame:
        candidates = list(_candidates(frame, threshold))
        verified = [pair for pair in candidates if pair.jaccard >= threshold]
        involved = {task for pair in verified for task in (pair.left_id, pair.right_id)}
        row = (
            frame.height,
            len(candidates),
            len(verified),
            sum(pair.jaccard == 1 for pair in verified),
            len(involved),
            len(involved) / frame.height if frame.height >= FEWEST_FOR_A_RATE else None,
            threshold,
            bands(threshold)[1],
        )
        return pl.DataFrame([row] if frame.height else [], TASKS_SUMMARY.schema, orient="row")

    return TASKS_SUMMARY.select(_tasks(trajectories).map_batches(count, schema=TASKS_SUMMARY.schema))


def _pairs(runs: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    for env_id, task_id, ids, modes, sequences, names in runs.iter_rows():
        for left, right in combinations(range(len(ids)), 2):
            yield (
                env_id,
                task_id,
                PAIR_KINDS[modes[left] != modes[right]],
                Levenshtein.normalized_similarity(sequences[left], sequences[right]),
                Levenshtein.normalized_similarity(names[left], names[right]),
                ids[left],
                ids[right],
                len(names[left]),
                len(names[right]),
            )


def _tasks(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """One row per scenario with a task text."""
    return (
        trajectories.filter(pl.col("task").str.strip_chars() != "")
        .sort("trajectory_id")
        .group_by("env_id", scenario_text().alias("scenario"), maintain_order=True)
        .agg(pl.col("task_id", "task", "trajectory_id").first())
        .sort(*natural_order("env_id"), *natural_order("scenario"), nulls_last=True)
        .select("env_id", "task_id", "task", "trajectory_id")
    )


class _TaskPair(NamedTuple):
    """A row of TASK_PAIRS."""

    left_env_id: str | None
    left_task_id: str | None
    right_env_id: str | None
    right_task_id: str | None
    jaccard: float
    left_id: str
    right_id: str


def _candidates(tasks: pl.DataFrame, threshold: float) -> Iterator[_TaskPair]:
    """Every pair MinHash proposes, with its exact Jaccard similarity."""
    sets = [shingles(text) for text in tasks.get_column("task")]
    rows = tasks.rows()
    for left, right in proposals(sets, threshold):
        jaccard = len(sets[left] & sets[right]) / len(sets[left] | sets[right])
        (left_env, left_task, _, left_id), (right_env, right_task, _, right_id) = rows[left], rows[right]
        yield _TaskPair(left_env, left_task, right_env, right_task, jaccard, left_id, right_id)
