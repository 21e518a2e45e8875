"""Overlap in brief: how much of a source another set has, too, and what the search for it can miss."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.brief import Headline
from analysis.wording import ABSENT, count, rate

HOW_TO_ASK = (
    "This source was not held against another set. Name one as `against` above, or make the report with "
    "`--against SOURCE`: trajectories, or the tasks, answers or tool files of a benchmark."
)
CANNOT_KNOW = (
    "What is alike is found by its form. A task that says the same in other words, in another language, or as a part "
    "of a far longer text is not found, and that a set has no neighbour does not prove that it was made without the "
    "other. Tools with one name and no parameters are the same by this comparison, whatever they do."
)
_SAME = {
    "tasks": "have the same words",
    "tools": "have the same name and parameters",
    "values": "stand in calls of both sets",
}
_ONE = {"tasks": "task", "tools": "tool", "values": "value"}


def in_brief(summary: pl.DataFrame, recall: pl.DataFrame, about: Mapping[str, Any]) -> list[Headline]:
    """Say how many tasks, tools and values of a source another set has, too.

    Args:
        summary: conforms to overlap.SUMMARY.
        recall: conforms to overlap.RECALL.
        about: of the other set, as the manifest has it under `against`; empty where none was named.

    Returns:
        Headlines in reading order; none where the source was held against nothing.
    """
    if not about:
        return []
    kinds = [_kind(row) for row in summary.iter_rows(named=True)]
    return [_read(about), *kinds, *(_recall(row) for row in recall.iter_rows(named=True) if row["sampled_others"])]


def absent(summary: pl.DataFrame, about: Mapping[str, Any]) -> str:
    """Of which kinds the other set has none, so that nothing can be said of the source's; "" where it has all."""
    missing = [kind for kind in _ONE if kind not in summary["kind"].to_list()]
    if not about or not missing:
        return ""
    return f"The other set has no {', no '.join(missing)}: of these nothing can be said."


def _read(about: Mapping[str, Any]) -> Headline:
    lost = about["not_read"]
    return Headline(
        count(about["trajectories"] + about["benchmark_records"]),
        "records of the other set",
        f"{count(about['trajectories'], 'trajectory')} and {count(about['benchmark_records'], 'record')} of a "
        f"benchmark, of {count(about['records_in'], 'record')}",
        f"Of the other set, {count(lost)} of {count(about['records_in'], 'record')} could not be read: what they hold "
        "was not compared."
        if lost
        else None,
    )


def _kind(row: Mapping[str, Any]) -> Headline:
    kind, n = row["kind"], row["items"]
    found = row["same"] + row["near"]
    near = "" if kind == "values" else f", {count(row['near'])} nearly"
    of_all = f"{count(found)} of {count(n, _ONE[kind])}"
    return Headline(
        rate(found, n),
        f"{kind} that the other set has, too",
        f"{of_all}: {count(row['same'])} {_SAME[kind]}{near}; {count(row['none'])} without a neighbour among "
        f"{count(row['others'])}",
        f"The other set has {of_all} of this source, too, or nearly so." if found and kind != "values" else None,
    )


def _recall(row: Mapping[str, Any]) -> Headline:
    kind, pairs = row["kind"], row["pairs"]
    compared = f"every pair of {count(row['sampled'])} and {count(row['sampled_others'])} {kind} is compared"
    proposed = f"{count(row['pairs_proposed'])} of {count(pairs, 'pair')}"
    found = (
        f"{proposed} that are as similar as the threshold, where {compared}"
        if pairs
        else f"not seen here: no pair is as similar as the threshold, where {compared}"
    )
    expected = rate(round(row["expected_recall"] * 10_000), 10_000)
    return Headline(
        rate(row["pairs_proposed"], pairs) if pairs else ABSENT,
        f"neighbours that the search finds, {kind}",
        f"{found}; {expected} are expected at the threshold",
    )
