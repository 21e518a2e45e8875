"""Standard input as a source: kept in a file while the process runs, since records are read more than once."""

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from analysis import interrupts
from analysis.sources.errors import SourceError

NAME = "standard input"
# Names the file for the processes that this one starts.
_VARIABLE = "TRAJECTORY_STDIN"
_PREFIX = "trajectory-stdin."


def kept() -> Path:
    """The file that holds what came in; read once, whoever asks.

    Raises:
        SourceError: standard input is closed, or a terminal.
    """
    if (name := os.environ.get(_VARIABLE)) and Path(name).is_file():
        return Path(name)
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise SourceError("-: nothing comes in on standard input; pipe records into it, or name a file")
    _sweep()
    number, name = tempfile.mkstemp(prefix=f"{_PREFIX}{os.getpid()}.")
    os.environ[_VARIABLE] = name
    interrupts.tidy_with(remove)
    atexit.register(remove)
    with os.fdopen(number, "wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream, 1 << 20)
    return Path(name)


def remove() -> None:
    """Remove the file, if this process made it."""
    path = Path(os.environ.get(_VARIABLE, ""))
    if path.name.startswith(f"{_PREFIX}{os.getpid()}."):
        with suppress(OSError):
            path.unlink()


def _sweep() -> None:
    """Remove what processes left here that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        number = path.name.removeprefix(_PREFIX).partition(".")[0]
        if number.isdecimal() and os.name == "posix":
            try:
                os.kill(int(number), 0)
            except ProcessLookupError:
                with suppress(OSError):
                    path.unlink()
            except (OSError, OverflowError):
                continue
