"""Natural order: env_2 before env_10, for texts in Python and for columns in a query."""

import re
from typing import Any

import polars as pl

_DIGITS = re.compile(r"([0-9]+)")
# Of a number in a column: longer ones sort as texts.
WIDTH = 24


def natural_key(text: str) -> tuple[list[Any], str]:
    """A sort key; of texts that differ in leading zeros alone, the text decides.

    >>> sorted(["part-10", "part-2", "part-02", "part"], key=natural_key)
    ['part', 'part-02', 'part-2', 'part-10']
    """
    # Words and numbers take turns, so that like is compared with like. A number is told by its length first: `int`
    # refuses one of 5,000 digits.
    parts = _DIGITS.split(text)
    parts[1::2] = [(len(number := digits.lstrip("0")), number) for digits in parts[1::2]]
    return parts, text


def natural_order(column: str) -> list[pl.Expr]:
    """Three sort keys of a column: the text before the first number, the text with its numbers padded, the text."""
    text = pl.col(column)
    part = pl.element()
    padded = pl.when(part.str.contains("^[0-9]")).then(part.str.zfill(WIDTH)).otherwise(part)
    return [
        text.str.extract("^([^0-9]*)"),
        text.str.extract_all("[0-9]+|[^0-9]+").list.eval(padded).list.join(""),
        text,
    ]
