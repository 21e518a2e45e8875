"""Waiting for what another process does."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], what: str = "", seconds: float = 60, pause: float = 0.05) -> T:
    """Wait until a condition holds, looking after every pause, and return what it gave.

    Raises:
        AssertionError: it does not in so many seconds.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, what or "it did not come to that"
        time.sleep(pause)
    return value


def is_running(pid: int) -> bool:
    """Neither gone nor a zombie, which only waits to be counted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def process_id(path: Path, starter: "subprocess.Popen[str] | None" = None) -> int:
    """What a process wrote of itself, once it has; whoever started it must not end before.

    Raises:
        AssertionError: it never did; with what the starter said, if that has ended.
    """

    def told() -> str:
        if starter is not None and starter.poll() is not None:
            raise AssertionError(f"status {starter.returncode} before any process said its id: {starter.communicate()}")
        return path.read_text() if path.exists() else ""

    return int(until(told, "the process never said its id", 120))
