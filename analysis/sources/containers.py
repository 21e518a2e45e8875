"""Files -> units -> raw records: JSON arrays, single objects, JSON Lines, Parquet; sniffed, not believed.

Records of a text file are cut out, not parsed, in one of two ways:

- by lines, where every record starts a line of its own (JSON Lines; an array with an indent): ranges of bytes are then
  units that can be read apart, and a broken record cannot touch its neighbours;
- by brackets, for every other layout: one unit a file. A record that does not close or does not parse is given up at
  the next place where a record can start.

Small files are one unit together: each unit ends with six files to write, and each figure begins with reading them.

A cut that turns out wrong (a line that looks like a record's start inside a record) is noticed, and the file is read by
brackets instead.
"""

import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterator
from io import BufferedReader
from itertools import accumulate, groupby, islice
from typing import IO, Any, Literal, NamedTuple, Protocol, Self

import msgspec
import polars as pl

from analysis.sources import address
from analysis.sources.errors import SourceError
from analysis.sources.locate import File

Container = Literal["lines", "indented", "brackets", "parquet"]
# At most. More cost memory and come out uneven, fewer cost time: each ends with six files to write.
UNIT_BYTES = 48 << 20
# A file of more than this part of a unit is no small one; a packed one holds about so many times its size.
SMALL = 8
PACKED = 8
BLOCK_BYTES = 4 << 20
# What is read by lines at a time: it stays in the processor's cache until its records are decoded. A unit read at once
# took four times as long, most of it for fresh memory.
STRIDE_BYTES = 512 << 10
# More than the lines of a record whose messages are text.
FEW_LINES = 32
HEAD_BYTES = 1 << 18
# How far a record may run on when a cut is doubted; without an end, every broken record would read the file's rest.
LOOK_AHEAD_BYTES = 64 << 20
# The same of a record that does not close, while another seems to start in it.
RUN_ON_BYTES = 16 << 20
# So many places where a record seems to start are looked at: objects inside of one begin with such keys, too.
MOST_STARTS = 20
UNCLOSED = "the array is not closed: the file ends after a whole record"
_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"
_VALID = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Unit(NamedTuple):
    """A part of a file that is read on its own: the records that start in [start, end).

    A small file has others behind it that are read with it, each whole.
    """

    shard: int
    path: str
    name: str
    container: Container
    start: int
    end: int
    prefix: bytes = b""
    others: tuple[Any, ...] = ()  # units, too: what writes the documentation cannot resolve a class within itself

    @property
    def parts(self) -> tuple["Unit", ...]:
        """Of each file the part that is read."""
        return (self._replace(others=()), *self.others)

    @property
    def size(self) -> int:
        """Bytes of files, or rows of a Parquet file."""
        return sum(part.end - part.start for part in self.parts)


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


def plan(files: list[File]) -> list[Unit]:
    """Cut large files into units, and gather small ones.

    Raises:
        SourceError: a file is empty or holds no records; the message says what it looks like.
    """
    units: list[Unit] = []
    found = [planned for file in files for planned in _plan_file(file)]
    for is_small, run in groupby(found, key=lambda one: one[1] > 0):
        several = list(run)
        units.extend(_gathered(several) if is_small else (unit for unit, _ in several))
    return [unit._replace(shard=shard) for shard, unit in enumerate(units)]


