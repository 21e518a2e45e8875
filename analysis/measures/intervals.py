"""Intervals for what is counted over runs that are not independent: scenarios are the clusters, drawn or counted whole.

Runs of one scenario resemble each other, and calls of one run still more. A rate therefore has Wilson's interval on the
effective number of trials; means, differences and relative differences have the studentised bootstrap over scenarios.
Under FEWEST_CLUSTERS scenarios on a side nothing has an interval, and nothing is said to differ.

COVERAGE tells how often they hold the truth in simulations: 92.9 to 97.3 % of the time, and over 98 % where events
are rare and scenarios few. A nightly test measures it anew.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.schema import FEWEST_FOR_A_RATE

Array = NDArray[np.float64]
Function = Callable[[Array], Array]
_ENDS = pl.List(pl.Float64())

LEVEL = 0.95
DRAWS = 10_000
FEWEST_CLUSTERS = 10
# A ratio to something that may as well be 0 has no bounds: the right side must be three standard errors away from it.
CLEARLY_ABOVE_0 = 3.0
# From so many clusters on, sums are drawn from their normal limit: the cost of a draw no longer grows with the source.
_NORMAL_FROM = 1_000
# A batch of draws of this many counts takes 64 MB.
_CELLS = 8_000_000
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)

# Share of 1,000 simulated sources whose interval holds the truth, with 10, 20 and 50 scenarios: the nominal 95 % held.
COVERAGE: dict[tuple[str, str], tuple[float, float, float]] = {
    ("rate", "even"): (0.967, 0.959, 0.961),
    ("rate", "unequal"): (0.973, 0.929, 0.945),
    ("rate", "rare"): (0.981, 0.940, 0.940),
    ("mean", "even"): (0.959, 0.951, 0.941),
    ("mean", "skewed"): (0.953, 0.948, 0.955),
    ("mean", "unequal"): (0.945, 0.936, 0.953),
    ("difference", "even, apart"): (0.957, 0.948, 0.946),
    ("difference", "skewed, apart"): (0.962, 0.964, 0.955),
    ("difference", "unequal, apart"): (0.960, 0.961, 0.942),
    ("difference", "even, same scenarios"): (0.937, 0.948, 0.953),
    ("difference", "skewed, same scenarios"): (0.947, 0.940, 0.951),
    ("difference", "unequal, same scenarios"): (0.953, 0.957, 0.947),
    ("difference of rates", "even, apart"): (0.965, 0.964, 0.956),
    ("difference of rates", "unequal, apart"): (0.973, 0.950, 0.938),
    ("difference of rates", "rare, apart"): (0.988, 0.951, 0.933),
    ("relative difference", "even, apart"): (0.958, 0.949, 0.946),
    ("relative difference", "skewed, apart"): (0.959, 0.967, 0.952),
    ("relative difference", "unequal, apart"): (0.951, 0.957, 0.943),
    ("relative difference", "even, same scenarios"): (0.944, 0.948, 0.952),
    ("relative difference", "skewed, same scenarios"): (0.950, 0.945, 0.958),
    ("relative difference", "unequal, same scenarios"): (0.949, 0.957, 0.945),
}


class Interval(NamedTuple):
    """A value with the ends of its 95 % interval, which are None where the data do not bear one."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def excludes_0(self) -> bool:
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def clustered_rate(events: pl.Expr, trials: pl.Expr, name: str) -> dict[str, pl.Expr]:
    """A rate with its interval, to be aggregated over one row per cluster.

    Wilson's interval on n / deff. The design effect is the variance of the ratio over clusters, linearised, over the
    variance of as many independent trials, never under 1, and widened by the quantile of Student's t as Korn and
    Graubard do. Without an event, or with nothing but events, clusters are taken for the effective number of trials:
    how alike their trials are cannot be told.

    Sources: E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference; L. Kish (1965),
    Survey sampling; E. L. Korn and B. I. Graubard (1998), Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data.

    Args:
        events: events of a cluster.
        trials: trials of a cluster; clusters without one are not counted.
        name: of the rate.

    Returns:
        `<name>`, null over fewer than FEWEST_FOR_A_RATE trials; `<name>_low` and `<name>_high`, null over fewer than
        FEWEST_CLUSTERS clusters as well; `<name>_clusters`; `<name>_deff`, null where there is no interval.
    """
    e, t = events.cast(pl.Float64), trials.cast(pl.Float64)
    clusters, n, deff = (t > 0).sum(), t.sum(), design_effect(events, trials)
    bears_rate = n >= FEWEST_FOR_A_RATE
    bears_interval = bears_rate & (clusters >= FEWEST_CLUSTERS)
    rate, effective = e.sum() / n, n / deff
    return {
        name: pl.when(bears_rate).then(rate),
        f"{name}_low": pl.when(bears_interval).then(_wilson(rate, effective, -1)),
        f"{name}_high": pl.when(bears_interval).then(_wilson(rate, effective, 1)),
        f"{name}_clusters": clusters,
        f"{name}_deff": pl.when(bears_interval).then(deff),
    }


