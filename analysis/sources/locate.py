"""One string -> the files it names, and what beside them was passed over."""

import glob
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from analysis.nearest import nearest
from analysis.sources import address, hub, links, several, stdin
from analysis.sources.choice import Entry, Skipped, choose
from analysis.sources.errors import SourceError
from analysis.sources.names import in_utf8, is_hidden


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


class Survey(NamedTuple):
    """The files of a source, in the natural order of their names, and what beside them was not read, and why.

    `skipped` is what looks like data and is none, or is of no form that is read; `lost` is data that cannot be read.
    """

    files: list[File]
    skipped: list[Skipped]
    lost: list[Skipped]


def locate(source: str) -> list[File]:
    """The files of a source, as `survey` finds them."""
    return survey(source).files


def survey(source: str) -> Survey:
    """Find the files of a source.

    A file that is named is read whatever its name. Of a folder, of what a glob matches and of what a store holds, data
    are the files with a data suffix, in capitals or not, packed or not, and archives. Links are followed. Hidden names
    are no data; neither is what this project wrote: tables, exports and cards.

    Args:
        source: a file, a glob, a folder (its data files, below it too), an fsspec address of any of these,
            `hub:OWNER/NAME[@REVISION][:FILE]`, `-` for standard input, or a JSON list of such names.

    Raises:
        SourceError: nothing is there, or nothing that holds records.
    """
    if not source.strip():
        raise SourceError("no source is named; name a file, a folder, a glob, an address, or `-` for standard input")
    if names := several.apart(source):
        return _together(names)
    if source == "-":
        return Survey([_local(stdin.kept(), stdin.NAME)], [], [])
    if source.startswith("hub:"):
        snapshot = hub.fetch(source)
        return Survey([_local(file.path, file.name, snapshot.revision) for file in snapshot.files], [], [])
    source = address.plain(source)
    return _remote(source) if address.is_remote(source) else _here(source)


def _together(names: list[str]) -> Survey:
    """The files of several sources, in their order."""
    surveys = [survey(name) for name in names]
    files = [file for each in surveys for file in each.files]
    paths = [file.path for file in files]
    if twice := next((path for path in paths if paths.count(path) > 1), ""):
        raise SourceError(f"{in_utf8(twice)}: named twice in one list of sources; name it once")
    distinct = several.distinct(paths, [file.name for file in files])
    return Survey(
        [file._replace(name=in_utf8(name)) for file, name in zip(files, distinct, strict=True)],
        [skipped for each in surveys for skipped in each.skipped],
        [lost for each in surveys for lost in each.lost],
    )


def _here(source: str) -> Survey:
    path = Path(source).expanduser()
    if path.is_file():
        return Survey([_local(path, in_utf8(path.name))], [], [])
    if path.is_dir():
        return _of_entries(source, [Entry(_below(file, path), file) for file in _walk(path)])
    # glob.glob, because Path.glob refuses the absolute patterns people type.
    paths = [Path(match) for match in glob.glob(str(path), recursive=True) if Path(match).is_file()]  # noqa: PTH207
    if not paths:
        near = _nearest(source, path)
        raise SourceError(f"{source}: no such file or folder" + (f"; near it: {near}" if near else ""))
    shared = Path(os.path.commonpath([match.parent for match in paths]))
    return _of_entries(source, [Entry(_below(match, shared), match) for match in paths], is_glob=True)


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _walk(folder: Path) -> Iterator[Path]:
    """The files below a folder, links followed; no folder is entered again to which a link leads back."""
    seen: set[tuple[int, int]] = set()
    for at, folders, files in os.walk(folder, followlinks=True):
        stat = os.stat(at)  # noqa: PTH116
        if (stat.st_dev, stat.st_ino) in seen:
            folders.clear()
            continue
        seen.add((stat.st_dev, stat.st_ino))
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        yield from (Path(at, name) for name in files)


def _of_entries(source: str, entries: list[Entry], *, is_glob: bool = False) -> Survey:
    choice = choose(entries, are_meant=is_glob)
    if not choice.data:
        beside = "; ".join(f"{skipped.name}: {skipped.reason}" for skipped in [*choice.lost, *choice.skipped][:3])
        raise SourceError(f"{source}: no file of records here" + (f"; {beside}" if beside else ""))
    return Survey([_file(entry) for entry in choice.data], choice.skipped, choice.lost)


def _file(entry: Entry) -> File:
    name = in_utf8(entry.name)
    return _local(entry.place, name) if isinstance(entry.place, Path) else _of_store(entry.place, name)


def _local(path: Path, name: str, revision: str = "") -> File:
    stat = path.stat()
    # ctime cannot be set back by a program that keeps size and mtime: together they name one state of the file.
    stamp = f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}-{stat.st_dev}"
    return File(links.readable(str(path.resolve())), name, stat.st_size, stamp, revision)


def _remote(source: str) -> Survey:
    fs, path = address.filesystem(source)
    behind = source.partition("::")[2]
    with address.reading(source):
        try:
            is_pattern = glob.has_magic(path) and not fs.exists(path)
            names = fs.glob(path) if is_pattern else fs.find(path) if fs.isdir(path) else [path]
            objects = [_Object(fs, info, behind) for info in map(fs.info, names) if info["type"] == "file"]
        except FileNotFoundError:
            raise SourceError(f"{source}: nothing at this address") from None
    if names == [path] and objects:
        return Survey([_of_store(objects[0], path.rpartition("/")[2])], [], [])
    folders = [each.info["name"].rpartition("/")[0] for each in objects]
    shared = os.path.commonpath(folders) if objects and all(folders) else ""
    entries = [Entry(each.info["name"].removeprefix(shared).lstrip("/"), each) for each in objects]
    return _of_entries(source, entries, is_glob=is_pattern)


class _Object(NamedTuple):
    """A file of a store: its file system, what that says of it, and the addresses it is reached through."""

    fs: Any
    info: dict[str, Any]
    behind: str

    def read_bytes(self, size: int) -> bytes:
        return bytes(self.fs.cat_file(self.info["name"], start=0, end=size))


def _of_store(found: _Object, name: str) -> File:
    inner = found.fs.unstrip_protocol(found.info["name"])
    path = f"{inner}::{found.behind}" if found.behind and "::" not in inner else inner
    return File(path, in_utf8(name), int(found.info["size"]), found.fs.ukey(found.info["name"]))


def refuse_inside(place: str | Path, source: str) -> None:
    """Nothing is written into a folder that is read: the next run would find it there.

    Raises:
        SourceError: the place is the source's folder, or inside it.
    """
    written = _absolute(str(place))
    for name in filter(str.strip, several.apart(source) or [source]):
        read = _absolute(name)
        is_folder = address.is_remote(read) or Path(read).is_dir()
        if is_folder and f"{written}/".startswith(f"{read}/"):
            raise SourceError(f"{place}: inside {name}, which is read; name a folder outside of it")


def _absolute(name: str) -> str:
    plain = address.plain(name)
    return (plain if address.is_remote(plain) else str(Path(plain).expanduser().resolve())).rstrip("/")


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
    return ", ".join(map(in_utf8, nearest(missing.name, names)))
