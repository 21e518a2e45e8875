"""New question, drawn."""

from analysis.charts import new_question as charts
from analysis.measures import new_question as measures
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
from tests.measures.test_new_question import EXPECTED


def test_the_chart_is_drawn_from_its_own_columns() -> None:
    assert_drawn(charts.by_environment(EXPECTED), EXPECTED, measures.RESULT, at_least=EXPECTED.height)


def test_the_title_tells_the_environment_with_the_most_calls() -> None:
    assert title(charts.by_environment(EXPECTED)) == "shop takes the most calls: 9.0 in the mean"


def test_what_is_missing_is_said_in_place_of_the_chart() -> None:
    assert_says_what_is_missing(charts.by_environment(measures.RESULT.empty()), measures.RESULT)
