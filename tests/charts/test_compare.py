"""Compare, drawn: intervals round a rule of no difference, sides under their own names."""

import polars as pl
import pytest

from analysis.charts import compare as charts
from analysis.measures import compare as m
from tests.charts.drawn import marks, spec, title
from tests.measures.frames import rows
from tests.measures.small import NO_CALLS
from tests.measures.test_compare import LEFT, MANY_LEFT, MANY_RIGHT, RIGHT

NAMES = ("before", "after")
HEADLINES = m.headlines(MANY_LEFT, MANY_RIGHT, NO_CALLS, NO_CALLS).collect()
PAIRED = m.paired(MANY_LEFT, MANY_RIGHT, NO_CALLS, NO_CALLS).collect()
DISTRIBUTIONS = m.distributions(LEFT, RIGHT).collect()
TOOLS = rows(
    m.TOOLS,
    {"env_id": "bank", "tool_name": "get", "left_rate": 0.5, "left_low": 0.3, "left_high": 0.7, "left_offering": 20,
     "right_rate": 0.2, "right_low": 0.1, "right_high": 0.4, "right_offering": 40, "difference": 0.3,
     "compared_tools": 12, "compared": 12, "by_chance": 0.6, "different_tools": 1, "is_different": True},
).collect()  # fmt: skip

SAMPLES = {
    charts.headlines: (HEADLINES, 8, NAMES),
    charts.paired: (PAIRED, 8, NAMES),
    charts.distributions: (DISTRIBUTIONS, 6, NAMES),
    charts.tools: (TOOLS, 4, NAMES),
}


def test_titles_name_the_sides() -> None:
    assert title(charts.distributions(DISTRIBUTIONS, NAMES)) == "Median steps per trajectory: 6 (before), 4 (after)"
    assert title(charts.tools(TOOLS, NAMES)) == (
        "1 of 12 tools compared differs more than chance would make any; most for get: 50.0 % (before), 20.0 % (after)"
    )


def test_a_title_ranks_only_what_differs_more_than_chance_would_make_it() -> None:
    alike = TOOLS.with_columns(is_different=False, different_tools=pl.lit(0, pl.UInt32), by_chance=3.0)
    assert title(charts.tools(alike, NAMES)) == (
        "Of 12 tools compared, none differs more than chance would make it (about 3 would seem to)"
    )
    steps = PAIRED.with_columns(is_different=pl.col("quantity") == "steps per trajectory")
    assert title(charts.paired(steps, NAMES)).startswith("On the same scenarios: ")
    assert "steps per trajectory (before against after)" in title(charts.paired(steps, NAMES))
    none = PAIRED.with_columns(is_different=False)
    assert "none differs more than chance would make it" in title(charts.paired(none, NAMES))


def test_few_scenarios_are_told_in_a_line_and_not_drawn() -> None:
    few = m.headlines(LEFT, RIGHT, NO_CALLS, NO_CALLS).collect()
    assert title(charts.headlines(few, NAMES)) == (
        "Too few scenarios to say whether any number differs (before against after); the numbers are in the table"
    )


@pytest.mark.parametrize("name", ["a' + alert(1) + '", '"quoted"', "</script><b>x", "\\", "long" * 100])
def test_a_hostile_source_name_stays_text(name: str) -> None:
    for draw, frame in ((charts.distributions, DISTRIBUTIONS), (charts.tools, TOOLS), (charts.headlines, HEADLINES)):
        assert marks(spec(draw(frame, (name, name)))) >= 1
