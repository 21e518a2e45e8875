"""Rewards in brief: what the trajectories earned, and whether they would again."""

from typing import Any

import polars as pl

from analysis.brief import Headline, is_much, only, total
from analysis.wording import ABSENT, count, decimal, interval, rate


def in_brief(summary: pl.DataFrame, solved_runs: pl.DataFrame, pass_k: pl.DataFrame) -> list[Headline]:
    """Say what the trajectories earned, and whether they would again.

    Args:
        summary: conforms to rewards.SUMMARY.
        solved_runs: conforms to rewards.SOLVED_RUNS.
        pass_k: conforms to rewards.PASS.

    Returns:
        Seven headlines, in reading order; none where no trajectory has a reward.
    """
    if summary.is_empty():
        return []
    all_ = only(summary)
    n = count(all_["trajectories"])
    capped = f"{count(all_['step_capped'])} of {n}"
    return [
        _rewarded(all_),
        Headline(
            decimal(all_["mean_reward"], 2),
            "mean reward",
            f"per trajectory; {interval(all_['mean_low'], all_['mean_high'], 2)}",
        ),
        Headline(
            rate(all_["solved"], all_["trajectories"]),
            "trajectories solved",
            f"{count(all_['solved'])} of {n} have a reward of 1",
        ),
        *_scenarios(solved_runs),
        _trials(pass_k),
        Headline(
            rate(all_["step_capped"], all_["trajectories"]),
            "trajectories stopped at the step limit",
            f"{capped}, by the runner",
            f"Trajectories with a reward that the runner stopped at its step limit: {capped}."
            if all_["step_capped"]
            else None,
        ),
    ]


def _rewarded(all_: dict[str, Any]) -> Headline:
    everything, n = all_["all_trajectories"], all_["trajectories"]
    return Headline(
        count(n),
        "trajectories with a reward",
        f"of {count(everything)}, over {count(all_['scenarios'], 'scenario')}",
        f"Trajectories without a reward, left out of everything below: {count(everything - n)} of {count(everything)}."
        if everything > n
        else None,
    )


def _scenarios(solved_runs: pl.DataFrame) -> list[Headline]:
    n = total(solved_runs, "scenarios")
    always = total(solved_runs, "scenarios", pl.col("solved") == pl.col("runs"))
    never = total(solved_runs, "scenarios", solved=0)
    return [
        Headline(
            rate(always, n),
            "scenarios solved every time",
            f"{count(always)} of {count(n)}, by each of their trajectories",
        ),
        Headline(
            rate(never, n),
            "scenarios never solved",
            f"{count(never)} of {count(n)}, by none of their trajectories",
            f"Scenarios that no trajectory solves: {count(never)} of {count(n)}." if is_much(never, n) else None,
        ),
    ]


def _trials(pass_k: pl.DataFrame) -> Headline:
    k, solved = pl.col("k"), pl.col("pass_all")
    deepest = pass_k.filter((k == k.max()) & (k > 1))
    chances = dict.fromkeys(decimal(end, 2) for end in deepest.select(low=solved.min(), high=solved.max()).row(0))
    several = f"{count(deepest.height, 'combination')} of model and mode, with " if deepest.height > 1 else ""
    return Headline(
        " to ".join(chances) if deepest.height else ABSENT,
        "chance that all trials are solved",
        f"pass^{deepest['k'][0]}, the chance that {deepest['k'][0]} trials are all solved; over {several}"
        f"{count(total(deepest, 'scenarios'), 'scenario')}"
        if deepest.height
        else "no scenario was tried twice in one mode by one model",
    )
