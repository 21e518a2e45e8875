"""Replay, drawn."""

import polars as pl

from analysis.charts import replay as charts
from analysis.measures import replay as m
from tests.charts.drawn import subtitle, title
from tests.measures.test_replay import CALLS, CHECKS, TRAJECTORIES

KINDS = m.kinds(CALLS).collect()
ENVIRONMENTS = m.by_environment(CALLS, TRAJECTORIES).collect()
TWO = pl.concat([ENVIRONMENTS, ENVIRONMENTS.with_columns(env_id=pl.lit("shop"), differing=pl.lit(0, pl.UInt32))])
FAILING = m.checks(CHECKS, TRAJECTORIES).collect()

SAMPLES = {charts.kinds: (KINDS, 3), charts.by_environment: (TWO, 2), charts.checks: (FAILING, 2)}


def test_titles_say_what_came_out_again() -> None:
    assert title(charts.kinds(KINDS)) == "10 of 12 calls played come out as recorded, 1 of 12 otherwise"
    assert title(charts.kinds(KINDS.filter(verdict="reproduced").with_columns(all_calls=pl.col("calls")))) == (
        "All 10 calls played come out as recorded"
    )
    assert title(charts.by_environment(TWO)).startswith(
        "4.5 % of the calls that can be told come out otherwise, in 1 of"
    )
    assert subtitle(charts.by_environment(TWO)) == "n = 22 calls reproduced or differing"


def test_where_nothing_differs_a_line_says_so() -> None:
    same = TWO.with_columns(differing=pl.lit(0, pl.UInt32))
    assert title(charts.by_environment(same)) == "No call of 22 that can be told comes out otherwise, in 2 environments"
