"""New question, drawn; what holds for every chart is in test_every_chart.py."""

from analysis.charts import new_question as charts
from tests.charts.drawn import title
from tests.measures.test_new_question import EXPECTED

# A small frame for each chart, and how many marks at least are drawn of it.
SAMPLES = {charts.by_environment: (EXPECTED, EXPECTED.height)}


def test_the_title_names_the_environment_with_the_most_calls() -> None:
    assert title(charts.by_environment(EXPECTED)) == "shop takes the most calls: 9 per trajectory with user"
