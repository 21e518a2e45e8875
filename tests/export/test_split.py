"""Train and validation: no scenario on both sides, the same seed the same sides, near-duplicates said."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.export.errors import ExportError
from analysis.export.split import TRAIN, VALIDATION, By, deal, leaks
from analysis.schema import TRAJECTORIES
from tests.measures.frames import rows


def runs(scenarios: list[tuple[str, str, int]]) -> pl.DataFrame:
    """(environment, scenario, runs) -> TRAJECTORIES."""
    made = [
        {"trajectory_id": f"{env}-{task}-{run}", "env_id": env, "task_id": task, "task": f"Do {task} in {env}."}
        for env, task, times in scenarios
        for run in range(times)
    ]
    return rows(TRAJECTORIES, *made).collect()


SCENARIOS = [(f"env_{n % 7}", f"task_{n}", 1 + n % 3) for n in range(60)]


@settings(max_examples=40)
@given(
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**32),
    by=st.sampled_from(["scenario", "environment"]),
)
def test_no_group_is_on_both_sides_and_no_run_is_lost(share: float, seed: int, by: By) -> None:
    frame = runs(SCENARIOS)
    sides = deal(frame, share, by, seed)
    assert list(sides) == frame.get_column("trajectory_id").to_list()
    assert set(sides.values()) == {TRAIN, VALIDATION}
    group = ["env_id", "task_id"] if by == "scenario" else ["env_id"]
    dealt = frame.with_columns(side=pl.col("trajectory_id").replace_strict(sides))
    assert dealt.group_by(group).agg(pl.col("side").n_unique()).get_column("side").max() == 1


def test_validation_holds_its_share_as_near_as_whole_scenarios_allow() -> None:
    sides = Counter(deal(runs(SCENARIOS), 0.2, "scenario", 0).values())
    assert abs(sides[VALIDATION] - 0.2 * sides.total()) <= 1.5  # a scenario has at most three runs


def test_the_same_seed_gives_the_same_sides_whatever_the_order_of_the_records() -> None:
    frame = runs(SCENARIOS)
    assert deal(frame, 0.3, "scenario", 5) == deal(frame.reverse(), 0.3, "scenario", 5)
    assert deal(frame, 0.3, "scenario", 5) != deal(frame, 0.3, "scenario", 6)


def test_a_scenario_that_is_added_moves_few_others() -> None:
    before = deal(runs(SCENARIOS), 0.3, "scenario", 1)
    after = deal(runs([*SCENARIOS, ("env_1", "task_new", 1)]), 0.3, "scenario", 1)
    assert sum(before[id_] != after[id_] for id_ in before) <= 3


def test_one_task_id_in_two_environments_is_two_scenarios() -> None:
    frame = runs([("bank", "1", 1), ("shop", "1", 1)])
    assert set(deal(frame, 0.5, "scenario", 0).values()) == {TRAIN, VALIDATION}


def test_without_a_task_id_the_task_text_is_the_scenario() -> None:
    frame = runs([("bank", "1", 2), ("bank", "2", 2)]).with_columns(task_id=pl.lit(None, pl.String))
    sides = deal(frame, 0.5, "scenario", 0)
    assert sides["bank-1-0"] == sides["bank-1-1"] != sides["bank-2-0"]


@pytest.mark.parametrize(
    ("frame", "share", "by", "said"),
    [
        (runs([("bank", "1", 3)]), 0.5, "scenario", "1 different; two at least are needed"),
        (runs(SCENARIOS), 1.5, "scenario", "a share between 0 and 1"),
        (
            runs(SCENARIOS).with_columns(env_id=pl.lit(None, pl.String)),
            0.5,
            "environment",
            "120 of 120 records name none; use --by scenario",
        ),
    ],
)
def test_a_split_that_cannot_be_says_why_and_what_to_do(frame: pl.DataFrame, share: float, by: By, said: str) -> None:
    with pytest.raises(ExportError, match=said):
        deal(frame, share, by, 0)


def test_tasks_that_read_nearly_the_same_on_both_sides_are_reported_and_those_on_one_side_are_not() -> None:
    text = " ".join(f"word{n}" for n in range(60))
    frame = rows(
        TRAJECTORIES,
        {"trajectory_id": "a", "task_id": "1", "task": text},
        {"trajectory_id": "b", "task_id": "2", "task": f"{text} more"},
        {"trajectory_id": "c", "task_id": "3", "task": "Something else altogether, and of some length as well."},
        env_id="bank",
    ).collect()
    apart = leaks(frame, {"a": TRAIN, "b": VALIDATION, "c": VALIDATION})
    assert apart.select("left_task_id", "right_task_id").rows() == [("1", "2")]
    assert leaks(frame, {"a": TRAIN, "b": TRAIN, "c": VALIDATION}).is_empty()
