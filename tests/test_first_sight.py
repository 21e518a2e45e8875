"""A file of which the cache has nothing is decoded at first sight, and hashed meanwhile."""

import gzip
import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pytest
from blake3 import blake3
from polars.testing import assert_frame_equal

from analysis import schema, sources
from analysis.sources.containers import plan
from analysis.tables import build, cache, crew, decode, load, write_tables
from analysis.tables.crew import Crew
from analysis.tables.receipts import Receipt
from tests.builders import step, trajectory

RECORDS = [trajectory(f"t{n}", steps=[step("get_user"), step(says="Task Completed")]) for n in range(12)]
CONTAINERS = {
    "indented": json.dumps(RECORDS, indent=4).encode(),
    "indented, much behind it": json.dumps(RECORDS, indent=4).encode() + b"\n" * 30_000,
    "one line": json.dumps(RECORDS).encode(),
    "lines": "\n".join(map(json.dumps, RECORDS)).encode(),
    "lines, byte order mark": b"\xef\xbb\xbf" + "\n".join(map(json.dumps, RECORDS)).encode(),
    "misleading lines": json.dumps(RECORDS[:1] * 3, indent=4).replace('"task":', '\n    {"task":').encode(),
    "packed": gzip.compress("\n".join(map(json.dumps, RECORDS)).encode()),
    "torn": json.dumps(RECORDS, indent=4).encode()[:-200],
}


class Killed(BaseException):
    """Stands in for the end of the process."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(plan, "UNIT_BYTES", 3000)


@pytest.fixture
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as one that nobody has written to for a while."""
    monkeypatch.setattr(cache, "RACY_S", -1.0)


