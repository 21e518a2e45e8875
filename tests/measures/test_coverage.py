"""Coverage on four records, with and without a catalogue."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import coverage as m
from analysis.schema import TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled, times
from tests.measures.small import (
    ENVIRONMENTS_GIVEN,
    NO_ENVIRONMENTS,
    NO_SCENARIOS,
    NO_TRAJECTORIES,
    SCENARIOS_GIVEN,
    SOLO,
    TALK,
    TRAJECTORIES_SEEN,
)

SEEN = m.environments(TRAJECTORIES_SEEN, NO_ENVIRONMENTS, NO_SCENARIOS)
GIVEN = m.environments(TRAJECTORIES_SEEN, ENVIRONMENTS_GIVEN, SCENARIOS_GIVEN)


def held(*counts: int) -> pl.LazyFrame:
    return rows(
        m.ENVIRONMENTS,
        *[{"env_id": f"e{i}", "trajectories": n, "scenarios": n, "is_catalogued": True} for i, n in enumerate(counts)],
    )


def test_without_a_catalogue_only_what_was_seen_is_known() -> None:
    found = SEEN.collect()
    assert found.rows() == [
        ("bank", None, 2, pytest.approx(2 / 3), 1, 1, 1, None),
        ("shop", None, 1, pytest.approx(1 / 3), 0, 1, 1, None),
    ]


def test_an_absent_environment_of_the_catalogue_is_a_row_of_zeros() -> None:
    found = GIVEN.collect()
    assert found.select("env_id", "is_catalogued", "trajectories", "scenarios", "scenarios_catalogued").rows() == [
        ("bank", True, 2, 1, 2),
        ("shop", False, 1, 1, 0),
        ("zoo", True, 0, 0, 0),
    ]
    assert found["trajectory_share"].sum() == pytest.approx(1)


def test_balance_counts_absent_environments_with_nothing() -> None:
    found = m.balance(GIVEN).collect().row(0, named=True)
    assert (found["environments"], found["seen"], found["absent"], found["total"]) == (3, 2, 1, 3)
    assert (found["minimum"], found["median"], found["maximum"]) == (0, 1, 2)
    assert found["gini"] == pytest.approx((2 + 1 + 1) * 2 / (2 * 3 * 3))  # pairs 2-1, 2-0, 1-0
    assert found["top_tenth_share"] == pytest.approx(2 / 3)
    assert found["has_catalogue"]
    assert not m.balance(SEEN).collect()["has_catalogue"].any()


def test_the_lorenz_curve_runs_from_nothing_to_everything() -> None:
    curve = m.lorenz(held(1, 0, 3)).filter(pl.col("grain") == "trajectories").collect()
    assert curve["environment_share"].to_list() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert curve["held_share"].to_list() == pytest.approx([0, 0, 1 / 4, 1])
    assert curve["environments"].unique().to_list() == [3]


def test_a_long_lorenz_curve_is_thinned_and_keeps_its_end() -> None:
    curve = m.lorenz(held(*range(1, 11)), points=4).filter(pl.col("grain") == "scenarios").collect()
    assert curve["environment_share"].to_list() == pytest.approx([0, 0.3, 0.6, 0.9, 1])
    assert curve["held_share"].to_list()[-1] == pytest.approx(1)


def test_a_single_environment_has_no_curve() -> None:
    assert m.lorenz(held(5)).collect().is_empty()


def test_scenarios_with_a_catalogue() -> None:
    found = m.scenario_summary(TRAJECTORIES_SEEN, SCENARIOS_GIVEN).collect().row(0, named=True)
    assert (found["has_catalogue"], found["scenarios"], found["present"], found["missing"]) == (True, 2, 1, 1)
    assert (found["uncatalogued"], found["seen"], found["paired"]) == (1, 2, 1)
    assert found["coverage_rate"] == pytest.approx(1 / 2)
    assert found["coverage_low"] < 1 / 2 < found["coverage_high"]
    assert found["pair_rate"] == pytest.approx(1 / 2)
    assert (found["trajectories"], found["unnamed"]) == (3, 1)


def test_scenarios_without_a_catalogue_have_no_coverage_rate() -> None:
    found = m.scenario_summary(TRAJECTORIES_SEEN, NO_SCENARIOS).collect().row(0, named=True)
    assert (found["has_catalogue"], found["scenarios"], found["present"], found["missing"]) == (False, 2, 2, 0)
    assert (found["uncatalogued"], found["coverage_rate"], found["coverage_low"]) == (0, None, None)


def test_repeats_are_counted_per_mode_and_scenario() -> None:
    thrice = times(TRAJECTORIES_SEEN, 3)
    found = m.scenario_summary(thrice, NO_SCENARIOS).collect().row(0, named=True)
    assert (found["repeated_keys"], found["repeats"]) == (3, 3 * 2)
    assert m.repeated(thrice).collect().rows() == [
        ("bank", "bank-1", TALK, 3),
        ("bank", "bank-1", SOLO, 3),
        ("shop", "shop-1", SOLO, 3),
    ]
    assert m.repeated(TRAJECTORIES_SEEN).collect().is_empty()


def test_scenarios_are_counted_by_runs_and_modes() -> None:
    found = m.per_scenario(TRAJECTORIES_SEEN, SCENARIOS_GIVEN).collect()
    assert found.select("trajectories", "modes", "scenarios", "all_scenarios").rows() == [
        (0, "absent", 1, 3),
        (1, "without a user only", 1, 3),
        (2, "both modes", 1, 3),
    ]
    assert found["scenario_share"].sum() == pytest.approx(1)
    many = m.per_scenario(times(TRAJECTORIES_SEEN, 30), NO_SCENARIOS, most=20).collect()
    assert many.select("trajectories", "scenarios").rows() == [(20, 1), (20, 1)]


def test_one_task_id_in_two_environments_is_two_scenarios() -> None:
    frame = rows(
        TRAJECTORIES,
        {"trajectory_id": "1", "env_id": "bank", "task_id": "7"},
        {"trajectory_id": "2", "env_id": "shop", "task_id": "7"},
        {"trajectory_id": "3", "task_id": "7"},
    )
    assert m.scenario_summary(frame, NO_SCENARIOS).collect()["seen"].to_list() == [3]


def test_missing_scenarios_are_listed() -> None:
    assert m.missing(TRAJECTORIES_SEEN, SCENARIOS_GIVEN).collect().rows() == [("bank", "bank-2")]
    assert m.missing(TRAJECTORIES_SEEN, NO_SCENARIOS).collect().is_empty()


MEASURES: list[tuple[Table, Any]] = [
    (m.ENVIRONMENTS, m.environments),
    (m.BALANCE, lambda *frames: m.balance(m.environments(*frames))),
    (m.LORENZ, lambda *frames: m.lorenz(m.environments(*frames))),
    (m.SCENARIO_SUMMARY, lambda t, _e, s: m.scenario_summary(t, s)),
    (m.PER_SCENARIO, lambda t, _e, s: m.per_scenario(t, s)),
    (m.MISSING, lambda t, _e, s: m.missing(t, s)),
    (m.REPEATED, lambda t, _e, _s: m.repeated(t)),
]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_no_rows_give_the_declared_empty_frame(result: Table, measure: Any) -> None:
    assert_frame_equal(measure(NO_TRAJECTORIES, NO_ENVIRONMENTS, NO_SCENARIOS).collect(), result.empty())


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_the_order_of_rows_changes_nothing(result: Table, measure: Any) -> None:
    frames = (times(TRAJECTORIES_SEEN, 2), ENVIRONMENTS_GIVEN, SCENARIOS_GIVEN)
    straight = measure(*frames).collect()
    assert straight.schema == result.schema
    assert_frame_equal(measure(*map(shuffled, frames)).collect(), straight)