def design_effect(events: pl.Expr, trials: pl.Expr) -> pl.Expr:
    """How many trials say as much as one independent trial; aggregated over one row per cluster, null below two."""
    e, t = events.cast(pl.Float64), trials.cast(pl.Float64)
    n, k = t.sum(), (t > 0).sum().cast(pl.Float64)
    rate = e.sum() / n
    independent = rate * (1 - rate) / n
    # What leaving a cluster out changes, to first order: unequal clusters weigh as in the jackknife.
    clustered = (k - 1) / k * ((e - rate * t) / (1 - t / n)).pow(2).sum() / n.pow(2)
    plain = pl.when(independent > 0).then((clustered / independent).clip(lower_bound=1.0)).otherwise(n / k)
    # As many clusters of one size would weigh as evenly: unequal ones bear fewer degrees of freedom.
    freedom = (n.pow(2) / t.pow(2).sum() - 1).clip(lower_bound=1.0)
    return pl.when(k > 1).then(plain * (student(freedom) / _Z).pow(2))


def rate_difference(left: tuple[str, str, str], right: tuple[str, str, str], correlation: pl.Expr) -> list[pl.Expr]:
    """Ends of the interval of left - right from the intervals of two rates: low and high, null where one has none.

    Source: R. G. Newcombe (1998), Interval estimation for the difference between independent proportions, method 10,
    with the correlation of G. Y. Zou (2007), Toward using confidence intervals to compare correlations.

    Args:
        left: columns of the rate and of its ends.
        right: the same.
        correlation: of the two estimates; 0 for sides that share no scenario.
    """
    (p1, l1, u1), (p2, l2, u2) = ([pl.col(column) for column in side] for side in (left, right))

    def margin(one: pl.Expr, other: pl.Expr) -> pl.Expr:
        return (one.pow(2) + other.pow(2) - 2 * correlation * one * other).clip(lower_bound=0.0).sqrt()

    return [p1 - p2 - margin(p1 - l1, u2 - p2), p1 - p2 + margin(u1 - p1, p2 - l2)]


def difference_of_rates(clusters: Array) -> Interval:
    """Left - right of two rates over clusters of (left events, left trials, right events, right trials).

    From the intervals of the rates, which hold for rare events as well, and the correlation of the two over clusters.
    """
    frame = pl.DataFrame(clusters, schema=["le", "lt", "re", "rt"])
    le, lt, re, rt = (pl.col(name) for name in frame.columns)
    one, other = le - le.sum() / lt.sum() * lt, re - re.sum() / rt.sum() * rt
    spread = (one.pow(2).sum() * other.pow(2).sum()).sqrt()
    correlation = pl.when(spread > 0).then((one * other).sum() / spread).otherwise(0.0)
    rates = frame.select(**clustered_rate(le, lt, "l"), **clustered_rate(re, rt, "r"), correlation=correlation)
    low, high = rate_difference(("l", "l_low", "l_high"), ("r", "r_low", "r_high"), pl.col("correlation"))
    value = clusters[:, 0].sum() / clusters[:, 1].sum() - clusters[:, 2].sum() / clusters[:, 3].sum()
    return Interval(float(value), *rates.select(low=low, high=high).row(0))


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
        ends = pl.DataFrame({"rate": [value], "n": [n]}).select(
            *(_wilson(pl.col("rate"), pl.col("n"), sign).alias(str(sign)) for sign in (-1, 1))
        )
        return Interval(value, *ends.row(0))
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


# Terms in 1 / (degrees of freedom) of the quantile of Student's t that stands for _Z; within 0.001 from 9 degrees on.
# Source: M. Abramowitz and I. A. Stegun (1964), Handbook of mathematical functions, 26.7.5.
_STUDENT = (
    (_Z**3 + _Z) / 4,
    (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96,
    (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384,
    (79 * _Z**9 + 776 * _Z**7 + 1482 * _Z**5 - 1920 * _Z**3 - 945 * _Z) / 92160,
)


@overload
def student(freedom: float) -> float: ...
@overload
def student(freedom: pl.Expr) -> pl.Expr: ...
def student(freedom: float | pl.Expr) -> float | pl.Expr:
    """The 97.5 % quantile of Student's t."""
    return _Z + sum((term / freedom**power for power, term in enumerate(_STUDENT[1:], start=2)), _STUDENT[0] / freedom)


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


def _wilson(rate: pl.Expr, trials: pl.Expr, sign: int) -> pl.Expr:
    centre = rate + _Z**2 / (2 * trials)
    half = _Z * (rate * (1 - rate) / trials + _Z**2 / (4 * trials.pow(2))).sqrt()
    return ((centre + sign * half) / (1 + _Z**2 / trials)).clip(0.0, 1.0)


def _normal_of_student(t: float, freedom: float) -> float:
    """The normal quantile with the tail of Student's t. Source: D. L. Wallace (1959), Bounds on normal approximations
    to Student's and the chi-square distributions."""
    return float(np.sqrt(freedom * np.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3))
