"""Where a reader of the card finds the files that it tells of, and how to know them again."""

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from analysis.card.splice import CardError
from analysis.sources import File, SourceError, address, plan
from analysis.tables import Tables
from analysis.tables.locate import tables_at
from analysis.tables.places import names

HUB = re.compile(r"hub:([^@:]+)")
_ENCODINGS = {"parquet": "application/x-parquet", "lines": "application/jsonlines"}


class Described(NamedTuple):
    """A file of the source: its name, its path from the card or its address, and how to know it again."""

    name: str
    url: str
    size: int
    sha256: str
    encoding: str

    @property
    def path(self) -> str:
        """Its path from the card; "" where it lies elsewhere."""
        return "" if "://" in self.url else self.url


def described(data: Tables, folder: Path) -> list[Described]:
    """The files of a source; none where only its tables are here.

    Args:
        data: its tables.
        folder: where the card stands.

    Raises:
        sources.SourceError: the source is no longer what was loaded.
    """
    try:
        files = data.files()
    except SourceError:
        if "tables_of" in data.manifest:
            return []
        raise
    containers = {slice_.name: slice_.container for unit in plan(files) for slice_ in unit.slices}
    return [
        Described(
            file.name,
            _url(data, file, folder),
            file.size,
            address.sha256(file.path),
            _encoding(file, containers[file.name]),
        )
        for file in files
    ]


def elsewhere(data: Tables, folder: Path) -> list[str]:
    """Names of files of this machine that do not lie below the card: it tells of them as if they lay beside it."""
    if not data.manifest["located"] or _repository(data):
        return []
    return [file.name for file in data.files() if file.is_local and not below(file.path, folder)]


def tables_from(data: Tables, place: str, folder: Path) -> tuple[str, list[str]]:
    """The path from the card to written tables, and their names.

    Args:
        data: the records that the card tells of.
        place: where their tables were written; "" for the source itself, if that is such a folder.
        folder: where the card stands.

    Raises:
        CardError: these are no tables of these records, or a card cannot refer to them.
    """
    is_asked, place = bool(place), place or (data.source if "tables_of" in data.manifest else "")
    if not place:
        return "", []
    there = tables_at(place)
    if there is None:
        raise CardError(f"{place}: no tables; write them with `python -m analysis tables {data.source} {place}`")
    if there["content_hash"] != data.manifest["content_hash"]:
        raise CardError(f"{place}: tables of other records than {data.source}; write them again")
    path = "" if address.is_remote(place) else below(address.plain(place), folder)
    if is_asked and not path:
        raise CardError(f"{place}: not below {folder}, where the card stands; it can refer to tables below it only")
    return (path, names(place)) if path else ("", [])


def below(path: str, folder: Path) -> str:
    """A path from a folder down, "" where it is not below."""
    whole, base = Path(path).resolve(), folder.resolve()
    return whole.relative_to(base).as_posix() if whole != base and whole.is_relative_to(base) else ""


def _repository(data: Tables) -> str:
    found = HUB.match(data.source)
    return found[1] if found else ""


def _url(data: Tables, file: File, folder: Path) -> str:
    if repository := _repository(data):
        return f"https://huggingface.co/datasets/{repository}/resolve/{file.revision or 'main'}/{quote(file.name)}"
    return (below(file.path, folder) or file.name) if file.is_local else file.path


def _encoding(file: File, container: str) -> str:
    with address.reading(file.path), address.open_bytes(file.path) as stream:
        is_packed = stream.read(2) == b"\x1f\x8b"
    return "application/gzip" if is_packed else _ENCODINGS.get(container, "application/json")
