"""Files and folders are there whole or not at all; what killed runs leave is swept."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis import files


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_under_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    with files.whole(tmp_path / "new" / "a.txt") as stream:
        stream.write(b"half")
        assert "a.txt" not in names(tmp_path / "new")
    assert names(tmp_path / "new") == ["a.txt"]


def test_a_file_whose_writing_fails_stays_as_it_was(tmp_path: Path) -> None:
    files.write_whole(tmp_path / "a.txt", "before")
    with pytest.raises(ZeroDivisionError), files.whole(tmp_path / "a.txt") as stream:
        stream.write(b"half" * (1 // 0))
    assert (tmp_path / "a.txt").read_text() == "before"
    assert names(tmp_path) == ["a.txt"]


def test_an_error_of_writing_names_the_file_and_not_the_hidden_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(IsADirectoryError) as raised:
        files.write_whole(tmp_path / "a.txt", b"")
    assert raised.value.filename == str(tmp_path / "a.txt")
    assert raised.value.errno in files.UNWRITABLE


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "a." + "b" * 253], ids=["long", "wide", "suffix"])
def test_a_name_as_long_as_the_disk_allows_can_be_written(tmp_path: Path, name: str) -> None:
    files.write_whole(tmp_path / name, b"there")
    assert names(tmp_path) == [name]


def test_a_text_with_a_lone_surrogate_is_written_all_the_same(tmp_path: Path) -> None:
    files.write_whole(tmp_path / "a.txt", "a\udc80b", is_durable=True)
    assert (tmp_path / "a.txt").read_bytes() == b"a?b"


def test_a_folder_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    for content in ("first", "second"):
        with files.whole_folder(tmp_path / "out") as folder:
            (folder / content).touch()
    assert names(tmp_path / "out") == ["second"]
    assert names(tmp_path) == ["out"]


def test_a_folder_whose_making_fails_leaves_the_one_before(tmp_path: Path) -> None:
    with files.whole_folder(tmp_path / "out") as folder:
        (folder / "first").touch()
    with pytest.raises(RuntimeError), files.whole_folder(tmp_path / "out"):
        raise RuntimeError
    assert names(tmp_path / "out") == ["first"]
    assert names(tmp_path) == ["out"]


def test_a_folder_that_cannot_be_renamed_leaves_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "first").touch()
    with pytest.raises(FileNotFoundError):
        files.swap(tmp_path / "nowhere", tmp_path / "out")
    assert names(tmp_path / "out") == ["first"]
    assert names(tmp_path) == ["out"]


def test_of_two_equal_folders_the_first_stays(tmp_path: Path) -> None:
    with files.equal_folder(tmp_path / "done") as late:
        (late / "second").touch()
        with files.equal_folder(tmp_path / "done") as early:
            (early / "first").touch()
    assert names(tmp_path / "done") == ["first"]
    assert names(tmp_path) == ["done"]
    with pytest.raises(OSError, match="nowhere"):
        files.publish(tmp_path / "nowhere", tmp_path / "new")


def test_what_a_killed_process_left_is_swept_and_what_a_running_one_writes_stays(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    number = "0" * 32
    left = [f".a.{ended.pid}.html", f".b.{ended.pid}-{number}.json", f".c.{ended.pid}-{number}"]
    others = [f".a.{os.getpid()}.html", ".gitignore", ".lock", ".a.b.c", "a.1.html"]
    for name in left[:2] + others:
        (tmp_path / name).touch()
    (tmp_path / left[2]).mkdir()
    (tmp_path / left[2] / "part").touch()
    files.sweep(tmp_path)
    assert names(tmp_path) == sorted(others)


@pytest.mark.parametrize(
    "name", ["..", "a/b", ".hidden", "a b", "é", "x" * 300, "", "CON:", "a.b", "NUL", "com1", "a\x1b[2J", "\ud800"]
)
def test_a_file_is_named_safely_whatever_the_data_hold(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,80}", files.file_name(name))
    assert files.file_name(name).lower() not in {"con", "prn", "aux", "nul", "com1"}


def test_different_values_get_different_files_on_disks_that_fold_case_too() -> None:
    values = [
        "a b",
        "a_b",
        "a/b",
        "a.b",
        "env",
        "Env",
        "ENV",
        "x" * 60,
        "x" * 61,
        "x" * 62,
        "",
        "_",
        "straße",
        "STRASSE",
    ]
    values += [files.file_name(value) for value in values]  # a value may look like the name of another one
    values += [value.lower() for value in values]
    assert len({files.file_name(value).casefold() for value in values}) == len(set(values))


def test_beside_a_path_only_what_killed_runs_left_of_it_is_swept(tmp_path: Path) -> None:
    """The folder around OUT is the user's: whatever else is hidden there stays."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = f".out.{dead.pid}-{'0' * 32}"
    kept = [
        f".out.{os.getpid()}-{'0' * 32}",
        f".out.{dead.pid}",
        f".other.{dead.pid}-{'0' * 32}",
        ".bashrc.2023",
        "out",
    ]
    for name in (left, *kept):
        (tmp_path / name).mkdir()
    files.sweep_beside(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


@pytest.mark.parametrize("make", [files.whole, files.whole_folder, files.equal_folder])
def test_a_full_disk_is_told_with_the_name_of_what_was_to_be_made(make: Any, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as told, make(tmp_path / "made"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert told.value.filename == str(tmp_path / "made")
    assert not [*tmp_path.iterdir()]


def test_a_file_that_cannot_take_its_place_is_named_by_that(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as error:
        files.write_whole(tmp_path, b"")
    assert error.value.filename == str(tmp_path)
    with pytest.raises(IsADirectoryError) as error, files.whole(tmp_path):
        pass
    assert error.value.filename == str(tmp_path)
