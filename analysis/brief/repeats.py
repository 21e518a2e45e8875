"""Repeats in brief: how many calls repeat an earlier one, and how many trajectories loop."""

import polars as pl

from analysis.brief import Headline, sums
from analysis.wording import count, rate


def in_brief(shares: pl.DataFrame, looping: pl.DataFrame) -> list[Headline]:
    """Say how many calls repeat an earlier one, and how many trajectories loop.

    Args:
        shares: conforms to repeats.SHARES.
        looping: conforms to repeats.LOOPING.

    Returns:
        Two headlines.
    """
    calls, repeats, idle = sums(shares, "calls", "repeats", "idle_repeats")
    loop, calling = sums(looping.filter(period=0), "trajectories", "mode_trajectories")
    return [
        Headline(
            rate(repeats, calls),
            "calls that repeat an earlier one",
            f"{count(repeats)} of {count(calls, 'call')} that name a tool; {count(idle)} with no changing call in "
            "between",
        ),
        Headline(
            rate(loop, calling),
            "trajectories that loop",
            f"{count(loop)} of {count(calling)} with a call repeat a block of calls three times or more",
            f"Trajectories that make the same calls three times in a row or more: {count(loop)} of {count(calling)}."
            if loop
            else None,
        ),
    ]
