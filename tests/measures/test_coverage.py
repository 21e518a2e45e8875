"""Coverage: environments and scenarios against a catalogue or against what was seen, evenness, missing and repeated."""

from collections.abc import Callable
from itertools import pairwise
from math import exp, log

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import coverage
from analysis.schema import ENVIRONMENTS, SCENARIOS, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled

CONVERSATION, SOLO = "conversation", "non_conversation"


def run(env_id: str | None, task_id: str | None, traj_type: str = CONVERSATION, trial: int = 0) -> dict[str, object]:
    return {
        "trajectory_id": f"{env_id}/{task_id}/{traj_type}/{trial}",
        "env_id": env_id,
        "task_id": task_id,
        "traj_type": traj_type,
    }


TRAJECTORIES_SEEN = rows(
    TRAJECTORIES,
    run("env_2", "1"),
    run("env_2", "1", SOLO),
    run("env_2", "2"),
    run("env_10", "1", SOLO),
    run("env_10", "1", SOLO, trial=1),
    run("env_10", "1", SOLO, trial=2),
    run("env_9", "7"),
    run("env_10", None),
    run(None, None),
)
# The catalogue does not know env_9, and two of its environments are absent from the trajectories.
CATALOGUE = rows(ENVIRONMENTS, *({"env_id": f"env_{n}"} for n in (1, 2, 10, 30)))
SCENARIOS_LISTED = rows(
    SCENARIOS,
    *(
        {"env_id": env, "task_id": task}
        for env, task in (("env_2", "1"), ("env_2", "2"), ("env_2", "3"), ("env_10", "11"), ("env_30", "12"))
    ),
)
NONE_LISTED = CATALOGUE.clear(), SCENARIOS_LISTED.clear()


def counted() -> pl.LazyFrame:
    """The environments of these. Made in each test: mutation testing runs the tests that call what was changed."""
    return coverage.environments(TRAJECTORIES_SEEN, CATALOGUE, SCENARIOS_LISTED)


def test_an_absent_environment_of_the_catalogue_is_a_row_of_zeros() -> None:
    found = counted().collect()
    assert found.drop("trajectory_share").rows() == [
        ("env_1", True, 0, 0, 0, 0, 0),
        ("env_2", True, 3, 2, 1, 2, 3),
        ("env_9", False, 1, 1, 0, 1, 0),
        ("env_10", True, 4, 1, 3, 1, 1),
        ("env_30", True, 0, 0, 0, 0, 1),
    ]
    assert found["trajectory_share"].null_count() == 5, "of eight trajectories there is no rate"
    thrice = coverage.environments(pl.concat([TRAJECTORIES_SEEN] * 3), CATALOGUE, SCENARIOS_LISTED).collect()
    assert thrice["trajectory_share"].to_list() == [0, 3 / 8, 1 / 8, 4 / 8, 0]  # one names no environment


def test_without_a_catalogue_only_what_was_seen_is_known() -> None:
    found = coverage.environments(TRAJECTORIES_SEEN, *NONE_LISTED).collect()
    assert found["env_id"].to_list() == ["env_2", "env_9", "env_10"]
    assert found["is_catalogued"].null_count() == found["scenarios_catalogued"].null_count() == 3


def test_a_catalogue_of_environments_alone_says_nothing_of_scenarios() -> None:
    found = coverage.environments(TRAJECTORIES_SEEN, CATALOGUE, SCENARIOS_LISTED.clear()).collect()
    assert found["is_catalogued"].to_list() == [True, True, False, True, True]
    assert found["scenarios_catalogued"].null_count() == 5


def test_a_catalogue_without_any_trajectory_is_all_absent_and_has_no_shares() -> None:
    found = coverage.environments(TRAJECTORIES_SEEN.clear(), CATALOGUE, SCENARIOS_LISTED).collect()
    assert found["trajectories"].to_list() == [0] * 4
    assert found["trajectory_share"].to_list() == [None] * 4
    balance = coverage.balance(found.lazy()).collect().row(0, named=True)
    assert (balance["environments"], balance["seen"], balance["absent"], balance["total"]) == (4, 0, 4, 0)
    assert (balance["gini"], balance["evenness"], balance["top_tenth_share"]) == (None, None, None)
    assert coverage.lorenz(found.lazy()).collect().is_empty()


