"""Recurring ideas, each with one name: rates with their denominators, intervals."""

import polars as pl

from analysis.schema import FEWEST_FOR_A_RATE


def wilson(events: pl.Expr, trials: pl.Expr, *, upper: bool, z: float = 1.959963984540054) -> pl.Expr:
    """One end of the 95 % Wilson score interval of a rate; null where there were no trials.

    Source: E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference. The closed form
    is vectorised here because SciPy's `binomtest(...).proportion_ci(method="wilson")` takes one rate at a time; a test
    holds the two equal.
    """
    n = trials.cast(pl.Float64)
    rate = events.cast(pl.Float64) / n
    centre = rate + z * z / (2 * n)
    half = z * (rate * (1 - rate) / n + z * z / (4 * n * n)).sqrt()
    bound = (centre + half if upper else centre - half) / (1 + z * z / n)
    # Of none or all, rounding would leave a hair between the end and the rate.
    return pl.when(n > 0).then(pl.when(rate == float(upper)).then(rate).otherwise(bound.clip(0.0, 1.0)))


def scenario() -> pl.Expr:
    """The scenario a trajectory plays: environment and task together, or itself where the source names no task."""
    return pl.coalesce(
        pl.concat_str("env_id", "task_id", separator="\x1f", ignore_nulls=False), "task_id", "trajectory_id"
    )


def gini(counts: pl.Expr) -> pl.Expr:
    """Gini coefficient of how a total is spread over its holders, those with nothing included; null without a total.

    0 when all hold the same; (n - 1) / n when one of n holds everything. The mean over the Lorenz curve's steps is
    exact for counts, so there is nothing to integrate. Source: M. O. Lorenz (1905), Methods of measuring the
    concentration of wealth; C. Gini (1912), Variabilità e mutabilità.
    """
    n, total = counts.len(), counts.sum().cast(pl.Float64)
    steps = counts.cast(pl.Float64).sort().cum_sum().sum()
    return pl.when(total > 0).then((n + 1 - 2 * steps / total) / n)


def effective_number(counts: pl.Expr) -> pl.Expr:
    """exp(H): as many equal holders would be spread as evenly; null without a total.

    Source: M. O. Hill (1973), Diversity and evenness: a unifying notation and its consequences; his N1.
    """
    held = counts.filter(counts > 0).cast(pl.Float64)
    return pl.when(counts.sum() > 0).then(held.entropy(normalize=True).exp())


def normalised_entropy(counts: pl.Expr) -> pl.Expr:
    """H / ln n over all holders, those with nothing included; 1 when all hold the same, null for fewer than two.

    Source: E. C. Pielou (1966), The measurement of diversity in different types of biological collections.
    """
    held = counts.filter(counts > 0).cast(pl.Float64)
    n = counts.len()
    return pl.when((n > 1) & (counts.sum() > 0)).then(held.entropy(normalize=True) / n.cast(pl.Float64).log())


def top_total(counts: pl.Expr, share: float) -> pl.Expr:
    """What the largest `share` of the holders (rounded up, so at least one) hold together."""
    return counts.sort(descending=True).head((counts.len() * share).ceil().cast(pl.UInt32)).sum()


def share_of(events: pl.Expr, trials: pl.Expr) -> pl.Expr:
    """Events over trials; null over fewer than FEWEST_FOR_A_RATE trials: there the counts speak."""
    return pl.when(trials >= FEWEST_FOR_A_RATE).then(events / trials)


def quantile(column: str, level: float) -> pl.Expr:
    """A quantile by linear interpolation: the definition behind the publisher's and others' published percentiles.

    Source: R. J. Hyndman and Y. Fan (1996), Sample quantiles in statistical packages; their definition 7.
    """
    return pl.col(column).quantile(level, interpolation="linear")


def at_most(column: str, level: float) -> pl.Expr:
    """The smallest value that a share `level` of all values do not exceed: what "nine in ten take at most" says.

    Source: R. J. Hyndman and Y. Fan (1996), Sample quantiles in statistical packages; their definition 1.
    """
    # A hair below, so that 0.9 of 10 values is the ninth however it is rounded.
    place = (pl.col(column).count() * level - 1e-9).ceil().cast(pl.UInt32).clip(lower_bound=1) - 1
    return pl.col(column).sort().get(place, null_on_oob=True)


# A run of fewer has no tenths: its first and last are as good as all of it.
FEWEST_FOR_TENTHS = 10


def tenth(place: pl.Expr, n: pl.Expr) -> pl.Expr:
    """The tenth, from 1, that holds the midpoint (k - 1/2) / n of the k-th of n."""
    return ((2 * place.cast(pl.Int64) - 1) * 5 // n.cast(pl.Int64)).clip(0, 9) + 1


def rated(events: str, trials: str, name: str) -> dict[str, pl.Expr]:
    """`<name>`, `<name>_low`, `<name>_high`: events over trials with its 95 % Wilson interval.

    All three are null over fewer than FEWEST_FOR_A_RATE trials: there the counts speak.
    """
    n, of = pl.col(events), pl.col(trials)
    known = of >= FEWEST_FOR_A_RATE
    return {
        name: pl.when(known).then(n / of),
        f"{name}_low": pl.when(known).then(wilson(n, of, upper=False)),
        f"{name}_high": pl.when(known).then(wilson(n, of, upper=True)),
    }


def counted_quantile(value: str, count: str, level: float) -> pl.Expr:
    """The same quantile of values that are already counted: rows sorted by `value`, each standing for `count` of them.

    Lengths repeat: counting them first sorts thousands of rows where `quantile` would sort millions.
    """
    place = (pl.col(count).sum() - 1) * level
    reached = pl.col(count).cum_sum()
    below, above = (
        pl.col(value).filter(reached > end).first().cast(pl.Float64) for end in (place.floor(), place.ceil())
    )
    return below + (above - below) * (place - place.floor())
