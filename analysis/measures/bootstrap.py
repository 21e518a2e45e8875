"""Intervals of means, differences and relative differences: the studentised bootstrap over scenarios, drawn whole."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.measures.expressions import wilson
from analysis.measures.intervals import FEWEST_CLUSTERS, LEVEL, Array, Interval, student

Function = Callable[[Array], Array]
_ENDS = pl.List(pl.Float64())

DRAWS = 10_000
# A ratio to something that may as well be 0 has no bounds: the right side must be three standard errors away from it.
CLEARLY_ABOVE_0 = 3.0
# From so many clusters on, sums are drawn from their normal limit: the cost of a draw no longer grows with the source.
_NORMAL_FROM = 1_000
# A batch of draws of this many counts takes 64 MB.
_CELLS = 8_000_000


def ratio_interval(events: pl.Expr, trials: pl.Expr, seed: int, *, is_share: bool = False) -> pl.Expr:
    """95 % interval of sum(events) / sum(trials), one row per cluster: a list [low, high], null ends where none is.

    Args:
        events: numerator of a cluster.
        trials: denominator of a cluster.
        seed: of the bootstrap.
        is_share: what is estimated lies within 0 and 1, and so do the ends.
    """
    estimate = share_mean if is_share else mean
    return pl.struct(events.cast(pl.Float64).alias("events"), trials.cast(pl.Float64).alias("trials")).map_batches(
        lambda clusters: pl.Series([list(estimate(clusters.struct.unnest().to_numpy(), seed)[1:])], dtype=_ENDS),
        return_dtype=_ENDS,
        returns_scalar=True,
    )


def mean_interval(values: pl.Expr, seed: int, *, is_share: bool = False) -> pl.Expr:
    """95 % interval of the mean of one value per cluster: a list [low, high], null ends as above."""
    return ratio_interval(values, pl.lit(1.0), seed, is_share=is_share)


def share_mean(clusters: Array, seed: int) -> Interval:
    """The same of shares: within 0 and 1, and with Wilson's interval over clusters where all are 0 or all are 1.

    That every scenario seen was solved does not say that every scenario would be.
    """
    value, low, high = mean(clusters, seed)
    if low is None or high is None:
        return Interval(value)
    if low == high and value in (0.0, 1.0):
        n = float(len(_tried(clusters)))
        ends = [wilson(pl.lit(value * n), pl.lit(n), upper=upper).alias(str(upper)) for upper in (False, True)]
        return Interval(value, *pl.select(ends).row(0))
    return Interval(value, max(low, 0.0), min(high, 1.0))


def mean(clusters: Array, seed: int) -> Interval:
    """sum(events) / sum(trials) over clusters of (events, trials), with its interval.

    A paired difference is the mean of the differences, one per scenario.
    """
    return _studentised(_tried(clusters), _ratio, _ratio_gradient, seed)


def difference(clusters: Array, seed: int) -> Interval:
    """Left - right of two ratios over clusters of (left events, left trials, right events, right trials).

    A cluster that a side lacks has zeros there. What both sides play alike cancels out, because a cluster is drawn
    with both.
    """
    return _studentised(_tried(clusters), _difference, _difference_gradient, seed)


def relative_difference(clusters: Array, seed: int) -> Interval | None:
    """(left - right) / right, both sides drawn together, on the logarithm's scale, where turning the sides round is
    turning the sign; None where the right side is not clearly above 0, or the left one is not above it."""
    clusters = _tried(clusters)
    totals = clusters.sum(axis=0)
    if not _is_clearly_positive(clusters[:, 2:]) or totals[1] <= 0 or totals[0] <= 0:
        return None
    told = _studentised(clusters, _log_ratio, _log_ratio_gradient, seed)
    low, high = (None if end is None else float(np.expm1(end)) for end in told[1:])
    return Interval(float(totals[0] / totals[1] / (totals[2] / totals[3]) - 1), low, high)


def drawn_sums(columns: Array, seed: int) -> Array:
    """Column sums of DRAWS resamples: one row per cluster in, one row per resample out; columns share a draw."""
    if len(columns) >= _NORMAL_FROM:
        return _normal_sums(columns, np.random.default_rng(seed))
    counts = _counts(len(columns), seed, DRAWS)
    batch = max(1, _CELLS // max(len(columns), 1))
    sums = [counts[start : start + batch].astype(np.float64) @ columns for start in range(0, DRAWS, batch)]
    return np.concatenate(sums)


@lru_cache(maxsize=2)
def _counts(clusters: int, seed: int, draws: int) -> NDArray[np.uint8]:
    """How often each cluster comes up in each draw; kept, because a page asks for many intervals of one source."""
    generator = np.random.default_rng(seed)
    picks = (np.bincount(generator.integers(0, clusters, clusters), minlength=clusters) for _ in range(draws))
    return np.stack([row.astype(np.uint8) for row in picks])


def _normal_sums(columns: Array, generator: np.random.Generator) -> Array:
    centred = columns - columns.mean(axis=0)
    covariance = centred.T @ centred
    sums: Array = generator.multivariate_normal(
        columns.sum(axis=0), covariance, size=DRAWS, check_valid="ignore", method="eigh"
    )
    return sums


def _studentised(clusters: Array, function: Function, gradient: Function, seed: int) -> Interval:
    """The value of a function of column sums that no common factor changes, with its studentised bootstrap interval.

    The standard error of a draw is linearised, that of the data the jackknife's, which leans to the safe side where
    clusters are unequal; no end is nearer than Student's t has it. Source: B. Efron and
    R. J. Tibshirani (1993), An introduction to the bootstrap, chapters 11 and 12.
    """
    k, m = clusters.shape
    if not (clusters.sum(axis=0)[1::2] > 0).all():
        return Interval(None)
    value = float(function(clusters.sum(axis=0)))
    if not _bears_interval(clusters):
        return Interval(value)
    error = _jackknife_error(clusters, function)
    if not np.isfinite(error):
        return Interval(value)
    if error == 0:
        return Interval(value, value, value)
    squares = (clusters[:, :, None] * clusters[:, None, :]).reshape(k, m * m)
    drawn = drawn_sums(np.concatenate([clusters, squares], axis=1), seed)
    with np.errstate(all="ignore"):
        slopes = gradient(drawn[:, :m])
        variance = np.einsum("bi,bij,bj->b", slopes, drawn[:, m:].reshape(-1, m, m), slopes) * k / (k - 1)
        scores = (function(drawn[:, :m]) - value) / np.sqrt(np.maximum(variance, 0.0))
    return Interval(value, *_ends(value, error, scores[~np.isnan(scores)], k))


def _ends(value: float, error: float, scores: Array, clusters: int) -> tuple[float | None, float | None]:
    if len(scores) < DRAWS // 2:
        return None, None
    tail = (1 - LEVEL) / 2
    upper, lower = np.quantile(scores, [1 - tail, tail], method="inverted_cdf")
    # Scenarios with long tails on both sides are drawn too seldom to show in the scores: Student's t is the least.
    least = student(clusters - 1)
    ends = value - max(upper, least) * error, value - min(lower, -least) * error
    return (float(ends[0]), float(ends[1])) if np.isfinite(ends).all() else (None, None)


def _jackknife_error(clusters: Array, function: Function) -> float:
    with np.errstate(all="ignore"):
        without = function(clusters.sum(axis=0) - clusters)
    k = len(without)
    return (
        float(np.sqrt((k - 1) / k * ((without - without.mean()) ** 2).sum())) if np.isfinite(without).all() else np.nan
    )


def _tried(clusters: Array) -> Array:
    """The clusters with a trial on any side, in an order of their own: the draws hang on that of no row and no side.

    Sorted by what both sides have together, so that turning them round turns the intervals round.
    """
    tried: Array = clusters[(clusters[:, 1::2] > 0).any(axis=1)]
    left, right = tried[:, :2], tried[:, -2:]
    ordered: Array = tried[np.lexsort(np.hstack([tried, np.maximum(left, right), left + right]).T)]
    return ordered


def _bears_interval(clusters: Array) -> bool:
    return bool(((clusters[:, 1::2] > 0).sum(axis=0) >= FEWEST_CLUSTERS).all())


def _is_clearly_positive(clusters: Array) -> bool:
    tried = _tried(clusters)
    if len(tried) < FEWEST_CLUSTERS:
        return False
    value, error = float(_ratio(tried.sum(axis=0))), _jackknife_error(tried, _ratio)
    return bool(value > 0 and value >= CLEARLY_ABOVE_0 * error)


def _ratio(sums: Array) -> Array:
    ratio: Array = sums[..., 0] / sums[..., 1]
    return ratio


def _ratio_gradient(sums: Array) -> Array:
    events, trials = sums[..., 0], sums[..., 1]
    return np.stack([1 / trials, -events / trials**2], axis=-1)


def _difference(sums: Array) -> Array:
    return _ratio(sums[..., :2]) - _ratio(sums[..., 2:])


def _difference_gradient(sums: Array) -> Array:
    return np.concatenate([_ratio_gradient(sums[..., :2]), -_ratio_gradient(sums[..., 2:])], axis=-1)


def _log_ratio(sums: Array) -> Array:
    ratio: Array = np.log(_ratio(sums[..., :2])) - np.log(_ratio(sums[..., 2:]))
    return ratio


def _log_ratio_gradient(sums: Array) -> Array:
    return np.stack([1 / sums[..., 0], -1 / sums[..., 1], -1 / sums[..., 2], 1 / sums[..., 3]], axis=-1)
