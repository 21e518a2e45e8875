"""Argument validity, drawn: fields, marks, and titles that say what the figure shows."""

import polars as pl

from analysis.charts import arguments as charts
from analysis.measures import arguments as measures
from tests.charts.drawn import subtitle, title
from tests.measures.test_arguments import CALLS

CLASSES = measures.classes(CALLS).collect()
BREACHES = measures.breaches(CALLS).collect()

SAMPLES = {
    charts.classes: (CLASSES, 7),
    charts.breaches: (BREACHES, 4),
}


def test_titles_say_what_the_figures_show() -> None:
    assert title(charts.classes(CLASSES)) == ("Arguments are valid in 1 of 7 calls with user, 1 of 1 call without user")
    chart = charts.breaches(BREACHES)
    assert title(chart) == "5 calls with invalid arguments, 3 of them to get"
    assert subtitle(chart).startswith("n = 5 of 7 calls to the 3 tools shown; over-required, with an ok result")
    assert subtitle(chart).endswith("all the same: 1 of 5")
    unreadable = BREACHES.filter(pl.col("tool_name").is_null())
    assert title(charts.breaches(unreadable)).endswith("of them to blocks without a readable tool")