def test_balance_counts_absent_environments_with_nothing() -> None:
    found = coverage.balance(counted()).collect()
    assert found["grain"].to_list() == ["trajectories", "scenarios"]
    row = found.row(0, named=True)  # 0 0 1 3 4
    assert (row["environments"], row["seen"], row["absent"], row["total"]) == (5, 3, 2, 8)
    assert (row["minimum"], row["median"], row["maximum"], row["has_catalogue"]) == (0, 1, 4, True)
    differences = sum(abs(a - b) for a in (0, 0, 1, 3, 4) for b in (0, 0, 1, 3, 4))
    assert row["gini"] == pytest.approx(differences / 25 / (2 * 8 / 5))
    entropy = -sum(n / 8 * log(n / 8) for n in (1, 3, 4))
    assert row["evenness"] == pytest.approx(entropy / log(5))
    assert row["effective_environments"] == pytest.approx(exp(entropy))
    assert (row["top_tenth"], row["top_tenth_share"]) == (4, None)  # a tenth of five is one
    assert found["total"].to_list() == [8, 4]
    assert found["absent"].to_list() == [2, 2]  # absence is of trajectories, whatever is spread


def test_without_a_catalogue_nothing_is_absent_from_the_balance() -> None:
    found = coverage.balance(coverage.environments(TRAJECTORIES_SEEN, *NONE_LISTED)).collect()
    assert found.select("has_catalogue", "environments", "absent").unique().rows() == [(False, 3, 0)]


def test_the_lorenz_curve_runs_from_nothing_to_all_the_smallest_first() -> None:
    found = coverage.lorenz(counted()).collect().filter(pl.col("grain") == "trajectories")
    assert found["environment_share"].to_list() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert found["held_share"].to_list() == [0, 0, 0, 1 / 8, 4 / 8, 1]
    assert found["environments"].unique().to_list() == [5]
    # The area between the curve and the diagonal, by trapezia, is half the Gini coefficient.
    held = found["held_share"].to_list()
    area = sum((a + b) / 2 / 5 for a, b in pairwise(held))
    assert found["gini"].unique().to_list() == pytest.approx([1 - 2 * area])


def test_a_curve_of_many_environments_is_thinned_and_keeps_its_ends() -> None:
    held = [{"env_id": f"env_{n}", "trajectories": n, "scenarios": 1} for n in range(1, 26)]
    counted = rows(coverage.ENVIRONMENTS, *held)
    found = coverage.lorenz(counted, points=10).collect().filter(pl.col("grain") == "trajectories")
    assert found["environment_share"].to_list() == pytest.approx([n / 25 for n in (0, 3, 6, 9, 12, 15, 18, 21, 24, 25)])
    assert found["held_share"].to_list()[-1] == 1
    assert found["held_share"].to_list()[1] == (1 + 2 + 3) / (25 * 26 / 2)


def test_up_to_four_hundred_environments_are_drawn_one_by_one_where_nothing_else_is_said() -> None:
    def drawn(environments: int) -> int:
        held = [{"env_id": f"env_{n}", "trajectories": 1, "scenarios": 1} for n in range(environments)]
        return coverage.lorenz(rows(coverage.ENVIRONMENTS, *held)).collect().filter(grain="scenarios").height

    assert drawn(399) == 399 + 1
    assert drawn(400) == 200 + 1  # every second, and the origin


def test_each_grain_has_a_curve_of_its_own_from_the_origin_on() -> None:
    found = coverage.lorenz(counted()).collect()
    assert found["grain"].to_list() == ["trajectories"] * 6 + ["scenarios"] * 6
    assert found["environment_share"].to_list() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1] * 2)
    assert found["held_share"].to_list() == pytest.approx([0, 0, 0, 1 / 8, 4 / 8, 1, 0, 0, 0, 1 / 4, 2 / 4, 1])
    # scenarios 0 0 1 1 2: the mean difference of all pairs over twice the mean
    gini = sum(abs(a - b) for a in (0, 0, 1, 1, 2) for b in (0, 0, 1, 1, 2)) / 25 / (2 * 4 / 5)
    assert found.filter(grain="scenarios")["gini"].to_list() == pytest.approx([gini] * 6)


def test_more_than_twenty_runs_of_a_scenario_are_counted_as_twenty_where_nothing_else_is_said() -> None:
    often = [run("bank", "1", trial=n) for n in range(25)] + [run("bank", "2", trial=n) for n in range(19)]
    found = coverage.per_scenario(rows(TRAJECTORIES, *often), SCENARIOS_LISTED.clear()).collect()
    assert found.select("trajectories", "scenarios", "scenario_share").rows() == [(19, 1, 1 / 2), (20, 1, 1 / 2)]


