"""The tables as data sets of the `datasets` library."""

from pathlib import Path

import polars as pl
import pytest

from analysis.schema import BASE_TABLES, TOOL_CALLS
from analysis.tables import Tables
from tests.builders import decode, step, trajectory


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return decode(
        trajectory("t1", env_id="bank", steps=[step(tool="get_user"), step(tool="transfer", error="no funds")]),
        trajectory("t2", env_id="shop", steps=[step(tool="buy")]),
        folder=tmp_path_factory.mktemp("datasets"),
    )


def test_every_table_becomes_a_data_set_with_the_same_rows(data: Tables) -> None:
    sets = data.to_datasets()
    assert list(sets) == [table.name for table in BASE_TABLES]
    for name, dataset in sets.items():
        frame = data.table(name).collect()
        assert dataset.column_names == frame.columns
        assert dataset.to_list() == frame.to_dicts()


def test_a_data_set_is_filtered_as_the_hub_s_own_are(data: Tables, tmp_path: Path) -> None:
    calls = data.to_datasets()["tool_calls"]
    failed = calls.filter(lambda call: call["outcome"] == "error", load_from_cache_file=False)
    assert failed["tool_name"][:] == ["transfer"]
    failed.to_parquet(tmp_path / "failed.parquet")
    assert pl.read_parquet(tmp_path / "failed.parquet")["tool_name"].to_list() == ["transfer"]


def test_a_data_set_says_what_its_columns_mean(data: Tables) -> None:
    description = data.to_datasets()["tool_calls"].info.description
    assert description.startswith(f"One row per {TOOL_CALLS.grain}.\n")
    for column in TOOL_CALLS:
        assert f"\n{column.name}: {column.meaning}" in description


def test_a_selection_becomes_a_data_set_of_its_rows_only(data: Tables) -> None:
    sets = data.where(env_id="shop").to_datasets()
    assert sets["trajectories"]["env_id"][:] == ["shop"]
    assert sets["tool_calls"]["tool_name"][:] == ["buy"]
