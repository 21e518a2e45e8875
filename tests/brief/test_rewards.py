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
            "mean_low": 0.31, "mean_high": 0.52, "solved": 84, "step_capped": 3,
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
        Headline("0.42", "mean reward", "per trajectory; 95 % interval 0.31 to 0.52"),
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
        (1, "–", "no scenario was tried twice in one mode by one model"),
    ],
)
def test_one_series_of_trials_is_one_number_and_single_trials_none(k: int, value: str, meaning: str) -> None:
    one = frame(PASS, {"model": "m", "k": k, "pass_all": 0.2, "scenarios": 50})
    assert in_brief(*RESULTS[:2], one)[5] == Headline(value, "chance that all trials are solved", meaning)
