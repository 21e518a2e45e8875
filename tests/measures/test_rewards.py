"""Rewards: means with clustered intervals, pass^k by counting every draw, published figures of tau-bench, checks."""

from collections.abc import Callable
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from analysis.measures import rewards
from analysis.schema import SCENARIOS, TRAJECTORIES
from analysis.tables import load
from tests.measures.frames import rows, shuffled


def runs(*given: dict[str, Any], **everywhere: Any) -> pl.LazyFrame:
    """Trajectories, no two of them the same record."""
    return rows(TRAJECTORIES, *({"record_bytes": n} | row for n, row in enumerate(given, start=1)), **everywhere)


SEEN = runs(
    {"trajectory_id": "a", "task_id": "1", "total_reward": 1.0, "trial": "0", "model": "small"},
    {"trajectory_id": "b", "task_id": "1", "total_reward": 1.0 - 1e-9, "trial": "1", "model": "small"},
    {"trajectory_id": "c", "task_id": "1", "total_reward": 0.0, "trial": "2", "model": "small"},
    {"trajectory_id": "d", "task_id": "2", "total_reward": 0.75, "trial": "0", "model": "large"},
    {
        "trajectory_id": "e",
        "task_id": "2",
        "total_reward": 0.25,
        "trial": "1",
        "model": "large",
        "end_class": "step_cap",
    },
    {"trajectory_id": "f", "task_id": "3", "total_reward": None, "trial": "0"},
    env_id="bank",
    traj_type="non_conversation",
)
CHECKED = rows(
    SCENARIOS,
    {"task_id": "1", "checks": 4},
    {"task_id": "2", "checks": 9},
    {"task_id": "3", "checks": 2},
    env_id="bank",
)


def times(copies: int) -> pl.LazyFrame:
    """What was seen, over as many times the scenarios."""
    made = [SEEN.with_columns(pl.col("trajectory_id", "task_id") + f"#{copy}") for copy in range(copies)]
    return pl.concat(made)


def test_the_summary_counts_those_with_a_reward_and_says_of_how_many() -> None:
    found = rewards.summary(SEEN).collect().row(0, named=True)
    assert (found["all_trajectories"], found["trajectories"], found["scenarios"], found["most_runs"]) == (6, 5, 2, 3)
    assert found["reward_sum"] == pytest.approx(1 + 1 + 0 + 0.75 + 0.25)
    assert (found["solved"], found["step_capped"], found["copies"]) == (2, 1, 0)


def test_few_runs_are_counts_and_have_no_mean_and_no_share() -> None:
    few = rewards.summary(SEEN).collect().row(0, named=True)
    assert {few[name] for name in ("mean_reward", "mean_low", "mean_by_scenario", "solved_share", "solved_low")} == {
        None
    }
    many = rewards.summary(times(10)).collect().row(0, named=True)
    assert many["mean_reward"] == pytest.approx(3 / 5)
    assert many["solved_share"] == pytest.approx(2 / 5)
    assert many["mean_by_scenario"] == pytest.approx((2 / 3 + 0.5) / 2)
    assert many["mean_low"] < 3 / 5 < many["mean_high"]
    assert many["solved_deff"] > 1
    assert rewards.checks(SEEN, CHECKED).collect()["mean_reward"].to_list() == [None, None]
    assert rewards.pass_k(SEEN).collect()["pass_all"].to_list() == [None] * 5


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_all_or_nothing_solved_leaves_room_for_the_unseen(reward: float) -> None:
    played = runs(*({"trajectory_id": f"{n}", "task_id": f"{n // 4}", "total_reward": reward} for n in range(100)))
    found = rewards.summary(played).collect().row(0, named=True)
    passed = rewards.pass_k(played).collect()
    for low, high in (
        (found["mean_low"], found["mean_high"]),
        (found["solved_low"], found["solved_high"]),
        *passed.select("pass_all_low", "pass_all_high").rows(),
    ):
        assert 0.1 < high - low < 0.17, "25 scenarios: about 3.8 / 29"
        assert low == 0 or high == 1


