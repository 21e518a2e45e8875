"""Records that are rows of Parquet files."""

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO

import msgspec
import polars as pl

from analysis.sources import address
from analysis.sources.containers.packed import BOMB_BYTES, MOST_TIMES
from analysis.sources.containers.unit import Raw, Slice, Stream
from analysis.sources.errors import SourceError
from analysis.sources.locate import File

ROWS_PER_UNIT = 500
PACKED_BYTES = 1 << 30
# Rows to a byte: trajectories take hundreds of bytes each.
MOST_ROWS = 8
# Rows that take less each in their file are looked at: some, at so many places.
THIN_BYTES, LOOKS, ROWS_PER_LOOK = 4096, 8, 4
# On some broken pages Polars panics, which Python's `except Exception` would let through.
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def slices(file: File) -> list[Slice]:
    """A Parquet file, so many rows to a slice.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        rows = address.scan_parquet([file.path]).select(pl.len()).collect().item()
    except _UNREADABLE as error:
        raise SourceError(f"{file.name}: a Parquet file that cannot be read ({str(error)[:200]})") from None
    _refuse_bomb(file, rows)
    starts = range(0, rows, ROWS_PER_UNIT) or range(0, 1)
    return [Slice(file.path, file.name, "parquet", start, min(start + ROWS_PER_UNIT, rows)) for start in starts]


def _refuse_bomb(file: File, rows: int) -> None:
    """Of columns that repeat one value, a few bytes stand for any number of rows."""
    import pyarrow.parquet  # noqa: PLC0415  as in `packed`

    with suppress(pyarrow.ArrowException, OSError), address.open_bytes(file.path) as stream:
        metadata = pyarrow.parquet.read_metadata(stream)
        size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
        if size > BOMB_BYTES and size > MOST_TIMES * file.size:
            raise SourceError(f"{file.name}: it unpacks to {size:,} bytes, more than {MOST_TIMES} times its size")
    if rows > MOST_ROWS * file.size:
        raise SourceError(f"{file.name}: a Parquet file of {file.size:,} bytes that claims {rows:,} rows")
    if rows * THIN_BYTES > file.size and (come_to := _estimate(file, rows)) > max(BOMB_BYTES, MOST_TIMES * file.size):
        raise SourceError(
            f"{file.name}: its rows come to some {come_to:,} bytes, more than {MOST_TIMES} times its size"
        )


def _estimate(file: File, rows: int) -> int:
    """What all rows come to as JSON, by some of them: a long value may stand once in a file for any number of rows."""
    frame = address.scan_parquet([file.path])
    starts = range(0, rows, max(1, rows // LOOKS))
    try:
        looked_at = pl.concat([frame.slice(start, ROWS_PER_LOOK) for start in starts]).collect()
    except _UNREADABLE:  # which costs its slice when that is read
        return 0
    return sum(len(raw.data) for raw in _rows(file.name, looked_at, 0)) * rows // max(1, looked_at.height)


def read_rows(slice_: Slice) -> Iterator[Raw]:
    """Its rows as JSON.

    Raises:
        SourceError: they cannot be read.
    """
    try:
        rows = address.scan_parquet([slice_.path]).slice(slice_.start, slice_.end - slice_.start).collect()
    except _UNREADABLE as error:
        raise SourceError(f"{slice_.name}: rows that cannot be read ({str(error)[:200]})") from None
    yield from _rows(slice_.name, rows, slice_.start)


def read_packed_rows(slice_: Slice, stream: Stream) -> Iterator[Raw]:
    """The same of a Parquet file that is packed: it is read whole, since its end must be read first.

    Raises:
        SourceError: it is too large for that, or cannot be read.
    """
    data = stream.read(PACKED_BYTES + 1)
    if len(data) > PACKED_BYTES:
        raise SourceError(f"{slice_.name}: a packed Parquet file of more than {PACKED_BYTES >> 20} MB; unpack it")
    try:
        rows = pl.read_parquet(BytesIO(data))
    except _UNREADABLE as error:
        raise SourceError(f"{slice_.name}: a Parquet file that cannot be read ({str(error)[:200]})") from None
    yield from _rows(slice_.name, rows, 0)


def _rows(name: str, rows: pl.DataFrame, first: int) -> Iterator[Raw]:
    for index, row in enumerate(rows.iter_rows(named=True), first):
        data = msgspec.json.encode(present(row), enc_hook=str)
        yield Raw(f"{name}@row {index}", None, data)


def present(value: object) -> object:
    """A row without the nulls that Parquet's structs put where a record had no key: there, absent and null are one."""
    if isinstance(value, dict):
        return {key: present(item) for key, item in value.items() if item is not None}
    return [present(item) for item in value] if isinstance(value, list) else value
