"""Where decoded tables are kept, and how a source is known again.

A source is known by its content: the BLAKE3 of its bytes (of a list of names and hashes for several files; of the
store's own version tag for a remote file). It stands between opening a set and its first figure, and SHA-256, as
collision-proof, takes three times as long even where the processor helps. Hashing 700 MB takes longer than a warm start
may all the same, so the hash of a file is remembered under its size, mtime, ctime, inode and device: a program can set
the mtime back, but not the ctime. A file changed within RACY_S of being hashed could change again within the clock's
grain, so it is hashed anew until it rests.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from blake3 import blake3

from analysis.sources import File, address
from analysis.tables.places import write_bytes

ALGORITHM = "blake3:"
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
    return f"{_start(content)}-{_names(files)}-{DECODER}"


def key(manifest: dict[str, Any]) -> str:
    """The same of a manifest, by whatever decoder it was made; "" when it holds no such."""
    try:
        names = _names(str(file["name"]) for file in manifest["files"])
        found = f"{_start(str(manifest['content_hash']))}-{names}-{manifest['decoder']}"
    except (KeyError, TypeError):
        return ""
    return found if re.fullmatch(r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{12}", found) else ""


def _names(files: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(files).encode()).hexdigest()[:8]


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


def _file_hash(file: File) -> str:
    if remembered := _remembered(file):
        return remembered
    with address.reading(file.path), Path(file.path).open("rb") as stream:
        digest: str = hashlib.file_digest(stream, blake3).hexdigest()  # type: ignore[arg-type]  # its `update` returns it
    stat = Path(file.path).stat()
    if time.time() - max(stat.st_mtime, stat.st_ctime) > RACY_S:
        write_bytes(str(_note(file)), msgspec.json.encode((file.stamp, digest)))
    return digest


def _remembered(file: File) -> str:
    if not file.is_local:
        return blake3(f"{file.path} {file.size} {file.stamp}".encode()).hexdigest()
    try:
        stamp, digest = msgspec.json.decode(_note(file).read_bytes(), type=tuple[str, str])
    except (OSError, msgspec.MsgspecError):
        return ""
    return digest if stamp == file.stamp else ""


def _note(file: File) -> Path:
    return root() / "blake3" / f"{hashlib.sha256(file.path.encode()).hexdigest()[:32]}.json"
