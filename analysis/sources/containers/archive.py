"""Members of zip and tar archives, one after another, each unpacked if it is packed itself."""

import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

from analysis.natural import natural_key
from analysis.sources import address
from analysis.sources.containers.packed import MAGIC_BYTES, Rest, Unpacked, open_stream, unpacker
from analysis.sources.errors import SourceError
from analysis.sources.names import is_data

_TAR_MAGIC, _TAR_PLACE = b"ustar", 257
# A log of inspect is a zip: its samples are the records, the rest tells of the run.
_INSPECT, _SAMPLES = "header.json", "samples/"
_BROKEN = (OSError, EOFError, ValueError, zipfile.BadZipFile, tarfile.TarError, RuntimeError, NotImplementedError)


class Member(NamedTuple):
    """A member of an archive and its bytes; `torn` says why there are none."""

    name: str
    stream: Unpacked | None
    torn: str = ""


def kind(head: bytes) -> str:
    """Either "zip" or "tar" by the first bytes, unpacked; "" for any other file."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if head[_TAR_PLACE:].startswith(_TAR_MAGIC) else ""


def members(path: str) -> Iterator[Member]:
    """The members that may hold records, by their names; of a damaged archive those that can be reached."""
    try:
        with address.open_bytes(path) as stream:
            is_zip = kind(stream.read(MAGIC_BYTES)) == "zip"
        yield from _of_zip(path) if is_zip else _of_tar(path)
    except _BROKEN as error:
        yield Member("", None, str(error) or type(error).__name__)


def _of_zip(path: str) -> Iterator[Member]:
    with address.open_bytes(path) as stream, zipfile.ZipFile(stream) as archive:
        files = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        is_log = _INSPECT in files and any(name.startswith(_SAMPLES) for name in files)
        for name in sorted(files, key=natural_key):
            if is_data(name) and (name.startswith(_SAMPLES) or not is_log):
                yield from _opened(name, partial(archive.open, files[name]), files[name].compress_size)


def _of_tar(path: str) -> Iterator[Member]:
    with open_stream(path) as stream:
        source: Any = Rest(b"", stream)
        with tarfile.open(fileobj=source, mode="r|") as archive:
            for info in archive:
                if info.isfile() and is_data(info.name):
                    yield from _opened(info.name, partial(archive.extractfile, info), info.size)


def _opened(name: str, begin: Any, size: int) -> Iterator[Member]:
    try:
        stream = begin()
        head = stream.read(MAGIC_BYTES)
    except _BROKEN as error:
        yield Member(name, None, str(error) or type(error).__name__)
        return
    whole: Any = Rest(head, stream)
    unpack = unpacker(head)
    with closing(stream):
        yield Member(name, Unpacked(stream, unpack(whole) if unpack else whole, max(size, 1)))


def names(path: str) -> list[str]:
    """All that is in a zip archive.

    Raises:
        SourceError: it is damaged.
    """
    try:
        with address.open_bytes(path) as stream, zipfile.ZipFile(stream) as archive:
            return archive.namelist()
    except _BROKEN as error:
        raise SourceError(f"{path}: a zip archive that cannot be read ({error})") from None
