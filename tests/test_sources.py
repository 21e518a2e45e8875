"""Containers are sniffed, records cut out with their offsets, and a broken record costs only itself."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis import sources
from analysis.sources import address
from analysis.sources.containers import brackets, lines, plan, resync, sniff, unit, window

RECORDS: list[dict[str, Any]] = [
    {"messages": [{"role": "user", "content": f'No. {n}: {{"a": [1, "]}}\\n    {{"]}} “quoted”'}], "n": n}
    for n in range(7)
]


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path: Path) -> tuple[list[sources.Raw], list[sources.Damage]]:
    items = [item for unit in sources.plan(sources.locate(str(path))) for item in sources.read_unit(unit)]
    raws = [item for item in items if isinstance(item, sources.Raw)]
    return raws, [item for item in items if isinstance(item, sources.Damage)]


LAYOUTS = {
    "indent 4": json.dumps(RECORDS, indent=4, ensure_ascii=False),
    "indent 2": json.dumps(RECORDS, indent=2),
    "indent 1 tab": json.dumps(RECORDS, indent="\t"),
    "indent 0": json.dumps(RECORDS, indent=0),
    "one line": json.dumps(RECORDS),
    "no spaces": json.dumps(RECORDS, separators=(",", ":")),
    "record a line in an array": "[\n" + ",\n".join(map(json.dumps, RECORDS)) + "\n]",
    "JSON Lines": "\n".join(map(json.dumps, RECORDS)),
    "JSON Lines with blank lines": "\n\n".join(map(json.dumps, RECORDS)) + "\n\n",
    "CRLF": "\r\n".join(map(json.dumps, RECORDS)) + "\r\n",
    "indent 4 and CRLF": json.dumps(RECORDS, indent=4).replace("\n", "\r\n"),
    "objects one after another": "\n".join(json.dumps(record, indent=2) for record in RECORDS),
    "lines start like records inside a record": json.dumps(RECORDS, indent=4).replace("\n            {", "\n    {"),
}


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_records_whatever_the_name_says(
    tmp_path: Path, layout: str, suffix: str, bom: bytes
) -> None:
    data = bom + LAYOUTS[layout].encode()
    path = write(tmp_path, f"records{suffix}", data)
    raws, damage = read(path)
    if layout.startswith("lines start like"):
        unit = sources.plan(sources.locate(str(path)))[0]
        assert any(sources.is_cut_wrong(unit, raw) for raw in raws)
        raws = [r for r in sources.read_unit(sources.whole(unit, len(data))) if isinstance(r, sources.Raw)]
    assert [json.loads(raw.data) for raw in raws] == RECORDS
    assert damage == []
    for raw in raws:
        assert raw.byte_offset is not None
        assert data[raw.byte_offset :].startswith(raw.data)


# To try every length of such a stretch from each of its places would take a quarter of an hour.
STRETCH = 300_000


@pytest.mark.parametrize("space", ["\n", " ", "\t\r\n"], ids=["lines", "blanks", "all"])
@pytest.mark.parametrize("where", ["behind", "before the last", "after a broken one", "behind a torn one"])
@pytest.mark.parametrize("layout", ["indent 4", "one line", "JSON Lines"])
def test_white_space_between_records_is_as_good_as_none_however_long(
    tmp_path: Path, layout: str, where: str, space: str
) -> None:
    text, stretch = LAYOUTS[layout], space * (STRETCH // len(space))
    last = text.rindex('{"messages"' if layout != "indent 4" else '    {\n        "messages"')
    text = {
        "behind": text + stretch,
        "before the last": text[:last] + stretch + ("\n" if layout != "one line" else "") + text[last:],
        "behind a torn one": text[:-40] + stretch,
        "after a broken one": text[: last - 40] + stretch + ("\n" if layout != "one line" else "") + text[last:],
    }[where]
    path = write(tmp_path, "records.json", text)
    units = sources.plan(sources.locate(str(path)))
    raws, damage = read(path)
    assert damage == []
    whole = [json.loads(raw.data) for raw in raws if is_json(raw.data)]
    if where.endswith("one"):
        assert whole == (RECORDS[:-1] if where == "behind a torn one" else [*RECORDS[:-2], RECORDS[-1]])
        assert len(raws) == len(RECORDS)
    else:
        assert whole == RECORDS
        assert not any(sources.is_cut_wrong(units[0], raw) for raw in raws)


def is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def test_a_record_of_many_lines_is_cut_out_like_one_of_few(tmp_path: Path) -> None:
    deep = {"messages": [{"role": "user", "content": f"No. {n}"} for n in range(3 * lines.FEW_LINES)]}
    records = [RECORDS[0], deep, RECORDS[1], deep]
    raws, damage = read(write(tmp_path, "records.json", json.dumps(records, indent=4)))
    assert ([json.loads(raw.data) for raw in raws], damage) == (records, [])


@pytest.mark.parametrize("indent", [None, 4])
def test_arrays_one_after_another_and_what_stands_behind_them_cost_no_record(
    tmp_path: Path, indent: int | None
) -> None:
    text = json.dumps(RECORDS, indent=indent)
    for behind, broken in (("\n" + text, 0), ("x", 1), ("]\n", 1), ("\n" + text + "\njunk", 1)):
        size = len(text + behind)
        (unit,) = sources.plan(sources.locate(str(write(tmp_path, "two.json", text + behind))))
        raws = [item for item in sources.read_unit(sources.whole(unit, size)) if isinstance(item, sources.Raw)]
        whole = [json.loads(raw.data) for raw in raws if not raw.broken]
        assert whole == RECORDS * (len(whole) // len(RECORDS))
        assert len(raws) - len(whole) == broken
        if indent:
            doubted = [raw for raw in sources.read_unit(unit) if isinstance(raw, sources.Raw)]
            assert any(sources.is_cut_wrong(unit, raw) for raw in doubted)


@pytest.mark.parametrize("unit_bytes", [1, 7, 64, 200, 1000])
@pytest.mark.parametrize("layout", ["indent 4", "indent 2", "JSON Lines", "CRLF", "indent 4 and CRLF"])
def test_units_of_any_size_hold_every_record_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, unit_bytes: int
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", unit_bytes)
    monkeypatch.setattr(window, "BLOCK_BYTES", 16)
    monkeypatch.setattr(lines, "STRIDE_BYTES", 16)
    raws, damage = read(write(tmp_path, "records.json", LAYOUTS[layout]))
    assert [json.loads(raw.data) for raw in raws] == RECORDS
    assert damage == []


@pytest.mark.parametrize("unit_bytes", [64, 100, 333, 1000])
def test_units_are_an_even_number_of_equal_ones_no_larger_than_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit_bytes: int
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", unit_bytes)
    path = write(tmp_path, "records.jsonl", LAYOUTS["JSON Lines"] * 8)
    units = sources.plan(sources.locate(str(path)))
    sizes = [unit.first.end - unit.first.start for unit in units]
    assert len(sizes) % 2 == 0
    assert max(sizes) <= unit_bytes
    assert max(sizes[:-1]) == min(sizes[:-1]) >= sizes[-1]
    assert sum(sizes) == path.stat().st_size


def test_small_files_are_read_together_each_as_what_it_holds(tmp_path: Path) -> None:
    for number, layout in enumerate(LAYOUTS):
        write(tmp_path, f"{number}.json", LAYOUTS[layout])
    write(tmp_path, "98.jsonl.gz", gzip.compress(LAYOUTS["JSON Lines"].encode()))
    write(tmp_path, "99.json", json.dumps(RECORDS[0], indent=4))
    files = sources.locate(str(tmp_path))
    (unit,) = sources.plan(files)
    assert [part.name for part in unit.slices] == [file.name for file in files]
    assert unit.size == sum(file.size for file in files)
    for part in unit.slices:
        (alone,) = sources.plan([file for file in files if file.name == part.name])
        assert [*sources.read_unit(alone)] == [
            raw
            for raw in sources.read_unit(unit)
            if isinstance(raw, sources.Raw) and raw.origin.startswith(f"{part.name}@")
        ]
    misleading = [*LAYOUTS].index("lines start like records inside a record")
    doubted = {
        raw.origin.split("@")[0]
        for raw in sources.read_unit(unit)
        if isinstance(raw, sources.Raw) and sources.is_cut_wrong(unit, raw)
    }
    assert doubted == {f"{misleading}.json"}
    raws = [raw for raw in sources.read_unit(sources.whole(unit, unit.first.end)) if isinstance(raw, sources.Raw)]
    assert [json.loads(raw.data) for raw in raws] == [*RECORDS * (len(LAYOUTS) + 1), RECORDS[0]]


@pytest.mark.parametrize("number", [1, 7, 90])
def test_units_of_small_files_are_an_even_number_of_much_the_same_size_and_keep_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 30_000)
    for n in range(number):
        write(tmp_path, f"{n}.jsonl", LAYOUTS["JSON Lines"] + "\n" * (n % 9))
    write(tmp_path, "100 large.jsonl", (LAYOUTS["JSON Lines"] + "\n") * 100)
    write(tmp_path, "101.jsonl", LAYOUTS["JSON Lines"])
    (tmp_path / "102.jsonl.gz").write_bytes(gzip.compress(LAYOUTS["JSON Lines"].encode()))
    files = sources.locate(str(tmp_path))
    units = sources.plan(files)
    assert [unit.shard for unit in units] == [*range(len(units))]
    names = [part.name for unit in units for part in unit.slices]
    assert list(dict.fromkeys(names)) == [file.name for file in files]
    small = [unit for unit in units if unit.first.name < "100"]
    assert len(small) in (1, 2, 4)
    assert max(unit.size for unit in small) - min(unit.size for unit in small) < 2 * 30_000 // plan.SMALL
    (last,) = [unit for unit in units if unit.first.name == "101.jsonl"]
    assert [part.name for part in last.slices] == ["101.jsonl", "102.jsonl.gz"]


def test_what_a_store_holds_is_read_object_by_object(tmp_path: Path) -> None:
    fs = fsspec.filesystem("memory")
    for n in range(3):
        fs.pipe_file(f"/small/{n}.jsonl", LAYOUTS["JSON Lines"].encode())
    units = sources.plan(sources.locate("memory://small"))
    assert [[part.name for part in unit.slices] for unit in units] == [["0.jsonl"], ["1.jsonl"], ["2.jsonl"]]
    fs.rm("/small", recursive=True)


@pytest.mark.parametrize("block", [1, 2, 3, 17, 1 << 20])
@pytest.mark.parametrize("layout", ["one line", "no spaces", "objects one after another", "indent 0"])
def test_brackets_are_matched_across_blocks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, block: int
) -> None:
    monkeypatch.setattr(window, "BLOCK_BYTES", block)
    monkeypatch.setattr(lines, "STRIDE_BYTES", block)
    raws, _ = read(write(tmp_path, "records.json", LAYOUTS[layout]))
    assert [json.loads(raw.data) for raw in raws] == RECORDS


def test_one_object_is_one_record(tmp_path: Path) -> None:
    for text in (json.dumps(RECORDS[0]), json.dumps(RECORDS[0], indent=4)):
        raws, _ = read(write(tmp_path, "debug.json", text))
        assert [json.loads(raw.data) for raw in raws] == RECORDS[:1]


def test_a_packed_file_is_read_as_what_it_holds(tmp_path: Path) -> None:
    raws, _ = read(write(tmp_path, "records.jsonl.gz", gzip.compress(LAYOUTS["JSON Lines"].encode())))
    assert [json.loads(raw.data) for raw in raws] == RECORDS


@pytest.mark.parametrize("behind", [b"", b"junk"])
@pytest.mark.parametrize("layout", ["JSON Lines", "indent 4"])
def test_a_packed_file_that_is_torn_keeps_its_whole_records_and_says_so(
    tmp_path: Path, layout: str, behind: bytes
) -> None:
    rows = [record | {"x": hashlib.sha256(b"%d" % n).hexdigest() * 40} for n, record in enumerate(RECORDS * 40)]
    text = json.dumps(rows, indent=4) if layout == "indent 4" else "\n".join(map(json.dumps, rows))
    packed = gzip.compress(text.encode())
    raws, damage = read(write(tmp_path, "records.json.gz", packed + behind if behind else packed[: len(packed) // 2]))
    whole = [json.loads(raw.data) for raw in raws if not raw.broken]
    assert whole == rows[: len(whole)]
    assert len(whole) == len(rows) if behind else 100 < len(whole) < len(rows)
    assert [item.reason.startswith("the packed file cannot be unpacked further") for item in damage][-1:] == [True]


def test_parquet_as_datasets_writes_it_gives_records_without_phantom_nulls(tmp_path: Path) -> None:
    rows = [{"messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "b", "name": "f"}], "n": 1}]
    pl.DataFrame(rows).write_parquet(tmp_path / "data.bin")
    raws, _ = read(tmp_path / "data.bin")
    assert [json.loads(raw.data) for raw in raws] == rows
    assert raws[0].origin == "data.bin@row 0"


@pytest.mark.parametrize("layout", ["indent 4", "no spaces", "record a line in an array", "JSON Lines"])
def test_a_torn_file_keeps_the_whole_records_and_says_what_was_lost(tmp_path: Path, layout: str) -> None:
    text = LAYOUTS[layout].encode()
    for cut in (text.rindex(b"quoted"), text.rindex(b"}", 0, text.rindex(b"}")) + 1):
        _keeps_all_but_the_last(tmp_path, text[:cut])


def _keeps_all_but_the_last(tmp_path: Path, text: bytes) -> None:
    raws, damage = read(write(tmp_path, "torn.json", text))
    assert damage == []
    assert [json.loads(raw.data) for raw in raws if not raw.broken] == RECORDS[:-1]
    (lost,) = [raw for raw in raws if raw.broken]
    assert "does not end" in lost.broken
    assert f"{len(lost.data):,} bytes" in lost.broken


@pytest.mark.parametrize("layout", ["indent 4", "no spaces", "record a line in an array"])
def test_an_array_torn_between_records_loses_no_record_and_is_named(tmp_path: Path, layout: str) -> None:
    text = LAYOUTS[layout].rstrip().removesuffix("]").rstrip()
    raws, damage = read(write(tmp_path, "torn.json", text))
    assert [json.loads(raw.data) for raw in raws] == RECORDS
    assert ["not closed" in item.reason for item in damage] == [True]


@pytest.mark.parametrize("layout", ["indent 4", "one line", "JSON Lines"])
def test_white_space_before_the_records_is_passed_over_however_much(tmp_path: Path, layout: str) -> None:
    raws, damage = read(write(tmp_path, "late.json", " \n" * sniff.HEAD_BYTES + LAYOUTS[layout]))
    assert [json.loads(raw.data) for raw in raws] == RECORDS
    assert not damage


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty (0 bytes)"),
        (b"  \n ", "nothing but white space"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"../blobs/0123abcd", "holds a path"),
        (b"PAR1 is not enough", "cannot be read"),
        (b"hello", "starts with 'hello'"),
    ],
)
def test_a_file_that_holds_no_records_says_what_it_looks_like(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(sources.SourceError, match=r".+") as caught:
        read(write(tmp_path, "x.json", content))
    assert message in str(caught.value)
    assert "x.json" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("sampel", "sample"),
        ("Sample", "sample"),
        ("rnus/day_1/a.json", "runs"),
        ("runs/day1/a.json", "day_1"),
        ("runs/day_1/b*.jsn", "b.json"),
        ("hbu:OWNER/NAME", "hub:OWNER/NAME"),
    ],
)
def test_what_may_have_been_meant_is_named(
    source: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs" / "day_1").mkdir(parents=True)
    (tmp_path / "runs" / "day_1" / "b.json").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sources.SourceError, match=rf"no such file or folder; near it: {meant}(,|$)"):
        sources.locate(source)


def test_a_name_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, "trajectories.json", "[]")
    with pytest.raises(sources.SourceError, match=r"near it: trajectories\.json"):
        sources.locate(str(tmp_path / "trajectoires.json"))


def test_files_that_differ_in_letters_alone_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    names = ["a.jsonl", "b1.jsonl", "b1x.jsonl", "b1y.jsonl", "b2.jsonl", "b.jsonl", "c.jsonl"]
    for name in reversed(names):  # a folder lists its files as its file system likes
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert [file.name for file in sources.locate(str(tmp_path))] == names


def test_a_folder_and_a_glob_list_files_in_natural_order(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        write(tmp_path, f"part-{number}.jsonl", LAYOUTS["JSON Lines"])
    write(tmp_path, "notes.txt", "not data")
    names = ["part-1.jsonl", "part-2.jsonl", "part-10.jsonl"]
    assert [file.name for file in sources.locate(str(tmp_path))] == names
    assert [file.name for file in sources.locate(str(tmp_path / "part-*.jsonl"))] == names


def test_a_folder_at_an_address_lists_files_in_natural_order() -> None:
    for name in ("part-10.jsonl", "part-2.jsonl", "notes.txt"):
        with fsspec.open(f"memory://natural/{name}", "wb") as stream:
            stream.write(b"{}\n")
    for source in ("memory://natural", "memory://natural/*.jsonl"):
        assert [file.name for file in sources.locate(source)] == ["part-2.jsonl", "part-10.jsonl"]


def test_an_fsspec_address_is_read_like_a_file(tmp_path: Path) -> None:
    with fsspec.open("memory://bucket/part-1.jsonl", "wb") as stream:
        stream.write(LAYOUTS["JSON Lines"].encode())
    units = sources.plan(sources.locate("memory://bucket/part-*.jsonl"))
    raws = [raw for unit in units for raw in sources.read_unit(unit) if isinstance(raw, sources.Raw)]
    assert [json.loads(raw.data) for raw in raws] == RECORDS


def test_parquet_at_an_fsspec_address_is_read_like_a_file() -> None:
    rows = [{"messages": [{"role": "user", "content": f"No. {n}"}], "n": n} for n in range(3)]
    with fsspec.open("memory://parquet/data.parquet", "wb") as stream:
        pl.DataFrame(rows).write_parquet(stream)
    (unit,) = sources.plan(sources.locate("memory://parquet/data.parquet"))
    assert [json.loads(raw.data) for raw in sources.read_unit(unit) if isinstance(raw, sources.Raw)] == rows


def test_columns_filters_and_slices_reach_files_at_an_fsspec_address() -> None:
    addresses = [f"memory://scanned/part-{n}.parquet" for n in range(3)]
    for number, name in enumerate(addresses):
        with fsspec.open(name, "wb") as stream:
            pl.DataFrame({"a": [number, number + 10], "b": ["x", "y"]}).write_parquet(stream)
    lazy = address.scan_parquet(addresses)
    assert lazy.collect()["a"].to_list() == [0, 10, 1, 11, 2, 12]
    assert lazy.filter(pl.col("b") == "y").select("a").collect()["a"].to_list() == [10, 11, 12]
    assert lazy.head(3).collect()["a"].to_list() == [0, 10, 1]
    assert lazy.filter(pl.col("b") == "y").head(2).select("a").collect(engine="streaming")["a"].to_list() == [10, 11]
    assert lazy.select(pl.len()).collect().item() == 6


def test_what_lives_in_one_process_is_told_from_what_others_reach() -> None:
    assert [address.is_private(name) for name in ("memory://a/b", "simplecache::memory://a/b")] == [True, True]
    assert not any(address.is_private(name) for name in ("s3://memory/b", "/memory/b", "simplecache::s3://a/b"))


def test_a_file_address_is_the_file_it_names(tmp_path: Path) -> None:
    path = write(tmp_path, "records.jsonl", LAYOUTS["JSON Lines"])
    assert sources.locate(f"file://{path}") == sources.locate(str(path))


@pytest.mark.parametrize("source", ["s4://bucket/part.json", "memory://nowhere/part.json"])
def test_an_address_that_leads_nowhere_is_named_with_the_reason(source: str) -> None:
    with pytest.raises(sources.SourceError, match=source):
        sources.locate(source)


@pytest.mark.parametrize(
    "garble", [('"n": 0', '"n": 0, x'), ('{"system"', '{"sys"tem"'), ('{"system"', "{system"), ("]}", "]")]
)
def test_a_first_record_that_is_broken_takes_no_other_along_whatever_its_first_key(
    tmp_path: Path, garble: tuple[str, str]
) -> None:
    records = [{"system": "Help.", "messages": [{"role": "user", "content": "a"}], "n": n, "m": [n]} for n in range(4)]
    text = json.dumps(records)
    raws, _ = read(write(tmp_path, "records.json", text.replace(*garble, 1)))
    assert len(raws) == 4
    assert [json.loads(raw.data) for raw in raws[1:]] == records[1:]
    assert raws[0].data.startswith(b"{")


STRAY = '{"x": "a " b", "messages": []}'
OTHER = '{"y": "c } ", "messages": [{"role": "user", "content": "z"}]}'


@pytest.mark.parametrize("block", [*range(len(OTHER), 260, 7), 4 << 20])
@pytest.mark.parametrize("order", ["xyxy", "yxyyxyy", "xyy"])
def test_broken_records_do_not_swallow_whole_ones_between_them_whatever_their_first_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, block: int
) -> None:
    # The stray quotes of two broken records make brackets match again.
    monkeypatch.setattr(window, "BLOCK_BYTES", block)
    rows = [STRAY if first == "x" else OTHER for first in order]
    raws, _ = read(write(tmp_path, "records.json", f"[{', '.join(rows)}]"))
    assert [raw.data.decode() for raw in raws] == rows
    assert [bool(raw.broken) for raw in raws] == [first == "x" for first in order]


HARMS: dict[str, Callable[[str, int], str]] = {
    "cut short": lambda text, at: text[:at],
    "a character less": lambda text, at: text[:at] + text[at + 1 :],
    "a quote more": lambda text, at: f'{text[:at]}"{text[at:]}',
    "a brace more": lambda text, at: f"{text[:at]}}}{text[at:]}",
    "a bracket more": lambda text, at: f"{text[:at]}[{text[at:]}",
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    firsts=st.lists(st.sampled_from(["x", "y", "id", "messages", "task_info"]), min_size=2, max_size=5),
    victim=st.integers(0, 4),
    where=st.floats(0, 1, exclude_max=True),
    harm=st.sampled_from(sorted(HARMS)),
)
def test_a_record_broken_anywhere_takes_no_other_along_however_each_of_them_begins(
    tmp_path: Path, firsts: list[str], victim: int, where: float, harm: str
) -> None:
    value = 'k }{ , " ] x'
    said = [{"role": "user", "content": "d }, {"}, {"role": "assistant", "content": None}]
    rows = [json.dumps({first: value, "messages": said[: n % 3], "n": n}) for n, first in enumerate(firsts)]
    broken = rows[victim % len(rows)]
    others = [row for row in rows if row != broken]
    rows[victim % len(rows)] = HARMS[harm](broken, 1 + int(where * (len(broken) - 1)))
    raws, _ = read(write(tmp_path, "records.json", f"[{', '.join(rows)}]"))
    assert [raw.data.decode() for raw in raws if raw.data.decode() in others] == others


RUNS = [
    {"traj_type": "a", "task_info": {"env_id": "e", "task": "Do."}, "messages": [{"role": "user", "n": n}]}
    for n in range(200)
]
BREAKS = {
    "no closing brace": lambda text: text[:-1],
    "no closing bracket": lambda text: text[:-2] + "}",
    "an opening bracket": lambda text: text.replace('"role"', '["role"'),
    "a stray quote": lambda text: text.replace("Do.", 'D"o.'),
    "cut short": lambda text: text[: len(text) // 2],
}


@pytest.mark.parametrize("damage", BREAKS)
def test_a_broken_record_is_one_and_its_end_is_not_sought_through_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(window, "BLOCK_BYTES", 1000)
    rows = [BREAKS[damage](json.dumps(run)) if n % 50 == 1 else json.dumps(run) for n, run in enumerate(RUNS)]
    held: list[int] = []
    more = window.Window.more

    def counted(self: window.Window) -> bool:
        is_more = more(self)
        held.append(len(self.buffer))
        return is_more

    monkeypatch.setattr(window.Window, "more", counted)
    raws, _ = read(write(tmp_path, "records.json", f"[{', '.join(rows)}]"))
    assert [raw.data.decode() for raw in raws] == rows
    assert max(held) < 4000 < sum(map(len, rows))


def test_a_record_that_cannot_be_told_to_be_broken_is_followed_so_far_and_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(brackets, "RUN_ON_BYTES", 5000)
    # It could be one whose last value holds all that follows.
    rows = ['{"traj_type": "a", "more": [0', *map(json.dumps, RUNS)]
    raws, _ = read(write(tmp_path, "records.json", f"[{', '.join(rows)}]"))
    assert [raw.data.decode() for raw in raws] == rows
    assert [n for n, raw in enumerate(raws) if raw.broken] == [0]


@pytest.mark.parametrize("number", [0, 1])
def test_a_text_that_ends_where_a_quote_lost_its_backslash_does_not_part_its_record(
    tmp_path: Path, number: int
) -> None:
    text = json.dumps([{"role": "user", "content": "Go."}, {"role": "tool", "tags": [{"a": "b"}, ["c"], {"d": "e"}]}])
    rows = [json.dumps({"traj_type": "a", "messages": text, "n": n}) for n in range(3)]
    for place in (at for at in range(len(rows[number])) if rows[number].startswith('\\"', at)):
        broken = rows[number][:place] + rows[number][place + 1 :]
        raws, _ = read(write(tmp_path, "records.json", f"[{', '.join([*rows[:number], broken, *rows[number + 1 :]])}]"))
        assert [raw.data.decode() for raw in raws] == [*rows[:number], broken, *rows[number + 1 :]]


@pytest.mark.parametrize("layout", ["[%s]", "[\n  %s\n]", "%s\n"], ids=["one line", "indented", "lines"])
@pytest.mark.parametrize("end", ["", '"}]}'], ids=["open", "closed"])
def test_a_record_too_long_to_be_held_is_passed_by_and_its_neighbours_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, end: str
) -> None:
    for module, name, size in (
        (window, "BLOCK_BYTES", 1000),
        (lines, "STRIDE_BYTES", 1000),
        (unit, "MOST_BYTES", 6000),
        (lines, "MOST_BYTES", 6000),
        (resync, "GIVE_UP_BYTES", 3000),
    ):
        monkeypatch.setattr(module, name, size)
    near = [json.dumps(run) for run in RUNS[:2]]
    long = '{"traj_type": "a", "messages": [{"role": "user", "content": "' + "word " * 10_000 + end
    between = {"[%s]": ", ", "%s\n": "\n"}.get(layout, ",\n  ")
    raws, _ = read(write(tmp_path, "records.json", layout % between.join([near[0], long, near[1]])))
    assert [raw.data.decode() for raw in raws if not raw.broken] == near
    assert [raw.broken.partition(";")[0] for raw in raws if raw.broken] == ["no record ends within its first 0 MB"]
    assert all(len(raw.view) < 2000 for raw in raws)


def test_a_large_record_that_holds_others_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "BLOCK_BYTES", 1000)
    rows = [{"traj_type": "a", "infinite": value, "more": RUNS[:50]} for value in (1.0, float("inf"))]
    raws, _ = read(write(tmp_path, "records.json", json.dumps([*rows, RUNS[0]])))
    assert [json.loads(raw.data) for raw in raws] == [*rows, RUNS[0]]
    assert not any(raw.broken for raw in raws)


def test_conversations_inside_a_record_are_no_records(tmp_path: Path) -> None:
    turns = [[{"role": "user", "content": "Go."}], [{"role": "user", "content": "On."}]]
    rows = [{"id": "multi_turn_0", "question": turns, "involved_classes": ["A"]}] * 3
    raws, _ = read(write(tmp_path, "tasks.jsonl", "\n".join(map(json.dumps, rows))))
    assert [json.loads(raw.data) for raw in raws] == rows
