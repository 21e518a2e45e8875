"""Standard input as a source: kept in a file while the process runs, since records are read more than once."""

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from analysis.sources.errors import SourceError

NAME = "standard input"
# Names the file for the processes that this one starts.
_VARIABLE = "TRAJECTORY_STDIN"


def kept() -> Path:
    """The file that holds what came in; read once, whoever asks.

    Raises:
        SourceError: standard input is closed, or a terminal.
    """
    if (name := os.environ.get(_VARIABLE)) and Path(name).is_file():
        return Path(name)
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise SourceError("-: nothing comes in on standard input; pipe records into it, or name a file")
    number, name = tempfile.mkstemp(prefix="trajectory-stdin.")
    atexit.register(_remove, Path(name), os.getpid())
    with os.fdopen(number, "wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream, 1 << 20)
    os.environ[_VARIABLE] = name
    return Path(name)


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        with suppress(OSError):
            path.unlink()
