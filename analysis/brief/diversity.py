"""Diversity in brief: tools in use and how many that comes to, those still unseen, calls at once, calls in a chain."""

from typing import Any

import polars as pl

from analysis.brief import Headline, sums
from analysis.wording import count, decimal, percent, rate


def in_brief(hill: pl.DataFrame, parallel: pl.DataFrame, depths: pl.DataFrame) -> list[Headline]:
    """Say how diverse the tools in use are, how many more there may be, and how calls hang together.

    Args:
        hill: conforms to diversity.HILL.
        parallel: conforms to diversity.PARALLEL.
        depths: conforms to diversity.DEPTHS.

    Returns:
        Up to four headlines; none without a call.
    """
    rows = {row["unit"]: row for row in hill.iter_rows(named=True)}
    if "tools" not in rows:
        return []
    at_once, calls = sums(parallel, "parallel_calls", "calls")
    return [
        _used(rows["tools"]),
        _unseen(rows["tools"]),
        Headline(
            rate(at_once, calls),
            "calls made at once with another",
            f"{count(at_once)} of {count(calls, 'call')} stand beside another in one message",
        ),
        *_depth(depths),
    ]


def _used(tools: dict[str, Any]) -> Headline:
    offered = f" of {count(tools['offered'])} on offer" if tools["offered"] else ""
    return Headline(
        decimal(tools["hill_1"]),
        "tools, if all were used equally often",
        f"{count(tools['hill_0'])}{offered} are used, in {count(tools['uses'], 'call')}; so many used equally often "
        "would be as diverse (Hill number of order 1)",
    )


def _unseen(tools: dict[str, Any]) -> Headline:
    more = tools["chao1"] - tools["hill_0"]
    return Headline(
        decimal(more),
        "more tools that more such data would show, at least",
        f"Chao's lower bound, from {count(tools['singletons'])} used once and {count(tools['doubletons'])} used twice; "
        f"the next call is to a tool seen before with a chance of {percent(tools['coverage'])} (Good and Turing)",
    )


def _depth(depths: pl.DataFrame) -> list[Headline]:
    n = int(depths["trajectories"].sum())
    if not n:
        return []
    depth = (depths["mean_depth"] * depths["trajectories"]).sum() / n
    calls = (depths["calls"] * depths["trajectories"]).sum() / n
    return [
        Headline(
            decimal(depth, 2),
            "calls in the longest chain, on average",
            f"of {decimal(calls)} calls of a trajectory: each uses an id from the result of the one before; n = "
            f"{count(n, 'trajectory')}",
        )
    ]
