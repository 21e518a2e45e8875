"""An address: a path of this machine, or whatever fsspec knows. Opened as bytes, scanned as Parquet, told apart."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from analysis.sources.errors import SourceError

# What Polars reads by itself: only the columns and row groups that a query needs travel.
_POLARS = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hf", "http", "https")
# Lives in the memory of one process: no other process, and no other machine, finds anything there.
_PRIVATE = ("memory",)

Listener = Callable[[int, bytes], None]
_OVERHEARD: ContextVar[tuple[str, Listener] | None] = ContextVar("_OVERHEARD", default=None)


def plain(address: str) -> str:
    """`file://` addresses as the paths they are; others as they are."""
    if not address.startswith(("file://", "local://")):
        return address
    from fsspec.implementations.local import LocalFileSystem  # noqa: PLC0415  asyncio and more, which files need not

    return str(LocalFileSystem._strip_protocol(address))


def is_remote(address: str) -> bool:
    return "://" in address


def is_private(address: str) -> bool:
    """Is it out of reach for every other process?"""
    return any(_protocol(link) in _PRIVATE for link in address.split("::"))


def filesystem(address: str) -> tuple[Any, str]:
    """The file system of a remote address, and the path inside it.

    Raises:
        SourceError: fsspec knows no such protocol, or lacks the package for it.
    """
    import fsspec  # noqa: PLC0415  as above

    try:
        fs, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise SourceError(f"{address}: {error}") from None
    return fs, path


@contextmanager
def reading(address: str) -> Iterator[None]:
    """What goes wrong inside is a SourceError that names the address: each file system has exceptions of its own."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:
        if not isinstance(error, OSError) and not is_remote(address):
            raise
        why = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
        raise SourceError(f"{address}: cannot be read: {why}") from error


def open_bytes(address: str) -> BufferedReader:
    """A file, or what fsspec opens, which is read like one."""
    # Not through fsspec where a plain file will do: its buffering costs a tenth of the reading.
    if not is_remote(address):
        heard = _OVERHEARD.get()
        return _Overheard(*heard) if heard and heard[0] == address else Path(address).open("rb")
    fs, path = filesystem(address)
    stream: BufferedReader = fs.open(path, "rb")
    with suppress(AttributeError):  # a zip file system that nobody holds on to closes its files
        stream.filesystem = fs  # type: ignore[attr-defined]
    return stream


@contextmanager
def overheard(path: str, listener: Listener) -> Iterator[None]:
    """What is read in here of a file of this machine, opened by `open_bytes`, the listener is told with its offset.

    Perhaps not all of it, and some of it twice.
    """
    before = _OVERHEARD.set((path, listener))
    try:
        yield
    finally:
        _OVERHEARD.reset(before)


class _Overheard(BufferedReader):
    def __init__(self, path: str, listener: Listener) -> None:
        super().__init__(FileIO(path))
        self.listener = listener

    def read(self, size: int | None = -1, /) -> bytes:
        offset = self.tell()
        data = super().read(size)
        self.listener(offset, data)
        return data


def sha256(address: str) -> str:
    """Of a file's bytes: how hubs and publishers name them.

    Raises:
        SourceError: it cannot be read.
    """
    with reading(address), open_bytes(address) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def scan_parquet(addresses: list[str]) -> pl.LazyFrame:
    """Parquet files of one schema as one LazyFrame, in the order given.

    Where neither Polars nor this machine's disk has the files, fsspec reads them, a file at a time as a query runs.
    """
    if all(not is_remote(address) or _protocol(address) in _POLARS for address in addresses):
        return pl.scan_parquet(addresses, glob=False)

    def schema() -> pl.Schema:
        with open_bytes(addresses[0]) as stream:
            return pl.Schema(pl.read_parquet_schema(stream))

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        for address in addresses:
            with open_bytes(address) as stream:
                frame = pl.read_parquet(stream, columns=columns, n_rows=most)
            if most is not None:
                most -= frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if most == 0:
                return

    return register_io_source(frames, schema=schema)


def _protocol(address: str) -> str:
    return address.partition("://")[0]
