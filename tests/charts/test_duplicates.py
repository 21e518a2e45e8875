"""Duplication, drawn."""

from analysis.charts import duplicates as charts
from analysis.measures import duplicates as measures
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
from tests.measures.test_duplicates import CALLS_SEEN, TRAJECTORIES_SEEN

SIMILARITY = measures.similarity(measures.run_pairs(TRAJECTORIES_SEEN, CALLS_SEEN)).collect()


def test_the_chart_is_drawn_from_its_own_columns() -> None:
    assert_drawn(charts.similarity(SIMILARITY), SIMILARITY, measures.SIMILARITY, at_least=4)


def test_pairs_with_nearly_the_same_calls_are_told_per_kind() -> None:
    # a-b are equal; a-c and b-c differ in one of two calls
    assert title(charts.similarity(SIMILARITY)) == (
        "Nearly the same calls (similarity 0.9 or more): 0 of 1 of the pairs in the same mode, "
        "1 of 2 of the pairs across modes"
    )


def test_what_is_missing_is_said_in_place_of_a_chart() -> None:
    assert_says_what_is_missing(charts.similarity(measures.SIMILARITY.empty()), measures.SIMILARITY)
