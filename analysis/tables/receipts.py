"""What became of each unit: a small file per unit, so that a run that was killed goes on where it stopped."""

import msgspec

from analysis import sources
from analysis.schema import RECORD_TABLES
from analysis.tables import places

FOLDER = "units"
_MISLEADING = "misleading.json"


class Receipt(msgspec.Struct):
    """What became of a unit. Written last: a unit with a receipt is done."""

    shard: int
    file: str
    records_in: int
    kept: int
    rejected: int
    dialects: dict[str, int]
    unknown_keys: dict[str, int]
    damage: list[tuple[str, str]]
    is_cut_wrong: bool = False
    by_brackets: tuple[str, ...] = ()
    is_given_up: bool = False
    unread: int = 0


def write_receipt(target: str, receipt: Receipt) -> None:
    places.write_bytes(_path(target, receipt.shard), msgspec.json.encode(receipt))


def receipts_of(target: str, units: list[sources.Unit]) -> list[Receipt]:
    """Receipts of the units that are done."""
    there = set(places.names(f"{target}/{FOLDER}"))
    receipts = (receipt_of(target, unit) for unit in units if _name(unit.shard) in there)
    return [receipt for receipt in receipts if receipt is not None]


def receipt_of(target: str, unit: sources.Unit) -> Receipt | None:
    try:
        return msgspec.json.decode(places.read_bytes(_path(target, unit.shard)), type=Receipt)
    except (OSError, msgspec.MsgspecError):
        return None


def misleading_files(target: str) -> set[str]:
    """Names of the files that an earlier run noted: their lines do not start records."""
    try:
        return set(msgspec.json.decode(places.read_bytes(f"{target}/{FOLDER}/{_MISLEADING}"), type=list[str]))
    except (OSError, msgspec.MsgspecError):
        return set()


def note_misleading_files(target: str, names: set[str]) -> None:
    places.write_bytes(f"{target}/{FOLDER}/{_MISLEADING}", msgspec.json.encode(sorted(names)))


def forget(target: str, unit: sources.Unit) -> None:
    """Remove what an earlier run made of a unit."""
    places.remove(_path(target, unit.shard))
    for table in RECORD_TABLES:
        places.remove(part_path(target, table.name, unit.shard))


def part_path(target: str, table: str, shard: int) -> str:
    """Where the rows of a unit stand."""
    return f"{target}/{table}/part-{shard:05d}.parquet"


def _path(target: str, shard: int) -> str:
    return f"{target}/{FOLDER}/{_name(shard)}"


def _name(shard: int) -> str:
    return f"{shard:05d}.json"
