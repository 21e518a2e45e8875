"""Where decoded tables are kept, and how a source is known again.

A source is known by its content: the SHA-256 of its bytes (of a list of names and hashes for several files; of the
store's own version tag for a remote file). Hashing 700 MB takes longer than a warm start may, so the hash of a file is
remembered under its size, mtime, ctime, inode and device: a program can set the mtime back, but not the ctime. A file
changed within RACY_S of being hashed could change again within the clock's grain, so it is hashed anew until it rests.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from analysis.sources import File, address
from analysis.tables.places import write_bytes

RACY_S = 2.0


def _own_code() -> str:
    """Hash of the code that makes tables of bytes: with other code, the same bytes are decoded anew."""
    package = Path(__file__).parent.parent
    modules = [
        package / "schema.py",
        *(p for room in ("records", "sources", "tables") for p in (package / room).glob("*.py")),
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(modules))).hexdigest()[:12]


DECODER = _own_code()


def root() -> Path:
    """The cache folder: $TRAJECTORY_CACHE, else below $XDG_CACHE_HOME, else ~/.cache."""
    own = os.environ.get("TRAJECTORY_CACHE")
    shared = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(own) if own else shared / "trajectory-notebooks"


def name(content: str, files: Iterable[str]) -> str:
    """The folder for the tables of these contents. Of these files, too: places in them are told by name."""
    return f"{content[:32]}-{_names(files)}-{DECODER}"


def key(manifest: dict[str, Any]) -> str:
    """The same of a manifest, by whatever decoder it was made; "" when it holds no such."""
    try:
        names = _names(str(file["name"]) for file in manifest["files"])
    except (KeyError, TypeError):
        return ""
    found = f"{str(manifest['content_hash'])[:32]}-{names}-{manifest['decoder']}"
    return found if re.fullmatch(r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{12}", found) else ""


def _names(files: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(files).encode()).hexdigest()[:8]


def content_hash(files: list[File]) -> str:
    """SHA-256 of the one file, or of the sorted names and hashes of several."""
    hashes = [(file.name, _file_hash(file)) for file in files]
    if len(hashes) == 1:
        return hashes[0][1]
    listing = "\n".join(f"{digest}  {name}" for name, digest in hashes)
    return hashlib.sha256(listing.encode()).hexdigest()


def is_remembered(files: list[File]) -> bool:
    """Can the contents be named without reading them?"""
    return all(_remembered(file) for file in files)


def _file_hash(file: File) -> str:
    if remembered := _remembered(file):
        return remembered
    with address.reading(file.path), Path(file.path).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    stat = Path(file.path).stat()
    if time.time() - max(stat.st_mtime, stat.st_ctime) > RACY_S:
        write_bytes(str(_note(file)), msgspec.json.encode((file.stamp, digest)))
    return digest


def _remembered(file: File) -> str:
    if not file.is_local:
        return hashlib.sha256(f"{file.path} {file.size} {file.stamp}".encode()).hexdigest()
    try:
        stamp, digest = msgspec.json.decode(_note(file).read_bytes(), type=tuple[str, str])
    except (OSError, msgspec.MsgspecError):
        return ""
    return digest if stamp == file.stamp else ""


def _note(file: File) -> Path:
    return root() / "hashes" / f"{hashlib.sha256(file.path.encode()).hexdigest()[:32]}.json"
