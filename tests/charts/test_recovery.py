"""Recovery, drawn: fields, marks, and titles that say what the figure shows."""

import polars as pl

from analysis.charts import recovery as charts
from analysis.measures import recovery as measures
from tests.charts.drawn import title
from tests.measures.calls import script
from tests.measures.test_recovery import CALLS

NEXT = measures.next_calls(CALLS).collect()
LATENCIES = measures.latencies(CALLS).collect()
RUNS = measures.runs(CALLS).collect()
TOOLS = measures.by_tool(CALLS).collect()

SAMPLES = {
    charts.next_calls: (NEXT, 3),
    charts.latencies: (LATENCIES, 2),
    charts.runs: (RUNS, 3),
    charts.by_tool: (TOOLS, 2),
}


def test_the_titles_tell_retries_recoveries_and_runs() -> None:
    assert title(charts.next_calls(NEXT)) == "The same call is tried again unchanged after 1 of 4 errors with user"
    assert title(charts.latencies(LATENCIES)) == "The same tool succeeds later after 1 of 3 error episodes with user"
    assert title(charts.runs(RUNS)) == (
        "Trajectories with two or more errors in a row: 1 of 5 with user; the longest run has 2 errors"
    )
    assert title(charts.by_tool(TOOLS)) == "2 of 4 errors are recovered in the tools that fail most"
    assert title(charts.runs(measures.runs(script("get:a+")).collect())) == "No trajectory has an error"


def test_a_mode_without_a_retry_is_told_with_none() -> None:
    seen = pl.concat([CALLS, script(*[""] * 5, "get:a- set:a+", traj_type="non_conversation")])
    assert "0 of 1 error without user" in title(charts.next_calls(measures.next_calls(seen).collect()))
