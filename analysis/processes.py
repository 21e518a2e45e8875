"""Worker processes, and what any other process needs: variables, no main script to run again, an end with its parent.

Imports nothing heavy: workers can be started before Polars is there.
"""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from multiprocessing import active_children, parent_process, resource_tracker, spawn
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from types import ModuleType

from analysis import interrupts

# With fewer bytes for each, another process costs more to start than it saves.
PARALLEL_BYTES = 24 << 20
# What workers import first, and call most.
WORK = "analysis.tables.decode"


class NoWorkersError(Exception):
    """A worker process dies before it is given work: that says nothing about the work."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worth(size: int, asked: int) -> int:
    """How many processes so many bytes are worth: at most those asked for, or, for 0, as many as there are cores."""
    return max(1, min(asked or cores(), size // max(PARALLEL_BYTES, 1)))


class _Process(SpawnProcess):
    def start(self) -> None:
        # Ten lines that call `load` need no `if __name__` guard.
        with interrupts.undivided(), interrupts.blocked(), nameless_main(), _silent_orphans():
            super().start()


class _Spawned(SpawnContext):
    """A fork of Polars' threads could hang."""

    Process = _Process


@contextmanager
def _silent_orphans() -> Iterator[None]:
    """A process started meanwhile says nothing where this one is killed before it has told it what to do."""
    plain = spawn.get_command_line

    def command(**values: object) -> list[str]:
        *words, program, mark = plain(**values)
        return [*words, f"try: {program}\nexcept (EOFError, OSError): raise SystemExit(1)", mark]

    spawn.get_command_line = command
    try:
        yield
    finally:
        spawn.get_command_line = plain


@contextmanager
def workers(jobs: int) -> Iterator[Executor]:
    """So many processes, which begin with their imports; they end with this context."""
    start_tracker()
    interrupts.tidy_with(_kill_children)
    executor = ProcessPoolExecutor(jobs, mp_context=_Spawned(), initializer=_begin)
    try:
        for _ in range(jobs):
            executor.submit(_ready)
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def start_tracker() -> None:
    """Start multiprocessing's process that removes what others leave: of a run that is killed it would say so."""
    with environment(PYTHONWARNINGS="ignore"), interrupts.blocked():
        resource_tracker.ensure_running()


def await_one(executor: Executor) -> None:
    """Wait for a worker that lives.

    Raises:
        NoWorkersError: there is none.
    """
    try:
        executor.submit(_ready).result()
    except BrokenProcessPool:
        raise NoWorkersError from None


def _kill_children() -> None:
    for child in active_children():
        child.kill()


def _begin() -> None:
    interrupts.unblock(signal.SIGTERM)  # by which a pool ends its workers when one of them has died
    os.environ["POLARS_MAX_THREADS"] = "1"  # the workers are the parallelism
    # A run that is killed outright leaves no worker behind.
    end_with_parent(partial(os._exit, 0))
    # Who started it waits for its end: it need not take down, module by module, what it imported.
    atexit.register(os._exit, 0)


def _ready() -> None:
    with importing():
        import_module(WORK)


@contextmanager
def without_collector() -> Iterator[None]:
    """For work that makes no cycles: the collector would walk all there is again and again for nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def importing() -> Iterator[None]:
    """For imports that stay as long as the process: the collector walks what they make neither now nor later."""
    with without_collector():
        yield
        gc.freeze()


@contextmanager
def nameless_main() -> Iterator[None]:
    """Children started meanwhile do not run the caller's main script again, as multiprocessing has them do."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def end_with_parent(end: Callable[[], object]) -> None:
    """Have `end` called once the process that started this one is gone, were it killed outright."""
    parent = parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        end()

    Thread(target=wait, daemon=True).start()


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Variables that children started meanwhile inherit."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
