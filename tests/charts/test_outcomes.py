"""Outcomes, drawn: fields, marks, and titles that say what the figure shows."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import outcomes as charts
from analysis.measures import outcomes as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
from tests.measures.calls import script

CALLS = pl.concat(
    [
        script("get:a- " * 5 + "get:a+ " * 15, "set:b- get:a?"),
        script("", "", "get:a+ " * 20, env_id="shop"),
    ]
)
MODES = measures.by_mode(CALLS).collect()
RULES = measures.by_rule(CALLS).collect()
ENVIRONMENTS = measures.by_environment(CALLS).collect()
TOOLS = measures.by_tool(CALLS).collect()
POSITIONS = measures.by_position(CALLS).collect()
TEMPLATES = measures.templates(CALLS).collect()

DRAWN = [
    (charts.by_mode, MODES, measures.MODES, 2),
    (charts.by_rule, RULES, measures.RULES, 2),
    (charts.by_environment, ENVIRONMENTS, measures.ENVIRONMENTS, 4),
    (charts.by_tool, TOOLS, measures.TOOLS, 3),
    (charts.by_position, POSITIONS, measures.POSITIONS, 1),
    (charts.templates, TEMPLATES, measures.TEMPLATES, 1),
]


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_drawn(draw(frame), frame, result, at_least=marks)


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def test_the_error_rate_is_told_over_what_could_be_judged() -> None:
    assert title(charts.by_mode(MODES)) == f"Calls end in an error: {100 * 6 / 41:.1f} % in conversations"


def test_environments_are_told_from_lowest_to_highest() -> None:
    assert title(charts.by_environment(ENVIRONMENTS)) == (
        f"The error rate runs from 0 % (shop) to {100 * 6 / 21:.1f} % (bank)"
    )
    one = ENVIRONMENTS.filter(pl.col("env_id") == "bank")
    assert title(charts.by_environment(one)).startswith("One environment to show")
    few = measures.by_environment(pl.concat([script("get:a-"), script("get:a-", env_id="b")])).collect()
    assert title(charts.by_environment(few)) == "No environment has 20 judged results: errors are shown as counts"


def test_the_tool_with_most_errors_is_named() -> None:
    assert title(charts.by_tool(TOOLS)) == "get meets most errors: 5, 25.0 % of its calls judged"


def test_tenths_without_twenty_results_give_no_rate_and_no_line() -> None:
    few = measures.by_position(script("get:a+ get:a-")).collect()
    assert title(charts.by_position(few)) == (
        "No tenth of the trajectories has 20 judged results: there is no rate to show"
    )


def test_messages_are_told_by_what_they_make_up() -> None:
    assert title(charts.templates(TEMPLATES)) == "One message makes up 6 of 6 of the errors; the first 6 of 6"


def test_results_without_any_rule_are_told_as_unknown() -> None:
    unknown = measures.by_rule(script("get:a?").with_columns(outcome_rule=pl.lit("none"))).collect()
    assert title(charts.by_rule(unknown)) == "No rule applies to 1 of 1 of the results: their outcome is unknown"
