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
# A batch of draws of this many counts takes 64 MB.
_CELLS = 8_000_000


def mean_interval(values: pl.Expr, seed: int) -> pl.Expr:
    """95 % interval of the mean of one value a scenario: a list [low, high], with null ends below two scenarios.

    The percentile bootstrap over scenarios, 2,000 resamples, each scenario with all its runs. Source: B. Efron and
    R. J. Tibshirani (1993), An introduction to the bootstrap, chapter 13.
    """
    return ratio_interval(values, pl.lit(1.0), seed)


def ratio_interval(events: pl.Expr, trials: pl.Expr, seed: int) -> pl.Expr:
    """95 % interval of sum(events) / sum(trials), one of each a scenario; a list [low, high], null ends as above."""
    return pl.struct(events.cast(pl.Float64).alias("events"), trials.cast(pl.Float64).alias("trials")).map_batches(
        lambda scenarios: pl.Series([_interval(scenarios, seed)], dtype=pl.List(pl.Float64)),
        return_dtype=pl.List(pl.Float64),
        returns_scalar=True,
    )


def resampled_sums(scenarios: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Column sums of each resample, for many columns at once: one row a scenario in, one row a resample out.

    Scenarios are drawn one by one here: rows of many columns hardly ever repeat, and all columns share a draw.
    """
    n = len(scenarios)
    generator = np.random.default_rng(seed)
    # Draws are made and multiplied in batches: the whole matrix of counts would take gigabytes for a large source.
    batch = max(1, _CELLS // max(n, 1))
    sums = [np.empty((0, scenarios.shape[1]))]
    for start in range(0, RESAMPLES, batch):
        size = min(batch, RESAMPLES - start)
        picks = generator.integers(0, n, size=(size, n)) + np.arange(size)[:, None] * n
        counts = np.bincount(picks.ravel(), minlength=size * n).reshape(size, n)
        sums.append(counts.astype(np.float64) @ scenarios)
    return np.concatenate(sums)


def percentile_ends(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """The ends of the 95 % interval over resamples; what a resample could not tell (nan) is left out."""
    told = values[np.isfinite(values)]
    if not len(told):
        return None, None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(told, [tail, 1 - tail])
    return float(low), float(high)


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
