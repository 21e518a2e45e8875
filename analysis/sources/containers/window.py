"""A buffer that slides over a stream, from the record in hand onwards."""

import re
from functools import cache

from analysis.sources.containers import unit
from analysis.sources.containers.unit import BOM, Stream

# What is read at a time; of a long record more.
BLOCK_BYTES, LONG_BYTES = 4 << 20, 32 << 20


class Window:
    """What was read of a stream: `buffer`, which starts at the offset `base`; the record in hand is at `position`."""

    def __init__(self, stream: Stream, most: int | None = None, *, base: int = 0) -> None:
        self.stream = stream
        self.left = most
        self.buffer = stream.read(BLOCK_BYTES)
        self.is_all = len(self.buffer) < BLOCK_BYTES
        self.position = 0
        self.base = base

    @property
    def offset(self) -> int:
        return self.base + self.position

    @property
    def rest(self) -> int:
        """Bytes in hand, from the position on."""
        return len(self.buffer) - self.position

    def skip_bom(self) -> None:
        if self.buffer.startswith(BOM):
            self.position = len(BOM)

    def advance(self, count: int) -> None:
        self.position += count

    def take(self, end: int) -> bytes:
        """What stands before this place of the buffer, which becomes the position."""
        data = self.buffer[self.position : end]
        self.position = end
        return data

    def hold(self, size: int) -> None:
        """Have so many bytes in hand, or all there are."""
        while self.rest < size and self.more():
            pass

    def skip(self, drop: bytes) -> bytes:
        """Go past these bytes; return the byte that stands there, b"" at the end."""
        while True:
            if found := _others(drop).search(self.buffer, self.position):
                self.position = found.start()
                return found[0]
            self.position = len(self.buffer)
            if not self.more():
                return b""

    def more(self) -> bool:
        """Let go of what stands before the position, which becomes 0, and read on.

        As much more as is in hand, so that a long record is scanned a bounded number of times.

        Returns:
            False at the stream's end, and where more is in hand already than is held of one record.
        """
        if self.rest > unit.MOST_BYTES:
            return False
        size = max(BLOCK_BYTES, min(self.rest, LONG_BYTES))
        more = self.stream.read(size)
        self.is_all = len(more) < size and (self.left is None or len(more) <= self.left)
        if self.left is not None:
            more, self.left = more[: self.left], max(self.left - len(more), 0)
        if not more:
            self.is_all = True
            return False
        self.buffer, self.base, self.position = self.buffer[self.position :] + more, self.base + self.position, 0
        return True


@cache
def _others(drop: bytes) -> re.Pattern[bytes]:
    """Any byte but these."""
    return re.compile(b"[^%b]" % re.escape(drop), re.DOTALL)
