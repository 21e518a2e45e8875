"""Small frames that conform to a table, built from the few values a test is about."""

from typing import Any

import polars as pl
from polars.datatypes import DataType

from analysis.schema import Column, Table, conform

TALK, WITHOUT = "conversation", "non_conversation"


def frame(table: Table, *given: dict[str, Any], **everywhere: Any) -> pl.DataFrame:
    """The same as `rows`, collected: what briefs and charts take."""
    return rows(table, *given, **everywhere).collect()


def rows(table: Table, *given: dict[str, Any], **everywhere: Any) -> pl.LazyFrame:
    """A frame of the table; what is not given is null where it may be, else nought, empty or the first of its kind."""
    filled = [{c.name: {**everywhere, **row}.get(c.name, _default(c)) for c in table} for row in given]
    return conform(pl.DataFrame(filled, schema=table.schema, strict=False), table).lazy()


def shuffled(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The same rows in another order."""
    return frame.collect().sample(fraction=1.0, shuffle=True, seed=3).lazy()


def times(frame: pl.LazyFrame, copies: int) -> pl.LazyFrame:
    """The same trajectories several times over, each copy with ids of its own."""
    ids = pl.col("trajectory_id")
    return pl.concat([frame.with_columns(ids + f"#{copy}") for copy in range(copies)])


def _default(column: Column) -> Any:
    if column.nullable:
        return None
    dtype: DataType = column.dtype
    if isinstance(dtype, pl.Enum):
        return dtype.categories[0]
    if dtype == pl.String():
        return ""
    return False if dtype == pl.Boolean() else 0
