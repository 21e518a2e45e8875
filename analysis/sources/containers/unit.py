"""What a file is cut into, and what comes out of it."""

from typing import Literal, NamedTuple, Protocol

BOM = b"\xef\xbb\xbf"
SPACE = b" \t\r\n"
# What is held of one record in memory, and what is kept of one that is longer.
MOST_BYTES, HEAD_BYTES = 128 << 20, 512
UNCLOSED = "the array is not closed: the file ends after a whole record"

Container = Literal["lines", "indented", "brackets", "parquet", "archive", "packed parquet", "unreadable"]


class Slice(NamedTuple):
    """A part of a file: the records that start in [start, end), bytes of a text file or rows of a Parquet file.

    `prefix` is what a record's line starts with, where records are cut by lines; of an unreadable file it says why.
    """

    path: str
    name: str
    container: Container
    start: int
    end: int
    prefix: bytes = b""

    def origin(self, position: int) -> str:
        """How a record, or a damage, at this offset is named."""
        return f"{self.name}@{position}"


class Unit(NamedTuple):
    """What is read on its own, by one process: a slice of a large file, or several small files, each whole."""

    shard: int
    slices: tuple[Slice, ...]

    @property
    def first(self) -> Slice:
        return self.slices[0]

    @property
    def size(self) -> int:
        """Bytes of files, or rows of a Parquet file."""
        return sum(slice_.end - slice_.start for slice_ in self.slices)


class Raw(NamedTuple):
    """One record's bytes and where they start. `broken` says why they are known not to be a record.

    `view` may be a part of what was read at once, which it keeps in memory; `data` are bytes of its own.
    """

    origin: str
    byte_offset: int | None
    view: bytes | memoryview
    broken: str = ""

    @property
    def data(self) -> bytes:
        return bytes(self.view)


class Damage(NamedTuple):
    """Something lost that is no record: named, with its place."""

    origin: str
    reason: str


class Stream(Protocol):
    """As much of a binary file as reading records takes."""

    def read(self, size: int, /) -> bytes: ...

    def seek(self, offset: int, /) -> int: ...


def torn(text: bytes | memoryview) -> str:
    """Why a record is broken with which the file ends."""
    return f"the record does not end: {len(text):,} bytes of it are there"


def too_long(length: int) -> str:
    """Why a record is not read that is longer than what is held of one."""
    return (
        f"no record ends within its first {MOST_BYTES >> 20} MB; {length:,} bytes, up to the next start, are not read"
    )
