"""Ten thousand broken files: each record is kept or rejected, no neighbour is lost, no error but our own is raised.

The seed is printed, so that a failure can be had again.
"""

import json
import random
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis import sample
from analysis.sources import SourceError
from analysis.tables import load

RECORDS = 5
LAYOUTS = ("lines", "one line", "indented")
# More than a plain run of the same files takes, and far less than a copy of each would.
GROWTH_KB = 200_000


def laid_out(records: list[dict[str, Any]], layout: str) -> list[bytes]:
    """The bytes of each record, and what stands between, before and after them: records at odd places."""
    opening, between, closing = {"lines": (b"", b"\n", b"\n"), "one line": (b"[", b", ", b"]")}.get(
        layout, (b"[\n", b",\n", b"\n]\n")
    )
    pieces = [opening]
    for record in records:
        text = json.dumps(record, indent=2 if layout == "indented" else None)
        pieces += [text.encode(), between]
    pieces[-1] = closing
    return pieces


def broken(pieces: list[bytes], moments: random.Random) -> tuple[bytes, int]:
    """A file with one byte of one record deleted, inserted or changed; and the record's number."""
    number = moments.randrange(RECORDS)
    record = bytearray(pieces[2 * number + 1])
    position = moments.randrange(1, len(record) - 1)
    match moments.randrange(3):
        case 0:
            del record[position]
        case 1:
            record.insert(position, moments.randrange(256))
        case _:
            record[position] = moments.randrange(256)
    return b"".join(pieces[: 2 * number + 1]) + bytes(record) + b"".join(pieces[2 * number + 2 :]), number


def hold(folder: Path, files: int, seed: int) -> None:
    print("seed", seed)
    moments = random.Random(seed)
    records = list(sample.records(RECORDS, 2, seed=5))
    sources = {layout: laid_out(records, layout) for layout in LAYOUTS}
    path = folder / "broken.json"
    peak = 0
    for count in range(files):
        layout = moments.choice(LAYOUTS)
        content, number = broken(sources[layout], moments)
        path.write_bytes(content)
        try:
            manifest = load(str(path), progress=False).manifest
        except SourceError:
            raise AssertionError(f"file {count}, {layout}: all refused for record {number}") from None
        told = (manifest["records_in"], manifest["kept"], manifest["rejected"])
        assert told[0] == told[1] + told[2] == RECORDS, (count, layout, told)
        assert manifest["kept"] >= RECORDS - 1, (
            f"file {count}, {layout}: a neighbour of record {number} is lost: {told}"
        )
        if count % 500 == 0:
            shutil.rmtree(folder / "cache")
        if count == files // 10:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < GROWTH_KB


@pytest.mark.parametrize("seed", [1])
def test_one_broken_byte_costs_one_record_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    hold(tmp_path, 20, seed)


@pytest.mark.nightly
def test_nor_do_ten_thousand_broken_bytes_cost_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    hold(tmp_path, 10_000, random.SystemRandom().randrange(10**6))
