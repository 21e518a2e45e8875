"""A folder for the sockets of one process: its path is short, and the next run removes it if this one cannot.

A socket in the file system has a path of 107 bytes at most. The folder of temporary files may be deeper than that.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from errno import ENAMETOOLONG
from functools import cache
from pathlib import Path

from analysis import interrupts

PREFIX = "trajectories-"
LOCK = "lock"
# Of a socket's whole path, and of the longest name in the folder with its slash.
PATH_BYTES, NAME_BYTES = 107, 30


@cache
def folder() -> Path:
    """This process's own, made when first asked for; it goes with the process.

    Raises:
        OSError: no folder for temporary files is both short enough and writable.
    """
    sweep()
    for base in _bases():
        with suppress(OSError):
            made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
            if len(os.fsencode(made)) + NAME_BYTES <= PATH_BYTES:
                _lock(made)
                interrupts.tidy_with(remove)
                atexit.register(remove)
                return made
            made.rmdir()
    raise OSError(
        ENAMETOOLONG, "no writable folder for temporary files has a path short enough for sockets; set TMPDIR"
    )


def remove() -> None:
    """Remove this process's folder."""
    if not folder.cache_info().currsize:
        return
    made = folder()
    folder.cache_clear()
    for _ in range(100):  # a kernel that is being killed may open one more socket
        _empty(made)
        if not made.exists():
            return
        time.sleep(0.01)


def sweep() -> None:
    """Remove the folders of processes that were killed: nobody holds their locks."""
    for base in _bases():
        for made in base.glob(f"{PREFIX}*"):
            with suppress(OSError), (made / LOCK).open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _empty(made)


def _empty(made: Path) -> None:
    """Remove a folder, its lock last: whoever is killed meanwhile leaves one that is swept."""
    with suppress(OSError):
        for path in made.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.rmtree(made)


def _bases() -> Iterator[Path]:
    """Folders for temporary files, the usual one first."""
    others = (os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/var/tmp")
    yield from dict.fromkeys(Path(base) for base in (tempfile.gettempdir(), *others) if base and Path(base).is_dir())


def _lock(made: Path) -> None:
    """Hold the folder's lock as long as this process lives. It gets its name when it is held: nobody is too early."""
    nameless = made / f".{LOCK}"
    descriptor = os.open(nameless, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    nameless.rename(made / LOCK)
