"""Environments, drawn."""

from analysis.charts import environments as charts
from analysis.measures import environments as measures
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
from tests.measures.test_environments import ENVIRONMENTS_SEEN, SCENARIOS_SEEN

HISTOGRAM = measures.histogram(ENVIRONMENTS_SEEN, SCENARIOS_SEEN).collect()
CHECKS = measures.checks_per_scenario(SCENARIOS_SEEN).collect()


def test_every_chart_is_drawn_from_its_own_columns() -> None:
    assert_drawn(charts.histogram(HISTOGRAM), HISTOGRAM, measures.HISTOGRAM, at_least=HISTOGRAM.height)
    assert_drawn(charts.checks_per_scenario(CHECKS), CHECKS, measures.CHECKS_PER_SCENARIO, at_least=2)


def test_titles_tell_the_fullest_bins_and_the_mean() -> None:
    assert title(charts.histogram(HISTOGRAM)) == "An environment most often has 10 query tools, 8 state-change tools"
    assert (
        title(charts.checks_per_scenario(CHECKS)) == f"A scenario is judged by {(2 + 2 + 5) / 3:.1f} checks in the mean"
    )


def test_what_is_missing_is_said_in_place_of_a_chart() -> None:
    assert_says_what_is_missing(charts.histogram(measures.HISTOGRAM.empty()), measures.HISTOGRAM)
    assert_says_what_is_missing(
        charts.checks_per_scenario(measures.CHECKS_PER_SCENARIO.empty()), measures.CHECKS_PER_SCENARIO
    )