def test_a_source_without_rewards_has_no_row_anywhere() -> None:
    none = SEEN.with_columns(total_reward=pl.lit(None, pl.Float64))
    for frame in (
        rewards.summary(none),
        rewards.groups(none, "model"),
        rewards.distribution(none),
        rewards.pass_k(none),
        rewards.by_scenario(none, CHECKED),
        rewards.solved_runs(none),
        rewards.checks(none, CHECKED),
    ):
        assert frame.collect().is_empty()


def test_groups_are_in_natural_order_and_the_nameless_stand_last() -> None:
    several = SEEN.with_columns(model=pl.when(pl.col("trajectory_id") != "a").then("model"))
    found = rewards.groups(several, "model").collect()
    assert found.select("group", "trajectories", "scenarios", "all_groups").rows() == [
        ("large", 2, 1, 3),
        ("small", 2, 1, 3),
        (None, 1, 1, 3),
    ]
    assert found["reward_sum"].to_list() == pytest.approx([1.0, 1.0, 1.0])
    assert found["mean_low"].to_list() == [None] * 3, "one scenario tells nothing of how scenarios differ"


@pytest.mark.parametrize("kind", rewards.KINDS)
def test_every_kind_of_group_holds_each_trajectory_once(kind: rewards.Kind) -> None:
    found = rewards.groups(shuffled(SEEN), kind).collect()
    assert_frame_equal(found, rewards.groups(SEEN, kind).collect())
    assert found["trajectories"].sum() == 5
    assert found["kind"].unique().to_list() == [kind]


def test_intervals_draw_scenarios_not_runs() -> None:
    """Ten copies of each run of a scenario are no new evidence: the interval stays as wide."""
    played = runs(
        *({"trajectory_id": f"{n}", "task_id": f"{n}", "total_reward": float(n % 3 == 0)} for n in range(30)),
    )
    copies = pl.concat([played.with_columns(pl.col("trajectory_id") + f"#{copy}") for copy in range(10)])
    ends = ["mean_low", "mean_high"]
    assert (
        rewards.summary(played).select(ends).collect().rows() == rewards.summary(copies).select(ends).collect().rows()
    )


def test_the_distribution_puts_each_reward_into_one_bin() -> None:
    found = rewards.distribution(SEEN).collect()
    assert found.select("reward_from", "trajectories").rows() == [
        (0.0, 1),
        (pytest.approx(0.2), 1),
        (pytest.approx(0.7), 1),
        (pytest.approx(0.9), 2),
    ]
    assert found["trajectory_share"].sum() == pytest.approx(1)
    beyond = rewards.distribution(SEEN.with_columns(total_reward=pl.col("total_reward") * 4 - 2)).collect()
    assert (beyond["reward_from"][0], beyond["reward_to"][-1]) == (-2.0, 2.0)


@settings(max_examples=25)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=5))
def test_pass_k_is_the_mean_over_every_way_to_draw_k_runs(outcomes: list[list[bool]]) -> None:
    frame = runs(
        *(
            {"trajectory_id": f"{task}.{run}", "task_id": str(task), "total_reward": float(solved)}
            for task, trials in enumerate(outcomes * 20)
            for run, solved in enumerate(trials)
        ),
        env_id="bank",
    )
    found = rewards.pass_k(frame).collect()
    lengths = sorted(len(trials) for trials in outcomes * 20)
    deepest = max(k for k in range(1, 7) if sum(n >= k for n in lengths) >= 0.9 * len(lengths))
    assert found["k"].to_list() == list(range(1, deepest + 1))
    enough = [trials for trials in outcomes * 20 if len(trials) >= deepest]
    for k, n, together, once in found.select("k", "scenarios", "pass_all", "pass_any").rows():
        draws = [list(combinations(trials, k)) for trials in enough]
        assert n == len(enough)
        assert together == pytest.approx(sum(sum(map(all, ways)) / len(ways) for ways in draws) / n)
        assert once == pytest.approx(sum(sum(map(any, ways)) / len(ways) for ways in draws) / n)


def test_the_two_modes_of_a_scenario_are_no_trials_of_one_another() -> None:
    both = times(20).with_columns(
        traj_type=pl.when(pl.col("trial") == "1").then(pl.lit("conversation")).otherwise("traj_type")
    )
    both = both.with_columns(pl.col("traj_type").cast(TRAJECTORIES["traj_type"].dtype))
    found = rewards.pass_k(both).filter(pl.col("model") == "small").collect()
    assert found.select("traj_type", "k", "pass_all").rows() == [
        ("conversation", 1, 1.0),
        ("non_conversation", 1, 0.5),
        ("non_conversation", 2, 0.0),
    ]


