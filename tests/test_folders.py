"""Which files of a folder, a glob and a store are read: one rule; what is not read is told; one costs no other."""

import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import fsspec
import polars as pl
import pytest

from analysis import load, sources
from analysis.cli.main import main
from analysis.export.run import ExportRequest, export
from analysis.sources import address
from analysis.tables import write_tables
from tests.builders import step, trajectory

LINE = json.dumps(trajectory(steps=[step(tool="get_user")])) + "\n"
DATA = ["a.jsonl", "B.JSON", "c/d.ndjson", "c/e.Jsonl.GZ", "f.traj"]
NO_DATA = ["notes.txt", ".hidden.jsonl", "._a.jsonl", ".ipynb_checkpoints/a-checkpoint.json", "__MACOSX/a.json", "x.py"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for name in DATA + NO_DATA:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(LINE if name not in ("notes.txt", "x.py") else "words", encoding="utf-8")
    return folder


@pytest.fixture
def store(folder: Path) -> Iterator[str]:
    fs = fsspec.filesystem("memory")
    fs.put(str(folder), "/runs-store", recursive=True)
    yield "memory://runs-store"
    fs.rm("/runs-store", recursive=True)


def names(source: str | Path) -> set[str]:
    return {file.name for file in sources.locate(str(source))}


def test_folder_glob_and_store_have_the_same_files(folder: Path, store: str) -> None:
    assert names(folder) == names(folder / "**") == names(store) == names(f"{store}/**") == set(DATA)


def test_links_are_followed_and_a_loop_ends(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "g.jsonl").write_text(LINE, encoding="utf-8")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "c" / "loop").symlink_to(folder)
    (folder / "h.jsonl").symlink_to(tmp_path / "elsewhere" / "g.jsonl")
    assert names(folder) == {*DATA, "linked/g.jsonl", "h.jsonl"}


def test_what_looks_like_records_and_is_not_read_is_named(folder: Path) -> None:
    (folder / "log.txt").write_text(LINE, encoding="utf-8")
    (folder / "old.arrow").write_bytes(b"ARROW1")
    with zipfile.ZipFile(folder / "code.zip", "w") as archive:
        archive.writestr("main.py", "pass")
    (folder / "gone.jsonl").symlink_to(folder / "nowhere")
    survey = sources.survey(str(folder))
    assert {skipped.name for skipped in survey.skipped} == {"log.txt", "old.arrow", "code.zip"}
    assert survey.lost == [("gone.jsonl", "a link that leads nowhere, or no file")]
    manifest = load(str(folder), progress=False).manifest
    assert (manifest["skipped_files"], manifest["records_in"]) == (3, 5)
    assert [skipped["name"] for skipped in manifest["skipped"]] == ["code.zip", "log.txt", "old.arrow"]
    assert manifest["damage"][-1] == {"origin": "gone.jsonl", "reason": "a link that leads nowhere, or no file"}


def test_a_glob_that_matches_no_name_of_data_means_what_it_matches(folder: Path) -> None:
    (folder / "more.dat").write_text(LINE, encoding="utf-8")
    assert names(folder / "*.dat") == {"more.dat"}


def test_what_this_project_wrote_is_no_data_and_is_told(folder: Path, tmp_path: Path) -> None:
    write_tables(str(folder / "a.jsonl"), tmp_path / "tables", progress=False)
    export(ExportRequest(str(folder / "a.jsonl"), tmp_path / "export", "messages"))
    for name in ("tables", "export"):
        shutil.move(tmp_path / name, folder / name)
    (folder / "croissant.json").write_text('{"@context": {}}', encoding="utf-8")
    survey = sources.survey(str(folder))
    assert {file.name for file in survey.files} == set(DATA)
    assert {skipped.reason for skipped in survey.skipped} >= {
        "tables that this project wrote",
        "an export that this project wrote",
        "a card that this project wrote",
    }


