"""Compare, drawn: intervals round a rule of no difference, sides under their own names."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import compare as charts
from analysis.measures import compare as m
from analysis.schema import Table
from tests.charts.drawn import assert_says_what_is_missing, calculated, fields, marks, spec, title
from tests.measures.frames import rows
from tests.measures.test_compare import LEFT, LEFT_CALLS, RIGHT, RIGHT_CALLS

NAMES = ("before", "after")
HEADLINES = m.headlines(LEFT, RIGHT, LEFT_CALLS, RIGHT_CALLS).collect()
PAIRED = m.paired(LEFT, RIGHT, LEFT_CALLS, RIGHT_CALLS).collect()
DISTRIBUTIONS = m.distributions(LEFT, RIGHT).collect()
TOOLS = rows(
    m.TOOLS,
    {"env_id": "bank", "tool_name": "get", "left_rate": 0.5, "left_low": 0.3, "left_high": 0.7, "left_offering": 20,
     "right_rate": 0.2, "right_low": 0.1, "right_high": 0.4, "right_offering": 40, "difference": 0.3,
     "compared_tools": 12},
).collect()  # fmt: skip

DRAWN = [
    (charts.headlines, HEADLINES, m.HEADLINES, 8),
    (charts.paired, PAIRED, m.PAIRED, 8),
    (charts.distributions, DISTRIBUTIONS, m.DISTRIBUTIONS, 6),
    (charts.tools, TOOLS, m.TOOLS, 4),
]
IDS = [draw.__name__ for draw, *_ in DRAWN]


@pytest.mark.parametrize(("draw", "frame", "result", "at_least"), DRAWN, ids=IDS)
def test_every_chart_is_drawn_from_its_own_columns(
    draw: Any, frame: pl.DataFrame, result: Table, at_least: int
) -> None:
    found = spec(draw(frame, NAMES))
    assert fields(found) - calculated(found) <= set(frame.columns) <= set(result.names)
    assert "n = " in " ".join(found["title"]["subtitle"])
    assert found["description"]
    assert found["usermeta"]["definition"].endswith(".")
    assert marks(found) >= at_least


@pytest.mark.parametrize(("draw", "result"), [(row[0], row[2]) for row in DRAWN], ids=IDS)
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, result: Table) -> None:
    assert_says_what_is_missing(draw(result.empty(), NAMES), result)


def test_titles_name_the_sides() -> None:
    assert title(charts.paired(PAIRED, NAMES)) == (
        "On the same scenarios: +1.5 in steps per trajectory, before against after"
    )
    assert title(charts.distributions(DISTRIBUTIONS, NAMES)) == "The median is 6 in before and 4 in after"
    assert title(charts.tools(TOOLS, NAMES)) == "Usage differs most for get: 50.0 % in before, 20.0 % in after"


def test_only_intervals_without_zero_count_as_a_difference() -> None:
    frame = pl.concat([HEADLINES.head(1)] * 3).with_columns(
        difference_low=pl.Series([1.0, -1.0, None]), difference_high=pl.Series([2.0, 1.0, None])
    )
    assert title(charts.headlines(frame, NAMES)).startswith("1 of 3 numbers differ beyond their interval")


@pytest.mark.parametrize("name", ["a' + alert(1) + '", '"quoted"', "</script><b>x", "\\", "long" * 100])
def test_a_hostile_source_name_stays_text(name: str) -> None:
    for draw, frame in ((charts.distributions, DISTRIBUTIONS), (charts.tools, TOOLS), (charts.headlines, HEADLINES)):
        assert marks(spec(draw(frame, (name, name)))) >= 1
