"""Repeats and loops, drawn: fields, marks, and titles that say what the figure shows."""

import polars as pl

from analysis.charts import repeats as charts
from analysis.measures import repeats as measures
from tests.charts.drawn import subtitle, title
from tests.measures.calls import script
from tests.measures.test_repeats import CALLS, NO_CATALOGUE

LOOPED = pl.concat([CALLS, script("", "", "get:a+ " * 3)])
SHARES = measures.shares(CALLS, NO_CATALOGUE).collect()
TOOLS = measures.by_tool(CALLS, NO_CATALOGUE).collect()
LOOPING = measures.looping(measures.loops(LOOPED, NO_CATALOGUE), LOOPED).collect()

SAMPLES = {
    charts.shares: (SHARES, 2),
    charts.by_tool: (TOOLS, 2),
    charts.looping: (LOOPING, 2),
}


def test_reading_and_changing_tools_are_told_apart() -> None:
    chart = charts.shares(SHARES)
    assert title(chart) == (
        "Calls that repeat an earlier one: 3 of 7 for tools that read, 1 of 2 for tools that change something"
    )
    assert subtitle(chart) == (
        "n = 9 calls, 4 repeats; 3 of them with no changing call since the earlier one; the catalogue says whether "
        "a tool reads or changes for 0 of 9 calls, the first word of its name for the rest"
    )
    assert "heuristic" in charts.shares.declared.definition  # type: ignore[attr-defined]


def test_repeats_of_a_tool_and_looping_trajectories_are_counted() -> None:
    assert title(charts.by_tool(TOOLS)) == "4 repeats in the tools shown, 3 of them of get"
    assert title(charts.looping(LOOPING)) == "Trajectories that loop: 1 of 3 with user"
