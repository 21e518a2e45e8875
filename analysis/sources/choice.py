"""Which of many files hold records: one rule for folders, globs and stores."""

import json
import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol

from analysis.natural import natural_key
from analysis.sources.containers import archive
from analysis.sources.containers.packed import MAGIC_BYTES
from analysis.sources.errors import SourceError
from analysis.sources.names import FORMATS, in_utf8, is_archive, is_data, is_hidden

MANIFEST, CARD = "manifest.json", "croissant.json"
# What this project wrote, by the keys of its manifests.
_TABLES = {"decoder", "content_hash", "records_in", "kept"}
_EXPORT = {"content_hash", "records_in", "exported", "refused"}
_MOST_BYTES = 16 << 20
# So much of a file without a data suffix, and so many of these, are looked at.
_HEAD_BYTES = 4096
_MOST_HEADS = 2_000
_RECORDS = re.compile(
    rb'\s*+(?:\[\s*+)*+\{.*"(?:messages|conversations?|traj|trajectory|history|traj_type)"\s*+:', re.S
)
_FOREIGN = ("arrow", "avro", "feather", "lz4", "msgpack", "orc", "pickle", "pkl", "rar", "7z")


class Place(Protocol):
    """Where a file is that is no path of this machine."""

    def read_bytes(self, size: int) -> bytes: ...


class Entry(NamedTuple):
    """A file by its name below the source, and where it is."""

    name: str
    place: Any

    def read_bytes(self, size: int) -> bytes:
        if not isinstance(self.place, Path):
            place: Place = self.place
            return place.read_bytes(size)
        with self.place.open("rb") as stream:
            return stream.read(size)


class Skipped(NamedTuple):
    """What is not read, and why."""

    name: str
    reason: str


class Choice(NamedTuple):
    """Of many files the data, what looks like data and is not read, and data that cannot be read."""

    data: list[Entry]
    skipped: list[Skipped]
    lost: list[Skipped]


def choose(entries: list[Entry], *, are_meant: bool) -> Choice:
    """Sort files into data, and what is told of the others.

    Args:
        entries: all files there are.
        are_meant: read them whatever their names, if none is a name of data.
    """
    entries = sorted((e for e in entries if not is_hidden(e.name)), key=lambda entry: natural_key(entry.name))
    are_meant = are_meant and not any(map(_is_named, entries))
    owned = _owned(entries)
    choice = Choice([], [], [])
    for entry in (each for each in entries if are_meant or _is_named(each)):
        what = _owner(entry, owned)
        if what:
            choice.skipped.append(Skipped(in_utf8(entry.name), what))
        elif _is_empty_archive(entry):
            choice.skipped.append(Skipped(in_utf8(entry.name), "an archive that holds no data"))
        elif why := _unreadable(entry):
            choice.lost.append(Skipped(in_utf8(entry.name), why))
        else:
            choice.data.append(entry)
    others = (entry for entry in entries if not are_meant and not _is_named(entry))
    for entry in islice(others, _MOST_HEADS):
        if (why := _likeness(entry)) and not _owner(entry, owned):
            choice.skipped.append(Skipped(in_utf8(entry.name), why))
    return choice


def _is_named(entry: Entry) -> bool:
    return is_data(entry.name) or is_archive(entry.name)


def _owned(entries: list[Entry]) -> dict[PurePosixPath, str]:
    """Folders that this project wrote, by name, with what they are; the source's own is meant, whatever it is."""
    by_folder = {PurePosixPath(e.name).parent: e for e in entries if PurePosixPath(e.name).name == MANIFEST}
    return {folder: what for folder, entry in by_folder.items() if (what := _kind(entry))}


def _owner(entry: Entry, owned: dict[PurePosixPath, str]) -> str:
    path, top = PurePosixPath(entry.name), PurePosixPath(".")
    if path.name == CARD and b'"@context"' in entry.read_bytes(_HEAD_BYTES):
        return "a card that this project wrote"
    if path.name == MANIFEST and path.parent in owned:
        return f"the manifest of {owned[path.parent]}"
    return next((owned[folder] for folder in path.parents if folder in owned and folder != top), "")


def _kind(manifest: Entry) -> str:
    with suppress(OSError, ValueError, AttributeError):
        keys = json.loads(manifest.read_bytes(_MOST_BYTES)).keys()
        if keys >= _TABLES:
            return "tables that this project wrote"
        if keys >= _EXPORT:
            return "an export that this project wrote"
    return ""


def _is_empty_archive(entry: Entry) -> bool:
    """A zip archive without data; what is in a tar archive is seen when it is read."""
    if not is_archive(entry.name) or not isinstance(entry.place, Path):
        return False
    with suppress(SourceError, OSError):
        is_zip = archive.kind(entry.read_bytes(MAGIC_BYTES)) == "zip"
        return is_zip and not any(map(is_data, archive.names(str(entry.place))))
    return False


def _unreadable(entry: Entry) -> str:
    if not isinstance(entry.place, Path):
        return ""
    if not entry.place.is_file():
        return "a link that leads nowhere, or no file"
    return "" if os.access(entry.place, os.R_OK) else "cannot be read: Permission denied"


def _likeness(entry: Entry) -> str:
    """Why a file without a data suffix is told of; "" for one that nobody would take for records."""
    suffix = entry.name.lower().rpartition(".")[2]
    if suffix in _FOREIGN:
        return f"a form of data that is not read (.{suffix})"
    with suppress(OSError):
        head = entry.read_bytes(_HEAD_BYTES) if suffix != "ipynb" else b""
        if head.startswith(b"PAR1") or _RECORDS.match(head):
            return f"it looks like records, but has no data suffix ({', '.join(FORMATS)}); name the file to read it"
    return ""