def test_scenario_coverage_is_over_the_catalogue_and_what_it_does_not_list_stands_apart() -> None:
    found = coverage.scenario_summary(TRAJECTORIES_SEEN, SCENARIOS_LISTED).collect().row(0, named=True)
    assert (found["has_catalogue"], found["scenarios"], found["present"], found["missing"]) == (True, 5, 2, 3)
    assert (found["seen"], found["uncatalogued"]) == (4, 2)  # env_10/1 and env_9/7
    assert (found["paired"], found["pair_rate"], found["coverage_rate"]) == (1, None, None)  # of four, of five: counts
    assert (found["repeated_keys"], found["repeats"]) == (1, 2)
    assert (found["trajectories"], found["unnamed"]) == (7, 2)


def test_without_a_catalogue_the_denominator_is_what_was_seen_and_there_is_no_coverage_rate() -> None:
    found = coverage.scenario_summary(TRAJECTORIES_SEEN, SCENARIOS_LISTED.clear()).collect().row(0, named=True)
    assert (found["has_catalogue"], found["scenarios"], found["present"], found["missing"]) == (False, 4, 4, 0)
    assert found["coverage_rate"] is None
    assert (found["uncatalogued"], found["paired"]) == (0, 1)


def test_a_source_that_names_no_scenario_still_says_how_many_do_not() -> None:
    found = coverage.scenario_summary(rows(TRAJECTORIES, run("env_1", None)), SCENARIOS_LISTED.clear()).collect()
    row = found.row(0, named=True)
    assert (row["scenarios"], row["unnamed"], row["pair_rate"], row["coverage_rate"]) == (0, 1, None, None)


def test_scenarios_are_counted_by_runs_and_modes_and_the_absent_with_none() -> None:
    found = coverage.per_scenario(TRAJECTORIES_SEEN, SCENARIOS_LISTED).collect()
    assert found.select("trajectories", "modes", "scenarios", "all_scenarios").rows() == [
        (0, "not run", 3, 7),
        (1, "with user only", 2, 7),
        (2, "both modes", 1, 7),
        (3, "without user only", 1, 7),
    ]
    assert found["scenario_share"].sum() == pytest.approx(1)
    assert found["has_catalogue"].all()
    seen = coverage.per_scenario(TRAJECTORIES_SEEN, SCENARIOS_LISTED.clear()).collect()
    assert seen["scenarios"].to_list() == [2, 1, 1]
    assert not seen["has_catalogue"].any()


def test_scenarios_with_more_runs_than_are_told_apart_are_counted_together() -> None:
    found = coverage.per_scenario(TRAJECTORIES_SEEN, SCENARIOS_LISTED.clear(), most=2).collect()
    assert found.select("trajectories", "modes", "scenarios").rows() == [
        (1, "with user only", 2),
        (2, "both modes", 1),
        (2, "without user only", 1),
    ]


def test_missing_scenarios_are_those_of_the_catalogue_nobody_ran() -> None:
    found = coverage.missing(TRAJECTORIES_SEEN, SCENARIOS_LISTED).collect()
    assert found.rows() == [("env_2", "3"), ("env_10", "11"), ("env_30", "12")]
    assert coverage.missing(TRAJECTORIES_SEEN, SCENARIOS_LISTED.clear()).collect().is_empty()


def test_the_same_task_id_in_another_environment_is_another_scenario() -> None:
    elsewhere = rows(TRAJECTORIES, run("env_1", "3"))
    assert ("env_2", "3") in coverage.missing(elsewhere, SCENARIOS_LISTED).collect().rows()
    assert coverage.scenario_summary(elsewhere, SCENARIOS_LISTED).collect()["uncatalogued"].to_list() == [1]


def test_a_repeat_is_of_the_same_mode_and_scenario() -> None:
    assert coverage.repeated(TRAJECTORIES_SEEN).collect().rows() == [("env_10", "1", SOLO, 3)]
    nameless = rows(TRAJECTORIES, run(None, "5"), run(None, "5", trial=1), run("env_1", "5"), run("env_1", "5", SOLO))
    assert coverage.repeated(nameless).collect().rows() == [(None, "5", CONVERSATION, 2)]


