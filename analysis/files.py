"""Files and folders that are there whole or not at all, and what an errno says about writing.

A file or folder is made beside its place, under a hidden name that holds this process's id, and renamed. A run that is
killed leaves such a name behind; `sweep` removes those of processes that have ended.
"""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar
from uuid import uuid4

from analysis import interrupts

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
Result = TypeVar("Result")
# Too many files are open, in this process or on this machine.
CROWDED = frozenset({errno.EMFILE, errno.ENFILE})
# Nothing can be written there, however often it is tried.
UNWRITABLE = FULL | {
    errno.EACCES,
    errno.EEXIST,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}
# A name may have 255 bytes, some of which say whose it is.
_NAME_BYTES, _SUFFIX_CHARS = 140, 10
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
# Empty, a device of Windows, or like a name that was given a hash.
_RESERVED = re.compile(r"|con|prn|aux|nul|clock\$|com[0-9]|lpt[0-9]|.*-[0-9a-f]{12}", re.DOTALL)
# What this process is writing, for an interrupt to remove.
_unfinished: set[Path] = set()
_BESIDE = re.compile(r"\..+\.(\d+)(-[0-9a-f]{32})?(\.[^.]*)?", re.DOTALL)


def beside(path: Path) -> Path:
    """This process's hidden name in the same folder, with the same suffix: written there, then renamed to the path."""
    own = _hidden(path, str(os.getpid()))
    _unfinished.add(own)
    return own


def unused(path: Path) -> Path:
    """The same, of nobody else: two threads may write at once."""
    return _hidden(path, f"{os.getpid()}-{uuid4().hex}")


def _hidden(path: Path, mark: str) -> Path:
    stem = path.stem.encode(errors="surrogateescape")[:_NAME_BYTES].decode(errors="ignore")
    return path.with_name(f".{stem}.{mark}{path.suffix[:_SUFFIX_CHARS]}")


@contextmanager
def whole(path: Path, *, is_durable: bool = False) -> Iterator[IO[bytes]]:
    """A stream of bytes that become the file when the block ends, and vanish when it raises.

    Args:
        path: the file; its folder is made where there is none.
        is_durable: wait until the disk has them, for a file that must outlive a power cut.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    working = unused(path)
    try:
        # Not by `tempfile`, whose files nobody else may read: another account may be the one to read them.
        with _named(path), _begun(working, lambda: _new(working)) as stream:
            yield stream
            if is_durable:
                stream.flush()
                os.fsync(stream.fileno())
        _rename(working, path)
    except BaseException:
        working.unlink(missing_ok=True)
        raise
    finally:
        _unfinished.discard(working)


def _rename(working: Path, path: Path) -> None:
    try:
        working.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _new(path: Path) -> IO[bytes]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("xb")


def write_whole(path: Path, content: bytes | memoryview | str, *, is_durable: bool = False) -> None:
    """Write a file so that under its name there is all of it or nothing; a text as UTF-8, "?" for a lone surrogate.

    Raises:
        OSError: it cannot be written; errno, sentence and the file's own name are set.
    """
    try:
        with whole(path, is_durable=is_durable) as stream:
            stream.write(content.encode(errors="replace") if isinstance(content, str) else content)
    except OSError as error:
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(path)) from error


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """An empty folder that replaces the one at the place when the block ends, and vanishes when it raises.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    with _folder_beside(place) as working:
        yield working
        swap(working, place)


@contextmanager
def equal_folder(place: Path) -> Iterator[Path]:
    """The same for a folder that every run would fill alike: where another run is first, that one's stays.

    Raises:
        OSError: it cannot be written, and there is none.
    """
    with _folder_beside(place) as working:
        yield working
        publish(working, place)


