"""Intervals of rates over scenarios: against SciPy, and in small by hand."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from analysis.measures import intervals

FEW = intervals.FEWEST_CLUSTERS - 1


def rate(*clusters: tuple[int, int]) -> dict[str, Any]:
    frame = pl.DataFrame(clusters, schema=["events", "trials"], orient="row")
    return frame.select(**intervals.clustered_rate(pl.col("events"), pl.col("trials"), "rate")).row(0, named=True)


def test_a_rate_of_independent_trials_has_wilsons_interval() -> None:
    found = rate(*[(1, 2)] * 40)
    # No cluster differs from any other: the design effect is that of Student's t alone.
    deff = (stats.t.ppf(0.975, 39) / stats.norm.ppf(0.975)) ** 2
    assert found["rate_deff"] == pytest.approx(deff, rel=1e-5)
    low, high = 0.5, 0.5
    n = 80 / deff
    z = stats.norm.ppf(0.975)
    half = z / (1 + z * z / n) * np.sqrt(0.25 / n + z * z / (4 * n * n))
    assert (found["rate_low"], found["rate_high"]) == pytest.approx((low - half, high + half), abs=1e-5)


def test_runs_that_all_end_alike_in_a_scenario_count_once() -> None:
    found = rate(*[(4, 4)] * 10, *[(0, 4)] * 10)
    # Of 20 scenarios with 4 runs each: the variance over scenarios is 4 * 20/19 times that of independent runs.
    student = (stats.t.ppf(0.975, 19) / stats.norm.ppf(0.975)) ** 2
    assert found["rate_deff"] == pytest.approx(4 * 20 / 19 * student, rel=1e-5)
    assert found["rate_clusters"] == 20


@pytest.mark.parametrize("solved", [0, 4])
def test_a_rate_of_all_or_none_is_bounded_by_its_scenarios(solved: int) -> None:
    found = rate(*[(solved, 4)] * 50)
    width = found["rate_high"] - found["rate_low"]
    assert 0.06 < width < 0.08, "about 3.7 / 50, whatever the number of runs"
    assert found["rate_low"] == 0 or found["rate_high"] == 1


def test_few_trials_have_no_rate_and_few_scenarios_no_interval() -> None:
    assert rate(*[(1, 1)] * 19)["rate"] is None
    few = rate(*[(2, 50)] * FEW)
    assert (few["rate"], few["rate_low"], few["rate_high"], few["rate_deff"]) == (0.04, None, None, None)
    assert rate(*[(2, 50)] * FEW, (0, 0))["rate_low"] is None, "a scenario without a trial says nothing"
    assert rate(*[(2, 50)] * intervals.FEWEST_CLUSTERS)["rate_low"] is not None


def test_no_trial_at_all_has_no_rate() -> None:
    assert set(rate((0, 0), (0, 0)).values()) == {None, 0}


@pytest.mark.parametrize("freedom", [9, 15, 40, 1000])
def test_the_quantiles_are_those_of_students_t(freedom: int) -> None:
    assert intervals.student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=1e-3)


def test_two_rates_differ_by_newcombes_interval() -> None:
    sides = pl.DataFrame({"a": [0.8], "al": [0.681], "ah": [0.882], "b": [0.6], "bl": [0.481], "bh": [0.708]})
    low, high = sides.select(
        **dict(
            zip(
                ("low", "high"),
                intervals.rate_difference(("a", "al", "ah"), ("b", "bl", "bh"), pl.lit(0.0)),
                strict=True,
            )
        )
    ).row(0)
    assert (low, high) == pytest.approx((0.2 - np.hypot(0.119, 0.108), 0.2 + np.hypot(0.082, 0.119)))
