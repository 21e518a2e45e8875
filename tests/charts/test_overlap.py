"""Overlap, drawn."""

from analysis.charts import overlap as charts
from analysis.measures import overlap as m
from tests.charts.drawn import subtitle, title
from tests.measures.test_overlap import OTHER, OWN

SHARES = m.shares(m.summary(OWN, OTHER)).collect()
SAMPLES = {charts.shares: (SHARES, 9)}


def test_the_title_says_what_the_other_set_has() -> None:
    said = title(charts.shares(SHARES)).replace("\u00a0", " ")
    assert said == "The other set has, or nearly has: 2 of 3 tasks; 2 of 3 tools; 1 of 2 values"
    assert subtitle(charts.shares(SHARES)).replace("\u00a0", " ") == "n = 3 tasks, 3 tools, 2 values"
