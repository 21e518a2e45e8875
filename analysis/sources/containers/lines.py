"""Records that each start a line of their own: JSON Lines, and arrays with an indent."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.sources.containers.sniff import is_object
from analysis.sources.containers.unit import (
    BOM,
    HEAD_BYTES,
    MOST_BYTES,
    SPACE,
    UNCLOSED,
    Damage,
    Raw,
    Slice,
    Stream,
    too_long,
    torn,
)

# What is read at a time: it stays in the processor's cache until its records are decoded. A unit read at once took four
# times as long, most of it for fresh memory.
STRIDE_BYTES = 512 << 10
_BEGINNING = re.compile(rb'(?:\[\s*+)?\{\s*+"')
# More than the lines of a record whose messages are text.
FEW_LINES = 32


def by_lines(slice_: Slice, stream: Stream) -> Iterator[Raw | Damage]:
    """Records start where a line starts with the prefix and `{`; each ends before the next such line."""
    is_array = slice_.container == "indented"
    before: Raw | None = None
    for position, text, is_closed, let_go in _between_marks(
        slice_, stream, slice_.prefix + b"{" if is_array else b"\n"
    ):
        if not text:
            continue
        # Where the file ends without bracket or line break, only the record itself can tell whether it is whole.
        is_torn = bytes(text[-1:]) != b"}" or (is_closed is False and not is_object(text))
        why = too_long(let_go) if let_go else torn(text) if is_torn else ""
        raw = Raw(slice_.origin(position), position, text, why)
        if before is not None and not _BEGINNING.match(text) and not is_object(before.view):
            before = _joined(before, raw)
            continue
        if before is not None:
            yield before
        before = raw
        if is_array and is_closed is False and not is_torn:
            yield before
            before = None
            yield Damage(slice_.origin(position + len(text)), UNCLOSED)
    if before is not None:
        yield before


def _joined(before: Raw, raw: Raw) -> Raw:
    """A broken record and what stands behind it and begins none: one that a stray line break has cut in two."""
    data = before.data + b"\n" + raw.data
    return before._replace(view=data, broken=raw.broken and torn(data))


class _Cut(NamedTuple):
    """From one line start to the next; at the file's end, was it closed? Of a long one, how much of it was let go."""

    position: int
    text: memoryview
    is_closed: bool | None = None
    let_go: int = 0


def _between_marks(slice_: Slice, stream: Stream, mark: bytes) -> Iterator[_Cut]:
    """What stands from each line start in the unit to the next one."""
    before = max(slice_.start - 1, 0)
    stride = _Stride(stream, before, min(slice_.end - before + len(mark), STRIDE_BYTES))
    position = _first(slice_, stride, mark)
    if position < 0:
        return
    while True:
        following, long = stride.find_line(mark, position), b""
        while following < 0:
            if stride.end - position > MOST_BYTES:
                long, start = bytes(stride.view[position : position + HEAD_BYTES]), stride.base + position
                position, following = 0, stride.pass_by(mark)
                break
            seam = max(stride.end - position - len(mark), 0)
            is_end = not stride.more(position)
            position = 0
            if is_end:
                start, text, is_closed = stride.cut(position, stride.end, mark)
                yield _Cut(stride.base + start, text, is_closed)
                return
            following = stride.find_line(mark, seam)
        if long:
            yield _Cut(start, memoryview(long), let_go=stride.base + following - start)
        else:
            start, text, _ = stride.cut(position, following, mark)
            yield _Cut(stride.base + start, text)
        if following == stride.end:  # of a long line that is the last
            return
        position = following + 1
        if stride.base + position >= slice_.end:
            return


def _first(slice_: Slice, stride: "_Stride", mark: bytes) -> int:
    """Where the first line starts that starts in the slice; -1 where none does."""
    if slice_.start == 0 and mark == b"\n":
        return len(BOM) if stride.buffer.startswith(BOM) else 0
    while (start := stride.find_line(mark, 0)) < 0:
        if stride.base + stride.end >= slice_.end + len(mark) or not stride.more(max(stride.end - len(mark), 0)):
            return -1
    return start + 1 if stride.base + start + 1 < slice_.end else -1


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

    def pass_by(self, mark: bytes) -> int:
        """Read on, and let go, up to the next mark: its place, or the end's."""
        self.size = STRIDE_BYTES
        while self.more(max(self.end - len(mark), 0)):
            if (place := self.find_line(mark, 0)) >= 0:
                return place
        return self.end

    def find_line(self, mark: bytes, start: int) -> int:
        """As `find`. A mark begins with a line break: where these are rare, to look for them alone is faster."""
        buffer, end = self.buffer, self.end
        line = start - 1
        for _ in range(FEW_LINES):
            line = buffer.find(b"\n", line + 1, end)
            if line < 0 or buffer.startswith(mark, line, end):
                return line
        return buffer.find(mark, line + 1, end)

    def cut(self, start: int, end: int, mark: bytes) -> tuple[int, memoryview, bool]:
        """(start, record, was the array closed after it), without white space, comma and bracket."""
        buffer = self.buffer
        while start < end and buffer[start] in SPACE:
            start += 1
        near = max(end - 64, start)
        tail = buffer[near:end].rstrip(SPACE)
        if not tail:
            end = start + len(buffer[start:near].rstrip(SPACE))
            near = max(end - 64, start)
            tail = buffer[near:end]
        is_closed = tail.endswith(b"]") and mark != b"\n"
        if is_closed:
            tail = tail[:-1].rstrip(SPACE)
        if mark != b"\n":
            tail = tail.removesuffix(b",").rstrip(SPACE)
        if not tail:
            near = start + len(buffer[start:near].rstrip(SPACE))
        return start, self.view[start : near + len(tail)], is_closed
