"""Duplicates in brief: copies, how alike trajectories of one scenario are, and tasks with a near twin."""

import polars as pl

from analysis.brief import Headline, only, totals
from analysis.measures.duplicates import PAIR_KINDS, similarity_summary
from analysis.wording import count, decimal, rate


def in_brief(exact_summary: pl.DataFrame, pairs: pl.DataFrame, tasks_summary: pl.DataFrame) -> list[Headline]:
    """Say how many trajectories are copies, how alike those of one scenario are, and how many tasks have a near twin.

    Args:
        exact_summary: conforms to duplicates.EXACT_SUMMARY.
        pairs: conforms to duplicates.PAIRS.
        tasks_summary: conforms to duplicates.TASKS_SUMMARY.

    Returns:
        Six headlines, in reading order; a dash where no scenario has two trajectories.
    """
    return [*_copies(totals(exact_summary)), *_pairs(pairs), _tasks(totals(tasks_summary))]


def _copies(exact: dict[str, int]) -> list[Headline]:
    extra, all_ = count(exact["extra_copies"]), count(exact["trajectories"])
    return [
        Headline(
            all_,
            "trajectories compared",
            f"distinct by scenario and calls with their arguments: {count(exact['distinct'])}",
        ),
        Headline(
            rate(exact["extra_copies"], exact["trajectories"]),
            "trajectories that repeat another",
            f"{extra} of {all_}, in {count(exact['groups'], 'group')}; the largest has {count(exact['largest_group'])}",
            f"Trajectories that repeat an earlier one call for call: {extra} of {all_}."
            if exact["extra_copies"]
            else None,
        ),
    ]


def _pairs(pairs: pl.DataFrame) -> list[Headline]:
    equal = pairs.filter(similarity=1).height
    same, across = (pairs.filter(kind=kind) for kind in ("same mode", "across modes"))

    weighed = similarity_summary(pairs.lazy()).collect()

    def medians(column: str) -> str:
        return " / ".join(decimal(only(weighed.filter(kind=kind))[column], 2) for kind in PAIR_KINDS)

    return [
        Headline(
            rate(equal, pairs.height),
            "pairs with equal calls",
            f"{count(equal)} of {count(pairs.height, 'pair')} of trajectories of one scenario make the same calls with "
            "the same arguments",
        ),
        Headline(
            medians("similarity"),
            "similarity of a pair, median",
            f"by calls with their arguments, 1 = equal; {count(same.height, 'pair')} in the same mode / "
            f"{count(across.height)} across modes; a scenario weighs one, however many its trajectories",
        ),
        Headline(
            medians("name_similarity"),
            "similarity by tool names, median",
            "whatever the arguments; pairs in the same mode / across modes",
        ),
    ]


def _tasks(tasks: dict[str, int]) -> Headline:
    of_all = f"{count(tasks['tasks_in_pairs'])} of {count(tasks['tasks'])}"
    return Headline(
        rate(tasks["tasks_in_pairs"], tasks["tasks"]),
        "tasks with a near twin",
        f"{of_all} scenarios, in {count(tasks['verified'], 'pair')} that reach the threshold; "
        f"{count(tasks['identical'])} have identical five-word shingles",
        f"Tasks that read nearly like the task of another scenario: {of_all}. Keep both tasks of a pair in one split."
        if tasks["tasks_in_pairs"]
        else None,
    )
