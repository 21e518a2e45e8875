"""The bootstrap over scenarios: against SciPy, and what turning, shuffling and batches must not change."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis.measures import bootstrap, comparisons, intervals

FEW = intervals.FEWEST_CLUSTERS - 1


def two_sides(seed: int = 3, clusters: int = 30) -> intervals.Array:
    return np.random.default_rng(seed).integers(1, 40, size=(clusters, 4)).astype(float)


@pytest.mark.parametrize("estimate", [bootstrap.mean, bootstrap.difference, bootstrap.relative_difference])
def test_the_same_seed_gives_the_same_interval(estimate: Any) -> None:
    sides = two_sides()
    clusters = sides[:, :2] if estimate is bootstrap.mean else sides
    assert estimate(clusters, 1) == estimate(clusters, 1)
    assert estimate(clusters, 1) != estimate(clusters, 2)
    shuffled = clusters[::-1]
    width = estimate(clusters, 1).high - estimate(clusters, 1).low
    assert estimate(shuffled, 1).low == pytest.approx(estimate(clusters, 1).low, abs=width / 15)


def test_a_mean_has_the_studentised_interval_of_the_textbook() -> None:
    values = np.random.default_rng(1).exponential(10, 25)
    found = bootstrap.mean(np.stack([values, np.ones(25)], axis=1), seed=0)
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
    there, back = np.array(bootstrap.difference(one, 0)), np.array(bootstrap.difference(other, 0))
    assert there[:2] == pytest.approx(-back[[0, 2]])
    ratio, inverse = np.array(bootstrap.relative_difference(one, 0)), np.array(bootstrap.relative_difference(other, 0))
    assert 1 + ratio == pytest.approx(1 / (1 + inverse[[0, 2, 1]]))


def test_a_relative_difference_is_wider_than_one_of_a_right_side_held_still() -> None:
    sides = np.hstack([two_sides()[:, :2], two_sides(4)[:, :2]])
    drawn = bootstrap.relative_difference(sides, 0)
    still = bootstrap.mean(sides[:, :2], 0)
    right = sides[:, 2].sum() / sides[:, 3].sum()
    assert drawn is not None
    assert drawn.high - drawn.low > (still.high - still.low) / right  # type: ignore[operator]


@pytest.mark.parametrize("right", [0.0, -5.0])
def test_nothing_is_relative_to_what_may_as_well_be_0(right: float) -> None:
    sides = two_sides()
    sides[:, 2] = right
    assert bootstrap.relative_difference(sides, 0) is None
    sides[:, 2] = np.where(np.arange(30) < 2, 20.0, 0.0)
    assert bootstrap.relative_difference(sides, 0) is None, "two scenarios of thirty have any"


def test_a_side_of_few_scenarios_has_no_interval_and_differs_from_nothing() -> None:
    sides = two_sides()
    sides[FEW:, 2:] = 0.0
    found = bootstrap.difference(sides, 0)
    assert (found.low, found.high) == (None, None)
    assert bootstrap.relative_difference(sides, 0) is None
    assert comparisons.p_value(found, 30) == 1
    assert bootstrap.mean(two_sides(clusters=FEW)[:, :2], 0).low is None


def test_a_difference_of_two_alike_sides_is_nothing() -> None:
    sides = np.hstack([two_sides()[:, :2]] * 2)
    assert bootstrap.difference(sides, 0) == (0, 0, 0)
    assert comparisons.p_value(bootstrap.difference(sides, 0), 30) == 1


def test_many_scenarios_are_drawn_from_the_normal_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = two_sides(clusters=900)
    one_by_one = bootstrap.difference(sides, 0)
    monkeypatch.setattr(bootstrap, "_NORMAL_FROM", 900)
    at_once = bootstrap.difference(sides, 0)
    width = one_by_one.high - one_by_one.low  # type: ignore[operator]
    assert at_once[1:] == pytest.approx(one_by_one[1:], abs=width / 20)


def test_a_batch_of_draws_is_as_good_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_CELLS", 900)  # 128 draws a batch, and fewer in the last
    sums = bootstrap.drawn_sums(np.ones((7, 1)), seed=3)
    assert sums.shape == (bootstrap.DRAWS, 1)
    assert set(sums.ravel()) == {7.0}
