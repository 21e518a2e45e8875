"""Records that each start a line of their own: JSON Lines, and arrays with an indent."""

import re
from collections.abc import Iterator

from analysis.sources.containers.sniff import is_object
from analysis.sources.containers.unit import BOM, SPACE, UNCLOSED, Damage, Raw, Slice, Stream, torn

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
    for position, text, is_closed in _between_marks(slice_, stream, slice_.prefix + b"{" if is_array else b"\n"):
        if not text:
            continue
        # Where the file ends without bracket or line break, only the record itself can tell whether it is whole.
        is_torn = bytes(text[-1:]) != b"}" or (is_closed is False and not is_object(text))
        raw = Raw(slice_.origin(position), position, text, torn(text) if is_torn else "")
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


def _between_marks(slice_: Slice, stream: Stream, mark: bytes) -> Iterator[tuple[int, memoryview, bool | None]]:
    """(offset, record, None) from each line start in the unit to the next one; at the file's end, was it closed?"""
    before = max(slice_.start - 1, 0)
    stride = _Stride(stream, before, min(slice_.end - before + len(mark), STRIDE_BYTES))
    if slice_.start == 0 and mark == b"\n":
        position = len(BOM) if stride.buffer.startswith(BOM) else 0
    else:
        while (start := stride.find_line(mark, 0)) < 0:
            if stride.base + stride.end >= slice_.end + len(mark) or not stride.more(max(stride.end - len(mark), 0)):
                return
        position = start + 1
        if stride.base + position >= slice_.end:
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
        if stride.base + position >= slice_.end:
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
