"""`load` takes what people hold: lists of paths, dicts, frames, data sets; and tells of what it cannot take."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pytest

from analysis import load
from analysis.sources import SourceError
from analysis.tables import Tables
from tests.builders import step, trajectory

STEPS = [step("pay", arguments={}), step("look", arguments={"a": [1, {"b": None}], "ü": "\U0001f600"}, error="no")]
RECORDS = [trajectory(f"t{n}", env_id="bank" if n else "shop", steps=STEPS[: n + 1]) for n in range(2)]
DECODED = [{**record, "messages": json.loads(record["messages"])} for record in RECORDS]


def calls(data: Tables) -> list[dict[str, Any]]:
    return data.tool_calls.select("env_id", "tool_name", "outcome", "arguments").collect().to_dicts()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    path = tmp_path_factory.mktemp("held") / "records.json"
    path.write_text(json.dumps(RECORDS), encoding="utf-8")
    return calls(load(path, progress=False))


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


HOLDERS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "a list": list,
    "a tuple": tuple,
    "a Polars frame": frame,
    "a lazy frame": lambda rows: frame(rows).lazy(),
    "a pandas frame": pd.DataFrame,
    "a Dataset": datasets.Dataset.from_list,
    "an IterableDataset": lambda rows: datasets.Dataset.from_list(rows).to_iterable_dataset(),
    "a DatasetDict": lambda rows: datasets.DatasetDict({"train": datasets.Dataset.from_list(rows)}),
}


@pytest.mark.parametrize("held", HOLDERS)
def test_records_in_memory_are_read_as_from_a_file(held: str, expected: list[dict[str, Any]]) -> None:
    data = load(HOLDERS[held](RECORDS), progress=False)
    assert data.manifest["records_in"] == data.manifest["kept"] == 2
    assert calls(data) == expected
    (last,) = data.read(data.trajectories.select("trajectory_id").tail(1).collect().to_series())
    assert len(last.messages) == len(DECODED[1]["messages"])


@pytest.mark.parametrize("held", ["a list", "a Polars frame", "a pandas frame"])
def test_messages_may_be_lists_in_place_of_texts(held: str, expected: list[dict[str, Any]]) -> None:
    assert calls(load(HOLDERS[held](DECODED), progress=False)) == expected


def test_what_was_held_can_be_named_to_papermill(expected: list[dict[str, Any]]) -> None:
    assert calls(load(load(RECORDS, progress=False).source, progress=False)) == expected


def test_the_splits_of_a_data_set_are_files_of_one_source() -> None:
    splits = {name: datasets.Dataset.from_list([row]) for name, row in zip(("train", "test"), RECORDS, strict=True)}
    data = load(datasets.DatasetDict(splits), progress=False)
    assert [file["name"] for file in data.manifest["files"]] == ["test.jsonl", "train.jsonl"]
    assert data.manifest["kept"] == 2


def test_a_list_of_paths_is_one_source_whose_files_keep_distinct_names(
    tmp_path: Path, expected: list[dict[str, Any]]
) -> None:
    paths = [tmp_path / name / "out.jsonl" for name in "ab"]
    for path, record in zip(paths, RECORDS, strict=True):
        path.parent.mkdir()
        path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    data = load(paths, progress=False)
    assert calls(data) == expected == calls(load(data.source, progress=False))
    assert [file["name"] for file in data.manifest["files"]] == ["a/out.jsonl", "b/out.jsonl"]
    assert load(paths[:1], progress=False).source == str(paths[0])
    with pytest.raises(SourceError, match="named twice"):
        load([paths[0], paths[0]], progress=False)
    with pytest.raises(SourceError, match=r"b/ot.jsonl: no such file or folder; near it: out.jsonl"):
        load([paths[0], tmp_path / "b" / "ot.jsonl"], progress=False)


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (3, "load takes a path, .* this is an int"),
        (None, "this is a NoneType"),
        (iter(RECORDS), "this is a list_iterator"),
        (RECORDS[0], r"one dict; .* load\(\[record\]\)"),
        ([1], "record 1 is an int; a record is a dict"),
        ([RECORDS[0], {"messages": object()}], "record 2 holds what JSON cannot: an object"),
        ([], "no record"),
        (pl.DataFrame(), "no record"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(held: object, message: str) -> None:
    with pytest.raises((TypeError, SourceError), match=message):
        load(held, progress=False)
