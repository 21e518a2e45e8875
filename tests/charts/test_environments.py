"""Environments, drawn."""

from analysis.charts import environments as charts
from analysis.measures import environments as measures
from tests.charts.drawn import title
from tests.measures.test_environments import ENVIRONMENTS_SEEN, SCENARIOS_SEEN

HISTOGRAM = measures.histogram(ENVIRONMENTS_SEEN, SCENARIOS_SEEN).collect()
CHECKS = measures.checks_per_scenario(SCENARIOS_SEEN).collect()
SAMPLES = {charts.histogram: (HISTOGRAM, HISTOGRAM.height), charts.checks_per_scenario: (CHECKS, 2)}


def test_titles_tell_the_fullest_bins_and_the_mean() -> None:
    assert title(charts.histogram(HISTOGRAM)) == "An environment most often has 10 query tools and 8 state-change tools"
    assert title(charts.checks_per_scenario(CHECKS)) == "A scenario is judged by 3 checks on average"
