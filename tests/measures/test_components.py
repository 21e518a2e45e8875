"""Variance components: by hand, of a world whose components are known, and of tau-bench as published."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import load
from analysis.measures import components as m
from analysis.schema import TOOL_CALLS, TRAJECTORIES
from tests.measures.frames import rows, shuffled
from tests.measures.small import NO_CALLS, NO_TRAJECTORIES


def rewarded(*runs: tuple[str, str, float]) -> pl.LazyFrame:
    """Trajectories as (environment, task, reward)."""
    made = [
        {"trajectory_id": str(i), "env_id": env, "task_id": task, "total_reward": reward}
        for i, (env, task, reward) in enumerate(runs)
    ]
    return rows(TRAJECTORIES, *made)


def of(trajectories: pl.LazyFrame, quantity: str, calls: pl.LazyFrame = NO_CALLS) -> dict[str, Any]:
    found = m.components(trajectories, calls)
    return found.filter(pl.col("quantity") == quantity).collect().row(0, named=True)


def test_a_reward_that_scenarios_decide_is_theirs_alone() -> None:
    found = of(rewarded(*[("bank", str(task), float(task % 2)) for task in range(20) for _ in range(4)]), "reward")
    assert found["between_trajectories"] == 0
    # Ten means of 0 and ten of 1: their variance is 20/19 of a quarter.
    assert found["between_scenarios"] == pytest.approx(0.25 * 20 / 19)
    assert (found["intraclass_correlation"], found["between_environments"]) == (1, None)
    assert found["standard_error"] == pytest.approx((0.25 / 19) ** 0.5)
    assert found["independent_error"] == pytest.approx((0.25 / 79) ** 0.5)
    assert found["smallest_difference"] == pytest.approx(2.8016 * (2 * 0.25 / 19) ** 0.5)
    assert (found["trajectories"], found["scenarios"], found["environments"], found["mean"]) == (80, 20, 1, 0.5)


def test_the_components_of_a_known_world_are_found_again() -> None:
    generator = np.random.default_rng(5)
    runs = []
    for env in range(150):
        high = generator.normal(0, 2)
        for task in range(generator.integers(2, 9)):
            level = high + generator.normal(0, 1)
            for _ in range(generator.integers(1, 6)):
                runs.append((f"e{env}", str(task), level + generator.normal(0, 3)))
    found = of(rewarded(*runs), "reward")
    assert found["between_environments"] == pytest.approx(4, rel=0.2)
    assert found["between_scenarios"] == pytest.approx(1, abs=0.4)
    assert found["between_trajectories"] == pytest.approx(9, rel=0.1)
    assert found["intraclass_correlation"] == pytest.approx(5 / 14, abs=0.05)


def test_without_repeats_runs_and_scenarios_cannot_be_told_apart() -> None:
    found = of(rewarded(*[("bank", str(task), float(task)) for task in range(12)]), "reward")
    assert {found[name] for name in ("between_trajectories", "between_scenarios", "intraclass_correlation")} == {None}
    assert found["standard_error"] == pytest.approx((13 / 12) ** 0.5)


def test_few_scenarios_show_no_difference() -> None:
    found = of(rewarded(*[("bank", str(task), float(task)) for task in range(9)]), "reward")
    assert (found["standard_error"], found["smallest_difference"]) == (None, None)


def test_an_error_rate_is_a_trajectorys_own() -> None:
    seen = rewarded(("bank", "1", 0.0), ("bank", "1", 0.0), ("bank", "2", 0.0))
    calls = [("0", "ok"), ("0", "error"), ("1", "unknown"), ("2", "ok")]
    made = rows(TOOL_CALLS, *[{"trajectory_id": t, "call": i, "outcome": o} for i, (t, o) in enumerate(calls)])
    found = of(seen, "error rate", made)
    assert (found["trajectories"], found["mean"]) == (2, 0.25)


def test_no_spread_and_nothing_at_all_are_no_errors() -> None:
    found = of(rewarded(("bank", "1", 1.0), ("bank", "1", 1.0)), "reward")
    assert (found["between_trajectories"], found["intraclass_correlation"]) == (0, None)
    assert m.components(NO_TRAJECTORIES, NO_CALLS).collect().is_empty()
    assert m.components(rewarded(("bank", "1", 1.0)), NO_CALLS).collect().is_empty()


def test_the_order_of_rows_is_irrelevant() -> None:
    seen = rewarded(*[("bank", str(i % 5), float(i % 3)) for i in range(30)])
    assert of(shuffled(seen), "reward") == of(seen, "reward")


def test_tau_benchs_reward_has_the_published_correlation(shared_data: Path) -> None:
    data = load(str(shared_data / "tau_bench_airline_gpt4o.json"))
    found = of(data.trajectories, "reward", data.tool_calls)
    assert found["intraclass_correlation"] == pytest.approx(0.40, abs=0.005)
    assert (found["standard_error"], found["independent_error"]) == pytest.approx((0.0522, 0.0350), abs=0.0001)
