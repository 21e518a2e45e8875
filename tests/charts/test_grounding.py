"""Value flow, drawn: fields, marks, and titles that say what the figure shows."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import grounding as charts
from analysis.measures import grounding as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
from tests.measures.test_grounding import RUNS, SEEN

SOURCES = measures.sources(SEEN).collect()
ARGUMENTS = measures.by_argument(SEEN).collect()
DISTANCES = measures.distances(SEEN).collect()
CHAINS = measures.chains(SEEN, RUNS).collect()

DRAWN = [
    (charts.sources, SOURCES, measures.SOURCES, 6),
    (charts.by_argument, ARGUMENTS, measures.ARGUMENTS, 2),
    (charts.distances, DISTANCES, measures.DISTANCES, 2),
    (charts.chains, CHAINS, measures.CHAINS, 3),
]


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_drawn(draw(frame), frame, result, at_least=marks)


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def test_the_titles_tell_what_is_ungrounded_how_soon_and_how_long() -> None:
    assert title(charts.sources(SOURCES)) == "Ungrounded id-like values: 2 of 8 in conversations"
    assert title(charts.by_argument(ARGUMENTS)) == "Most ungrounded values stand under order_id: 2 of 4 of its values"
    assert title(charts.distances(DISTANCES)) == (
        "Values from a result are used in the very next call: 1 of 2 in conversations"
    )
    assert title(charts.chains(CHAINS)) == (
        "Chains of three calls or more, each using a result of the one before: 1 of 3 in conversations"
    )


def test_a_source_without_ungrounded_values_says_so() -> None:
    sound = measures.by_argument(SEEN.filter(pl.col("source") == "user")).collect()
    assert title(charts.by_argument(sound)) == "Every id-like value was given to the agent before"
