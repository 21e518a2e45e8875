"""Value flow, drawn."""

import polars as pl

from analysis.charts import grounding as charts
from analysis.measures import grounding as measures
from tests.charts.drawn import title
from tests.measures.test_grounding import RUNS, SEEN

SAMPLES = {
    charts.sources: (measures.sources(SEEN).collect(), 6),
    charts.by_argument: (measures.by_argument(SEEN).collect(), 2),
    charts.distances: (measures.distances(SEEN).collect(), 2),
    charts.chains: (measures.chains(SEEN, RUNS).collect(), 3),
}


def test_titles_say_what_is_ungrounded_how_soon_and_how_long() -> None:
    assert [title(chart(frame)) for chart, (frame, _) in SAMPLES.items()] == [
        "Ungrounded id-like values: 2 of 8 with user",
        "2 ungrounded values, 2 of them in the argument order_id",
        "Values from a result are used in the very next call: 1 of 2 with user",
        "Trajectories with three or more calls in a chain, each using a result of the one before: 1 of 3 with user",
    ]


def test_a_source_without_ungrounded_values_says_so() -> None:
    sound = measures.by_argument(SEEN.filter(pl.col("source") == "user")).collect()
    assert title(charts.by_argument(sound)) == "An earlier text contains every id-like value"
