"""Files are whole or absent, and hold what was asked for in the form the name says."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis import sample
from analysis.sample.files import write_records


@pytest.fixture(scope="module")
def few() -> list[dict[str, Any]]:
    return list(sample.records(5, 2, seed=4))


def written(path: Path) -> str:
    sample.write(path, trajectories=5, environments=2, seed=4)
    return path.read_text(encoding="utf-8")


def test_an_array_has_the_release_s_layout_with_typographic_characters_raw(
    tmp_path: Path, few: list[dict[str, Any]]
) -> None:
    text = written(tmp_path / "new" / "sample.json")
    assert json.loads(text) == few
    assert text == json.dumps(few, ensure_ascii=False, indent=4) + "\n"
    assert "“" in text
    assert "\\u" not in text


def test_a_name_in_jsonl_gives_a_record_a_line(tmp_path: Path, few: list[dict[str, Any]]) -> None:
    assert [json.loads(line) for line in written(tmp_path / "sample.jsonl").splitlines()] == few


def test_what_breaks_off_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield {"a": 1}
        raise RuntimeError("the disk is full")

    path = tmp_path / "sample.json"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError, match="disk"):
        write_records(path, broken())
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_records_are_an_empty_array(tmp_path: Path) -> None:
    write_records(tmp_path / "none.json", [])
    assert json.loads((tmp_path / "none.json").read_text()) == []