def test_models_can_be_told_by_their_files() -> None:
    files = {"a": "runs/4b@new/x.json@12", "b": "runs/8b.json@0", "c": "runs/8b.json@99", "d": "p.parquet@row 3"}
    named = SEEN.with_columns(
        model=pl.lit(None, pl.String), origin=pl.col("trajectory_id").replace_strict(files, default="")
    )
    found = rewards.groups(rewards.told_by(named, "file"), "model").collect()
    counts = dict(found.select("group", "trajectories").rows())
    assert counts == {"": 1, "p.parquet": 1, "runs/4b@new/x.json": 1, "runs/8b.json": 2}
    assert_frame_equal(rewards.told_by(named, "model"), named)
    with pytest.raises(ValueError, match="by model or file, not by 'name'"):
        rewards.told_by(named, "name")  # type: ignore[arg-type]


def test_scenarios_stand_with_their_runs_and_their_checks_hardest_first() -> None:
    found = rewards.by_scenario(SEEN, CHECKED).collect()
    columns = ["task_id", "trajectories", "solved", "reward_sum", "min_reward", "max_reward", "checks"]
    assert found.select(columns).rows() == [
        ("2", 2, 0, 1.0, 0.25, 0.75, 9),
        ("1", 3, 2, pytest.approx(2.0), 0.0, 1.0, 4),
    ]
    assert found["mean_reward"].to_list() == [None, None], "a mean over two is none"
    unknown = rewards.by_scenario(SEEN, SCENARIOS.empty().lazy()).collect()
    assert unknown["checks"].to_list() == [None, None]


def test_scenarios_are_counted_by_solved_runs() -> None:
    found = rewards.solved_runs(SEEN).collect()
    solo = "non_conversation"
    assert found.rows() == [("large", solo, 2, 0, 1, 1.0, 1), ("small", solo, 3, 2, 1, 1.0, 1)]


def test_two_models_are_never_taken_together() -> None:
    """One is always right and one never: no scenario is solved now and then, and none each time by both."""
    models = {"right": 1.0, "wrong": 0.0}
    made = [(*model, task, trial) for model in models.items() for task in range(25) for trial in range(4)]
    played = runs(
        *(
            {"trajectory_id": f"{m}{t}{n}", "task_id": str(t), "trial": str(n), "model": m, "total_reward": reward}
            for m, reward, t, n in made
        )
    )  # fmt: skip
    assert rewards.solved_runs(played).select("model", "runs", "solved", "scenarios").collect().rows() == [
        ("right", 4, 4, 25),
        ("wrong", 4, 0, 25),
    ]
    found = rewards.pass_k(played).collect()
    assert found.select("model", "k", "pass_all").rows() == [("right", k, 1.0) for k in (1, 2, 3, 4)] + [
        ("wrong", k, 0.0) for k in (1, 2, 3, 4)
    ]
    assert rewards.summary(played).collect()["most_runs"].to_list() == [4]


def fifty_by_four() -> pl.LazyFrame:
    made = [(task, trial) for task in range(50) for trial in range(4)]
    return runs(
        *({"trajectory_id": f"{t}.{n}", "task_id": str(t), "total_reward": float((t + n) % 3 == 0)} for t, n in made),
        origin="a.json@0",
    )


def test_one_repeated_record_is_no_fifth_trial() -> None:
    repeated = fifty_by_four().head(1).with_columns(trajectory_id=pl.lit("again"), origin=pl.lit("a.json@999"))
    both = pl.concat([fifty_by_four(), repeated])
    assert_frame_equal(rewards.pass_k(both).collect(), rewards.pass_k(fifty_by_four()).collect())
    assert rewards.pass_k(both).collect()["k"].to_list() == [1, 2, 3, 4]
    assert rewards.summary(both).collect()["copies"].to_list() == [1]


