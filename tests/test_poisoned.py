"""An entry of the cache that is damaged, or not ours, costs a decoding, never a wrong number or a traceback."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from analysis import load
from analysis.schema import Column, Table
from analysis.tables import Tables
from tests.builders import step, trajectory

WORDS = Table("words", "word", (Column("trajectory_id", pl.String(), "id"), Column("words", pl.UInt32(), "words")))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "records.json"
    path.write_text(json.dumps([trajectory(f"t{n}", env_id="bank", steps=[step("pay")]) for n in range(3)]))
    return path


def entry(source: Path) -> Path:
    return Path(load(str(source), progress=False).folder)


def numbers(data: Tables) -> list[int]:
    return [data.table(name).collect().height for name in ("trajectories", "messages", "tool_calls")]


def cut(place: Path) -> None:
    os.truncate(place / "messages" / "part-00000.parquet", 50)


def other_table(place: Path) -> None:
    shutil.copy(place / "findings" / "part-00000.parquet", place / "messages" / "part-00000.parquet")


def fewer_rows(place: Path) -> None:
    part = place / "trajectories" / "part-00000.parquet"
    pl.read_parquet(part).head(1).write_parquet(part)


def no_manifest(place: Path) -> None:
    (place / "manifest.json").write_text("{}")


def no_table(place: Path) -> None:
    shutil.rmtree(place / "tool_calls")


def a_file(place: Path) -> None:
    shutil.rmtree(place)
    place.write_text("x")


def a_link_to_nothing(place: Path) -> None:
    shutil.rmtree(place)
    place.symlink_to("/nowhere/at/all")


HARMS: list[Callable[[Path], None]] = [cut, other_table, fewer_rows, no_manifest, no_table, a_file, a_link_to_nothing]


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_damaged_tables_are_made_anew(source: Path, harm: Callable[[Path], None]) -> None:
    before = numbers(load(str(source), progress=False))
    harm(entry(source))
    assert numbers(load(str(source), progress=False)) == before
    assert not entry(source).is_symlink()


@pytest.mark.parametrize("room", ["derived", "siblings"])
def test_so_are_tables_beside_them(source: Path, tmp_path: Path, room: str) -> None:
    def count() -> tuple[int, int]:
        data = load("sample" if room == "siblings" else str(source), progress=False)
        derived = data.derive(WORDS, lambda one: [(len(one.messages),)], key="") if room == "derived" else None
        return data.scenarios.collect().height, 0 if derived is None else int(derived.collect()["words"].sum())

    before = count()
    parts = [*(tmp_path / "cache" / room).rglob("*.parquet")]
    assert parts
    for part in parts:
        part.write_bytes(b"PAR1")
    assert count() == before


def test_what_a_killed_run_left_is_swept_after_a_week(source: Path, tmp_path: Path) -> None:
    old, new = (tmp_path / "cache" / "tables" / f"{name}.partial" for name in ("old", "new"))
    for place in (old, new):
        (place / "messages").mkdir(parents=True)
    os.utime(old, (0, 0))
    load(str(source), progress=False)
    left = [path.name for path in (tmp_path / "cache" / "tables").glob("*.partial")]
    assert "new.partial" in left
    entry(source)
    source.write_text(source.read_text() + " ")
    load(str(source), progress=False)
    assert not old.exists()
