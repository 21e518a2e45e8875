"""Tables as data sets of the `datasets` library, each with what its columns mean."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from analysis.schema import Table

if TYPE_CHECKING:
    from datasets import Dataset


def datasets_of(frames: Mapping[Table, pl.LazyFrame]) -> "dict[str, Dataset]":
    """A data set per table, in memory; an enum becomes text, every other dtype stays."""
    from datasets import Dataset, DatasetInfo  # noqa: PLC0415  seconds, for whoever asks for them

    collected = pl.collect_all([frame.with_columns(pl.col(pl.Enum).cast(pl.String)) for frame in frames.values()])
    return {
        table.name: Dataset.from_polars(frame, info=DatasetInfo(description=_description(table)))
        for table, frame in zip(frames, collected, strict=True)
    }


def _description(table: Table) -> str:
    columns = [f"{column.name}: {column.meaning}" + (f" ({column.unit})" if column.unit else "") for column in table]
    return "\n".join([f"One row per {table.grain}.", *columns])
