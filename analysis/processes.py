"""What another process needs: variables of its environment, no main script to run again, an end with who started it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from threading import Thread
from types import ModuleType


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
