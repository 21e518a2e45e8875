"""Rewards in brief."""

import pytest

from analysis.brief import Headline
from analysis.brief.rewards import in_brief
from analysis.measures.rewards import PASS, SOLVED_RUNS, SUMMARY
from tests.measures.frames import TALK, frame

RESULTS = (
    frame(
        SUMMARY,
        {
            "all_trajectories": 210, "trajectories": 200, "scenarios": 50, "most_runs": 4, "mean_reward": 0.417,
            "mean_low": 0.31, "mean_high": 0.52, "mean_by_scenario": 0.43, "solved": 84, "step_capped": 3,
        },
    ),
    frame(
        SOLVED_RUNS,
        {"runs": 4, "solved": 0, "scenarios": 14},
        {"runs": 2, "solved": 2, "scenarios": 5},
        {"runs": 4, "solved": 2, "scenarios": 21},
        {"runs": 4, "solved": 4, "scenarios": 10},
    ),
    frame(
        PASS,
        {"model": "m", "traj_type": TALK, "k": 1, "pass_all": 0.42, "scenarios": 50},
        {"model": "m", "traj_type": TALK, "k": 4, "pass_all": 0.2, "scenarios": 50},
        {"model": "n", "traj_type": TALK, "k": 4, "pass_all": 0.31, "scenarios": 40},
        {"model": "o", "traj_type": TALK, "k": 1, "pass_all": 0.9, "scenarios": 40},
    ),
)  # fmt: skip


def test_headlines_say_what_trajectories_earn_and_whether_again() -> None:
    assert in_brief(*RESULTS) == [
        Headline(
            "200",
            "trajectories with a reward",
            "of 210, over 50 scenarios",
            "Trajectories without a reward, left out of everything below: 10 of 210.",
        ),
        Headline(
            "0.42",
            "mean reward",
            "per trajectory, over 200 trajectories; 95 % interval 0.31 to 0.52; 0.43 if every scenario counts once",
        ),
        Headline("42.0 %", "trajectories solved", "84 of 200 have a reward of 1"),
        Headline("30.0 %", "scenarios solved every time", "15 of 50, by each of their trajectories"),
        Headline(
            "28.0 %",
            "scenarios never solved",
            "14 of 50, by none of their trajectories",
            "Scenarios that no trajectory solves: 14 of 50.",
        ),
        Headline(
            "0.2 to 0.31",
            "chance that all trials are solved",
            "pass^4, the chance that 4 trials are all solved; over 2 combinations of model and mode, with 90 scenarios",
        ),
        Headline(
            "1.5 %",
            "trajectories stopped at the step limit",
            "3 of 200, by the runner",
            "Trajectories with a reward that the runner stopped at its step limit: 3 of 200.",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == []


@pytest.mark.parametrize(
    ("k", "value", "meaning"),
    [
        (4, "0.2", "pass^4, the chance that 4 trials are all solved; over 50 scenarios"),
        (1, "–", "fewer than nine in ten scenarios were tried twice in one mode by one model"),
    ],
)
def test_one_series_of_trials_is_one_number_and_single_trials_none(k: int, value: str, meaning: str) -> None:
    one = frame(PASS, {"model": "m", "k": k, "pass_all": 0.2, "scenarios": 50})
    assert in_brief(*RESULTS[:2], one)[5] == Headline(value, "chance that all trials are solved", meaning)


def test_two_models_are_told_side_by_side_and_never_together() -> None:
    both = frame(
        SOLVED_RUNS,
        {"model": "right", "runs": 4, "solved": 4, "scenarios": 25},
        {"model": "wrong", "runs": 4, "solved": 0, "scenarios": 25},
    )
    always, never = in_brief(RESULTS[0], both, RESULTS[2])[3:5]
    assert (always.value, never.value, never.attention) == ("100 % / 0 %", "0 % / 100 %", None)
    assert always.meaning.endswith("; 2 combinations of model and mode, each by itself")
    many = frame(
        SOLVED_RUNS,
        *({"model": str(n), "runs": 4, "solved": 4 * (n > 1), "scenarios": 25} for n in range(4)),
    )
    assert in_brief(RESULTS[0], many, RESULTS[2])[3].value == "0 % to 100 %"


def test_a_reward_over_few_is_a_sum_and_copies_are_told() -> None:
    few = frame(
        SUMMARY, {"all_trajectories": 3, "trajectories": 2, "copies": 1, "mean_reward": None, "reward_sum": 0.0}
    )
    rewarded, mean = in_brief(few, *RESULTS[1:])[:2]
    assert (mean.value, mean.label) == ("0 over 2 trajectories", "sum of rewards")
    assert rewarded.attention == "Records identical to another, counted once: 1 of 3."
