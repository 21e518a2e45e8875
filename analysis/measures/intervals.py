"""Intervals for what is counted over runs that are not independent: scenarios are the clusters, counted whole.

Runs of one scenario resemble each other, and calls of one run still more. A rate therefore has Wilson's interval on the
effective number of trials; means, differences and relative differences have that of `bootstrap`.
Under FEWEST_CLUSTERS scenarios on a side nothing has an interval, and nothing is said to differ.

How often they hold the truth in simulations stands on the method page; a nightly test measures it anew.
"""

from statistics import NormalDist
from typing import NamedTuple, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.measures.expressions import wilson
from analysis.schema import FEWEST_FOR_A_RATE

Array = NDArray[np.float64]

LEVEL = 0.95
FEWEST_CLUSTERS = 10
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


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
        f"{name}_low": pl.when(bears_interval).then(wilson(rate * effective, effective, upper=False)),
        f"{name}_high": pl.when(bears_interval).then(wilson(rate * effective, effective, upper=True)),
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