def test_a_few_more_trials_of_a_few_scenarios_deepen_nothing() -> None:
    more = (
        fifty_by_four()
        .filter(pl.col("task_id").is_in(["1", "2"]))
        .with_columns(pl.col("trajectory_id") + "+", record_bytes=pl.col("record_bytes") + 1000)
    )
    found = rewards.pass_k(pl.concat([fifty_by_four(), more])).collect()
    assert found.select("k", "scenarios", "all_scenarios").rows() == [(k, 50, 50) for k in (1, 2, 3, 4)]


@pytest.mark.parametrize("told", ["model", "file"])
def test_the_same_file_twice_changes_no_pass_k(told: Any) -> None:
    twice = pl.concat(
        [fifty_by_four(), fifty_by_four().with_columns(pl.col("trajectory_id") + "b", origin=pl.lit("b.json@0"))]
    )
    one, both = (rewards.pass_k(rewards.told_by(frame, told)).collect() for frame in (fifty_by_four(), twice))
    assert_frame_equal(both, one)
    assert rewards.summary(twice).collect()["copies"].to_list() == [200]


def test_checks_belong_to_a_scenario_of_their_environment() -> None:
    seen = runs(
        {"trajectory_id": "a", "env_id": "env_1_sft", "task_id": "3", "total_reward": 1.0},
        {"trajectory_id": "b", "env_id": "env_2_sft", "task_id": "3", "total_reward": 0.0},
    )
    given = rows(SCENARIOS, {"env_id": "env_2_sft", "task_id": "3", "checks": 4})
    assert rewards.by_scenario(seen, given).select("env_id", "checks").collect().rows() == [
        ("env_2_sft", 4),
        ("env_1_sft", None),
    ]
    assert rewards.checks(seen, given).select("checks", "trajectories").collect().rows() == [(4, 1)]


def test_rewards_stand_beside_the_number_of_checks() -> None:
    found = rewards.checks(SEEN, CHECKED).select("checks", "trajectories", "reward_sum").collect()
    assert found.rows() == [(4, 3, pytest.approx(2)), (9, 2, 1.0)]


UNEVEN = runs(
    *(
        {"trajectory_id": f"{n}.{trial}", "task_id": f"{n}", "total_reward": 1.0 if n * trial % 3 == 1 else n / 100}
        for n in range(60)
        for trial in range(2 + n % 7)
    ),
    env_id="bank",
)
THREE_CHECKS = rows(SCENARIOS, *({"task_id": f"{n}", "checks": 3} for n in range(60)), env_id="bank")
SEEDED: list[tuple[str, str, Callable[..., pl.LazyFrame]]] = [
    ("mean_reward", "mean", lambda **seed: rewards.summary(UNEVEN, **seed)),
    ("mean_reward", "mean", lambda **seed: rewards.groups(UNEVEN, "mode", **seed)),
    ("mean_reward", "mean", lambda **seed: rewards.checks(UNEVEN, THREE_CHECKS, **seed)),
    ("pass_all", "pass_all", lambda **seed: rewards.pass_k(UNEVEN, **seed)),
    ("pass_any", "pass_any", lambda **seed: rewards.pass_k(UNEVEN, **seed)),
]


@pytest.mark.parametrize(("value", "ends", "measure"), SEEDED)
def test_intervals_hang_on_the_seed_which_is_0_where_nothing_else_is_said(
    value: str, ends: str, measure: Callable[..., pl.LazyFrame]
) -> None:
    usual, same, other = (measure(**seed).collect() for seed in ({}, {"seed": 0}, {"seed": 1}))
    assert_frame_equal(usual, same)
    assert usual[f"{ends}_low"][0] != other[f"{ends}_low"][0]
    assert usual[f"{ends}_low"][0] < usual[value][0] < usual[f"{ends}_high"][0]


def test_series_of_trials_stand_by_model_then_mode_then_k_the_nameless_last() -> None:
    made = [(model, mode) for model in (None, "b", "a") for mode in ("non_conversation", "conversation")]
    played = runs(
        *(
            {
                "trajectory_id": f"{model}{mode}{n}",
                "task_id": "1",
                "model": model,
                "traj_type": mode,
                "total_reward": 1.0,
            }
            for model, mode in made
            for n in range(2)
        ),
    )
    assert rewards.pass_k(played).select("model", "traj_type", "k").collect().rows() == [
        (model, mode, k) for model in ("a", "b", None) for mode in ("conversation", "non_conversation") for k in (1, 2)
    ]


