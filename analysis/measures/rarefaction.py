"""The entropy that a draw of so many transitions is expected to have: more of them read higher than fewer do."""

from math import lgamma

import numpy as np
import polars as pl
from numpy.typing import NDArray


def bits(columns: list[str], size: str) -> pl.Expr:
    """Entropy that a draw of `size` transitions is expected to have, over what `columns` tell apart."""
    return pl.struct(*columns, "transitions", pl.col(size).alias("size")).map_batches(
        lambda pairs: pl.Series([_expected_bits(pairs.struct.unnest(), columns)]),
        return_dtype=pl.Float64(),
        returns_scalar=True,
    )


def _expected_bits(pairs: pl.DataFrame, columns: list[str]) -> float:
    """Source: E. P. Smith, P. M. Stewart and J. Cairns (1985), Similarities between rarefaction methods."""
    counts = pairs.group_by(columns).agg(pl.col("transitions").sum()).get_column("transitions")
    if not len(counts):
        return 0.0
    total, size = int(counts.sum()), int(pairs["size"][0])
    if size >= total:
        shares = np.sort(counts.to_numpy()) / total
        return float(-(shares * np.log2(shares)).sum())
    distinct = counts.value_counts().sort("transitions")
    weighed = [times * _expected_term(count, total, size) for count, times in distinct.rows()]
    return float(np.log2(size) - sum(weighed) / size)


def _expected_term(count: int, total: int, size: int) -> float:
    """The mean of x log2 x for how often one of `count` in `total` comes up in a draw of `size`: hypergeometric."""
    x = np.arange(max(1, count + size - total), min(count, size) + 1)
    chances = np.exp(_choose(count, x) + _choose(total - count, size - x) - _choose(total, np.array([size])))
    return float((chances * x * np.log2(x)).sum())


def _choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    """The logarithm of a binomial coefficient."""
    return np.array([lgamma(n + 1) - lgamma(int(i) + 1) - lgamma(n - int(i) + 1) for i in k])
