"""One unit of work: its raw records -> conformed parts on disk, and a receipt. Runs in any process, on any machine."""

from collections import Counter
from typing import Any

import polars as pl

from analysis import processes, records, sources
from analysis.records.model import Rejected
from analysis.tables.places import write
from analysis.tables.receipts import Receipt, part_path, write_receipt
from analysis.tables.rows import Rows

# Lines that mislead do so from a file's start; one of broken records is not doubted record by record.
DOUBTS = 20


def decode_unit(unit: sources.Unit, target: str, keep_unread: bool = False) -> Receipt:
    """Decode a unit into `target/<table>/part-<shard>.parquet`, each of which is there whole or not at all.

    A unit whose lines turn out not to start records leaves nothing and says so in its receipt. With `keep_unread` it
    keeps records whose calls or texts could not be read.
    """
    with processes.without_collector():  # rows make no cycles
        receipt, frames = _decode(unit, keep_unread)
        if receipt.is_cut_wrong:
            return receipt
        put(receipt, frames, target)
    return receipt


def put(receipt: Receipt, frames: dict[str, pl.DataFrame], target: str) -> None:
    """Write what became of a unit: its tables, and last its receipt."""
    # A third larger than with zstd, 1/130 of what was read instead of 1/180, and read a tenth sooner.
    write(
        {part_path(target, name, receipt.shard): frame for name, frame in frames.items()},
        compression="lz4",
    )
    write_receipt(target, receipt)


def _decode(unit: sources.Unit, keep_unread: bool) -> tuple[Receipt, dict[str, pl.DataFrame]]:
    rows = Rows()
    dialects: Counter[str] = Counter()
    unknown_keys: Counter[str] = Counter()
    damage: list[tuple[str, str]] = []
    doubted: Counter[str] = Counter()
    kept = rejected = unread = 0
    for raw in sources.read_unit(unit):
        if isinstance(raw, sources.Damage):
            damage.append((raw.origin, raw.reason))
            continue
        record = _read(raw, unknown_keys, keep_unread)
        if isinstance(record, Rejected):
            file = raw.origin.rpartition("@")[0]
            doubted[file] += 1
            if doubted[file] <= DOUBTS and sources.is_cut_wrong(unit, raw):
                return Receipt(unit.shard, unit.first.name, 0, 0, 0, {}, {}, [], is_cut_wrong=True), {}
            rejected += 1
        else:
            dialects[record.dialect] += 1
            kept += 1
            unread += keep_unread and any(finding.rule == "kept_unread" for finding in record.findings)
        rows.add(trajectory_id(unit.shard, kept + rejected - 1), record)
    receipt = Receipt(
        unit.shard, unit.first.name, kept + rejected, kept, rejected, dict(dialects), dict(unknown_keys), damage
    )
    receipt.unread = unread
    return receipt, rows.frames()


def trajectory_id(shard: int, row: int) -> str:
    """Shard and row; their text sorts as they do."""
    return f"{shard:05d}-{row:05d}"


def _read(raw: sources.Raw, unknown_keys: Counter[str], keep_unread: bool) -> Any:
    record = records.read(raw.view, raw.origin, raw.byte_offset, unknown_keys, keep_unread=keep_unread)
    if raw.broken and isinstance(record, Rejected):
        return Rejected(raw.origin, raw.byte_offset, raw.broken)
    return record
