"""The bytes of a file, unpacked if it is packed: gzip, bzip2, xz, zstd, told by their first bytes."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from io import BufferedReader
from typing import IO, Any, Self

from analysis.sources import address
from analysis.sources.containers.unit import Stream

# What unpacks to more than so many times its size, and to more than so many bytes, is a bomb: records in text pack to
# a fifth, the same record over and over to a hundredth.
MOST_TIMES = 250
BOMB_BYTES = 256 << 20
# In small steps: what a step has unpacked before it meets a tear is lost with it.
_STEP_BYTES = 1 << 16
_TORN = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, RuntimeError, NotImplementedError)


def _zstd(stream: IO[bytes]) -> Any:
    import pyarrow  # noqa: PLC0415  a tenth of a second that other files do not spend

    return pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, mode="r"), "zstd")


UNPACKERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": _zstd,
}
MAGIC_BYTES = 6


def open_stream(path: str) -> "BufferedReader | Unpacked":
    """The bytes of a file, unpacked if it is packed."""
    stream = address.open_bytes(path)
    unpack = unpacker(stream.read(MAGIC_BYTES))
    stream.seek(0)
    return Unpacked(stream, unpack(stream)) if unpack else stream


def unpacker(head: bytes) -> Callable[[IO[bytes]], Any] | None:
    """What unpacks a file that begins so."""
    return next((unpack for magic, unpack in UNPACKERS.items() if head.startswith(magic)), None)


class Unpacked:
    """What a packed stream holds. It ends where it is torn, and says why, instead of raising: what came is whole.

    Args:
        packed: the stream itself, or whatever tells how much of it was read.
        inner: what reads it unpacked.
        size: how many bytes are packed, where that is not the place in the packed stream.
    """

    def __init__(self, packed: Any, inner: Any, size: int = 0) -> None:
        self.packed = packed
        self.inner = inner
        self.size = size
        self.torn = ""
        self.length = 0
        self._step = getattr(inner, "read1", inner.read)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.packed.close()

    def read(self, size: int) -> bytes:
        """As many bytes as asked for, fewer only at the end."""
        data = bytearray()
        while len(data) < size and not self.torn:
            try:
                more = self._step(min(size - len(data), _STEP_BYTES))
            except _TORN as error:
                self.torn = str(error) or type(error).__name__
                break
            if not more:
                break
            data += more
            self._refuse_bomb(self.length + len(data))
        self.length += len(data)
        return bytes(data)

    def seek(self, offset: int) -> int:
        self.length = self.inner.seek(offset)
        return self.length

    def _refuse_bomb(self, length: int) -> None:
        if length > BOMB_BYTES and length > MOST_TIMES * (self.size or self.packed.tell()):
            self.torn = (
                f"it unpacks to more than {MOST_TIMES} times its size; unpack it yourself if it is to be trusted"
            )


class Rest:
    """A stream that cannot go back, with what was read of it already."""

    def __init__(self, head: bytes, stream: Stream) -> None:
        self.head = head
        self.stream = stream

    def read(self, size: int = -1, /) -> bytes:
        head, self.head = (self.head, b"") if size < 0 else (self.head[:size], self.head[size:])
        more = self.stream.read(size if size < 0 else size - len(head)) if size < 0 or len(head) < size else b""
        return head + more

    def seek(self, offset: int, /) -> int:
        raise OSError("a stream that is read once")

    def tell(self) -> int:
        return 0

    def close(self) -> None:
        """It is closed with what it belongs to."""

    closed = False

    def readable(self) -> bool:
        return True
