"""Worlds whose truth is known, to see how often intervals hold it: skewed, unequal and rare ones.

`python -m tests.measures.simulation` writes how often that is to the file that the method page shows (half an hour).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.measures import bootstrap
from analysis.measures.bootstrap import difference, mean, relative_difference
from analysis.measures.intervals import Array, Interval, clustered_rate, rate_difference
from analysis.reference import method

Draw = Callable[[int, np.random.Generator], Array]
Estimate = Callable[[list[Array]], list[Interval | None]]
_LARGE = 200_000
# What the method page tells of: simulated sources of a kind, and draws of the bootstrap of each.
RUNS, DRAWS = 1_000, 2_000


class World(NamedTuple):
    """Clusters of (events, trials), or of both sides', and what is estimated of them."""

    estimate: str
    name: str
    draw: Draw
    clusters: int

    def truth(self) -> float:
        totals = self.draw(_LARGE, np.random.default_rng(99)).sum(axis=0)
        return value(self.estimate, totals)


def value(estimate: str, totals: Array) -> float:
    left = totals[0] / totals[1]
    if estimate in ("rate", "mean"):
        return float(left)
    right = totals[2] / totals[3]
    return float(left / right - 1 if estimate == "relative difference" else left - right)


def coverage(world: World, runs: int) -> float:
    """Share of runs whose interval holds the truth; a run without an interval is not counted."""
    truth, generator = world.truth(), np.random.default_rng(7)
    drawn = [world.draw(world.clusters, generator) for _ in range(runs)]
    intervals = ESTIMATES[world.estimate](drawn)
    ends = [found[1:] for found in intervals if found is not None and found.low is not None]
    return sum(low <= truth <= high for low, high in ends) / len(ends)  # type: ignore[operator]


def _rates(drawn: list[Array], events: int = 0) -> pl.DataFrame:
    """The rate of every run with its interval, in one query."""
    runs = np.repeat(np.arange(len(drawn)), [len(clusters) for clusters in drawn])
    columns = np.concatenate(drawn)[:, events : events + 2]
    frame = pl.DataFrame(columns, schema=["events", "trials"]).with_columns(run=pl.Series(runs))
    return frame.group_by("run", maintain_order=True).agg(**clustered_rate(pl.col("events"), pl.col("trials"), "rate"))


def _rate(drawn: list[Array]) -> list[Interval | None]:
    return [Interval(*row) for row in _rates(drawn).select("rate", "rate_low", "rate_high").rows()]


def _rate_difference(drawn: list[Array]) -> list[Interval | None]:
    sides = [_rates(drawn, events).select(pl.all().name.prefix(side)) for side, events in (("l_", 0), ("r_", 2))]
    low, high = rate_difference(
        ("l_rate", "l_rate_low", "l_rate_high"), ("r_rate", "r_rate_low", "r_rate_high"), pl.lit(0.0)
    )
    both = pl.concat(sides, how="horizontal")
    return [Interval(*row) for row in both.select(pl.col("l_rate") - pl.col("r_rate"), low=low, high=high).rows()]


def _one_by_one(estimate: Callable[[Array, int], Interval | None]) -> Estimate:
    return lambda drawn: [estimate(clusters, seed) for seed, clusters in enumerate(drawn)]


ESTIMATES: dict[str, Estimate] = {
    "rate": _rate,
    "mean": _one_by_one(mean),
    "difference": _one_by_one(difference),
    "relative difference": _one_by_one(relative_difference),
    "difference of rates": _rate_difference,
}


def _even(clusters: int, generator: np.random.Generator) -> Array:
    """Four runs a scenario, scenarios and runs normal."""
    each = generator.normal(10, 2, clusters) * 4 + generator.normal(0, 4, clusters)
    return np.stack([each, np.full(clusters, 4.0)], axis=1)


def _skewed(clusters: int, generator: np.random.Generator) -> Array:
    """Four runs a scenario, as long as an exponential says."""
    each = 4 * generator.exponential(10, clusters) + generator.gamma(4, 5, clusters)
    return np.stack([each, np.full(clusters, 4.0)], axis=1)


def _unequal(clusters: int, generator: np.random.Generator) -> Array:
    """From one run a scenario to thirty, counts skewed as well."""
    runs = 1.0 + generator.geometric(0.15, clusters)
    return np.stack([generator.poisson(generator.gamma(4, 3, clusters) * runs).astype(float), runs], axis=1)


def _even_rate(clusters: int, generator: np.random.Generator) -> Array:
    """Four runs a scenario, 30 % solved, with an intraclass correlation of 0.3."""
    chance = generator.beta(0.7, 0.7 * 7 / 3, clusters)
    return np.stack([generator.binomial(4, chance).astype(float), np.full(clusters, 4.0)], axis=1)


def _unequal_rate(clusters: int, generator: np.random.Generator) -> Array:
    """8 % of calls fail, ten calls a scenario or fifty, with an intraclass correlation of 0.1."""
    calls = 1 + generator.geometric(0.1, clusters)
    return np.stack([generator.binomial(calls, generator.beta(0.72, 8.28, clusters)), calls], axis=1).astype(float)


def _rare_rate(clusters: int, generator: np.random.Generator) -> Array:
    """2 % of calls fail, twenty calls a scenario, with an intraclass correlation of 0.05."""
    events = generator.binomial(20, generator.beta(0.4, 19.6, clusters)).astype(float)
    return np.stack([events, np.full(clusters, 20.0)], axis=1)


def _apart(one: Draw) -> Draw:
    """Two sides that share no scenario."""

    def draw(clusters: int, generator: np.random.Generator) -> Array:
        left, right = one(clusters, generator), one(clusters, generator)
        return np.concatenate([np.hstack([left, 0 * left]), np.hstack([0 * right, right])])

    return draw


def _shared(one: Draw) -> Draw:
    """Two sides that play the same scenarios, the right one with an effort of its own on each."""

    def draw(clusters: int, generator: np.random.Generator) -> Array:
        left = one(clusters, generator)
        right = np.stack([left[:, 0] * generator.lognormal(0, 0.3, clusters), left[:, 1]], axis=1)
        return np.hstack([left, right])

    return draw


_MEANS: dict[str, Draw] = {"even": _even, "skewed": _skewed, "unequal": _unequal}
_RATES: dict[str, Draw] = {"even": _even_rate, "unequal": _unequal_rate, "rare": _rare_rate}
_CASES: dict[str, dict[str, Draw]] = {
    "rate": _RATES,
    "mean": _MEANS,
    "difference": {
        **{f"{name}, apart": _apart(draw) for name, draw in _MEANS.items()},
        **{f"{name}, same scenarios": _shared(draw) for name, draw in _MEANS.items()},
    },
    "difference of rates": {f"{name}, apart": _apart(draw) for name, draw in _RATES.items()},
}
_CASES["relative difference"] = _CASES["difference"]
CLUSTERS = (10, 20, 50)
WORLDS = [
    World(estimate, name, draw, clusters)
    for estimate, cases in _CASES.items()
    for name, draw in cases.items()
    for clusters in CLUSTERS
]


if __name__ == "__main__":
    bootstrap.DRAWS = DRAWS
    pl.DataFrame(
        [(world.estimate, world.name, world.clusters, coverage(world, RUNS)) for world in WORLDS],
        schema=method.INTERVAL_COVERAGE.schema,
        orient="row",
    ).write_csv(method.INTERVAL_COVERAGE_FILE, float_precision=3)
