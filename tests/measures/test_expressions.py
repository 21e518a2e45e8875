"""The recurring ideas: rates, intervals and the measures of spread, held against SciPy or by hand."""

from itertools import pairwise
from math import exp, log

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis.measures import expressions as e

COUNTS = st.lists(st.integers(0, 1_000), min_size=1, max_size=40)


def value(expression: pl.Expr, **columns: list[object]) -> object:
    return pl.DataFrame(columns).select(expression).item()


@given(trials=st.integers(1, 500), share=st.floats(0, 1))
def test_the_wilson_interval_is_scipys(trials: int, share: float) -> None:
    events = round(share * trials)
    expected = binomtest(events, trials).proportion_ci(method="wilson")
    ends = [value(e.wilson(pl.lit(events), pl.lit(trials), upper=upper), one=[1]) for upper in (False, True)]
    assert ends == pytest.approx([expected.low, expected.high], abs=1e-12)


def test_nothing_tried_has_no_interval() -> None:
    assert value(e.wilson(pl.lit(0), pl.lit(0), upper=True), one=[1]) is None


@given(COUNTS)
def test_gini_is_the_mean_difference_of_all_pairs_over_twice_the_mean(counts: list[int]) -> None:
    n, total = len(counts), sum(counts)
    found = value(e.gini(pl.col("held")), held=list(counts))
    if not total:
        assert found is None
    else:
        pairs = sum(abs(one - other) for one in counts for other in counts)
        assert found == pytest.approx(pairs / (2 * n * total), abs=1e-12)


@pytest.mark.parametrize(("counts", "gini"), [([5, 5, 5], 0), ([0, 0, 0, 8], 3 / 4), ([1, 3], 1 / 4)])
def test_gini_by_hand(counts: list[object], gini: float) -> None:
    assert value(e.gini(pl.col("held")), held=counts) == pytest.approx(gini, abs=1e-12)


@given(COUNTS)
def test_entropy_and_effective_number_by_the_formula(counts: list[int]) -> None:
    total, n = sum(counts), len(counts)
    even = value(e.normalised_entropy(pl.col("held")), held=list(counts))
    effective = value(e.effective_number(pl.col("held")), held=list(counts))
    if not total:
        assert (even, effective) == (None, None)
        return
    entropy = -sum(count / total * log(count / total) for count in counts if count)
    assert effective == pytest.approx(exp(entropy))
    assert even == (None if n < 2 else pytest.approx(entropy / log(n), abs=1e-12))


def test_the_top_tenth_is_rounded_up_to_a_whole_holder() -> None:
    assert value(e.top_total(pl.col("held"), 0.1), held=[1, 2, 7]) == 7
    assert value(e.top_total(pl.col("held"), 0.1), held=[*range(1, 21)]) == 20 + 19
    assert value(e.top_total(pl.col("held"), 0.1), held=[0, 0]) == 0


def test_a_share_of_fewer_than_twenty_is_none() -> None:
    assert [value(e.share_of(pl.lit(1), pl.col("n").sum()), n=[n]) for n in (0, 19, 20)] == [None, None, 1 / 20]


def test_percentiles_are_linearly_interpolated() -> None:
    assert value(e.quantile("n", 0.9), n=[0, 10]) == pytest.approx(9)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 0.99, 1]))
def test_quantiles_of_counted_values_are_those_of_the_values(values: list[int], level: float) -> None:
    frame = pl.DataFrame({"chars": values})
    counted = frame.group_by("chars").agg(texts=pl.len().cast(pl.Int64)).sort("chars")
    found = counted.select(e.counted_quantile("chars", "texts", level)).item()
    assert found == pytest.approx(frame.select(e.quantile("chars", level)).item(), abs=1e-9)


def test_a_scenario_is_environment_and_task_or_the_trajectory_itself() -> None:
    frame = pl.DataFrame(
        {
            "trajectory_id": ["1", "2", "3", "4", "5"],
            "env_id": ["bank", "bank", "shop", None, None],
            "task_id": ["7", "7", "7", "7", None],
        }
    )
    names = frame.select(e.scenario()).to_series().to_list()
    assert names[0] == names[1]
    assert all(one != other for one, other in pairwise(names[1:]))


def test_a_scenario_is_not_the_text_of_environment_and_task_put_together() -> None:
    frame = pl.DataFrame({"trajectory_id": ["1", "2"], "env_id": ["a", "ab"], "task_id": ["bc", "c"]})
    assert frame.select(e.scenario()).to_series().n_unique() == 2


def test_a_rate_and_both_its_ends_need_twenty_trials() -> None:
    frame = pl.DataFrame({"hits": [5, 5, 0], "tries": [19, 20, 0]}).select(**e.rated("hits", "tries", "hit_rate"))
    assert frame.columns == ["hit_rate", "hit_rate_low", "hit_rate_high"]
    ends = binomtest(5, 20).proportion_ci(method="wilson")
    assert frame.rows()[1] == pytest.approx((5 / 20, ends.low, ends.high))
    assert frame.rows()[0] == frame.rows()[2] == (None, None, None)
