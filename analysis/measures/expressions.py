"""Recurring ideas, each with one name: rates with their denominators, natural order, intervals."""

import polars as pl


def error_rate() -> pl.Expr:
    """Errors over (ok + errors); unknown outcomes stand apart. Null where nothing could be judged."""
    errors = (pl.col("outcome") == "error").sum()
    judged = (pl.col("outcome") != "unknown").sum()
    return pl.when(judged > 0).then(errors / judged)


def natural_order(column: str) -> list[pl.Expr]:
    """Sort keys that put env_2 before env_10: the text before the first number, the number, then the whole."""
    text = pl.col(column)
    return [
        text.str.extract(r"^(\D*)"),
        text.str.extract(r"(\d+)").cast(pl.UInt64, strict=False).fill_null(0),
        text,
    ]


def wilson(events: pl.Expr, trials: pl.Expr, *, upper: bool, z: float = 1.959963984540054) -> pl.Expr:
    """One end of the 95 % Wilson score interval of a rate; null where there were no trials.

    The closed form is vectorised here because SciPy's `binomtest(...).proportion_ci(method="wilson")` takes one rate at
    a time; a test holds the two equal.
    """
    n = trials.cast(pl.Float64)
    rate = events.cast(pl.Float64) / n
    centre = rate + z * z / (2 * n)
    half = z * (rate * (1 - rate) / n + z * z / (4 * n * n)).sqrt()
    bound = (centre + half if upper else centre - half) / (1 + z * z / n)
    return pl.when(n > 0).then(bound.clip(0.0, 1.0))
