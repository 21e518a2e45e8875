"""Recovery, drawn: fields, marks, and titles that say what the figure shows."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import recovery as charts
from analysis.measures import recovery as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
from tests.measures.calls import script
from tests.measures.test_recovery import CALLS

NEXT = measures.next_calls(CALLS).collect()
LATENCIES = measures.latencies(CALLS).collect()
RUNS = measures.runs(CALLS).collect()
TOOLS = measures.by_tool(CALLS).collect()

DRAWN = [
    (charts.next_calls, NEXT, measures.NEXT_CALLS, 3),
    (charts.latencies, LATENCIES, measures.LATENCIES, 3),
    (charts.runs, RUNS, measures.RUNS, 3),
    (charts.by_tool, TOOLS, measures.TOOLS, 2),
]


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_drawn(draw(frame), frame, result, at_least=marks)


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def test_the_titles_tell_retries_recoveries_and_runs() -> None:
    assert title(charts.next_calls(NEXT)) == (
        "The same call is tried again unchanged after 1 of 4 of the errors in conversations"
    )
    assert (
        title(charts.latencies(LATENCIES)) == "The same tool succeeds later after 2 of 4 of the errors in conversations"
    )
    assert title(charts.runs(RUNS)) == "Two or more errors in a row: 1 of 5 in conversations; the longest run has 2"
    assert title(charts.by_tool(TOOLS)) == "Of the errors of the tools with most of them, 2 of 4 are recovered"


def test_a_source_without_an_error_says_so() -> None:
    assert title(charts.runs(measures.runs(script("get:a+")).collect())) == "No trajectory meets an error"


def test_a_mode_without_a_retry_is_told_with_none() -> None:
    seen = pl.concat([CALLS, script(*[""] * 5, "get:a- set:a+", traj_type="non_conversation")])
    assert "0 of 1 of the errors in runs without a user" in title(
        charts.next_calls(measures.next_calls(seen).collect())
    )
