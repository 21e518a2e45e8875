"""The Parquet parts are for everybody: Polars, DuckDB, pandas and `datasets` read the same rows and values."""

import math
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

from analysis import sample, schema
from analysis.tables import write_tables

Rows = list[tuple[Any, ...]]
TABLES = (*schema.RECORD_TABLES, *schema.SIBLING_TABLES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every table of a small sample with its siblings, and one record that was rejected."""
    base = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAJECTORY_CACHE", str(base / "cache"))
        (base / "source").mkdir()
        sample.write(base / "source" / "played.jsonl", trajectories=12, environments=3, seed=4)
        (base / "source" / "broken.jsonl").write_text('{"neither": 1}\n{"nor": 2}\n', encoding="utf-8")
        sample.write_siblings(base / "siblings", trajectories=12, environments=3, seed=4)
        write_tables(
            str(base / "source"),
            base / "out",
            environments=str(base / "siblings" / "environments.json"),
            scenarios=f"{base / 'siblings' / 'scenarios.json'},{base / 'siblings' / 'rl_scenarios.json'}",
            jobs=1,
            progress=False,
        )
    return base / "out"


def files(folder: Path, table: schema.Table) -> list[str]:
    return sorted(str(path) for path in (folder / table.name).glob("*.parquet"))


def plain(value: Any) -> Any:
    """A value without the marks of the reader: pandas' missing values, NumPy's scalars."""
    value = value.item() if hasattr(value, "item") else value
    return None if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value


def by_polars(folder: Path, table: schema.Table) -> Rows:
    return pl.read_parquet(files(folder, table)).rows()


def by_duckdb(folder: Path, table: schema.Table) -> Rows:
    with duckdb.connect() as connection:
        return connection.execute("SELECT * FROM read_parquet($1)", [files(folder, table)]).fetchall()


def by_pandas(folder: Path, table: schema.Table) -> Rows:
    frames = [pd.read_parquet(file, dtype_backend="numpy_nullable") for file in files(folder, table)]
    return [tuple(map(plain, row)) for frame in frames for row in frame.itertuples(index=False, name=None)]


def by_datasets(folder: Path, table: schema.Table, cache: Path) -> Rows:
    from datasets import Dataset  # noqa: PLC0415  seconds, and only here

    read = Dataset.from_parquet(files(folder, table), cache_dir=str(cache))
    return [tuple(row[name] for name in table.names) for row in read]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_duckdb_and_pandas_read_what_polars_reads(table: schema.Table, folder: Path) -> None:
    expected = by_polars(folder, table)
    assert expected, "a table without rows would show nothing"
    assert by_duckdb(folder, table) == expected
    assert by_pandas(folder, table) == expected


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_datasets_reads_what_polars_reads(table: schema.Table, folder: Path, tmp_path: Path) -> None:
    assert by_datasets(folder, table, tmp_path) == by_polars(folder, table)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_reader_finds_the_columns_in_the_order_of_the_schema(table: schema.Table, folder: Path) -> None:
    (first, *_) = files(folder, table)
    with duckdb.connect() as connection:
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet($1)", [first]).fetchall()
    assert [name for name, *_ in described] == table.names
    assert list(pd.read_parquet(first).columns) == table.names
    counts = {column.name for column in table if column.dtype == pl.UInt32()}
    assert {name for name, kind, *_ in described if kind == "UINTEGER"} == counts
