"""Many comparisons at once: Holm's procedure, p-values of Student, and rankings that are earned or not."""

import polars as pl
import pytest
from scipy import stats

from analysis.measures import comparisons, intervals


@pytest.mark.parametrize(("value", "clusters"), [(2.5, 10), (-3.0, 25), (1.2, 400)])
def test_a_p_value_is_students(value: float, clusters: int) -> None:
    margin = stats.t.ppf(0.975, clusters - 1)
    found = comparisons.p_value(intervals.Interval(value, value - margin, value + margin), clusters)
    assert found == pytest.approx(2 * stats.t.sf(abs(value), clusters - 1), rel=0.03)


def test_a_p_value_is_below_a_twentieth_where_the_interval_excludes_0() -> None:
    assert comparisons.p_value(intervals.Interval(2.0, 1e-9, 4.0), 20) == pytest.approx(0.05, abs=1e-4)
    assert comparisons.p_value(intervals.Interval(2.0, -0.1, 4.0), 20) > 0.05
    assert comparisons.p_value(intervals.Interval(-2.0, -4.0, -0.1), 20) < 0.05


def test_holm_lets_few_of_many_differ() -> None:
    # 0.01 <= 0.05 / 4, then 0.02 > 0.05 / 3: what comes after is not asked.
    assert comparisons.holm([0.02, 0.01, 0.5, 0.021]) == [False, True, False, False]
    assert comparisons.holm([0.01, 0.02, 0.03]) == [True, True, True]
    assert comparisons.holm([]) == []
    assert comparisons.holm([0.25, 0.5], level=0.5) == [True, True], "at the level itself it differs"
    assert comparisons.by_chance(61) == pytest.approx(3.05)


def groups(*rates: tuple[float | None, float | None, float | None]) -> pl.DataFrame:
    return pl.DataFrame(
        [(*rate, 30) for rate in rates], schema=["rate", "rate_low", "rate_high", "rate_clusters"], orient="row"
    )


def test_a_group_is_first_where_it_differs_from_each_other() -> None:
    clear = groups((0.5, 0.45, 0.55), (0.1, 0.08, 0.12), (0.2, 0.17, 0.23))
    assert comparisons.ranking(clear, "rate") == (3, True, True, True)
    # Between 0.5 and 0.46 chance decides; the lowest is below both all the same.
    close = groups((0.5, 0.45, 0.55), (0.46, 0.41, 0.51), (0.1, 0.08, 0.12))
    assert comparisons.ranking(close, "rate") == (3, False, True, True)


def test_a_difference_alone_is_none_among_many() -> None:
    pair = ((0.50, 0.42, 0.58), (0.38, 0.30, 0.46))
    assert comparisons.ranking(groups(*pair), "rate").has_spread
    # The same two among ten others, all in between: one of 66 pairs looks so by chance.
    many = groups(*pair, *[(0.44, 0.36, 0.52)] * 10)
    assert comparisons.ranking(many, "rate") == (12, False, False, False)


def test_a_group_without_an_interval_leaves_none_first() -> None:
    unclear = groups((0.5, 0.45, 0.55), (0.1, 0.08, 0.12), (None, None, None))
    assert comparisons.ranking(unclear, "rate") == (2, False, False, True)
    assert comparisons.ranking(groups((0.5, 0.45, 0.55)), "rate") == (1, False, False, False)
    assert comparisons.ranking(groups(), "rate") == (0, False, False, False)


def test_a_ranking_compares_by_newcombes_interval() -> None:
    low, high = 0.6 - 0.481, 0.882 - 0.8
    margin = ((0.8 - 0.681) ** 2 + (0.708 - 0.6) ** 2) ** 0.5
    two = groups((0.8, 0.681, 0.8 + high), (0.6, 0.6 - low, 0.708))
    value = comparisons.p_value(intervals.Interval(0.2, 0.2 - margin, 0.2 + margin), 30)
    assert comparisons.ranking(two, "rate").has_first is (value <= 0.05)
