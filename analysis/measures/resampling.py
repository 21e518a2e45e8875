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


def difference_interval(left: tuple[pl.Expr, pl.Expr], right: tuple[pl.Expr, pl.Expr], seed: int) -> pl.Expr:
    """95 % interval of left events / left trials - right events / right trials, one of each a scenario.

    A scenario is drawn with both its sides; one that a side lacks has zeros there. A list [low, high], null ends below
    two scenarios or where no draw has both sides.
    """
    sums = [e.cast(pl.Float64).alias(str(place)) for place, e in enumerate((*left, *right))]
    return pl.struct(sums).map_batches(
        lambda scenarios: pl.Series([_difference(scenarios, seed)], dtype=pl.List(pl.Float64)),
        return_dtype=pl.List(pl.Float64),
        returns_scalar=True,
    )


def _difference(scenarios: pl.Series, seed: int) -> list[float | None]:
    if len(scenarios) < 2:
        return [None, None]
    drawn = _draw(scenarios, seed)
    drawn = drawn[(drawn[:, 1] > 0) & (drawn[:, 3] > 0)]
    if not len(drawn):
        return [None, None]
    differences = drawn[:, 0] / drawn[:, 1] - drawn[:, 2] / drawn[:, 3]
    tail = (1 - LEVEL) / 2
    return [float(end) for end in np.quantile(differences, [tail, 1 - tail])]


def _draw(scenarios: pl.Series, seed: int) -> NDArray[Any]:
    """Column sums of each resample: the distinct rows, times how often each is drawn."""
    sums = scenarios.struct.unnest()
    distinct = sums.group_by(sums.columns).agg(count=pl.len()).sort(sums.columns)
    shares: NDArray[Any] = distinct.get_column("count").to_numpy() / len(scenarios)
    counts = np.random.default_rng(seed).multinomial(len(scenarios), shares, size=RESAMPLES)
    product: NDArray[Any] = counts @ distinct.select(sums.columns).to_numpy()
    return product


def _interval(scenarios: pl.Series, seed: int) -> list[float | None]:
    if len(scenarios) < 2:
        return [None, None]
    drawn = _draw(scenarios, seed)
    ratios = drawn[:, 0] / drawn[:, 1]
    tail = (1 - LEVEL) / 2
    return [float(end) for end in np.quantile(ratios, [tail, 1 - tail])]
