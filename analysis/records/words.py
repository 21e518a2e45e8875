"""The dialects in words: what `tables --dialects` prints, and the README's table of them."""

from analysis.records.dialects import DIALECTS
from analysis.records.dialects.dialect import Dialect


def dialects() -> str:
    """Each dialect by its names: whose records these are, how one is known, and one of them on a line."""
    return "\n".join(map(_lines, DIALECTS))


def table() -> str:
    """The dialects as a Markdown table."""
    rows = [f"| {d.origin} | {d.mark} | `{'`, `'.join(d.names)}` |" for d in DIALECTS]
    return "\n".join(["| records of | known by | dialect |", "|---|---|---|", *rows]) + "\n"


def _lines(dialect: Dialect) -> str:
    return f"{', '.join(dialect.names)}: {dialect.origin}\n  known by {dialect.mark}\n  {dialect.example}\n"