@contextmanager
def _named(place: Path) -> Iterator[None]:
    """Of a stream that cannot be written the system names no file: what was to be made is named."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in UNWRITABLE:
            raise OSError(error.errno, error.strerror, str(place)) from error
        raise


def to_be_swapped(place: Path) -> Path:
    """Where a folder is made that takes the place by `swap`; an interrupt removes it."""
    working = unused(place.absolute())
    _unfinished.add(working)
    return working


def swap(folder: Path, place: Path) -> None:
    """Rename a folder into a place; one that is there is removed after the new one has its name.

    Raises:
        OSError: it cannot be renamed; what was there before still is.
    """
    earlier = unused(place.absolute())
    is_there = place.is_dir()
    with interrupts.undivided():
        if is_there:
            place.rename(earlier)
            _unfinished.add(earlier)
        try:
            folder.rename(place)
        except BaseException:
            if is_there:
                earlier.rename(place)
            raise
    shutil.rmtree(earlier, ignore_errors=True)


def publish(folder: Path, place: Path) -> None:
    """Rename a folder into a place, unless an equal one of another run is there already: that one stays.

    Raises:
        OSError: it cannot be renamed, and there is none.
    """
    try:
        folder.rename(place)
    except OSError:
        if not place.exists():
            raise
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _folder_beside(place: Path) -> Iterator[Path]:
    sweep_beside(place)
    working = unused(place.absolute())
    _begun(working, lambda: working.mkdir(parents=True))
    try:
        with _named(place):
            yield working
    except BaseException:
        shutil.rmtree(working, ignore_errors=True)
        raise
    finally:
        _unfinished.discard(working)


def _begun(working: Path, begin: Callable[[], Result]) -> Result:
    with interrupts.undivided():
        _unfinished.add(working)
        return begin()


def file_name(value: str) -> str:
    """A value of the data as part of a file's name: itself where it is harmless, else what remains and a hash of it.

    Different values get different names, on disks that fold case, too, and none that Windows keeps for devices.

    >>> file_name("env_1"), file_name("a/b"), file_name("nul")
    ('env_1', 'a_b-c14cddc033f6', 'nul-99e624275901')
    """
    plain = _UNSAFE.sub("_", value)[:60]
    is_safe = plain == value == value.lower() and not _RESERVED.fullmatch(value)
    return plain if is_safe else f"{plain}-{hashlib.sha256(value.encode(errors='surrogatepass')).hexdigest()[:12]}"


def cache_root() -> Path:
    """The cache folder: $TRAJECTORY_CACHE, else below $XDG_CACHE_HOME, else ~/.cache."""
    own = os.environ.get("TRAJECTORY_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    # Not by pathlib, which fails where no home is known.
    return Path(os.path.expanduser(own or f"{shared}/trajectory-notebooks"))  # noqa: PTH111


def sweep(folder: Path) -> None:
    """Remove what runs that were killed left half written here; what a running one writes stays."""
    for path in folder.glob(".*"):
        found = _BESIDE.fullmatch(path.name)
        if found and not _is_running(int(found[1])):
            remove(path)  # which fails where another run sweeps too, or it is not ours to remove


def _abandon() -> None:
    """Remove what this process has half written, while it is held from beginning anything new."""
    for path in list(_unfinished):
        for _ in range(20):  # another thread may still be filling a folder
            if not os.path.lexists(path):
                break
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all it holds, as far as that is possible."""
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def sweep_beside(path: Path) -> None:
    """Remove what killed runs left half written beside a path, in a folder that is not ours alone."""
    start, marked = f".{path.stem[:_NAME_BYTES]}", re.compile(r"\.(\d+)-[0-9a-f]{32}(\.[^.]*)?")
    with suppress(OSError):
        for found in list(path.absolute().parent.iterdir()):
            mark = marked.fullmatch(found.name.removeprefix(start)) if found.name.startswith(start) else None
            if mark and not _is_running(int(mark[1])):
                remove(found)


def _is_running(pid: int) -> bool:
    if os.name != "posix":  # elsewhere signal 0 is no question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


interrupts.tidy_with(_abandon)