@pytest.fixture
def read_once(at_rest: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pass for the hash before something is decoded; what the decoder has left of a file is read then."""
    decoded: list[bool] = []
    real, hashed = decode.decode_unit, cache._hashed

    def notes(unit: sources.Unit, target: str) -> Receipt:
        decoded.append(True)
        return real(unit, target)

    def rest(*args: Any) -> str:
        assert decoded, "hashed before it is read"
        return hashed(*args)

    monkeypatch.setattr(crew, "decode_unit", notes)
    monkeypatch.setattr(cache, "_hashed", rest)


def written(folder: Path, data: bytes) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / ("set.jsonl.gz" if data.startswith(b"\x1f\x8b") else "set.json")
    path.write_bytes(data)
    return str(path)


def tables(source: str) -> dict[str, pl.DataFrame]:
    data = load(source, jobs=1, progress=False)
    return {table.name: getattr(data, table.name).collect() for table in schema.RECORD_TABLES}


@pytest.mark.parametrize("container", CONTAINERS)
def test_its_hash_and_its_tables_are_those_of_a_file_that_is_hashed_first(
    tmp_path: Path, container: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    data = CONTAINERS[container]
    source = written(tmp_path, data)
    expected = tables(source)  # just written: it could be written to again
    shutil.rmtree(tmp_path / "cache")
    request.getfixturevalue("read_once")
    found = tables(source)
    assert load(source, progress=False).manifest["content_hash"] == "blake3:" + blake3(data).hexdigest()
    for name, frame in found.items():
        assert_frame_equal(frame, expected[name])
    assert cache.is_remembered(sources.locate(source))
    (folder,) = (path for path in (tmp_path / "cache" / "tables").iterdir() if path.is_dir())
    assert folder.suffix == ""


@pytest.mark.usefixtures("read_once")
def test_a_parquet_file_too_is_named_by_all_its_bytes(tmp_path: Path) -> None:
    pl.DataFrame(RECORDS).write_parquet(tmp_path / "set.parquet")
    manifest = load(str(tmp_path / "set.parquet"), progress=False).manifest
    assert manifest["content_hash"] == "blake3:" + blake3((tmp_path / "set.parquet").read_bytes()).hexdigest()


@pytest.mark.usefixtures("read_once")
def test_tables_written_elsewhere_are_made_in_the_same_one_pass(tmp_path: Path) -> None:
    source = written(tmp_path, CONTAINERS["indented"])
    manifest = write_tables(source, tmp_path / "out", progress=False)
    assert manifest["content_hash"] == "blake3:" + blake3(CONTAINERS["indented"]).hexdigest()
    assert load(str(tmp_path / "out")).trajectories.select(pl.len()).collect().item() == len(RECORDS)


@pytest.mark.usefixtures("at_rest")
def test_several_processes_decode_while_a_thread_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path, CONTAINERS["indented"])
    begun = Event()
    hashed = cache._hashed

    def begins(unit: sources.Unit, target: str) -> Receipt:
        begun.set()
        return decode.decode_unit(unit, target)

    def waits(*args: Any) -> str:
        assert begun.wait(60), "nothing is decoded before the hash is known"
        return hashed(*args)

    monkeypatch.setattr(crew, "decode_unit", begins)
    monkeypatch.setattr(cache, "_hashed", waits)
    with ThreadPoolExecutor(2) as workers:
        manifest = write_tables(source, tmp_path / "out", workers=workers, progress=False)
    assert manifest["kept"] == len(RECORDS)
    assert manifest["content_hash"] == "blake3:" + blake3(CONTAINERS["indented"]).hexdigest()
    assert cache.is_remembered(sources.locate(source))


@pytest.mark.usefixtures("at_rest")
def test_a_run_that_fails_does_not_wait_for_the_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = sources.locate(written(tmp_path, CONTAINERS["indented"]))
    nothing = blake3().hexdigest()
    assert cache._hashed(file, blake3(), 0, lambda: True) == nothing
    was_called_off = Event()

    def reads_on(_file: sources.File, _hasher: Any, _start: int, is_called_off: Callable[[], bool]) -> str:
        end = time.monotonic() + 60
        while not is_called_off() and time.monotonic() < end:
            time.sleep(0.01)
        if is_called_off():
            was_called_off.set()
        return nothing

    monkeypatch.setattr(cache, "_hashed", reads_on)
    with pytest.raises(Killed), cache.beside(file):
        raise Killed
    assert was_called_off.is_set()


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("place", ["cache", "out"])
def test_what_may_be_known_already_is_hashed_before_anything_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    first = written(tmp_path / "a", CONTAINERS["indented"])
    write_tables(first, tmp_path / "out", progress=False)
    copy = written(tmp_path / "b", CONTAINERS["indented"])
    if place == "out":
        shutil.rmtree(tmp_path / "cache")

    def decodes(*_: Any) -> None:
        raise AssertionError("decoded again")

    monkeypatch.setattr(crew, "decode_unit", decodes)
    write_tables(copy, tmp_path / "out", progress=False)


@pytest.mark.parametrize("hashed_before", ["neither", "the second", "both"])
def test_a_killed_run_resumes_with_the_units_that_are_missing_whichever_way_each_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hashed_before: str
) -> None:
    # Within the clock's grain of being written, a file is hashed before it is decoded.
    monkeypatch.setattr(cache, "RACY_S", 3600.0 if hashed_before == "both" else -1.0)
    source = written(tmp_path, CONTAINERS["indented"])
    units = sources.plan(sources.locate(source))
    assert len(units) > 3
    decoded: list[int] = []

    def dies_at_the_third(unit: sources.Unit, target: str) -> Receipt:
        if len(decoded) == 2:
            raise Killed
        decoded.append(unit.shard)
        return decode.decode_unit(unit, target)

    monkeypatch.setattr(crew, "decode_unit", dies_at_the_third)
    with pytest.raises(Killed):
        load(source, jobs=1, progress=False)
    if hashed_before == "the second":
        cache.content_hash(sources.locate(source))
    again: list[int] = []

    def counts(unit: sources.Unit, target: str) -> Receipt:
        again.append(unit.shard)
        return decode.decode_unit(unit, target)

    monkeypatch.setattr(crew, "decode_unit", counts)
    manifest = load(source, jobs=1, progress=False).manifest
    assert manifest["kept"] == len(RECORDS)
    assert manifest["content_hash"] == "blake3:" + blake3(CONTAINERS["indented"]).hexdigest()
    assert sorted(decoded + again) == [unit.shard for unit in units]
    assert not list((tmp_path / "cache" / "tables").glob("*.partial"))


@pytest.mark.usefixtures("at_rest")
def test_a_file_written_to_while_it_is_read_leaves_no_tables_and_no_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = written(tmp_path, CONTAINERS["indented"])
    files = sources.locate(source)

    def meanwhile(unit: sources.Unit, target: str) -> Receipt:
        receipt = decode.decode_unit(unit, target)
        with Path(source).open("ab") as stream:
            stream.write(b"\n")
        return receipt

    with monkeypatch.context() as patch:
        patch.setattr(crew, "decode_unit", meanwhile)
        with pytest.raises(sources.SourceError, match="written to while it was read"):
            load(source, progress=False)
    assert not cache.is_remembered(files)
    assert not cache.is_remembered(sources.locate(source))
    assert load(source, progress=False).manifest["kept"] == len(RECORDS)


@pytest.mark.usefixtures("at_rest")
def test_of_two_that_open_it_at_once_one_decodes_and_the_other_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = written(tmp_path, CONTAINERS["indented"])
    decoded: list[int] = []

    def counts(unit: sources.Unit, target: str) -> Receipt:
        decoded.append(unit.shard)
        return decode.decode_unit(unit, target)

    monkeypatch.setattr(crew, "decode_unit", counts)
    with ThreadPoolExecutor(4) as threads:
        kept = list(threads.map(lambda _: load(source, progress=False).manifest["kept"], range(4)))
    assert kept == [len(RECORDS)] * 4
    assert sorted(decoded) == [unit.shard for unit in sources.plan(sources.locate(source))]


def test_a_file_that_is_gone_by_then_is_said_as_ever(tmp_path: Path) -> None:
    source = written(tmp_path, CONTAINERS["indented"])
    files = sources.locate(source)
    Path(source).unlink()
    with pytest.raises(sources.SourceError, match="cannot be read: No such file"):
        build.build(files, Crew(progress=False))
