"""What a page says first: of the small results that its figures are drawn from, the numbers a reader takes away.

One module a question. `in_brief` takes the collected results of the measures and returns headlines, by plain f-strings
over a row; every number in them is spelled by `wording`. Attention is asked for by count, not by judgement.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import polars as pl
from polars.selectors import integer

# From this share on a breach says something about the source, and below it about a few records: their page lists them.
MUCH = 0.05
# With more unknown results than this an error rate tells of the rest alone.
MUCH_UNKNOWN = 0.2


@dataclass(frozen=True)
class Headline:
    """One number a reader takes away, as text: its name, its definition with the denominator, what needs attention."""

    value: str
    label: str
    meaning: str
    attention: str | None = None


def only(frame: pl.DataFrame) -> dict[str, Any]:
    """The one row of a result, or the same with nothing known where the result has no row."""
    return frame.row(0, named=True) if frame.height else dict.fromkeys(frame.columns)


def by_mode(frame: pl.DataFrame, column: str) -> dict[str, Any]:
    """A column's value in each mode, of a result with one row per mode."""
    return dict(frame.select("traj_type", column).iter_rows())


def sums(frame: pl.DataFrame, *columns: str) -> list[int]:
    """Columns of counts, each summed over all rows."""
    return [int(frame[column].sum()) for column in columns]


def total(frame: pl.DataFrame, column: str, *only_where: pl.Expr, **constraints: Any) -> int:
    """The sum of a column of counts, of all rows or of those that meet the conditions; 0 without a row."""
    return int(frame.filter(*only_where, **constraints)[column].sum())


def totals(frame: pl.DataFrame) -> dict[str, int]:
    """The sum of each column of whole numbers, 0 in a result without rows."""
    return frame.select(integer().cast(pl.Int64).sum()).row(0, named=True)


def is_much(events: float, trials: float, share: float = MUCH) -> bool:
    """Some, and at least this share of those tried."""
    return events > 0 and events >= share * trials


def __getattr__(question: str) -> Any:
    """A question by its name: `brief.tool_usage.in_brief(…)`, imported when it is asked for."""
    try:
        return import_module(f"{__name__}.{question}")
    except ModuleNotFoundError as error:
        raise AttributeError(f"no question {question!r}") from error
