"""Overlap: which tasks, tools and argument values of a source another set has, too, and which are new.

Over two frames that conform to COMPARED: `data.compared` of the source, `data.reference` of what it is held against.
Tasks are alike by their shingles of three words, tools by the words of their names and the names of their parameters:
MinHash proposes pairs, the exact Jaccard similarity decides. What is alike is found by its form: a task that says the
same in other words is not.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import polars as pl

from analysis.measures.expressions import share_of
from analysis.measures.likeness import jaccard, task_shingles, tool_parts, words
from analysis.measures.shingles import bands, proposals_between
from analysis.schema import FEWEST_FOR_A_RATE, Column, Table

THRESHOLD = 0.5
TOOL_THRESHOLD = 0.8
# Of a text that is shown beside another.
SHOWN_CHARS = 600
# As many of the source, and of the other set, are compared pair by pair, to learn what the search misses.
SAMPLED, SAMPLED_OTHERS = 200, 2_000

MATCHES = ("same", "near", "none")
_MATCH = Column("match", pl.Enum(MATCHES), "same, near (similarity of at least the threshold), or none")
_OF_THE_OTHER = "of the other set"


def _neighbours(name: str, grain: str, *own: Column) -> Table:
    return Table(
        name,
        grain,
        (
            Column("env_id", pl.String(), "environment, where the source names one", nullable=True),
            *own,
            _MATCH,
            Column("similarity", pl.Float64(), "Jaccard similarity to the nearest that was proposed", nullable=True),
            Column("neighbours", pl.UInt32(), f"{_OF_THE_OTHER}, as similar as the threshold", unit="neighbours"),
            Column("candidates", pl.UInt32(), f"{_OF_THE_OTHER}, that MinHash proposes", unit="candidates"),
            Column("other_env_id", pl.String(), "environment of the nearest", nullable=True),
            Column("other_name", pl.String(), "id or name of the nearest", nullable=True),
            Column("other_text", pl.String(), "text of the nearest, at most 600 characters", nullable=True),
            Column("trajectory_id", pl.String(), "the first trajectory that has it"),
            Column("trajectories", pl.UInt32(), "trajectories that have it", unit="trajectories"),
        ),
    )


TASKS = _neighbours(
    "overlap_tasks",
    "distinct task of the source",
    Column("name", pl.String(), "task_id", nullable=True),
    Column("text", pl.String(), "text of the task, at most 600 characters"),
)
TOOLS = _neighbours(
    "overlap_tools",
    "distinct tool of the source, by environment, name and parameters",
    Column("name", pl.String(), "name of the tool", nullable=True),
    Column("text", pl.String(), "canonical parameters, at most 600 characters"),
)

VALUES = Table(
    "overlap_values",
    "id-like argument value that both sets have",
    (
        Column("text", pl.String(), "the value"),
        Column("name", pl.String(), "argument it is first given to in the source", nullable=True),
        Column("trajectories", pl.UInt32(), "trajectories of the source that use it", unit="trajectories"),
        Column("other_records", pl.UInt32(), "records of the other set that have it", unit="records"),
    ),
    key=("text",),
)

KINDS = ("tasks", "tools", "values")
SUMMARY = Table(
    "overlap_summary",
    "kind of what is compared",
    (
        Column("kind", pl.Enum(KINDS), "what is compared"),
        Column("items", pl.UInt32(), "distinct ones of the source: the denominator", unit="items"),
        Column("others", pl.UInt32(), "distinct ones of the other set", unit="items"),
        Column("same", pl.UInt32(), "of the source's, the same in the other set", unit="items"),
        Column("near", pl.UInt32(), "of the source's, with a near one in the other set only", unit="items"),
        Column("none", pl.UInt32(), "of the source's, without a neighbour", unit="items"),
        Column("overlap_share", pl.Float64(), "same and near over all; null under 20", nullable=True),
        Column("novelty_share", pl.Float64(), "without a neighbour over all; null under 20", nullable=True),
    ),
    key=("kind",),
)

SHARES = Table(
    "overlap_shares",
    "kind of what is compared and match",
    (
        SUMMARY["kind"],
        _MATCH,
        Column("items", pl.UInt32(), "distinct ones of the source", unit="items"),
        Column("of", pl.UInt32(), "distinct ones of the source, whatever the match: the denominator", unit="items"),
        Column("share", pl.Float64(), "items over all of the kind"),
    ),
    key=("kind", "match"),
)

RECALL = Table(
    "overlap_recall",
    "kind of what is compared by similarity",
    (
        Column("kind", pl.Enum(KINDS[:2]), "what is compared"),
        Column("threshold", pl.Float64(), "smallest Jaccard similarity of neighbours that is asked for"),
        Column("expected_recall", pl.Float64(), "share of pairs at the threshold that MinHash is expected to propose"),
        Column("sampled", pl.UInt32(), "of the source, compared with all those sampled of the other", unit="items"),
        Column("sampled_others", pl.UInt32(), "of the other set, sampled", unit="items"),
        Column("pairs", pl.UInt32(), "of these, pairs as similar as the threshold", unit="pairs"),
        Column("pairs_proposed", pl.UInt32(), "of these pairs, those that MinHash proposes", unit="pairs"),
        Column("recall", pl.Float64(), "proposed over all such pairs; null under 20", nullable=True),
    ),
    key=("kind",),
)

Features = Callable[[str, str], frozenset[str]]


class _Kind(NamedTuple):
    """How one kind is compared: its table, what makes two the same, and what they are alike by."""

    table: Table
    kind: str
    identity: Callable[[str, str], str]
    features: Features


_TASKS = _Kind(TASKS, "task", lambda name, text: " ".join(words(text)), task_shingles)
_TOOLS = _Kind(TOOLS, "tool", lambda name, text: f"{name} {text}", tool_parts)


def tasks(compared: pl.LazyFrame, reference: pl.LazyFrame, *, threshold: float = THRESHOLD) -> pl.LazyFrame:
    """For each task of a source, the nearest one of another set.

    The same is what has the same words in the same order, whatever case, punctuation and spacing. MinHash proposes
    near ones, the exact Jaccard similarity of the sets of shingles (three words) decides.

    Args:
        compared: conforms to COMPARED; of the source.
        reference: conforms to COMPARED; of the other set.
        threshold: smallest Jaccard similarity of neighbours.

    Returns:
        One row per environment, task_id and text, most similar first, conforming to TASKS.
    """
    return _nearest(_TASKS, compared, reference, threshold)


def overlapping(compared: pl.LazyFrame, reference: pl.LazyFrame, *, threshold: float = THRESHOLD) -> pl.LazyFrame:
    """The trajectories whose task another set has, too, or nearly.

    Args:
        compared: conforms to COMPARED; of the source.
        reference: conforms to COMPARED; of the other set.
        threshold: smallest Jaccard similarity of neighbours.

    Returns:
        One column, `trajectory_id`.
    """
    first = pl.col("trajectory_id").min().over("env_id", "name", "text")
    tasks_of = _of_kind(compared, "task").select("trajectory_id", first=first)
    found = tasks(compared, reference, threshold=threshold).filter(pl.col("match").cast(pl.String) != "none")
    return tasks_of.join(found, left_on="first", right_on="trajectory_id", how="semi").select("trajectory_id")


def tools(compared: pl.LazyFrame, reference: pl.LazyFrame, *, threshold: float = TOOL_THRESHOLD) -> pl.LazyFrame:
    """For each tool of a source, the nearest one of another set.

    The same is what has the same name and canonical parameters: types, names and what is required, whatever
    descriptions and the order of keys. Near ones are alike by the words of the name and the names of the parameters.

    Args:
        compared: conforms to COMPARED; of the source.
        reference: conforms to COMPARED; of the other set.
        threshold: smallest Jaccard similarity of neighbours.

    Returns:
        One row per environment, tool name and parameters, most similar first, conforming to TOOLS.
    """
    return _nearest(_TOOLS, compared, reference, threshold)


def values(compared: pl.LazyFrame, reference: pl.LazyFrame) -> pl.LazyFrame:
    """The id-like argument values that both sets have.

    Of a benchmark, those of its expected calls and of its initial states.

    Args:
        compared: conforms to COMPARED; of the source.
        reference: conforms to COMPARED; of the other set.

    Returns:
        One row per value, the most used first, conforming to VALUES.
    """
    own = _of_kind(compared, "value").group_by("text").agg(_first("name"), trajectories=_records())
    others = _of_kind(reference, "value").group_by("text").agg(other_records=_records())
    shared = own.join(others, on="text", how="inner", validate="1:1")
    return VALUES.select(shared.sort("trajectories", "text", descending=[True, False]))


def summary(
    compared: pl.LazyFrame,
    reference: pl.LazyFrame,
    *,
    threshold: float = THRESHOLD,
    tool_threshold: float = TOOL_THRESHOLD,
) -> pl.LazyFrame:
    """Count what of a source another set has, too.

    Args:
        compared: conforms to COMPARED; of the source.
        reference: conforms to COMPARED; of the other set.
        threshold: smallest Jaccard similarity of two tasks that are neighbours.
        tool_threshold: the same of two tools.

    Returns:
        One row per kind of which the other set has any, conforming to SUMMARY: with nothing to compare with, nothing
        is new.
    """
    nearest = {
        "tasks": tasks(compared, reference, threshold=threshold),
        "tools": tools(compared, reference, threshold=tool_threshold),
    }
    others = {"tasks": _items(reference, "task"), "tools": _items(reference, "tool")}
    rows = [_row(kind, found.select(pl.col("match").cast(pl.String)), others[kind]) for kind, found in nearest.items()]
    own, theirs = (_of_kind(side, "value").select("text").unique() for side in (compared, reference))
    matched = own.join(theirs.with_columns(match=pl.lit("same")), on="text", how="left")
    rows.append(_row("values", matched.select(pl.col("match").fill_null("none")), theirs))
    return SUMMARY.select(pl.concat(rows).filter(pl.col("others") > 0))


def shares(summary: pl.LazyFrame) -> pl.LazyFrame:
    """The counts of a summary, a row per match.

    Args:
        summary: conforms to SUMMARY.

    Returns:
        One row per kind with any item and match, conforming to SHARES; shares sum to 1 per kind.
    """
    rows = (
        summary.filter(pl.col("items") > 0)
        .select("kind", *MATCHES, of="items")
        .unpivot(index=["kind", "of"], variable_name="match", value_name="items")
        .with_columns(share=pl.col("items") / pl.col("of"), match=pl.col("match").cast(_MATCH.dtype))
    )
    return SHARES.select(rows.sort("kind", "match"))


def recall(
    compared: pl.LazyFrame,
    reference: pl.LazyFrame,
    *,
    threshold: float = THRESHOLD,
    tool_threshold: float = TOOL_THRESHOLD,
) -> pl.LazyFrame:
    """What the search for candidates misses: expected by theory, and seen where every pair of a sample is compared.

    The sample is every n-th of each side, 200 of the source and 2,000 of the other set at most.

    Args:
        compared: conforms to COMPARED; of the source.
        reference: conforms to COMPARED; of the other set.
        threshold: smallest Jaccard similarity of two tasks that are neighbours.
        tool_threshold: the same of two tools.

    Returns:
        One row per kind, conforming to RECALL.
    """
    rows = []
    for name, kind, least in (("tasks", _TASKS, threshold), ("tools", _TOOLS, tool_threshold)):
        own = _sample(_features(kind, _items(compared, kind.kind)), SAMPLED)
        others = _sample(_features(kind, _items(reference, kind.kind)), SAMPLED_OTHERS)
        found = proposals_between(own, others, least)
        pairs = proposed = 0
        for features, places in zip(own, found, strict=True):
            alike = {place for place, other in enumerate(others) if jaccard(features, other) >= least}
            pairs += len(alike)
            proposed += len(alike.intersection(places))
        share = proposed / pairs if pairs >= FEWEST_FOR_A_RATE else None
        rows.append((name, least, bands(least)[1], len(own), len(others), pairs, proposed, share))
    return pl.DataFrame(rows, RECALL.schema, orient="row").lazy()


def _nearest(kind: _Kind, compared: pl.LazyFrame, reference: pl.LazyFrame, threshold: float) -> pl.LazyFrame:
    own, others = _items(compared, kind.kind), _items(reference, kind.kind)

    def search(frame: pl.DataFrame) -> pl.DataFrame:
        made = list(_rows(kind, frame, others.collect(), threshold))
        return pl.DataFrame(made, kind.table.schema, orient="row")

    found = own.map_batches(search, schema=kind.table.schema)
    order = {"similarity": True, "env_id": False, "name": False, "text": False, "trajectory_id": False}
    return kind.table.select(found.sort([*order], descending=[*order.values()], nulls_last=True, maintain_order=True))


def _rows(kind: _Kind, own: pl.DataFrame, others: pl.DataFrame, threshold: float) -> Iterator[tuple[Any, ...]]:
    """A row of the kind's table for each of the source's; sets of features are made when needed, and not kept."""
    there = others.rows()
    same = {kind.identity(name or "", text): place for place, (_, name, text, *_) in enumerate(there)}
    found = proposals_between(_features(kind, own), _features(kind, others), threshold)
    for (env_id, name, text, id_, records), places in zip(own.iter_rows(), found, strict=True):
        features = kind.features(name or "", text)
        alike = {place: jaccard(features, kind.features(there[place][1] or "", there[place][2])) for place in places}
        equal = same.get(kind.identity(name or "", text))
        nearest = equal if equal is not None else max(alike, key=lambda place: (alike[place], -place), default=None)
        similarity = None if nearest is None else 1.0 if equal is not None else alike[nearest]
        neighbours = sum(value >= threshold for value in alike.values())
        match = "same" if equal is not None else "near" if neighbours else "none"
        other = (None, None, None) if nearest is None else there[nearest][:3]
        shown = None if other[2] is None else other[2][:SHOWN_CHARS]
        counted = (max(neighbours, equal is not None), max(len(places), equal is not None))
        yield (env_id, name, text[:SHOWN_CHARS], match, similarity, *counted, *other[:2], shown, id_, records)


def _features(kind: _Kind, items: pl.DataFrame | pl.LazyFrame) -> Iterator[frozenset[str]]:
    return (kind.features(name or "", text) for _, name, text, *_ in items.lazy().collect().iter_rows())


def _sample(features: Iterable[frozenset[str]], most: int) -> list[frozenset[str]]:
    every = list(features)
    return every[:: -(-len(every) // most) or 1]


def _items(side: pl.LazyFrame, kind: str) -> pl.LazyFrame:
    """Distinct ones of a kind, in a fixed order, with the first record that has each and the number of records."""
    return (
        _of_kind(side, kind)
        .group_by("env_id", "name", "text")
        .agg(_first("trajectory_id"), trajectories=_records())
        .sort("env_id", "name", "text", nulls_last=True)
    )


def _of_kind(side: pl.LazyFrame, kind: str) -> pl.LazyFrame:
    # A task of no word has nothing to compare.
    return side.filter(pl.col("kind").cast(pl.String) == kind, pl.col("text").str.contains(r"\w"))


def _first(column: str) -> pl.Expr:
    return pl.col(column).sort_by("trajectory_id").first()


def _records() -> pl.Expr:
    return pl.col("trajectory_id").n_unique()


def _row(kind: str, matched: pl.LazyFrame, others: pl.LazyFrame) -> pl.LazyFrame:
    """A row of SUMMARY, by the matches of all items."""
    n = pl.len()
    counts = {match: (pl.col("match") == match).sum() for match in MATCHES}
    row = matched.select(
        kind=pl.lit(kind, SUMMARY["kind"].dtype),
        items=n,
        **counts,
        overlap_share=share_of(counts["same"] + counts["near"], n),
        novelty_share=share_of(counts["none"], n),
    )
    return SUMMARY.select(row.join(others.select(others=pl.len()), how="cross"))
