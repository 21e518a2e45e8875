"""Intervals over scenarios: against SciPy, in small by hand, and against worlds whose truth is known."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from analysis.measures import intervals as m
from tests.measures import simulation

FEW = m.FEWEST_CLUSTERS - 1


def rate(*clusters: tuple[int, int]) -> dict[str, Any]:
    frame = pl.DataFrame(clusters, schema=["events", "trials"], orient="row")
    return frame.select(**m.clustered_rate(pl.col("events"), pl.col("trials"), "rate")).row(0, named=True)


def two_sides(seed: int = 3, clusters: int = 30) -> m.Array:
    return np.random.default_rng(seed).integers(1, 40, size=(clusters, 4)).astype(float)


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
    assert rate(*[(2, 50)] * m.FEWEST_CLUSTERS)["rate_low"] is not None


def test_no_trial_at_all_has_no_rate() -> None:
    assert set(rate((0, 0), (0, 0)).values()) == {None, 0}


@pytest.mark.parametrize("estimate", [m.mean, m.difference, m.relative_difference])
def test_the_same_seed_gives_the_same_interval(estimate: Any) -> None:
    sides = two_sides()
    clusters = sides[:, :2] if estimate is m.mean else sides
    assert estimate(clusters, 1) == estimate(clusters, 1)
    assert estimate(clusters, 1) != estimate(clusters, 2)
    shuffled = clusters[::-1]
    width = estimate(clusters, 1).high - estimate(clusters, 1).low
    assert estimate(shuffled, 1).low == pytest.approx(estimate(clusters, 1).low, abs=width / 15)


def test_a_mean_has_the_studentised_interval_of_the_textbook() -> None:
    values = np.random.default_rng(1).exponential(10, 25)
    found = m.mean(np.stack([values, np.ones(25)], axis=1), seed=0)
    draws = np.random.default_rng(2).choice(values, (40_000, 25))
    scores = (draws.mean(axis=1) - values.mean()) / (draws.std(axis=1, ddof=1) / 5)
    error = values.std(ddof=1) / 5
    upper, lower = np.quantile(scores, [0.975, 0.025])
    student = stats.t.ppf(0.975, 24)
    assert lower < -student, "the long tail is on the right, and shows"
    expected = values.mean() - max(upper, student) * error, values.mean() - lower * error
    assert (found.low, found.high) == pytest.approx(expected, rel=0.03)


def test_turning_the_sides_round_turns_the_intervals_round() -> None:
    one, other = two_sides(), two_sides()[:, [2, 3, 0, 1]]
    there, back = np.array(m.difference(one, 0)), np.array(m.difference(other, 0))
    assert there[:2] == pytest.approx(-back[[0, 2]])
    ratio, inverse = np.array(m.relative_difference(one, 0)), np.array(m.relative_difference(other, 0))
    assert 1 + ratio == pytest.approx(1 / (1 + inverse[[0, 2, 1]]))


def test_a_relative_difference_is_wider_than_one_of_a_right_side_held_still() -> None:
    sides = np.hstack([two_sides()[:, :2], two_sides(4)[:, :2]])
    drawn = m.relative_difference(sides, 0)
    still = m.mean(sides[:, :2], 0)
    right = sides[:, 2].sum() / sides[:, 3].sum()
    assert drawn is not None
    assert drawn.high - drawn.low > (still.high - still.low) / right  # type: ignore[operator]


@pytest.mark.parametrize("right", [0.0, -5.0])
def test_nothing_is_relative_to_what_may_as_well_be_0(right: float) -> None:
    sides = two_sides()
    sides[:, 2] = right
    assert m.relative_difference(sides, 0) is None
    sides[:, 2] = np.where(np.arange(30) < 2, 20.0, 0.0)
    assert m.relative_difference(sides, 0) is None, "two scenarios of thirty have any"


def test_a_side_of_few_scenarios_has_no_interval_and_differs_from_nothing() -> None:
    sides = two_sides()
    sides[FEW:, 2:] = 0.0
    found = m.difference(sides, 0)
    assert (found.low, found.high) == (None, None)
    assert m.relative_difference(sides, 0) is None
    assert m.p_value(found, 30) == 1
    assert m.mean(two_sides(clusters=FEW)[:, :2], 0).low is None


def test_a_difference_of_two_alike_sides_is_nothing() -> None:
    sides = np.hstack([two_sides()[:, :2]] * 2)
    assert m.difference(sides, 0) == (0, 0, 0)
    assert m.p_value(m.difference(sides, 0), 30) == 1


def test_many_scenarios_are_drawn_from_the_normal_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = two_sides(clusters=900)
    one_by_one = m.difference(sides, 0)
    monkeypatch.setattr(m, "_NORMAL_FROM", 900)
    at_once = m.difference(sides, 0)
    width = one_by_one.high - one_by_one.low  # type: ignore[operator]
    assert at_once[1:] == pytest.approx(one_by_one[1:], abs=width / 20)


def test_a_batch_of_draws_is_as_good_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "_CELLS", 900)  # 128 draws a batch, and fewer in the last
    sums = m.drawn_sums(np.ones((7, 1)), seed=3)
    assert sums.shape == (m.DRAWS, 1)
    assert set(sums.ravel()) == {7.0}


@pytest.mark.parametrize(("value", "clusters"), [(2.5, 10), (-3.0, 25), (1.2, 400)])
def test_a_p_value_is_students(value: float, clusters: int) -> None:
    margin = stats.t.ppf(0.975, clusters - 1)
    found = m.p_value(m.Interval(value, value - margin, value + margin), clusters)
    assert found == pytest.approx(2 * stats.t.sf(abs(value), clusters - 1), rel=0.03)


def test_a_p_value_is_below_a_twentieth_where_the_interval_excludes_0() -> None:
    assert m.p_value(m.Interval(2.0, 1e-9, 4.0), 20) == pytest.approx(0.05, abs=1e-4)
    assert m.p_value(m.Interval(2.0, -0.1, 4.0), 20) > 0.05
    assert m.p_value(m.Interval(-2.0, -4.0, -0.1), 20) < 0.05


def test_holm_lets_few_of_many_differ() -> None:
    # 0.01 <= 0.05 / 4, then 0.02 > 0.05 / 3: what comes after is not asked.
    assert m.holm([0.02, 0.01, 0.5, 0.021]) == [False, True, False, False]
    assert m.holm([0.01, 0.02, 0.03]) == [True, True, True]
    assert m.holm([]) == []
    assert m.by_chance(61) == pytest.approx(3.05)


@pytest.mark.parametrize("freedom", [9, 15, 40, 1000])
def test_the_quantiles_are_those_of_students_t(freedom: int) -> None:
    assert m.student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=1e-3)


def test_two_rates_differ_by_newcombes_interval() -> None:
    sides = pl.DataFrame({"a": [0.8], "al": [0.681], "ah": [0.882], "b": [0.6], "bl": [0.481], "bh": [0.708]})
    low, high = sides.select(
        **dict(zip(("low", "high"), m.rate_difference(("a", "al", "ah"), ("b", "bl", "bh"), pl.lit(0.0)), strict=True))
    ).row(0)
    assert (low, high) == pytest.approx((0.2 - np.hypot(0.119, 0.108), 0.2 + np.hypot(0.082, 0.119)))


@pytest.mark.parametrize("estimate", simulation.ESTIMATES)
def test_intervals_hold_the_truth_of_some_skewed_worlds(estimate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "DRAWS", 500)
    worlds = [world for world in simulation.WORLDS if world.estimate == estimate and world.clusters == 20]
    held = [simulation.coverage(world, 40) for world in worlds[:2]]
    assert sum(held) / len(held) > 0.85


def test_the_method_tells_a_coverage_of_every_world() -> None:
    assert set(m.COVERAGE) == {(world.estimate, world.name) for world in simulation.WORLDS}
    assert all(0.925 < share < 0.99 for shares in m.COVERAGE.values() for share in shares)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "world", simulation.WORLDS, ids=lambda world: f"{world.estimate}-{world.name}-{world.clusters}"
)
def test_intervals_hold_the_truth_as_often_as_the_method_says(
    world: simulation.World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(m, "DRAWS", 2_000)
    told = m.COVERAGE[world.estimate, world.name][simulation.CLUSTERS.index(world.clusters)]
    assert simulation.coverage(world, 1_000) == pytest.approx(told, abs=0.001)
