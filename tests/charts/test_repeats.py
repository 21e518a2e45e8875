"""Repeats and loops, drawn: fields, marks, and titles that say what the figure shows."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import repeats as charts
from analysis.measures import repeats as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, spec, title
from tests.measures.calls import script
from tests.measures.test_repeats import CALLS, NO_CATALOGUE

LOOPED = pl.concat([CALLS, script("", "", "get:a+ " * 3)])
SHARES = measures.shares(CALLS, NO_CATALOGUE).collect()
TOOLS = measures.by_tool(CALLS, NO_CATALOGUE).collect()
LOOPING = measures.looping(measures.loops(LOOPED, NO_CATALOGUE), LOOPED).collect()

DRAWN = [
    (charts.shares, SHARES, measures.SHARES, 2),
    (charts.by_tool, TOOLS, measures.TOOLS, 2),
    (charts.looping, LOOPING, measures.LOOPING, 2),
]


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_drawn(draw(frame), frame, result, at_least=marks)


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def test_reading_and_changing_tools_are_told_apart() -> None:
    chart = charts.shares(SHARES)
    assert (
        title(chart)
        == "Repeated unchanged: 3 of 7 of the calls of reading tools, 1 of 2 of the calls of changing tools"
    )
    assert (
        "n = 9 calls, 4 repeats, 3 of them with no changing call since the earlier one;"
        in spec(chart)["title"]["subtitle"]
    )


def test_the_heuristic_is_named_in_the_definition_and_its_part_in_the_subtitle() -> None:
    found = spec(charts.shares(SHARES))
    assert "heuristic" in found["usermeta"]["definition"]
    assert "kind by the catalogue: 0 of 9 of the calls" in " ".join(found["title"]["subtitle"])


def test_the_tool_repeated_most_is_named() -> None:
    assert title(charts.by_tool(TOOLS)) == "get is repeated most: 3 times, 3 of 6 of its calls"


def test_looping_trajectories_are_told_per_mode() -> None:
    assert title(charts.looping(LOOPING)) == "Trajectories that loop: 1 of 3 in conversations"
