"""Argument validity, drawn: fields, marks, and titles that say what the figure shows."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import arguments as charts
from analysis.measures import arguments as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, spec, title
from tests.measures.test_arguments import CALLS

CLASSES = measures.classes(CALLS).collect()
BREACHES = measures.breaches(CALLS).collect()

DRAWN = [
    (charts.classes, CLASSES, measures.CLASSES, 7),
    (charts.breaches, BREACHES, measures.BREACHES, 4),
]


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_drawn(draw(frame), frame, result, at_least=marks)


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def test_the_valid_share_is_told_per_mode() -> None:
    assert title(charts.classes(CLASSES)) == (
        "Arguments are valid in 1 of 7 of the calls in conversations, 1 of 1 of the calls in runs without a user"
    )


def test_the_tool_that_departs_most_is_named_and_the_schemas_share_in_it() -> None:
    chart = charts.breaches(BREACHES)
    assert title(chart) == "get departs most from the schema: in 3 of 5 of its calls"
    assert "n = 5 of 7 calls of the 3 tools shown; 1 of 5 of them over-required" in spec(chart)["title"]["subtitle"][0]


def test_blocks_without_a_tool_are_named_as_such() -> None:
    unreadable = BREACHES.filter(pl.col("tool_name").is_null())
    assert title(charts.breaches(unreadable)).startswith("Blocks without a readable tool depart")
