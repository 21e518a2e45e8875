"""Tables at an address: whole parts, a manifest last, resumed where a run was killed, read from where they are."""

import errno
import json
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar
from unittest.mock import Mock

import fsspec
import polars as pl
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from polars.testing import assert_frame_equal

from analysis import files, processes, schema, sources
from analysis.cli.main import main
from analysis.sources.containers import plan
from analysis.tables import Tables, crew, decode, load, places, write_tables
from analysis.tables.crew import Crew
from analysis.tables.receipts import Receipt
from analysis.tables.units import decode_units
from tests.builders import step, trajectory
from tests.conftest import disk

PLACES = ["memory://bucket/out", "file"]


class Shelf(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A file system with renames, in memory; it notes what was written and what was moved."""

    protocol = "shelf"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    noted: ClassVar[list[tuple[str, str]]] = []

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        self.noted.append(("write", path))
        super().pipe_file(path, value, mode=mode, **options)

    def mv(self, path1: str, path2: str, **options: Any) -> None:
        self.noted.append(("move", path2))
        super().mv(path1, path2, **options)


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    fsspec.register_implementation("shelf", Shelf, clobber=True)
    yield
    for held in (MemoryFileSystem, Shelf):
        held.store.clear()
        held.pseudo_dirs[:] = [""]
    Shelf.noted.clear()


@pytest.fixture
def records() -> list[dict[str, Any]]:
    return [
        trajectory(f"t{n}", steps=[step("get_user", arguments={"id": n}), step("pay", error="no funds")])
        for n in range(8)
    ]


@pytest.fixture
def source(tmp_path: Path, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> str:
    """Eight records in several units."""
    monkeypatch.setattr(plan, "UNIT_BYTES", 3000)
    path = tmp_path / "trajectories.json"
    path.write_text(json.dumps(records, indent=4), encoding="utf-8")
    assert len(sources.plan(sources.locate(str(path)))) > 3
    return str(path)


@pytest.fixture(params=PLACES)
def out(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"file://{tmp_path}/out" if request.param == "file" else str(request.param)


def there(folder: str) -> list[str]:
    fs, path = fsspec.core.url_to_fs(folder)
    return sorted(name.removeprefix(path).lstrip("/") for name in fs.find(path))


def frames(data: Tables) -> dict[str, pl.DataFrame]:
    return {table.name: getattr(data, table.name).collect().sort(pl.all()) for table in schema.BASE_TABLES}


@contextmanager
def decoding(monkeypatch: pytest.MonkeyPatch, *, dies_after: int = 1000) -> Iterator[list[int]]:
    """Note the shards that are decoded; the run is killed when so many are."""
    shards: list[int] = []

    def noted(unit: sources.Unit, target: str) -> Receipt:
        if len(shards) == dies_after:
            raise KeyboardInterrupt
        shards.append(unit.shard)
        return decode.decode_unit(unit, target)

    with monkeypatch.context() as patch:
        patch.setattr(crew, "decode_unit", noted)
        yield shards


def test_tables_at_an_address_are_those_of_the_source_and_are_read_from_there(source: str, out: str) -> None:
    manifest = write_tables(source, out, progress=False)
    data = load(out)
    assert {name: there(f"{out}/{name}") != [] for name in ("trajectories", "tool_calls", "manifest.json")}
    assert not [name for name in there(out) if name.startswith(("units", "unfinished")) or ".tmp" in name]
    expected = frames(load(source, progress=False))
    for name, frame in frames(data).items():
        assert_frame_equal(frame, expected[name])
    assert data.manifest["kept"] == manifest["kept"] == 8
    assert data.manifest["tables_of"] == source
    picked = data.tool_calls.filter(pl.col("outcome") == "error").select("trajectory_id").limit(3).collect()
    assert picked.height == 3


def test_texts_are_read_from_the_records_as_long_as_these_are_there(source: str, out: str) -> None:
    write_tables(source, out, progress=False)
    data = load(out)
    assert [found.calls[0].arguments for found in data.read(["00000-00000"])] == ['{"id": 0}']
    Path(source).unlink()
    assert load(out).trajectories.collect().height == 8
    with pytest.raises(sources.SourceError, match="no such file"):
        data.read(["00000-00000"])


def test_a_manifest_opens_no_address_to_read_texts_from(source: str) -> None:
    write_tables(source, "memory://bucket/out", progress=False)
    told = json.loads(places.read_bytes("memory://bucket/out/manifest.json"))
    places.write_bytes(
        "memory://bucket/out/manifest.json", json.dumps(told | {"source": "http://127.0.0.1:9/x"}).encode()
    )
    with pytest.raises(sources.SourceError, match="tables without texts"):
        load("memory://bucket/out").read(["00000-00000"])


def test_a_killed_run_at_an_address_goes_on_with_the_units_that_are_missing(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = "memory://bucket/out"
    with decoding(monkeypatch, dies_after=2) as first, pytest.raises(KeyboardInterrupt):
        write_tables(source, out, progress=False)
    assert "manifest.json" not in there(out)
    with pytest.raises(sources.SourceError, match="unfinished tables"):
        load(out)
    with decoding(monkeypatch) as second:
        manifest = write_tables(source, out, progress=False)
    assert sorted(first + second) == [unit.shard for unit in sources.plan(sources.locate(source))]
    assert manifest["kept"] == load(out).trajectories.collect().height == 8


def test_parts_of_a_killed_run_on_other_records_are_not_taken_for_these(
    source: str, tmp_path: Path, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = "memory://bucket/out"
    with decoding(monkeypatch, dies_after=2), pytest.raises(KeyboardInterrupt):
        write_tables(source, out, progress=False)
    Path(source).write_text(json.dumps(records[::-1], indent=4), encoding="utf-8")
    write_tables(source, out, progress=False)
    assert load(out).trajectories.collect()["task_id"].to_list() == [f"env_1_sft-t{n}" for n in range(7, -1, -1)]


def test_tables_that_are_replaced_are_not_finished_until_the_new_ones_are(
    source: str, tmp_path: Path, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = "memory://bucket/out"
    write_tables(source, out, progress=False)
    Path(source).write_text(json.dumps(records[:7], indent=4), encoding="utf-8")
    with decoding(monkeypatch, dies_after=1), pytest.raises(KeyboardInterrupt):
        write_tables(source, out, progress=False)
    with pytest.raises(sources.SourceError, match="unfinished tables"):
        load(out)
    write_tables(source, out, progress=False)
    assert load(out).trajectories.collect().height == 7


def test_what_is_decoded_already_is_not_decoded_again(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(source, progress=False)
    with decoding(monkeypatch, dies_after=0):
        write_tables(source, "memory://bucket/out", progress=False)
    shutil.rmtree(tmp_path / "cache")
    with decoding(monkeypatch, dies_after=0):
        write_tables(source, "memory://bucket/out", progress=False)
    assert load("memory://bucket/out").trajectories.collect().height == 8


def test_siblings_and_their_joins_stand_beside_the_tables(source: str, out: str, tmp_path: Path) -> None:
    given = tmp_path / "environments.json"
    given.write_text(json.dumps([{"env_id": "env_1_sft", "operation_list": []}]), encoding="utf-8")
    write_tables(source, out, environments=str(given), progress=False)
    data = load(out)
    assert data.environments.collect()["env_id"].to_list() == ["env_1_sft"]
    assert [held["source"] for held in data.manifest["siblings"]] == [str(given)]
    assert [join["missing"] for join in data.manifest["joins"]] == [0]
    write_tables(source, out, progress=False)
    assert load(out).environments.collect().is_empty()


def test_a_part_appears_whole_by_a_rename_where_there_are_renames(source: str) -> None:
    write_tables(source, "shelf://disk/out", progress=False)
    assert load("shelf://disk/out").trajectories.collect().height == 8
    written = [path for kind, path in Shelf.noted if kind == "write"]
    moved = [path for kind, path in Shelf.noted if kind == "move"]
    assert len(written) == len(moved)
    assert all(path.rsplit("/", 1)[1].startswith(".") and path.endswith(".tmp") for path in written)
    assert moved[-1].endswith("/manifest.json")


def test_an_object_is_put_whole_and_not_renamed(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryFileSystem, "mv", Mock(side_effect=AssertionError("an object store would copy")))
    write_tables(source, "memory://bucket/out", progress=False)
    assert not [name for name in there("memory://bucket/out") if ".tmp" in name]


def test_memory_is_written_by_this_process_alone(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(processes, "workers", None)
    assert write_tables(source, "memory://bucket/out", jobs=2, progress=False)["kept"] == 8


def test_tables_that_land_elsewhere_are_decoded_by_the_workers_that_are_given_and_by_no_others(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(processes, "workers", None)
    with ThreadPoolExecutor(2) as threads:
        manifest = write_tables(source, "shelf://disk/out", jobs=2, progress=False, workers=threads)
    assert manifest["kept"] == load("shelf://disk/out").trajectories.collect().height == 8


def test_workers_of_other_processes_are_not_given_what_only_this_one_reaches(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    with ThreadPoolExecutor(2) as threads:
        monkeypatch.setattr(threads, "submit", None)
        assert write_tables(source, "memory://bucket/out", jobs=2, progress=False, workers=threads)["kept"] == 8


def test_a_cluster_cannot_reach_memory_and_the_message_says_so(source: str) -> None:
    with pytest.raises(sources.SourceError, match="reach no memory:// address"):
        write_tables(source, "memory://bucket/out", dask="tcp://127.0.0.1:9", progress=False)


@pytest.mark.parametrize("name", ["thesis.tex", "manifest.json"])
def test_somebodys_folder_is_not_written_over_at_any_address(source: str, out: str, name: str) -> None:
    places.write_bytes(f"{out.removeprefix('file://')}/{name}", b'{"name": "an app"}')
    with pytest.raises(FileExistsError, match="name another"):
        write_tables(source, out, progress=False)
    assert there(out) == [name]


def test_tables_are_no_records_to_make_tables_of(source: str, out: str) -> None:
    write_tables(source, out, progress=False)
    with pytest.raises(sources.SourceError, match="tables already"):
        write_tables(out, f"{out}-again", progress=False)


def test_tables_of_another_version_are_refused(source: str, out: str) -> None:
    write_tables(source, out, progress=False)
    parts = places.parts(f"{out}/findings")
    for old in parts:
        places.remove(old.removeprefix("file://"))
    places.write({parts[0].removeprefix("file://"): pl.DataFrame({"rule": ["x"]})})
    with pytest.raises(sources.SourceError, match="findings has not today's columns"):
        load(out)


def test_tables_that_are_not_all_there_are_refused(source: str, out: str) -> None:
    write_tables(source, out, progress=False)
    places.remove(f"{out.removeprefix('file://')}/messages")
    with pytest.raises(sources.SourceError, match="cannot be read: no parts of tables here"):
        load(out)


def test_files_may_be_read_by_whom_the_umask_lets(source: str, tmp_path: Path) -> None:
    write_tables(source, tmp_path / "out", progress=False)
    mask = os.umask(0)
    os.umask(mask)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert modes == {0o666 & ~mask}


def test_a_second_run_into_the_same_place_is_noticed_and_nothing_is_sealed(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loses_one(unit: sources.Unit, target: str) -> Receipt:
        receipt = decode.decode_unit(unit, target)
        if unit.shard == 1:
            places.remove(f"{target}/trajectories/part-00000.parquet")
        return receipt

    monkeypatch.setattr(crew, "decode_unit", loses_one)
    with pytest.raises(OSError, match="another one is writing there"):
        write_tables(source, "memory://bucket/out", progress=False)
    assert "manifest.json" not in there("memory://bucket/out")


def test_two_that_load_one_cold_source_decode_it_once(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with decoding(monkeypatch) as shards:
        found: list[Tables] = []
        threads = [threading.Thread(target=lambda: found.append(load(source, progress=False))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(shards) == [unit.shard for unit in sources.plan(sources.locate(source))]
    assert [data.manifest["kept"] for data in found] == [8] * 3


def test_a_run_killed_while_it_reads_by_brackets_takes_no_record_twice(
    tmp_path: Path, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first record alone misleads: what stands inside it is indented like a record.
    records[0] = records[0] | {"messages": json.loads(records[0]["messages"])}
    text = json.dumps(records, indent=4).replace("\n            {", "\n    {")
    (tmp_path / "misleading.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(plan, "UNIT_BYTES", 3000)
    units = sources.plan(sources.locate(str(tmp_path / "misleading.json")))
    out = "memory://bucket/out"
    with decoding(monkeypatch, dies_after=len(units) + 1) as shards:
        first = decode_units(units, out, Crew(jobs=1, progress=False))
    assert len(shards) == len(units) + 1
    assert [receipt.by_brackets for receipt in first] == [("misleading.json",)]
    again = decode_units(units, out, Crew(jobs=1, progress=False))
    assert again == first
    assert places.names(f"{out}/trajectories") == ["part-00000.parquet"]
    assert places.scan(f"{out}/trajectories").collect().height == 8


# What cannot be written -------------------------------------------------------------------------------------------


def fills_up(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """The disk takes so many files, then it is full."""
    begun: list[Path] = []
    real = files.whole

    @contextmanager
    def whole(path: Path, **how: bool) -> Iterator[IO[bytes]]:
        begun.append(path)
        with real(path, **how) as stream:
            if len(begun) > after:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            yield stream

    monkeypatch.setattr(files, "whole", whole)


@pytest.mark.parametrize("after", [0, 1, 5, 11, 40, 47])
def test_a_full_disk_is_said_in_one_line_and_leaves_nothing_that_looks_finished(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], after: int
) -> None:
    with monkeypatch.context() as patch:
        fills_up(patch, after)
        status = main(["tables", source, str(tmp_path / "out"), "--quiet"])
    said = capsys.readouterr()
    assert (status, said.out) == (6, "")
    assert "No space left on device; free some space and run again" in said.err
    assert str(tmp_path) in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))
    assert not list((tmp_path / "cache").rglob(".*"))
    assert main(["tables", source, str(tmp_path / "out"), "--quiet"]) == 0
    assert load(str(tmp_path / "out")).trajectories.collect().height == 8


def test_a_disk_that_is_full_from_the_start_keeps_no_folder(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(source, progress=False)
    fills_up(monkeypatch, 0)
    assert main(["tables", source, str(tmp_path / "out"), "--quiet"]) == 6
    assert not list(tmp_path.glob(".out*"))


def test_a_full_disk_makes_no_unit_a_rejection(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(processes, "workers", ThreadPoolExecutor)
    fills_up(monkeypatch, 9)
    with pytest.raises(OSError, match="No space left") as caught:
        load(source, jobs=2, progress=False)
    assert caught.value.errno == errno.ENOSPC
    assert not list((tmp_path / "cache").rglob("manifest.json"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Too small for either way to the tables of eight records."""
    with disk(tmp_path / "disk", "32k") as place:
        yield place


def test_a_disk_that_is_really_full_is_said_as_one(
    small_disk: Path, source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for cache, out in ((small_disk / "cache", "out"), (small_disk.parent / "cache", str(small_disk / "out"))):
        monkeypatch.setenv("TRAJECTORY_CACHE", str(cache))
        monkeypatch.chdir(small_disk.parent)
        assert main(["tables", source, out, "--quiet"]) == 6
        assert "No space left on device" in capsys.readouterr().err
        assert not Path(out).exists()
        shutil.rmtree(cache)


def test_a_disk_that_cannot_be_written_to_is_said_as_one(
    small_disk: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert main(["tables", source, str(small_disk / "out"), "--quiet"]) == 6
    assert "Read-only file system" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "words", "status", "said"),
    [
        (
            "pipe_file",
            ["{source}", "memory://bucket/out"],
            6,
            "bucket/out/unfinished.json: RuntimeError: no credentials",
        ),
        ("info", ["memory://bucket/x.jsonl", "out"], 2, "bucket/x.jsonl: cannot be read: RuntimeError: no credentials"),
    ],
)
def test_an_address_that_refuses_is_said_in_one_line(
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    method: str,
    words: list[str],
    status: int,
    said: str,
) -> None:
    monkeypatch.setattr(MemoryFileSystem, method, Mock(side_effect=RuntimeError("no credentials found")))
    assert main(["tables", *(word.format(source=source) for word in words), "--quiet"]) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert f"memory://{said}" in line


def test_a_source_that_may_not_be_read_is_told_from_a_place_that_cannot_be_written(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = Path.open

    def refuses(path: Path, *args: Any, **options: Any) -> Any:
        if str(path) == source:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), source)
        return real(path, *args, **options)

    monkeypatch.setattr(Path, "open", refuses)
    assert main(["tables", source, "memory://bucket/out", "--quiet"]) == 2
    assert capsys.readouterr().err == f"analysis: {source}: cannot be read: Permission denied\n"


def test_a_scheduler_that_does_not_answer_is_no_fault_of_the_disk(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    assert distributed
    with dask.config.set({"distributed.comm.timeouts.connect": "200ms"}):
        assert main(["tables", source, str(tmp_path / "out"), "--dask", "tcp://127.0.0.1:9", "--quiet"]) == 2
    assert "no Dask scheduler answers there" in capsys.readouterr().err