def test_scenarios_as_hard_as_each_other_stand_in_natural_order() -> None:
    played = runs(
        *(
            {"trajectory_id": f"{env}{task}", "env_id": env, "task_id": task, "total_reward": 0.5}
            for env in ("e10", "e9", None)
            for task in ("t10", "t9")
        ),
    )
    found = rewards.by_scenario(played, CHECKED).collect()
    assert found.select("env_id", "task_id").rows() == [
        *[("e9", "t9"), ("e9", "t10"), ("e10", "t9"), ("e10", "t10")],
        *[(None, "t9"), (None, "t10")],
    ]


def test_scenarios_with_as_many_runs_share_their_own_one() -> None:
    solved = {"1": (1, 1), "2": (1, 0), "3": (0, 0), "4": (0, 1), "5": (1,)}
    played = runs(
        *(
            {"trajectory_id": f"{task}{n}", "task_id": task, "total_reward": float(reward)}
            for task, trials in solved.items()
            for n, reward in enumerate(trials)
        ),
    )
    counts = rewards.solved_runs(played).drop("model", "traj_type").collect()
    assert counts.rows() == [
        (1, 1, 1, 1, 5),
        (2, 0, 1, 1 / 4, 5),
        (2, 1, 2, 2 / 4, 5),
        (2, 2, 1, 1 / 4, 5),
    ]


def test_rewards_within_0_and_1_are_binned_from_0_to_1() -> None:
    middling = runs({"trajectory_id": "a", "total_reward": 0.45}, {"trajectory_id": "b", "total_reward": 0.62})
    found = rewards.distribution(middling).collect()
    assert found["reward_from"].to_list() == pytest.approx([0.4, 0.6])
    assert found["reward_to"].to_list() == pytest.approx([0.5, 0.7])
    assert found.select("trajectories", "trajectory_share", "all_trajectories").rows() == [(1, 1 / 2, 2)] * 2


def test_a_scenario_without_checks_has_no_number_of_them_and_one_check_is_a_number() -> None:
    none = rows(SCENARIOS, {"task_id": "1", "checks": 0}, {"task_id": "2", "checks": 1}, env_id="bank")
    assert rewards.checks(SEEN, none).select("checks").collect()["checks"].to_list() == [1]
    assert rewards.by_scenario(SEEN, none).select("task_id", "checks").collect().rows() == [("2", 1), ("1", None)]


def test_every_tenth_is_in_the_bin_that_begins_with_it() -> None:
    tenths = runs(*({"trajectory_id": str(n), "total_reward": n / 10} for n in range(10)))
    assert rewards.distribution(tenths).collect()["trajectories"].to_list() == [1] * 10


def test_tau_bench_s_published_figures_are_reproduced(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Airline, gpt-4o, tool calling: 0.420, 0.273, 0.220 and 0.200 for k = 1 to 4."""
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path))
    data = load(str(shared_data / "tau_bench_airline_gpt4o.json"), progress=False)
    found = rewards.pass_k(data.trajectories).collect()
    assert found["pass_all"].round(3).to_list() == [0.42, 0.273, 0.22, 0.2]
    solved = rewards.solved_runs(data.trajectories).collect()
    by_hand = [
        sum(n * comb(c, k) / comb(4, k) for c, n in solved.select("solved", "scenarios").rows()) / 50
        for k in (1, 2, 3, 4)
    ]
    assert found["pass_all"].to_list() == pytest.approx(by_hand)


def test_a_runner_s_rewards_stand_beside_the_checks_of_their_scenarios(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path))
    data = load(
        str(shared_data / "envscaler_runner_fc.json"),
        scenarios=str(shared_data / "envscaler_rl_scenarios.json"),
        progress=False,
    )
    found = rewards.by_scenario(data.trajectories, data.scenarios).collect()
    # A reward is the share of the checks that hold, to four digits: times their number it is whole.
    assert set(found["trajectories"]) == {1}
    held = (found["reward_sum"] * found["checks"]).to_list()
    assert held == pytest.approx([round(value) for value in held], abs=1e-3)
