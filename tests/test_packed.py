"""Packed files and archives are read as what they hold; what is not read is called by its name; bombs are told."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import secrets
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import load, sources
from analysis.sources.containers import packed, parquet

RECORDS: list[dict[str, Any]] = [{"messages": [{"role": "user", "content": f"No. {n} “é”"}], "n": n} for n in range(50)]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


def rows_of(records: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(records).write_parquet(stream)
    return stream.getvalue()


FORMS = {"jsonl": LINES, "json": json.dumps(RECORDS, indent=4).encode(), "parquet": rows_of(RECORDS)}


def read(source: str | Path) -> tuple[list[Any], list[sources.Damage], list[str]]:
    """(records, damage, names of the records' files)."""
    items = [item for unit in sources.plan(sources.locate(str(source))) for item in sources.read_unit(unit)]
    raws = [item for item in items if isinstance(item, sources.Raw) and not item.broken]
    names = list(dict.fromkeys(raw.origin.rpartition("@")[0] for raw in raws))
    return [json.loads(raw.data) for raw in raws], [i for i in items if isinstance(i, sources.Damage)], names


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def tarred(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packing", PACK)
def test_every_form_is_read_in_every_packing_whatever_its_name(tmp_path: Path, packing: str, form: str) -> None:
    for name in (f"runs.{form.upper()}.{packing}", "runs"):
        (tmp_path / name).write_bytes(PACK[packing](FORMS[form]))
        assert read(tmp_path / name)[:2] == (RECORDS, [])
    assert [file.name for file in sources.locate(str(tmp_path))] == [f"runs.{form.upper()}.{packing}"]


@pytest.mark.parametrize("packing", PACK)
def test_a_packed_file_that_is_torn_keeps_what_came_before(tmp_path: Path, packing: str) -> None:
    rows = [record | {"x": f"{n * 7919 % 10_007:05d}" * 400} for n, record in enumerate(RECORDS * 40)]
    data = PACK[packing](json.dumps(rows).encode())
    (tmp_path / "x.json").write_bytes(data[: len(data) * 3 // 4])
    records, damage, _ = read(tmp_path / "x.json")
    assert records == rows[: len(records)]
    assert len(records) < len(rows)
    assert damage[-1].reason.startswith("the packed file cannot be unpacked further")
    if packing != "bz2":  # of which a block is nearly a megabyte
        assert records


@pytest.mark.parametrize("pack", [zipped, tarred, *(lambda m, p=p: p(tarred(m)) for p in PACK.values())])
def test_members_of_archives_are_records_with_their_names(
    tmp_path: Path, pack: Callable[[dict[str, bytes]], bytes]
) -> None:
    members = {
        "a/1.json": json.dumps(RECORDS[:2], indent=4).encode(),
        "a/2.JSONL.gz": gzip.compress(LINES),
        "b.parquet": FORMS["parquet"],
        "notes.txt": b"no data",
        "__MACOSX/a/._1.json": b"\0\5",
        "empty/": b"",
    }
    (tmp_path / "runs").write_bytes(pack(members))
    records, damage, names = read(tmp_path / "runs")
    assert records == [*RECORDS[:2], *RECORDS, *RECORDS]
    assert names == ["runs/a/1.json", "runs/a/2.JSONL.gz", "runs/b.parquet"]
    assert not damage


def test_of_a_log_of_inspect_the_samples_are_the_records(tmp_path: Path) -> None:
    samples = {f"samples/{n}_epoch_1.json": json.dumps(RECORDS[n]).encode() for n in (10, 2)}
    other = {"header.json": b'{"version": 2}', "_journal/start.json": b"{}", "summaries.json": b'[{"id": 1}]'}
    (tmp_path / "log.eval").write_bytes(zipped(other | samples))
    assert read(tmp_path)[::2] == (
        [RECORDS[2], RECORDS[10]],
        ["log.eval/samples/2_epoch_1.json", "log.eval/samples/10_epoch_1.json"],
    )


def test_a_member_that_is_no_data_and_an_archive_that_is_torn_cost_only_themselves(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"1.json": b"<!DOCTYPE html>", "2.jsonl": LINES}))
    records, damage, _ = read(tmp_path / "a.zip")
    assert (records, [item.origin for item in damage]) == (RECORDS, ["a.zip/1.json@0"])
    assert "web page" in damage[0].reason
    tar = tarred({"1.jsonl": LINES, "2.jsonl": LINES})
    (tmp_path / "b.tar").write_bytes(tar[: len(LINES) + 2000])
    records, damage, _ = read(tmp_path / "b.tar")
    assert records[: len(RECORDS)] == RECORDS
    assert len(records) < 2 * len(RECORDS)
    assert damage


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped({"word/document.xml": b"x"}), "a zip archive of 1 files, none of them data: 'word/document.xml'"),
        (zipped({"1.json": LINES})[:-30], "a zip archive that cannot be read"),
        ("[{}]".encode("utf-16"), "text in UTF-16; write it as UTF-8"),
        ('[{"a": 1}]'.encode("utf-16-le"), "text in UTF-16"),
        ("[{}]".encode("utf-32"), "text in UTF-32"),
        (b"<html><body>", "a web page"),
        (b"<?xml version='1.0'?>", "XML or HTML"),
        (b"%PDF-1.7 \x00", "a PDF document"),
        (b"ARROW1\0\0", "an Arrow (Feather) file"),
        (pickle.dumps([{"a": 1}]), "a Python pickle, which is never opened"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive"),
        (b"\x04\x22\x4d\x18dd", "packed with lz4"),
        (b"SQLite format 3\0", "an SQLite data base"),
        (b"\x89PNG\r\n", "a picture"),
        (bytes(range(1, 30)), "no text, and no form of data that is known here"),
        (b"a,b\n\x1b[31m1,2\n", r"it starts with 'a,b\n\x1b[31m1,2\n'"),
    ],
)
def test_what_is_not_read_is_called_by_its_name_and_never_printed_as_bytes(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(sources.SourceError) as caught:
        read(tmp_path / "x.json")
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("packing", PACK)
def test_what_unpacks_to_far_more_than_its_size_is_stopped_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str
) -> None:
    monkeypatch.setattr(packed, "BOMB_BYTES", 100_000)
    bomb = LINES + b" " * 8_000_000
    for name, data in {"x.json": PACK[packing](bomb), "x.zip": zipped({"1.json": bomb})}.items():
        (tmp_path / name).write_bytes(data)
        records, damage, _ = read(tmp_path / name)
        assert records == RECORDS
        assert [item.reason.partition("; ")[0] for item in damage] == [
            "the packed file cannot be unpacked further: it unpacks to more than 250 times its size"
        ]


