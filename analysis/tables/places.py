"""Where parts land: a folder of this machine, or any address that fsspec can write to.

A part is there whole or not at all:

- on a file system it is written beside its place and renamed;
- into an object store it is put whole. There an object appears when its upload has ended, and a rename would be a copy.

Only the manifest, written last, makes a folder of parts a finished set: whoever reads one asks for that first.
"""

import errno
import io
import os
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from analysis import files
from analysis.sources import SourceError, address

_PUT_WHOLE = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "hf", "memory"})


def write(frames: Mapping[str, pl.DataFrame], compression: Literal["lz4", "zstd"] = "zstd") -> None:
    """Write frames as Parquet, each whole to the path it stands under.

    Polars writes into memory, since of a full disk it says nothing that has an errno, and all in one query, since each
    takes it a third of a millisecond to begin.
    """
    buffers = {path: io.BytesIO() for path in frames}
    pl.collect_all(
        [
            frame.lazy().sink_parquet(buffers[path], compression=compression, lazy=True)
            for path, frame in frames.items()
        ],
        engine="streaming",
    )
    for path, buffer in buffers.items():
        write_bytes(path, buffer.getbuffer())


def write_bytes(path: str, data: bytes | memoryview) -> None:
    """Write a file whole.

    Raises:
        OSError: it cannot be written; errno, sentence and the file's own name are set.
    """
    if not address.is_remote(path):
        files.write_whole(Path(path), data)
        return
    try:
        _write_remote(path, data)
    except OSError as error:
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), path) from error
    except SourceError:
        raise
    except Exception as error:  # each file system of fsspec has exceptions of its own
        raise OSError(errno.EIO, f"{type(error).__name__}: {error}", path) from error


def read_bytes(path: str) -> bytes:
    """Read a file whole.

    Raises:
        OSError: there is none.
    """
    try:
        with address.open_bytes(path) as stream:
            return stream.read()
    except (OSError, SourceError):
        raise
    except Exception as error:  # as in write_bytes
        raise OSError(errno.EIO, f"{type(error).__name__}: {error}", path) from error


def names(folder: str) -> list[str]:
    """Names of what stands in a folder, sorted; none where there is no folder."""
    if not address.is_remote(folder):
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []  # noqa: PTH112, PTH208
    fs, inside = address.filesystem(folder)
    fs.invalidate_cache()  # another process may have written since
    try:
        listed = fs.ls(inside, detail=False)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name.rstrip("/").rsplit("/", 1)[-1] for name in listed if name.strip("/") != inside.strip("/"))


def parts(folder: str) -> list[str]:
    """Addresses of the Parquet files in a folder, in the order of their names."""
    return [f"{folder}/{name}" for name in names(folder) if name.endswith(".parquet") and not name.startswith(".")]


def scan(folder: str) -> pl.LazyFrame:
    """The parts in a folder as one LazyFrame.

    Raises:
        FileNotFoundError: there are none.
    """
    addresses = parts(folder)
    if not addresses:
        raise FileNotFoundError(errno.ENOENT, "no parts of tables here", folder)
    return address.scan_parquet(addresses)


def remove(path: str) -> None:
    """Remove a file or a folder with all it holds; nothing happens where there is none."""
    if not address.is_remote(path):
        if os.path.isdir(path):  # noqa: PTH112
            shutil.rmtree(path)
        else:
            Path(path).unlink(missing_ok=True)
        return
    fs, inside = address.filesystem(path)
    fs.invalidate_cache()
    if fs.exists(inside):
        fs.rm(inside, recursive=True)


def _write_remote(path: str, data: bytes | memoryview) -> None:
    fs, inside = address.filesystem(path)
    folder, name = inside.rsplit("/", 1)
    fs.makedirs(folder, exist_ok=True)
    if path.partition("://")[0] in _PUT_WHOLE:
        fs.pipe_file(inside, bytes(data))
        return
    beside = f"{folder}/.{name[:100]}.{uuid.uuid4().hex}.tmp"
    try:
        fs.pipe_file(beside, bytes(data))
        fs.mv(beside, inside)
    except BaseException:
        if fs.exists(beside):
            fs.rm_file(beside)
        raise
