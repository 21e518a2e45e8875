"""Objects of an array, or one after another, cut out by matching brackets outside strings."""

import re
import sys
from collections.abc import Iterator
from itertools import islice

import msgspec

from analysis.sources.containers.sniff import BOM, KEYS, SPACE, is_beginning, is_object, is_record, is_tolerable
from analysis.sources.containers.unit import UNCLOSED, Damage, Raw, Slice, Stream, torn

BLOCK_BYTES = 4 << 20
# How far a record that does not close may run on, while another seems to start in it.
RUN_ON_BYTES = 16 << 20
# So many places where a record seems to start are looked at: objects inside of one begin with such keys, too.
MOST_STARTS = 20

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?P<closed>"|\\?\Z)|[{}\[\]]', re.DOTALL)
_KEY = re.compile(rb'\{\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*:')
_ANY_START = re.compile(rb"[},]\s*+(\{\s*+\")")
_START = rb'\{\s*"(?:%s)"\s*:'
# With these, objects inside of records begin as well: `task_info` holds them.
FIRST = KEYS - {b"env_id", b"task_id"}


def by_brackets(slice_: Slice, stream: Stream) -> Iterator[Raw | Damage]:
    """Objects of an array, or one after another, by matching brackets outside strings."""
    window = Window(stream)
    window.skip_bom()
    keys, is_array, is_end = set(FIRST), False, False
    while True:
        byte = window.skip(SPACE + b",")
        if not byte:
            if is_array and not is_end:
                yield Damage(slice_.origin(window.offset), UNCLOSED)
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
        text = data.strip(SPACE).removesuffix(b",")
        is_end = not is_record and is_array and not window.skip(SPACE)
        yield Raw(slice_.origin(start), start, text, "" if is_record else torn(text) if is_end else _unreadable(text))


def _unreadable(text: bytes) -> str:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return f"not JSON: {error}"[:300]
    return "not an object"


class Window:
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
        if self.buffer.startswith(BOM):
            self.position = len(BOM)

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
            if data.startswith(b"{") and (is_object(data) or not self._starts_inside(data, keys)):
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
        if end == 0 or self.buffer[end:following].strip(SPACE + b","):
            return b""
        data = self.buffer[self.position : end]
        if not is_object(data):
            return b""
        self.position = end
        return data

    def _up_to_end(self) -> bytes:
        """The object at the position if it is all that is left of the file but its bracket; else b""."""
        end = self.buffer.rfind(b"}", self.position) + 1
        if not self.is_all or end == 0 or self.buffer[end:].strip(SPACE + b",]"):
            return b""
        # Where another follows, this ends with the first of them.
        if not is_object(memoryview(self.buffer)[self.position : end]):
            return b""
        data = self.buffer[self.position : end]
        self.position = end
        return data

    def _starts_inside(self, data: bytes, keys: set[bytes]) -> bool:
        """Does this text, which is not JSON msgspec reads, run into another record?"""
        if is_tolerable(data):
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
            if closing is not None and is_record(self.buffer[found.start(1) : closing]):
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
            if b'"' in self.buffer[scanned:start] or not is_beginning(self.buffer[self.position : start + 1]):
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
                return data.rstrip(SPACE)
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


def _next(keys: set[bytes]) -> re.Pattern[bytes]:
    return re.compile(rb"(?<=[,\s])(" + _start_of(keys) + rb")")


def _start_of(keys: set[bytes]) -> bytes:
    return _START % b"|".join(re.escape(key) for key in sorted(keys))
