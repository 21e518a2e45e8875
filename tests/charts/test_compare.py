"""Compare, drawn: intervals round a rule of no difference, sides under their own names."""

import polars as pl
import pytest

from analysis.charts import compare as charts
from analysis.measures import compare as m
from tests.charts.drawn import marks, spec, title
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

SAMPLES = {
    charts.headlines: (HEADLINES, 8, NAMES),
    charts.paired: (PAIRED, 8, NAMES),
    charts.distributions: (DISTRIBUTIONS, 6, NAMES),
    charts.tools: (TOOLS, 4, NAMES),
}


def test_titles_name_the_sides() -> None:
    assert title(charts.paired(PAIRED, NAMES)) == (
        "On the same scenarios: 1.5 more steps per trajectory (before against after)"
    )
    assert title(charts.distributions(DISTRIBUTIONS, NAMES)) == "Median steps per trajectory: 6 (before), 4 (after)"
    assert title(charts.tools(TOOLS, NAMES)) == "Usage differs most for get: 50.0 % (before), 20.0 % (after)"


def test_only_intervals_without_zero_count_as_a_difference() -> None:
    frame = pl.concat([HEADLINES.head(1)] * 3).with_columns(
        difference_low=pl.Series([1.0, -1.0, None]), difference_high=pl.Series([2.0, 1.0, None])
    )
    assert title(charts.headlines(frame, NAMES)).startswith("1 of 3 differences have")


@pytest.mark.parametrize("name", ["a' + alert(1) + '", '"quoted"', "</script><b>x", "\\", "long" * 100])
def test_a_hostile_source_name_stays_text(name: str) -> None:
    for draw, frame in ((charts.distributions, DISTRIBUTIONS), (charts.tools, TOOLS), (charts.headlines, HEADLINES)):
        assert marks(spec(draw(frame, (name, name)))) >= 1