@pytest.mark.parametrize(
    "words",
    [
        ["tables", "SOURCE", "OUT"],
        ["export", "SOURCE", "OUT", "--format", "messages"],
        ["replay", "SOURCE", "OUT"],
        ["report", "SOURCE", "--out", "OUT"],
    ],
    ids=lambda words: words[0],
)
def test_nothing_is_written_into_the_folder_that_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], store: str, words: list[str]
) -> None:
    here = (str(folder), str(folder / "c" / "out")), (f'["{folder}", "{folder}/a.jsonl"]', str(folder / "out"))
    there = ((store, f"{store}/out"),) if words[0] == "tables" else ()
    for source, out in (*here, *there):
        assert main([{"SOURCE": source, "OUT": out}.get(word, word) for word in words]) == 2
        assert "which is read; name a folder outside of it" in capsys.readouterr().err
    assert not (folder / "c" / "out").exists()


def test_one_unreadable_file_of_many_costs_only_itself_and_the_status_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty.json").touch()
    (folder / "page.json").write_text("<!DOCTYPE html>", encoding="utf-8")
    (folder / "broken.parquet").write_bytes(b"PAR1 and no more")
    assert main(["tables", str(folder), str(tmp_path / "out"), "--quiet"]) == 1
    said = capsys.readouterr()
    assert "5 records in = 5 kept + 0 rejected" in said.out
    for name, why in (("empty.json", "empty"), ("page.json", "web page"), ("broken.parquet", "cannot be read")):
        assert any(line for line in said.err.splitlines() if name in line and why in line), said.err
    assert main(["tables", str(folder), str(tmp_path / "out"), "--quiet", "--keep-going"]) == 0


def test_a_folder_of_which_no_file_can_be_read_is_refused(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).touch()
    with pytest.raises(sources.SourceError, match=r"a\.json: the file is empty.*1 files more"):
        sources.plan(sources.locate(str(tmp_path)))


@pytest.mark.parametrize("source", ["", " "])
def test_no_source_is_not_the_working_folder(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", source, str(tmp_path / "out")]) not in (0, 1)
    assert "no source is named" in capsys.readouterr().err


def test_the_home_folder_may_be_written_as_a_tilde(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert names("~/runs/a.jsonl") == {"a.jsonl"}
    assert names("~/runs/*.jsonl") == {"a.jsonl"}
    assert names("~/runs") == set(DATA)


def test_a_name_with_brackets_is_that_file_here_and_in_a_store(tmp_path: Path) -> None:
    (tmp_path / "run[1].jsonl").write_text(LINE, encoding="utf-8")
    with fsspec.open("memory://bracketed/run[1].jsonl", "wb") as stream:
        stream.write(LINE.encode())
    for source in (str(tmp_path / "run[1].jsonl"), "memory://bracketed/run[1].jsonl"):
        assert names(source) == {"run[1].jsonl"}


def test_a_name_that_is_not_utf_8_is_read_and_written_visibly(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.jsonl")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / name).write_text(LINE, encoding="utf-8")
    for source in (tmp_path / "runs", tmp_path / "runs" / "*.jsonl"):
        data = load(str(source), progress=False)
        assert data.manifest["files"] == [{"name": "caf\\xe9.jsonl", "bytes": len(LINE.encode())}]
        assert data.trajectories.collect()["origin"].to_list() == ["caf\\xe9.jsonl@0"]


def test_a_parquet_file_whose_name_is_not_utf_8_is_read(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    pl.DataFrame([{"messages": LINE}]).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").rename(folder / "a.parquet")
    data = load(folder, progress=False)
    assert (data.manifest["records_in"], data.manifest["files"][0]["name"]) == (1, "a.parquet")


def test_a_chained_address_of_one_process_is_told_as_such() -> None:
    assert address.is_private("zip://a.jsonl::memory://b.zip")
    assert not address.is_private("zip://a.jsonl::s3://bucket/b.zip")
