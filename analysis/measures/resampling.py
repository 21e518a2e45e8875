"""Intervals for means over scenarios: the percentile bootstrap, drawn by counts.

Runs of one scenario are not independent, so scenarios are drawn whole. Counts take few distinct values: drawing how
often each distinct value comes up (a multinomial) is the same bootstrap as drawing scenarios one by one, and does not
grow with their number. SciPy's `bootstrap` draws one by one; a test holds the two together.
"""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

RESAMPLES = 2_000
LEVEL = 0.95


def mean_interval(values: pl.Expr, seed: int) -> pl.Expr:
    """95 % interval of the mean of one value a scenario: a list [low, high], with null ends below two scenarios."""
    return ratio_interval(values, pl.lit(1.0), seed)


def ratio_interval(events: pl.Expr, trials: pl.Expr, seed: int) -> pl.Expr:
    """95 % interval of sum(events) / sum(trials), one of each a scenario; a list [low, high], null ends as above."""
    return pl.struct(events.cast(pl.Float64).alias("events"), trials.cast(pl.Float64).alias("trials")).map_batches(
        lambda scenarios: pl.Series([_interval(scenarios, seed)], dtype=pl.List(pl.Float64)),
        return_dtype=pl.List(pl.Float64),
        returns_scalar=True,
    )


def _interval(scenarios: pl.Series, seed: int) -> list[float | None]:
    n = len(scenarios)
    if n < 2:
        return [None, None]
    distinct = scenarios.struct.unnest().group_by("events", "trials").agg(count=pl.len()).sort("events", "trials")
    pairs: NDArray[Any] = distinct.select("events", "trials").to_numpy()
    shares: NDArray[Any] = distinct.get_column("count").to_numpy() / n
    drawn = np.random.default_rng(seed).multinomial(n, shares, size=RESAMPLES) @ pairs
    ratios = drawn[:, 0] / drawn[:, 1]
    tail = (1 - LEVEL) / 2
    return [float(end) for end in np.quantile(ratios, [tail, 1 - tail])]