def _gathered(small: list[tuple[Unit, int]]) -> Iterator[Unit]:
    limit = _equal(sum(weight for _, weight in small))
    starts = accumulate((weight for _, weight in small), initial=0)
    for _, found in groupby(zip(small, starts, strict=False), key=lambda one: one[1] // limit):
        first, *others = (unit for (unit, _), _ in found)
        yield first._replace(others=tuple(others))


def _equal(size: int) -> int:
    """How large units of so much in all are: an even number of equal ones, so that two processes finish together."""
    count = 2 * -(-size // (2 * UNIT_BYTES)) if size > UNIT_BYTES else 1
    return -(-size // count)


def whole(unit: Unit, size: int) -> Unit:
    """The unit that reads the same file, and those read with it, by brackets; `size` is the file's own."""
    others = tuple(whole(other, other.end) for other in unit.others)
    return unit._replace(container="brackets", start=0, end=size, prefix=b"", others=others)


def read_unit(unit: Unit) -> Iterator[Raw | Damage]:
    """Stream the raw records of a unit."""
    for part in unit.parts:
        yield from _read_part(part)


def _read_part(unit: Unit) -> Iterator[Raw | Damage]:
    if unit.container == "parquet":
        yield from _parquet(unit)
        return
    with _open(unit.path) as stream:
        if unit.container == "brackets":
            yield from _by_brackets(unit, stream)
        else:
            yield from _by_lines(unit, stream)
        if isinstance(stream, _Unpacked) and stream.torn:
            yield Damage(f"{unit.name}@{stream.length}", f"the packed file cannot be unpacked further: {stream.torn}")


def is_cut_wrong(unit: Unit, raw: Raw) -> bool:
    """Was a record that does not parse cut in the wrong place? True when, by brackets, a whole one starts there.

    A line of JSON Lines may only have been cut short; what stands behind its object is that line's own fault.
    """
    if raw.byte_offset is None:
        return False
    unit = next(part for part in unit.parts if raw.origin == f"{part.name}@{raw.byte_offset}")
    if unit.container not in ("indented", "lines"):
        return False
    with _open(unit.path) as stream:
        stream.seek(raw.byte_offset)
        data, is_record = _Window(stream, LOOK_AHEAD_BYTES).take_record(set(_FIRST))
    is_other = len(data) > len(raw.view) if unit.container == "lines" else len(data) != len(raw.view)
    return is_record and is_other and _is_object(data)


def _open(path: str) -> "BufferedReader | _Unpacked":
    """The bytes of a file, unpacked if it is packed."""
    stream = address.open_bytes(path)
    is_packed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    return _Unpacked(stream) if is_packed else stream


class _Unpacked:
    """A gzip stream that ends where it is torn, and says why, instead of raising: what came before is whole."""

    def __init__(self, packed: IO[bytes]) -> None:
        self.packed = packed
        self.inner = gzip.GzipFile(fileobj=packed)
        self.torn = ""
        self.length = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.packed.close()

    def read(self, size: int) -> bytes:
        """As many bytes as asked for, fewer only at the end."""
        held = bytearray()
        while len(held) < size and not self.torn:
            try:
                # In small steps: what a step has unpacked before it meets the tear is lost with it.
                more = self.inner.read1(min(size - len(held), 1 << 16))
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                self.torn = str(error)
                break
            if not more:
                break
            held += more
        self.length += len(held)
        return bytes(held)

    def seek(self, offset: int) -> int:
        self.length = self.inner.seek(offset)
        return self.length


def _plan_file(file: File) -> list[tuple[Unit, int]]:
    """The units of a file, each with what it counts in one of several small files; 0 where it is read on its own.

    So is what a store holds: should one object fail, it costs no other.
    """
    if file.size == 0:
        raise SourceError(f"{file.name}: the file is empty (0 bytes); was the run that writes it killed?")
    with address.reading(file.path), _open(file.path) as stream:
        head = stream.read(HEAD_BYTES)
        while head.isspace():
            head = stream.read(HEAD_BYTES)
        is_packed = isinstance(stream, _Unpacked)
    container, prefix = sniff(head, file.name)
    if container == "parquet":
        return [(unit, 0) for unit in _plan_parquet(file)]
    weight = file.size * (PACKED if is_packed else 1) if file.is_local and file.size <= UNIT_BYTES // SMALL else 0
    if container == "brackets" or is_packed:
        return [(Unit(0, file.path, file.name, "brackets", 0, file.size), weight)]
    size = _equal(file.size)
    ends = [(start, min(start + size, file.size)) for start in range(0, file.size, size)]
    return [(Unit(0, file.path, file.name, container, start, end, prefix), weight) for start, end in ends]


def sniff(head: bytes, name: str) -> tuple[Container, bytes]:
    """(container, what a record's line starts with), by the first bytes.

    Raises:
        SourceError: these are no records; the message says what they look like.
    """
    if head.startswith(b"PAR1"):
        return "parquet", b""
    text = head.removeprefix(_BOM).lstrip(_SPACE)
    if text.startswith(b"["):
        indent = re.match(rb"\[\s*\n([ \t]+)\{", text)
        return ("indented", b"\n" + indent.group(1)) if indent else ("brackets", b"")
    if text.startswith(b"{"):
        return ("lines", b"\n") if _are_lines(text, len(head) < HEAD_BYTES) else ("brackets", b"")
    raise SourceError(
        f"{name}: {_looks_like(text)}; expected JSON (an array, an object, or one object a line) or Parquet"
    )


def _are_lines(text: bytes, is_whole: bool) -> bool:
    """Some line is a whole object and another starts one: JSON Lines, even with a broken line among the first."""
    lines = [line.strip() for line in text.split(b"\n")]
    lines = [line for line in (lines if is_whole else lines[:-1]) if line][:50]
    complete = sum(_is_object(line) for line in lines)
    return len(lines) > 1 and complete > 0 and all(line.startswith(b"{") for line in lines if _is_object(line))


def _is_object(data: bytes | memoryview) -> bool:
    try:
        _VALID.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def _is_record(data: bytes) -> bool:
    """Is it a whole object with a key by which some dialect is known?"""
    try:
        return not _KNOWN.isdisjoint(key.encode() for key in _VALID.decode(data))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def _is_tolerable(data: bytes) -> bool:
    """Is it JSON by Python's own reader, which takes NaN, lone surrogates and, here, any bytes?"""
    try:
        json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _looks_like(text: bytes) -> str:
    start = text[:200].decode("utf-8", "replace")
    if not text:
        return "nothing but white space"
    if start.lower().startswith(("<!doctype", "<html", "<?xml")):
        return "this is a web page, not data (was a download redirected to a sign-in page?)"
    if start.startswith("version https://git-lfs"):
        return "this is a Git LFS pointer, not the data (run `git lfs pull`)"
    if "\n" not in start.strip() and "/" in start:
        return f"this holds a path ({start.strip()[:80]!r}), not data (a symbolic link that was not followed?)"
    return f"it starts with {start[:40]!r}"


# By lines ---------------------------------------------------------------------------------------------------------


def _by_lines(unit: Unit, stream: Stream) -> Iterator[Raw | Damage]:
    """Records start where a line starts with the prefix and `{`; each ends before the next such line."""
    is_array = unit.container == "indented"
    for position, text, is_closed in _between_marks(unit, stream, unit.prefix + b"{" if is_array else b"\n"):
        # Where the file ends without bracket or line break, only the record itself can tell whether it is whole.
        is_torn = bytes(text[-1:]) != b"}" or (is_closed is False and not _is_object(text))
        if text:
            yield _raw(unit, position, text, _torn(text) if is_torn else "")
        if is_array and is_closed is False and not is_torn:
            yield Damage(f"{unit.name}@{position + len(text)}", UNCLOSED)


def _between_marks(unit: Unit, stream: Stream, mark: bytes) -> Iterator[tuple[int, memoryview, bool | None]]:
    """(offset, record, None) from each line start in the unit to the next one; at the file's end, was it closed?"""
    before = max(unit.start - 1, 0)
    stride = _Stride(stream, before, min(unit.end - before + len(mark), STRIDE_BYTES))
    if unit.start == 0 and mark == b"\n":
        position = len(_BOM) if stride.buffer.startswith(_BOM) else 0
    else:
        while (found := stride.find_line(mark, 0)) < 0:
            if stride.base + stride.end >= unit.end + len(mark) or not stride.more(max(stride.end - len(mark), 0)):
                return
        position = found + 1
        if stride.base + position >= unit.end:
            return
    while True:
        following = stride.find_line(mark, position)
        while following < 0:
            seam = max(stride.end - position - len(mark), 0)
            is_end = not stride.more(position)
            position = 0
            if is_end:
                start, text, is_closed = stride.cut(position, stride.end, mark)
                yield stride.base + start, text, is_closed
                return
            following = stride.find_line(mark, seam)
        start, text, _ = stride.cut(position, following, mark)
        yield stride.base + start, text, None
        position = following + 1
        if stride.base + position >= unit.end:
            return


class _Stride:
    """What was read of a stream and not yet cut out: `buffer`, from the offset `base` on. Records are views of it.

    What a record that was not read to its end had of it is read once more: to join the rest with what follows, or to
    move it to the front, is no less copying. More is read at a time only where a record fills half of it.
    """

    def __init__(self, stream: Stream, base: int, size: int) -> None:
        self.stream = stream
        self.size = size
        self._read(base)

    def _read(self, base: int) -> None:
        self.stream.seek(base)
        self.base = base
        self.buffer = self.stream.read(self.size)
        self.view = memoryview(self.buffer)
        self.end = len(self.buffer)

    def more(self, position: int) -> bool:
        """Let go of what stands before the position, which becomes 0, and read on; False at the stream's end."""
        rest = self.end - position
        if rest > self.size // 2:
            self.size *= 2
        self._read(self.base + position)
        return self.end > rest

    def find_line(self, mark: bytes, start: int) -> int:
        """As `find`. A mark begins with a line break: where these are rare, to look for them alone is faster."""
        buffer, end = self.buffer, self.end
        found = start - 1
        for _ in range(FEW_LINES):
            found = buffer.find(b"\n", found + 1, end)
            if found < 0 or buffer.startswith(mark, found, end):
                return found
        return buffer.find(mark, found + 1, end)

    def cut(self, start: int, end: int, mark: bytes) -> tuple[int, memoryview, bool]:
        """(start, record, was the array closed after it), without white space, comma and bracket."""
        buffer = self.buffer
        while start < end and buffer[start] in _SPACE:
            start += 1
        near = max(end - 64, start)
        tail = buffer[near:end].rstrip(_SPACE)
        if not tail:
            end = start + len(buffer[start:near].rstrip(_SPACE))
            near = max(end - 64, start)
            tail = buffer[near:end]
        is_closed = tail.endswith(b"]") and mark != b"\n"
        if is_closed:
            tail = tail[:-1].rstrip(_SPACE)
        if mark != b"\n":
            tail = tail.removesuffix(b",").rstrip(_SPACE)
        if not tail:
            near = start + len(buffer[start:near].rstrip(_SPACE))
        return start, self.view[start : near + len(tail)], is_closed


def _torn(text: bytes | memoryview) -> str:
    return f"the record does not end: {len(text):,} bytes of it are there"


def _raw(unit: Unit, position: int, view: bytes | memoryview, broken: str = "") -> Raw:
    return Raw(f"{unit.name}@{position}", position, view, broken)


# By brackets ------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?P<closed>"|\\?\Z)|[{}\[\]]', re.DOTALL)
_KEY = re.compile(rb'\{\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*:')
_ANY_START = re.compile(rb"[},]\s*+(\{\s*+\")")
_START = rb'\{\s*"(?:%s)"\s*:'
_KNOWN = frozenset(
    (b"traj_type", b"task_info", b"tools", b"messages", b"conversations", b"instruction", b"env_id", b"task_id")
)
# With these, objects inside of records begin as well: `task_info` holds them.
_FIRST = _KNOWN - {b"env_id", b"task_id"}


def _by_brackets(unit: Unit, stream: Stream) -> Iterator[Raw | Damage]:
    """Objects of an array, or one after another, by matching brackets outside strings."""
    window = _Window(stream)
    window.skip_bom()
    keys, is_array, is_end = set(_FIRST), False, False
    while True:
        byte = window.skip(_SPACE + b",")
        if not byte:
            if is_array and not is_end:
                yield Damage(f"{unit.name}@{window.offset}", UNCLOSED)
            return
        if byte == (b"]" if is_array else b"["):
            is_array = not is_array
            window.advance(1)
            continue
        start = window.offset
        data, is_record = window.take_record(keys)
        key = _KEY.match(data)
        if is_record and key:
            keys.add(key.group(1))
        text = data.strip(_SPACE).removesuffix(b",")
        is_end = not is_record and is_array and not window.skip(_SPACE)
        yield _raw(unit, start, text, "" if is_record else _torn(text) if is_end else _unreadable(text))


def _unreadable(text: bytes) -> str:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return f"not JSON: {error}"[:300]
    return "not an object"


class _Window:
    """A buffer that slides over a stream, from the record in hand onwards."""

    def __init__(self, stream: Stream, most: int | None = None) -> None:
        self.stream = stream
        self.left = most
        self.buffer = stream.read(BLOCK_BYTES)
        self.is_all = len(self.buffer) < BLOCK_BYTES
        self.position = 0
        self.base = 0

    @property
    def offset(self) -> int:
        return self.base + self.position

    def skip_bom(self) -> None:
        if self.buffer.startswith(_BOM):
            self.position = len(_BOM)

    def advance(self, count: int) -> None:
        self.position += count

    def skip(self, drop: bytes) -> bytes:
        """Go past these bytes; return the byte that stands there, b"" at the end."""
        while True:
            while self.position < len(self.buffer):
                byte = self.buffer[self.position : self.position + 1]
                if byte not in drop:
                    return byte
                self.position += 1
            if not self._more():
                return b""

    def take_record(self, keys: set[bytes]) -> tuple[bytes, bool]:
        """(bytes, is it an object): the object at the position, or what must be given up before the next one."""
        if whole := self._up_to_next() or self._up_to_end():
            return whole, True
        own = _KEY.match(self.buffer, self.position)
        if own:
            # Where a record is known to start: its neighbours most likely start with the same key.
            keys = keys | {own.group(1)}
        end = None if self._is_broken(keys) else self._closing(keys)
        if end is not None:
            data = self.buffer[self.position : end]
            if data.startswith(b"{") and (_is_object(data) or not self._starts_inside(data, keys)):
                self.position += len(data)
                return data, True
        return self._give_up(keys), False

    def _up_to_next(self) -> bytes:
        """The object at the position if, in this buffer, another follows that starts with the same key; else b"".

        A quote inside a string is escaped, so such a start is seldom anything else, and what stands before it is one
        object or it is not. Over four times as fast as matching brackets.
        """
        own = _KEY.match(self.buffer, self.position)
        following = self.buffer.find(own.group()[:-1], own.end()) if own else -1
        end = self.buffer.rfind(b"}", self.position, max(following, self.position)) + 1
        if end == 0 or self.buffer[end:following].strip(_SPACE + b","):
            return b""
        data = self.buffer[self.position : end]
        if not _is_object(data):
            return b""
        self.position = end
        return data

    def _up_to_end(self) -> bytes:
        """The object at the position if it is all that is left of the file but its bracket; else b""."""
        end = self.buffer.rfind(b"}", self.position) + 1
        if not self.is_all or end == 0 or self.buffer[end:].strip(_SPACE + b",]"):
            return b""
        # Where another follows, this ends with the first of them.
        if not _is_object(memoryview(self.buffer)[self.position : end]):
            return b""
        data = self.buffer[self.position : end]
        self.position = end
        return data

    def _starts_inside(self, data: bytes, keys: set[bytes]) -> bool:
        """Does this text, which is not JSON msgspec reads, run into another record?"""
        if _is_tolerable(data):
            return False
        if re.compile(rb",\s*" + _start_of(keys)).search(data, 1):
            return True
        if len(self.buffer) - self.position < len(data) + BLOCK_BYTES:
            self._more()  # the other, if no longer than a block, may end behind this text
        return self._any_start(self.position + 1, self.position + len(data)) is not None

    def _any_start(self, start: int, end: int) -> int | None:
        """Where the first whole record starts whose first key is none of the usual, if this buffer holds its end."""
        for found in _ANY_START.finditer(self.buffer, start, end):
            closing, _, _ = _brackets(self.buffer, found.start(1))
            if closing is not None and _is_record(self.buffer[found.start(1) : closing]):
                return found.start(1)
        return None

    def _is_broken(self, keys: set[bytes]) -> bool:
        """Can no JSON begin as the record in hand does, up to where another seems to start, its bracket included?

        To know it spares the search for the end of a record that has none, which goes far.
        """
        scanned, depth = self.position, 0
        for found in islice(_next(keys).finditer(self.buffer, self.position + 1), MOST_STARTS):
            start = found.start(1)
            closing, scanned, depth = _brackets(self.buffer, scanned, depth, start)
            if closing is not None:
                return False
            # Where a string is open, the other's key would be in it, and its quotes escaped.
            if b'"' in self.buffer[scanned:start] or not _is_beginning(self.buffer[self.position : start + 1]):
                return True
        return False

    def _closing(self, keys: set[bytes]) -> int | None:
        scanned, depth = self.position, 0
        while True:
            closing, scanned, depth = _brackets(self.buffer, scanned, depth)
            if closing is not None:
                return closing
            if len(self.buffer) - self.position > RUN_ON_BYTES and _next(keys).search(self.buffer, self.position + 1):
                return None
            # A string is cut by the buffer's end: go on from the last whole token.
            scanned -= self.position
            if not self._more():
                return None

    def _give_up(self, keys: set[bytes]) -> bytes:
        pattern = _next(keys)
        searched = self.position + 1
        while True:
            if found := pattern.search(self.buffer, searched):
                before = self._any_start(self.position + 1, found.start(1))
                following = found.start(1) if before is None else before
                data = self.buffer[self.position : following]
                self.position = following
                return data
            shift, length = self.position, len(self.buffer)
            if not self._more():
                start = self._any_start(self.position + 1, len(self.buffer))
                following = len(self.buffer) if start is None else start
                data = self.buffer[self.position : following]
                self.position = following
                return data.rstrip(_SPACE)
            # Rescan the seam, where a key may have been cut.
            searched = max(length - shift - 4096, 1)

    def _more(self) -> bool:
        # Grow by as much as is held, so that a record of any length is scanned a bounded number of times.
        size = max(BLOCK_BYTES, len(self.buffer) - self.position)
        more = self.stream.read(size)
        self.is_all = len(more) < size and (self.left is None or len(more) <= self.left)
        if self.left is not None:
            more, self.left = more[: self.left], max(self.left - len(more), 0)
        if not more:
            return False
        self.buffer, self.base, self.position = self.buffer[self.position :] + more, self.base + self.position, 0
        return True


def _brackets(buffer: bytes, scanned: int, depth: int = 0, stop: int = sys.maxsize) -> tuple[int | None, int, int]:
    """(where the brackets close, or None; the end of the last whole token; the depth there), from a token on."""
    for token in _TOKEN.finditer(buffer, scanned, stop):
        byte = buffer[token.start()]
        if token["closed"] not in (None, b'"'):
            break
        if byte in b"{[":
            depth += 1
        elif byte in b"}]":
            depth -= 1
            if depth <= 0:
                return token.end(), token.end(), depth
        scanned = token.end()
    return None, scanned, depth


def _is_beginning(data: bytes) -> bool:
    """Could this, which ends outside of a string, be JSON's beginning? Then Python's own reader fails at its end."""
    text = data.decode("utf-8", "replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except (ValueError, RecursionError):
        return True
    return True


def _next(keys: set[bytes]) -> re.Pattern[bytes]:
    return re.compile(rb"(?<=[,\s])(" + _start_of(keys) + rb")")


def _start_of(keys: set[bytes]) -> bytes:
    return _START % b"|".join(re.escape(key) for key in sorted(keys))


# Parquet ----------------------------------------------------------------------------------------------------------

ROWS_PER_UNIT = 500
# On some broken pages Polars panics, which Python's `except Exception` would let through.
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def _plan_parquet(file: File) -> list[Unit]:
    try:
        rows = address.scan_parquet([file.path]).select(pl.len()).collect().item()
    except _UNREADABLE as error:
        raise SourceError(f"{file.name}: a Parquet file that cannot be read ({str(error)[:200]})") from None
    starts = range(0, rows, ROWS_PER_UNIT) or range(0, 1)
    return [Unit(0, file.path, file.name, "parquet", start, min(start + ROWS_PER_UNIT, rows)) for start in starts]


def _parquet(unit: Unit) -> Iterator[Raw]:
    try:
        rows = address.scan_parquet([unit.path]).slice(unit.start, unit.end - unit.start).collect()
    except _UNREADABLE as error:
        raise SourceError(f"{unit.name}: rows that cannot be read ({str(error)[:200]})") from None
    for index, row in enumerate(rows.iter_rows(named=True), unit.start):
        data = msgspec.json.encode(_present(row), enc_hook=str)
        yield Raw(f"{unit.name}@row {index}", None, data)


def _present(value: object) -> object:
    """Without the nulls that Parquet's structs put where a record had no key: there, absent and null are one."""
    if isinstance(value, dict):
        return {key: _present(item) for key, item in value.items() if item is not None}
    return [_present(item) for item in value] if isinstance(value, list) else value
