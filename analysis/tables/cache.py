"""Where decoded tables are kept, and how a source is known again.

A source is known by its content: the BLAKE3 of its bytes (of a list of names and hashes for several files; of the
store's own version tag for a remote file). It stands between opening a set and its first figure, and SHA-256, as
collision-proof, takes three times as long even where the processor helps. Hashing 700 MB takes longer than a warm start
may all the same, so the hash of a file is remembered under its size, mtime, ctime, inode and device: a program can set
the mtime back, but not the ctime. A file changed within RACY_S of being hashed could change again within the clock's
grain, so it is hashed anew until it rests.

To name contents takes a pass over them, and whoever has nothing of a file need not wait for it: one at rest is hashed
while it is decoded, by one process as the decoder reads (`overhearing`), else by a thread (`beside`).
"""

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
from blake3 import blake3

from analysis.files import cache_root
from analysis.sources import File, address
from analysis.tables.places import write_bytes

ALGORITHM = "blake3:"
RACY_S = 2.0
CHUNK_BYTES = 256 << 10


def _own_code() -> str:
    """Hash of the code that makes tables of bytes: with other code, the same bytes are decoded anew."""
    package = Path(__file__).parent.parent
    modules = [
        package / "schema.py",
        package / "canonical.py",
        *(p for room in ("records", "sources", "tables") for p in (package / room).rglob("*.py")),
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(modules))).hexdigest()[:12]


DECODER = _own_code()
# Whether records whose calls were not read are kept: other tables of the same bytes, under another name.
_keeps_unread: ContextVar[bool] = ContextVar("keeps_unread", default=False)


def decoder() -> str:
    """What makes tables of bytes, here and now: this code, and whether it keeps what it could not read."""
    return hashlib.sha256(f"{DECODER} unread".encode()).hexdigest()[:12] if _keeps_unread.get() else DECODER


@contextmanager
def keeping_unread(is_asked_for: bool) -> Iterator[None]:
    """Look for, and name, the tables in which records that could not be read are kept."""
    before = _keeps_unread.set(is_asked_for)
    try:
        yield
    finally:
        _keeps_unread.reset(before)


def root() -> Path:
    """The cache folder: $TRAJECTORY_CACHE, else below $XDG_CACHE_HOME, else ~/.cache."""
    return cache_root()


def name(content: str, files: Iterable[str]) -> str:
    """The folder for the tables of these contents. Of these files, too: places in them are told by name."""
    return f"{_start(content)}-{_kind(files)}"


def folder(content: str, files: list[File]) -> Path:
    """Where tables of these contents stand, if they do."""
    return root() / "tables" / name(content, [file.name for file in files])


def begun(file: File) -> Path:
    """Where the tables of a file at rest are made while its contents have no name."""
    return folder(hashlib.sha256(os.fsencode(f"{file.path} {file.stamp}")).hexdigest(), [file]).with_suffix(".partial")


def lock(files: list[File]) -> AbstractContextManager[object]:
    """Held by whoever makes tables of files of these names: of two notebooks opened on one set, the second waits."""
    from filelock import FileLock  # noqa: PLC0415  workers wait for no lock

    where = root() / "tables"
    where.mkdir(parents=True, exist_ok=True)
    return FileLock(where / f"{_kind(file.name for file in files)}.lock")


def key(manifest: dict[str, Any]) -> str:
    """The same of a manifest, by whatever decoder it was made; "" when it holds no such."""
    try:
        kind = _kind((str(file["name"]) for file in manifest["files"]), manifest["decoder"])
        text = f"{_start(str(manifest['content_hash']))}-{kind}"
    except (KeyError, TypeError):
        return ""
    return text if re.fullmatch(r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{12}", text) else ""


def _kind(files: Iterable[str], made_by: str = "") -> str:
    names = hashlib.sha256("\n".join(files).encode()).hexdigest()[:8]
    return f"{names}-{made_by or decoder()}"


def _start(content: str) -> str:
    return content.removeprefix(ALGORITHM)[:32]


def content_hash(files: list[File]) -> str:
    """`blake3:` and the hash of the one file, or of the sorted names and hashes of several."""
    hashes = [(file.name, _file_hash(file)) for file in files]
    if len(hashes) == 1:
        return ALGORITHM + hashes[0][1]
    listing = "\n".join(f"{digest}  {name}" for name, digest in hashes)
    return ALGORITHM + blake3(listing.encode()).hexdigest()


def is_remembered(files: list[File]) -> bool:
    """Can the contents be named without reading them?"""
    return all(_remembered(file) for file in files)


def is_news(files: list[File]) -> bool:
    """Is it one file at rest, whose hash is not known, and of whose name the cache has nothing that might be it?"""
    if len(files) != 1 or not files[0].is_local or _remembered(files[0]) or not _rests(files[0]):
        return False
    like_it = (root() / "tables").glob(f"*-{_kind([files[0].name])}*")
    return all(place == begun(files[0]) for place in like_it)


@contextmanager
def overhearing(file: File) -> Iterator[Callable[[], str]]:
    """Hash what is read of a file in here; what is yielded reads what is left of it, and returns `content_hash`."""
    hasher, end = blake3(), 0

    def hear(offset: int, data: bytes) -> None:
        nonlocal end
        if offset <= end < offset + len(data):
            hasher.update(memoryview(data)[end - offset :])
            end = offset + len(data)

    with address.overheard(file.path, hear):
        yield lambda: ALGORITHM + _hashed(file, hasher, end)


@contextmanager
def beside(file: File) -> Iterator[Callable[[], str]]:
    """Hash a file in a thread of its own; what is yielded waits for its end, and returns `content_hash`."""
    left = Event()
    with ThreadPoolExecutor(1) as thread:
        digest = thread.submit(_hashed, file, blake3(), 0, left.is_set)
        try:
            yield lambda: ALGORITHM + digest.result()
        finally:
            left.set()


def remember(file: File, digest: str) -> None:
    """Note the hash of a file for this state of it, if it is at rest."""
    if _rests(file):
        write_bytes(str(_note(file)), msgspec.json.encode((file.stamp, digest.removeprefix(ALGORITHM))))


def _file_hash(file: File) -> str:
    if remembered := _remembered(file):
        return remembered
    digest = _hashed(file, blake3())
    remember(file, digest)
    return digest


def _hashed(file: File, hasher: Any, start: int = 0, is_called_off: Callable[[], bool] = lambda: False) -> str:
    """The hash of a file, of which what stands before the start is in the hasher."""
    with address.reading(file.path), Path(file.path).open("rb") as stream:
        stream.seek(start)
        while not is_called_off() and (data := stream.read(CHUNK_BYTES)):
            hasher.update(data)
    return str(hasher.hexdigest())


def _rests(file: File) -> bool:
    try:
        stat = Path(file.path).stat()
    except OSError:
        return False
    return time.time() - max(stat.st_mtime, stat.st_ctime) > RACY_S


def _remembered(file: File) -> str:
    if not file.is_local:
        return blake3(f"{file.path} {file.size} {file.stamp}".encode()).hexdigest()
    try:
        stamp, digest = msgspec.json.decode(_note(file).read_bytes(), type=tuple[str, str])
    except (OSError, msgspec.MsgspecError):
        return ""
    return digest if stamp == file.stamp else ""


def _note(file: File) -> Path:
    return root() / "blake3" / f"{hashlib.sha256(os.fsencode(file.path)).hexdigest()[:32]}.json"
