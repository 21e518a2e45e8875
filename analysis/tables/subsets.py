"""A chosen part of a source as a small file that is itself a source: NAME.subset.toml.

The file names the source, what its bytes were, and the trajectories chosen. Ids hold for these bytes only: where the
source has changed, or the ids no longer name the same records of it, the subset is refused and not silently another.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from os import path as os_path
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from analysis.sources import SourceError, address
from analysis.tables import cache, places

SUFFIX = ".subset.toml"
_NAME = re.compile(r"[^\W_][\w .-]{0,99}")
_FORM = """\
# A part of a source. Notebooks, papermill and `python -m analysis` take this file where they take a source.
# The ids hold for these bytes of the source; when it has changed, the subset is refused.
chosen = {chosen}
source = {source}  # a path is seen from this file's folder
content_hash = {content_hash}
records_hash = {records_hash}
trajectory_ids = [
{ids}
]
"""


class Stored(msgspec.Struct, forbid_unknown_fields=True):
    """What the file holds."""

    chosen: str
    source: str
    content_hash: str
    records_hash: str
    trajectory_ids: list[str]


@dataclass(frozen=True)
class Subset:
    """A subset that was read: where it stands, and what it holds, with the source as seen from here."""

    file: str
    chosen: str
    source: str
    content_hash: str
    records_hash: str
    trajectory_ids: tuple[str, ...]

    def words(self, kept: int) -> str:
        """Its size, its source, and how it was chosen, for people."""
        how = f" ({self.chosen})" if self.chosen else ""
        return f"{len(self.trajectory_ids):,} of the {kept:,} trajectories of {self.source}{how}"


def is_subset(source: str) -> bool:
    return source.endswith(SUFFIX) and not address.is_remote(source)


def read(source: str) -> Subset:
    """Read a subset's file.

    Raises:
        SourceError: there is none, or it is not such a file.
    """
    path = Path(address.plain(source)).expanduser()
    try:
        stored = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Stored)
    except OSError as error:
        raise SourceError(f"{source}: {error.strerror}; a subset is saved by notebooks/explore.ipynb") from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise SourceError(f"{source}: not a subset as it was saved: {error}; save it again") from error
    if not stored.trajectory_ids:
        raise SourceError(f"{source}: names no trajectory; save it again")
    if is_subset(stored.source):
        raise SourceError(f"{source}: its source is a subset itself; name what that was chosen from")
    here = stored.source if _is_named(stored.source) else os_path.join(path.parent, stored.source)  # noqa: PTH118
    return Subset(
        source,
        stored.chosen,
        os_path.normpath(here) if here != stored.source else here,
        stored.content_hash,
        stored.records_hash,
        tuple(dict.fromkeys(stored.trajectory_ids)),
    )


def check(subset: Subset, manifest: dict[str, Any], trajectories: pl.LazyFrame) -> None:
    """Refuse a subset whose ids are stale.

    Args:
        subset: as read.
        manifest, trajectories: of its source as it is now.

    Raises:
        SourceError: the source's bytes are others, an id is in it no more, or names another record.
    """
    again = f"choose again in notebooks/explore.ipynb with source = {subset.source!r}"
    if not subset.content_hash.startswith(cache.ALGORITHM):
        raise SourceError(f"{subset.file}: it knows its source by a hash that earlier versions used; {again}")
    if manifest["content_hash"] != subset.content_hash:
        raise SourceError(f"{subset.file}: {subset.source} has changed since this subset was saved; {again}")
    there = _records(trajectories, subset.trajectory_ids)
    missing = sorted(set(subset.trajectory_ids) - set(there["trajectory_id"]))
    if missing:
        named = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        raise SourceError(
            f"{subset.file}: {len(missing):,} of its trajectories are not in the source: {named}; {again}"
        )
    if _hash(there) != subset.records_hash:
        raise SourceError(f"{subset.file}: its ids name other records than when it was saved; {again}")


def save(
    name: str,
    trajectory_ids: Iterable[str],
    *,
    source: str,
    manifest: dict[str, Any],
    trajectories: pl.LazyFrame,
    chosen: str = "",
    folder: str | Path = "",
    replace: bool = False,
) -> Path:
    """Write NAME.subset.toml, whole or not at all.

    Args:
        name: of the subset; letters, digits, `_`, `-`, `.` and spaces.
        trajectory_ids: at least one.
        source: what the trajectories were chosen from, as `load` takes it.
        manifest, trajectories: of that source.
        chosen: how, in words.
        folder: where to write; the working folder when empty.
        replace: overwrite a subset of that name.

    Raises:
        ValueError: nothing is chosen, an id is not in the source, or the name is not one of a file.
        FileExistsError: there is a subset of that name.
    """
    stem = name.removesuffix(SUFFIX)
    if not _NAME.fullmatch(stem):
        raise ValueError(f"{name!r} is no name for a subset: letters and digits, with _ - . or spaces between them")
    ids = tuple(dict.fromkeys(trajectory_ids))
    there = _records(trajectories, ids)
    if not ids or there.height < len(ids):
        raise ValueError("nothing is selected" if not ids else f"{len(ids) - there.height:,} ids are not in {source}")
    path = Path(folder) / f"{stem}{SUFFIX}"
    if path.exists() and not replace:
        raise FileExistsError(f"{path}: there is a subset of that name; choose another, or replace it")
    text = _FORM.format(
        chosen=_quoted(chosen),
        source=_quoted(source if _is_named(source) else _seen_from(path.parent, source)),
        content_hash=_quoted(manifest["content_hash"]),
        records_hash=_quoted(_hash(there)),
        ids="\n".join(f"  {_quoted(id_)}," for id_ in there["trajectory_id"]),
    )
    places.write_bytes(str(path.absolute()), text.encode())
    return path


def _is_named(source: str) -> bool:
    """Whether a source means the same from every folder: a name or an address, no path."""
    return source == "sample" or source.startswith("hub:") or address.is_remote(address.plain(source))


def _seen_from(folder: Path, source: str) -> str:
    """A relative path as seen from another folder: the two may move together. An absolute one is meant as it is."""
    plain = Path(address.plain(source)).expanduser()
    return str(plain) if plain.is_absolute() else Path(os_path.relpath(plain, folder)).as_posix()


def _records(trajectories: pl.LazyFrame, ids: Iterable[str]) -> pl.DataFrame:
    frame = trajectories.filter(pl.col("trajectory_id").is_in(list(ids)))
    return frame.select("trajectory_id", "origin").collect()


def _hash(records: pl.DataFrame) -> str:
    """Of the ids and where their records stand, whatever the order."""
    lines = sorted(f"{id_} {origin}" for id_, origin in records.iter_rows())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _quoted(words: str) -> str:
    """A TOML basic string. JSON's escapes are a part of TOML's; of what TOML forbids, JSON leaves DEL alone."""
    return json.dumps(words, ensure_ascii=False).replace("\x7f", "\\u007f")
