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
        _mean(all_),
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


def _mean(all_: dict[str, Any]) -> Headline:
    n = count(all_["trajectories"], "trajectory")
    if all_["mean_reward"] is None:
        return Headline(f"{decimal(all_['reward_sum'], 2)} over {n}", "sum of rewards", "too few for a mean")
    by_scenario = all_["mean_by_scenario"]
    each = "" if by_scenario is None else f"; {decimal(by_scenario, 2)} if every scenario counts once"
    ends = interval(all_["mean_low"], all_["mean_high"], 2)
    return Headline(decimal(all_["mean_reward"], 2), "mean reward", f"per trajectory, over {n}; {ends}{each}")


def _rewarded(all_: dict[str, Any]) -> Headline:
    everything, n, copies = all_["all_trajectories"], all_["trajectories"], all_["copies"]
    without = everything - copies - n
    attention = [
        f"Records identical to another, counted once: {count(copies)} of {count(everything)}." if copies else "",
        f"Trajectories without a reward, left out of everything below: {count(without)} of {count(everything)}."
        if without > 0
        else "",
    ]
    return Headline(
        count(n),
        "trajectories with a reward",
        f"of {count(everything)}, over {count(all_['scenarios'], 'scenario')}",
        " ".join(filter(None, attention)) or None,
    )


def _scenarios(solved_runs: pl.DataFrame) -> list[Headline]:
    """Each time and never, for each model and mode by itself: two models are no trials of one another."""
    series = solved_runs.partition_by("model", "traj_type", maintain_order=True)
    n, always, never = ([total(one, "scenarios", where) for one in series] for where in _EACH)
    several = f"; {count(len(series), 'combination')} of model and mode, each by itself" if len(series) > 1 else ""
    return [
        Headline(
            _several(always, n),
            "scenarios solved every time",
            f"{_counts(always, n)}, by each of their trajectories{several}",
        ),
        Headline(
            _several(never, n),
            "scenarios never solved",
            f"{_counts(never, n)}, by none of their trajectories{several}",
            f"Scenarios that no trajectory solves: {count(never[0])} of {count(n[0])}."
            if len(series) == 1 and is_much(never[0], n[0])
            else None,
        ),
    ]


_EACH = (pl.lit(True), pl.col("solved") == pl.col("runs"), pl.col("solved") == 0)
# More side by side say less than their range.
_SHOWN = 3


def _several(events: list[int], trials: list[int]) -> str:
    rates = [rate(one, of) for one, of in zip(events, trials, strict=True)]
    if len(rates) <= _SHOWN:
        return " / ".join(rates)
    least, most = (pick(zip(events, trials, strict=True), key=lambda pair: pair[0] / pair[1]) for pick in (min, max))
    return f"{rate(*least)} to {rate(*most)}"


def _counts(events: list[int], trials: list[int]) -> str:
    counts = [f"{count(one)} of {count(of)}" for one, of in zip(events, trials, strict=True)]
    return " / ".join(counts[:_SHOWN]) + (" / …" if len(counts) > _SHOWN else "")


def _trials(pass_k: pl.DataFrame) -> Headline:
    k, solved = pl.col("k"), pl.col("pass_all")
    deepest = pass_k.filter((k == k.max()) & (k > 1))
    chances = dict.fromkeys(decimal(end, 2) for end in deepest.select(low=solved.min(), high=solved.max()).row(0))
    few = ", too few for a chance" if deepest["pass_all"].null_count() else ""
    several = f"{count(deepest.height, 'combination')} of model and mode, with " if deepest.height > 1 else ""
    return Headline(
        " to ".join(chances) if deepest.height else ABSENT,
        "chance that all trials are solved",
        f"pass^{deepest['k'][0]}, the chance that {deepest['k'][0]} trials are all solved; over {several}"
        f"{count(total(deepest, 'scenarios'), 'scenario')}" + few
        if deepest.height
        else "fewer than nine in ten scenarios were tried twice in one mode by one model",
    )