def test_repeats_come_the_most_frequent_first_then_in_natural_order() -> None:
    again = [
        run(env, task, trial=n) for env, task in (("env_10", "2"), ("env_2", "10"), ("env_2", "9")) for n in range(2)
    ]
    thrice = [run("env_30", "1", trial=n) for n in range(3)]
    found = coverage.repeated(rows(TRAJECTORIES, *again, *thrice)).collect()
    assert found.select("env_id", "task_id").rows() == [
        ("env_30", "1"),
        ("env_2", "9"),
        ("env_2", "10"),
        ("env_10", "2"),
    ]


def test_over_twenty_scenarios_coverage_is_a_rate_and_pairs_have_an_interval() -> None:
    listed = rows(SCENARIOS, *({"env_id": "bank", "task_id": str(n)} for n in range(40)))
    runs = [run("bank", str(n), mode) for n in range(20) for mode in (CONVERSATION, SOLO) if mode == SOLO or n < 5]
    found = coverage.scenario_summary(rows(TRAJECTORIES, *runs), listed).collect().row(0, named=True)
    assert (found["coverage_rate"], found["pair_rate"]) == (20 / 40, 5 / 20)
    assert "coverage_rate_low" not in found, "a census has no interval"
    assert found["pair_rate_low"] < 5 / 20 < found["pair_rate_high"]
    unlisted = coverage.scenario_summary(rows(TRAJECTORIES, *runs), listed.clear()).collect().row(0, named=True)
    assert (unlisted["coverage_rate"], unlisted["pair_rate"]) == (None, 5 / 20)


def test_two_environments_have_a_curve() -> None:
    two = rows(TRAJECTORIES, run("bank", "1"), run("shop", "1"), run("shop", "2"))
    found = coverage.lorenz(coverage.environments(two, *NONE_LISTED)).collect()
    assert found.filter(grain="trajectories")["held_share"].to_list() == pytest.approx([0, 1 / 3, 1])


def test_one_scenario_makes_a_catalogue_and_one_trajectory_a_share_of_one() -> None:
    listed = rows(SCENARIOS, {"env_id": "bank", "task_id": "1"})
    environments = rows(ENVIRONMENTS, {"env_id": "bank"}, {"env_id": "zoo"})
    found = coverage.environments(rows(TRAJECTORIES, run("bank", "1")), environments, listed).collect()
    assert found.select("env_id", "scenarios_catalogued", "trajectories").rows() == [("bank", 1, 1), ("zoo", 0, 0)]


def test_a_single_environment_has_no_curve() -> None:
    one = rows(TRAJECTORIES, run("bank", "1"), run("bank", "2"))
    assert coverage.lorenz(coverage.environments(one, *NONE_LISTED)).collect().is_empty()


Measure = Callable[[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]
MEASURES: list[tuple[Table, Measure]] = [
    (coverage.ENVIRONMENTS, coverage.environments),
    (coverage.BALANCE, lambda t, e, s: coverage.balance(coverage.environments(t, e, s))),
    (coverage.LORENZ, lambda t, e, s: coverage.lorenz(coverage.environments(t, e, s))),
    (coverage.SCENARIO_SUMMARY, lambda t, e, s: coverage.scenario_summary(t, s)),
    (coverage.PER_SCENARIO, lambda t, e, s: coverage.per_scenario(t, s)),
    (coverage.MISSING, lambda t, e, s: coverage.missing(t, s)),
    (coverage.REPEATED, lambda t, e, s: coverage.repeated(t)),
]


def test_missing_scenarios_come_by_environment_first() -> None:
    listed = rows(SCENARIOS, {"env_id": "env_10", "task_id": "1"}, {"env_id": "env_9", "task_id": "2"})
    found = coverage.missing(TRAJECTORIES_SEEN.clear(), listed).collect()
    assert found.rows() == [("env_9", "2"), ("env_10", "1")]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[result.name for result, _ in MEASURES])
def test_input_order_is_irrelevant(result: Table, measure: Measure) -> None:
    frames = (TRAJECTORIES_SEEN, CATALOGUE, SCENARIOS_LISTED)
    expected = measure(*frames).collect()
    assert expected.schema == result.schema
    assert_frame_equal(measure(*map(shuffled, frames)).collect(), expected)


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[result.name for result, _ in MEASURES])
def test_nothing_in_gives_the_declared_empty_frame(result: Table, measure: Measure) -> None:
    empty = [table.empty().lazy() for table in (TRAJECTORIES, ENVIRONMENTS, SCENARIOS)]
    assert_frame_equal(measure(*empty).collect(), result.empty())
