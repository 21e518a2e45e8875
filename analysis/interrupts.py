"""Ctrl-C and SIGTERM for a command: one line, an exit status, and nothing half-written left behind.

An exception in the middle of anything would do it badly: Python drops it where it falls into a destructor, Polars and
asyncio bend signals to their own ends, and each worker would tell of it as well. So a command blocks the signals in all
its threads and waits for them in one more. That one ends the process as a kill would, for which everything here is
prepared, after it has tidied up. Whoever uses the library keeps Python's own KeyboardInterrupt.
"""

import atexit
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, RLock, Thread

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
# How long an end waits for what must not be left half done.
PATIENCE_S = 5.0

_ending, _undivided = Lock(), RLock()
_tidying: list[Callable[[], object]] = []


def watch() -> None:
    """From now on, end this process on Ctrl-C and SIGTERM; a signal that it was started to ignore stays ignored."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows: KeyboardInterrupt it is
        return
    signals = {number for number in WORDS if signal.getsignal(number) is not signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    unblock(*(WORDS.keys() - signals))
    for number in signals:  # where a library has a thread that does not block them
        signal.signal(number, lambda number, _: _end(number))
    Thread(target=lambda: _end(signal.sigwait(signals)), name="interrupts", daemon=True).start()
    atexit.register(last_word)  # the first that is registered is called last


def last_word() -> None:
    """Called when all is done and the process is about to end: an interrupt that came before ends it, no later one."""
    if not _ending.acquire(blocking=False):
        Event().wait()


def tidy_with(action: Callable[[], object]) -> None:
    """Have this called before an interrupted process ends; the last one given is called first."""
    if action not in _tidying:
        _tidying.append(action)


@contextmanager
def undivided() -> Iterator[None]:
    """An interrupt comes before this block or after it, not within; it has to be a short one."""
    with _undivided:
        yield


@contextmanager
def blocked() -> Iterator[None]:
    """Processes started in here do not get Ctrl-C, which a terminal sends to all of them: this one acts on it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, WORDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def unblock(*signals: signal.Signals) -> None:
    """In a process started by one that blocks these signals: take them as any process does."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def _end(number: int) -> None:
    """Say why, let nothing new begin, tidy up, and end."""
    if not _ending.acquire(blocking=False):
        return
    line = f"analysis: {WORDS[signal.Signals(number)]}\n"
    with suppress(OSError):
        os.write(2, ("\n" + line if os.isatty(2) else line).encode())  # a progress bar may stand in the line
    _hush()
    _undivided.acquire(timeout=PATIENCE_S)
    for action in reversed(_tidying):
        with suppress(Exception):
            action()
    os._exit(128 + number)


def _hush() -> None:
    """What other threads say of workers and kernels that are gone is no news."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
