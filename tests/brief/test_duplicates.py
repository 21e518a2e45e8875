"""Duplicates in brief."""

from analysis.brief import Headline
from analysis.brief.duplicates import in_brief
from analysis.measures.duplicates import EXACT_SUMMARY, PAIRS, TASKS_SUMMARY
from tests.measures.frames import frame

RESULTS = (
    frame(
        EXACT_SUMMARY,
        {"trajectories": 420, "distinct": 400, "groups": 12, "extra_copies": 20, "largest_group": 5},
    ),
    frame(
        PAIRS,
        {"left_id": "a", "right_id": "b", "kind": "same mode", "similarity": 1.0, "name_similarity": 1.0},
        {"left_id": "d", "right_id": "e", "kind": "same mode", "similarity": 1.0, "name_similarity": 1.0},
        {"left_id": "a", "right_id": "c", "kind": "across modes", "similarity": 0.5, "name_similarity": 0.75},
        {"left_id": "b", "right_id": "c", "kind": "across modes", "similarity": 0.25, "name_similarity": 1.0},
    ),
    frame(
        TASKS_SUMMARY,
        {"tasks": 200, "verified": 8, "identical": 2, "tasks_in_pairs": 10},
    ),
)  # fmt: skip


def test_headlines_say_what_repeats_and_how_alike_pairs_are() -> None:
    assert in_brief(*RESULTS) == [
        Headline("420", "trajectories compared", "distinct by scenario and calls with their arguments: 400"),
        Headline(
            "4.8 %",
            "trajectories that repeat another",
            "20 of 420, in 12 groups; the largest has 5",
            "Trajectories that repeat an earlier one call for call: 20 of 420.",
        ),
        Headline(
            "2 of 4",
            "pairs with equal calls",
            "2 of 4 pairs of trajectories of one scenario make the same calls with the same arguments",
        ),
        Headline(
            "1 / 0.25",
            "similarity of a pair, median",
            "by calls with their arguments, 1 = equal; 2 pairs in the same mode / 2 across modes; a scenario "
            "weighs one, however many its trajectories",
        ),
        Headline(
            "1 / 0.75",
            "similarity by tool names, median",
            "whatever the arguments; pairs in the same mode / across modes",
        ),
        Headline(
            "5.0 %",
            "tasks with a near twin",
            "10 of 200 scenarios, in 8 pairs that reach the threshold; 2 have identical five-word shingles",
            "Tasks that read nearly like the task of another scenario: 10 of 200. Keep both tasks of a pair in "
            "one split.",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == ["0", "0 of 0", "0 of 0", "– / –", "– / –", "0 of 0"]