def test_a_parquet_file_that_claims_more_than_it_can_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame({"messages": pl.repeat(None, 5_000_000, dtype=pl.String, eager=True)}).write_parquet(tmp_path / "a")
    with pytest.raises(sources.SourceError, match=r"a Parquet file of [\d,]+ bytes that claims 5,000,000 rows"):
        read(tmp_path / "a")
    monkeypatch.setattr(parquet, "BOMB_BYTES", 100_000)
    pl.DataFrame({"messages": ["x" * 10_000_000]}).write_parquet(tmp_path / "b")
    with pytest.raises(sources.SourceError, match=r"it unpacks to [\d,]+ bytes, more than 250 times its size"):
        read(tmp_path / "b")


def test_a_packed_parquet_file_too_large_to_be_read_whole_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "PACKED_BYTES", 100)
    (tmp_path / "x.parquet.gz").write_bytes(gzip.compress(FORMS["parquet"]))
    ((damage,),) = read(tmp_path / "x.parquet.gz")[1:2]
    assert "a packed Parquet file of more than" in damage.reason


def test_a_chained_address_is_read_through_every_link(tmp_path: Path) -> None:
    with fsspec.open("memory://chained/x.zip", "wb") as stream:
        stream.write(zipped({"deep/a.jsonl": LINES, "b.json": b"[]"}))
    (tmp_path / "x.zip").write_bytes(zipped({"deep/a.jsonl": LINES, "b.json": b"[]"}))
    for behind in ("memory://chained/x.zip", str(tmp_path / "x.zip")):
        for address in (f"zip://deep/a.jsonl::{behind}", f"zip://deep/*.jsonl::{behind}", f"zip://deep::{behind}"):
            assert read(address)[::2] == (RECORDS, ["a.jsonl"])


def test_standard_input_is_a_source_and_is_read_more_than_once(tmp_path: Path) -> None:
    code = (
        "from analysis import sources\n"
        "for _ in range(2):\n"
        "    (file,) = sources.locate('-')\n"
        "    (unit,) = sources.plan([file])\n"
        "    print(file.name, len([*sources.read_unit(unit)]))\n"
    )
    environment = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, input=gzip.compress(LINES), capture_output=True, env=environment, check=False)
    assert (ran.stdout.decode(), ran.stderr.decode()) == ("standard input 50\n" * 2, "")
    assert not [*tmp_path.iterdir()]


def test_the_command_line_reads_standard_input_and_leaves_no_copy_of_it(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    killed = tmp_path / "tmp" / "trajectory-stdin.999999999.x"
    killed.touch()
    command = [sys.executable, "-m", "analysis", "tables", "-", str(tmp_path / "out"), "--quiet"]
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp"), "TRAJECTORY_CACHE": str(tmp_path / "cache")}
    ran = subprocess.run(command, input=LINES, capture_output=True, env=environment, check=False)
    assert (ran.returncode, ran.stdout.decode()) == (0, f"{tmp_path}/out: 50 records in = 50 kept + 0 rejected\n")
    assert not [path for path in (tmp_path / "tmp").iterdir() if path.name.startswith("trajectory-stdin")]


def test_a_parquet_file_whose_rows_repeat_one_long_value_is_told_and_a_plain_one_is_read(tmp_path: Path) -> None:
    rows = 2_000
    long = json.dumps({"role": "user", "content": "x" * 1_000_000})
    names = pa.array([secrets.token_hex(60) for _ in range(rows)])
    for place, value in {"bomb.parquet": f"[{long}]", "plain.parquet": '[{"role": "user", "content": "Go."}]'}.items():
        messages = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([value]))
        pq.write_table(pa.table({"messages": messages, "id": names}), tmp_path / place, compression="zstd")
    with pytest.raises(
        sources.SourceError, match=r"bomb.parquet: its rows come to some 2,\d{3},\d{3},\d{3} bytes, more than"
    ):
        load(str(tmp_path / "bomb.parquet"), progress=False)
    assert load(str(tmp_path / "plain.parquet"), progress=False).manifest["kept"] == rows
