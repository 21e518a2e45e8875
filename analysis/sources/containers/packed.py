"""The bytes of a file, unpacked if it is packed."""

import gzip
import zlib
from io import BufferedReader
from typing import IO, Self

from analysis.sources import address


def open_stream(path: str) -> "BufferedReader | Unpacked":
    """The bytes of a file, unpacked if it is packed."""
    stream = address.open_bytes(path)
    is_packed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    return Unpacked(stream) if is_packed else stream


class Unpacked:
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
        data = bytearray()
        while len(data) < size and not self.torn:
            try:
                # In small steps: what a step has unpacked before it meets the tear is lost with it.
                more = self.inner.read1(min(size - len(data), 1 << 16))
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                self.torn = str(error)
                break
            if not more:
                break
            data += more
        self.length += len(data)
        return bytes(data)

    def seek(self, offset: int) -> int:
        self.length = self.inner.seek(offset)
        return self.length
