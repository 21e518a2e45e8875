"""Overlap in brief."""

from analysis.brief.overlap import absent, in_brief
from analysis.measures import overlap
from tests.measures.test_overlap import OTHER, OWN

ABOUT = {"records_in": 9, "trajectories": 0, "benchmark_records": 6, "not_read": 3}
SUMMARY = overlap.summary(OWN, OTHER).collect()
RECALL = overlap.recall(OWN, OTHER).collect()


def test_the_headlines_have_their_denominators() -> None:
    said = {h.label: (h.value, h.meaning) for h in in_brief(SUMMARY, RECALL, ABOUT)}
    assert said["tasks that the other set has, too"] == (
        "2 of 3",
        "2 of 3 tasks: 1 have the same words, 1 nearly; 1 without a neighbour among 2",
    )
    assert said["values that the other set has, too"][0] == "1 of 2"
    assert said["neighbours that the search finds, tasks"][1].startswith("2 of 2 pairs")
    attention = [h.attention for h in in_brief(SUMMARY, RECALL, ABOUT) if h.attention]
    assert attention[0] == "Of the other set, 3 of 9 records could not be read: what they hold was not compared."


def test_a_recall_over_no_pair_is_not_told() -> None:
    apart = overlap.recall(OWN, OTHER, threshold=0.99, tool_threshold=1.0).collect()
    none = apart.with_columns(pairs=0, pairs_proposed=0)
    said = {h.label: (h.value, h.meaning) for h in in_brief(SUMMARY, none, ABOUT)}
    value, meaning = said["neighbours that the search finds, tasks"]
    assert value == "–"
    assert meaning.startswith(
        "not seen here: no pair is as similar as the threshold, where every pair of 3 and 2 tasks"
    )


def test_without_another_set_there_is_nothing_to_say() -> None:
    assert in_brief(SUMMARY.clear(), RECALL.clear(), {}) == []
    assert absent(SUMMARY.clear(), {}) == ""


def test_kinds_that_the_other_set_has_none_of_are_named() -> None:
    assert absent(SUMMARY, ABOUT) == ""
    assert absent(SUMMARY.filter(kind="tools"), ABOUT).startswith("The other set has no tasks, no values")
