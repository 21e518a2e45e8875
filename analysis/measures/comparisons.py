"""Many comparisons at once: which differ more than chance would make any, and whether a ranking is earned."""

from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.measures.intervals import LEVEL, Interval, student


class Ranking(NamedTuple):
    """What may be said of the order of several groups: all False where chance alone would do as much."""

    compared: int
    has_first: bool
    has_last: bool
    has_spread: bool


def ranking(groups: pl.DataFrame, name: str) -> Ranking:
    """Whether one group is above all others, one below all, and the highest above the lowest.

    Every two groups are compared by the interval of their difference (Newcombe's, from the interval of each), with
    Holm's procedure over all pairs. A sentence that says highest, lowest or "from … to" has to earn it here.

    Args:
        groups: one row per group, with `<name>`, `<name>_low`, `<name>_high` and `<name>_clusters`, as
            `intervals.clustered_rate` gives them.
        name: of what is ranked.

    Returns:
        How many groups have an interval, and what their order bears; a group without one leaves none first or last
        where its value, or that it has none, could be either.
    """
    ends = groups.select(name, f"{name}_low", f"{name}_high", f"{name}_clusters").rows()
    bearing = sorted((row for row in ends if row[1] is not None and row[2] is not None), key=lambda row: row[0])
    pairs = list(combinations(range(len(bearing)), 2))
    differs = dict(zip(pairs, holm([_pair_p_value(bearing[high], bearing[low]) for low, high in pairs]), strict=True))
    top, is_whole = len(bearing) - 1, len(bearing) == len(ends)
    return Ranking(
        len(bearing),
        has_first=top > 0 and is_whole and all(differs[low, top] for low in range(top)),
        has_last=top > 0 and is_whole and all(differs[0, high] for high in range(1, top + 1)),
        has_spread=top > 0 and differs[0, top],
    )


_Ends = tuple[float, float, float, int]


def _pair_p_value(higher: _Ends, lower: _Ends) -> float:
    (p1, l1, u1, k1), (p2, l2, u2, k2) = higher, lower
    low, high = np.hypot(p1 - l1, u2 - p2), np.hypot(u1 - p1, p2 - l2)
    return p_value(Interval(p1 - p2, float(p1 - p2 - low), float(p1 - p2 + high)), min(k1, k2))


def p_value(interval: Interval, clusters: int) -> float:
    """How probable so large a value is where the truth is 0: below 0.05 just where the interval excludes 0.

    The interval's end nearer to 0 stands for a quantile of Student's t; 1 where there is no interval.
    """
    value, low, high = interval
    if value is None or low is None or high is None or clusters < 2:
        return 1.0
    margin = value - low if value > 0 else high - value
    if value == 0 or margin <= 0:
        return 1.0 if value == 0 else 0.0
    freedom = clusters - 1
    return 2 * NormalDist().cdf(-_normal_of_student(student(freedom) * abs(value) / margin, freedom))


def holm(p_values: Sequence[float], level: float = 1 - LEVEL) -> list[bool]:
    """Which of many comparisons differ, with a chance of `level` that any is said to by mistake.

    Source: S. Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    differs = [False] * len(p_values)
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > level / (len(p_values) - place):
            break
        differs[index] = True
    return differs


def by_chance(comparisons: int, level: float = 1 - LEVEL) -> float:
    """How many of as many intervals exclude 0 by chance alone, where nothing differs."""
    return comparisons * level


def _normal_of_student(t: float, freedom: float) -> float:
    """The normal quantile with the tail of Student's t. Source: D. L. Wallace (1959), Bounds on normal approximations
    to Student's and the chi-square distributions."""
    return float(np.sqrt(freedom * np.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3))
