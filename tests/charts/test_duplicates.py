"""Duplication, drawn."""

from analysis.charts import duplicates as charts
from analysis.measures import duplicates as measures
from tests.charts.drawn import title
from tests.measures.test_duplicates import CALLS_SEEN, TRAJECTORIES_SEEN

SIMILARITY = measures.similarity(measures.run_pairs(TRAJECTORIES_SEEN, CALLS_SEEN)).collect()
SAMPLES = {charts.similarity: (SIMILARITY, 4)}


def test_the_title_says_how_many_pairs_make_nearly_the_same_calls() -> None:
    # a-b are equal; a-c and b-c differ in one of two calls
    assert title(charts.similarity(SIMILARITY)) == (
        "Pairs of trajectories with nearly the same calls (similarity 0.9 or more): 0 of 1 in the same mode, "
        "1 of 2 across modes"
    )
