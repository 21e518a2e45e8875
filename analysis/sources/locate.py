"""One string -> the files it names."""

import glob
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from analysis.natural import natural_key
from analysis.nearest import nearest
from analysis.sources import address, hub
from analysis.sources.errors import SourceError

SUFFIXES = (".json", ".jsonl", ".ndjson", ".parquet", ".json.gz", ".jsonl.gz")


class File(NamedTuple):
    """One file: its address, the name its records' origins carry, its size, and what tells whether it changed."""

    path: str
    name: str
    size: int
    stamp: str
    revision: str = ""

    @property
    def is_local(self) -> bool:
        return not address.is_remote(self.path)


def locate(source: str) -> list[File]:
    """Find the files of a source, in the natural order of their names.

    Args:
        source: a file, a glob, a folder (its data files, below it too), an fsspec address of any of these, or
            `hub:OWNER/NAME[@REVISION][:FILE]`.

    Raises:
        SourceError: nothing is there, or nothing that holds records.
    """
    if source.startswith("hub:"):
        fetched = hub.fetch(source)
        return [_local(file.path, file.name, fetched.revision) for file in fetched.files]
    source = address.plain(source)
    if address.is_remote(source):
        return _remote(source)
    return _local_files(source)


def _local_files(source: str) -> list[File]:
    path = Path(source).expanduser()
    if path.is_file():
        return [_local(path, path.name)]
    if path.is_dir():
        found = sorted(
            (p for p in path.rglob("*") if p.name.endswith(SUFFIXES) and p.is_file()), key=lambda p: natural_key(str(p))
        )
        if not found:
            raise SourceError(f"{source}: no {', '.join(SUFFIXES)} file in this folder")
        return [_local(p, p.relative_to(path).as_posix()) for p in found]
    # glob.glob, because Path.glob refuses the absolute patterns people type.
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207
    files = [Path(match) for match in sorted(matches, key=natural_key) if Path(match).is_file()]
    if not files:
        near = _nearest(source, path)
        raise SourceError(f"{source}: no such file or folder" + (f"; near it: {near}" if near else ""))
    shared = Path(os.path.commonpath([file.parent for file in files]))
    return [_local(file, file.relative_to(shared).as_posix()) for file in files]


def _local(path: Path, name: str, revision: str = "") -> File:
    stat = path.stat()
    # ctime cannot be set back by a program that keeps size and mtime: together they name one state of the file.
    stamp = f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}-{stat.st_dev}"
    return File(str(path.resolve()), name, stat.st_size, stamp, revision)


def _remote(source: str) -> list[File]:
    fs, path = address.filesystem(source)
    with address.reading(source):
        try:
            names = fs.glob(path) if glob.has_magic(path) else fs.find(path) if fs.isdir(path) else [path]
            infos = [fs.info(name) for name in names]
        except FileNotFoundError:
            raise SourceError(f"{source}: nothing at this address") from None
    found = [info for info in infos if info["type"] == "file" and (len(infos) == 1 or info["name"].endswith(SUFFIXES))]
    if not found:
        raise SourceError(f"{source}: no {', '.join(SUFFIXES)} file at this address")
    found.sort(key=lambda info: natural_key(info["name"]))
    folders = [info["name"].rpartition("/")[0] for info in found]
    shared = os.path.commonpath(folders) if all(folders) else ""
    return [_of_info(fs, info, shared) for info in found]


def _of_info(fs: Any, info: dict[str, Any], shared: str) -> File:
    name = info["name"].removeprefix(shared).lstrip("/")
    return File(fs.unstrip_protocol(info["name"]), name, int(info["size"]), fs.ukey(info["name"]))


def refuse_changed(files: list[File]) -> None:
    """Files of this machine are read as they were located, or not at all.

    What a store holds is replaced whole, not written to, and to ask for every object again could take minutes.

    Raises:
        SourceError: one was written to since, or is gone.
    """
    changed = [file.name for file in files if file.is_local and not _is_at_rest(file)]
    if changed:
        which = changed[0] if len(changed) == 1 else f"{changed[0]} and {len(changed) - 1:,} more"
        raise SourceError(f"{which}: written to while it was read; load it again at rest, or a copy of it")


def _is_at_rest(file: File) -> bool:
    try:
        now = _local(Path(file.path), file.name)
    except OSError:
        return False
    # Size and times: some file systems number the same file anew.
    return now.stamp.split("-")[:3] == file.stamp.split("-")[:3]


def _nearest(source: str, path: Path) -> str:
    """What may have been meant: a name beside the first part of the path that does not exist, `sample`, or `hub:`."""
    scheme, colon, name = source.partition(":")
    if colon and "/" in name and nearest(scheme, ["hub"]):
        return f"hub:{name}"
    missing = path
    while not missing.parent.is_dir():
        missing = missing.parent
    names = ["sample"] if path == Path(path.name) else []
    with suppress(OSError):
        names += [beside.name for beside in missing.parent.iterdir()]
    return ", ".join(nearest(missing.name, names))
