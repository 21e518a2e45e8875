"""Standard streams as they come: closed, full, without a reader, or too narrow for what is said."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from analysis.visible import visible


def prepare() -> None:
    """Put the null device in the place of a closed stream, or the next file that is opened would stand there.

    A character that a stream cannot write is escaped.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8", errors="backslashreplace"))  # noqa: PTH123, SIM115
        else:
            stream.reconfigure(errors="backslashreplace")


def tell(text: object = "", end: str = "\n") -> None:
    """Print a result, with what a terminal would not show made visible.

    Raises:
        BrokenPipeError: nobody reads any more.
        OSError: it cannot be written; the file's name says where.
    """
    with _named():
        print(visible(text), end=end)


def flush() -> None:
    """Bring what was printed to its reader; raises as `tell` does."""
    with _named():
        sys.stdout.flush()


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        drop()
        raise OSError(error.errno, error.strerror, "standard output") from error


def drop() -> None:
    """Let what is still to be printed go nowhere, so that Python does not fail at its end either."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
