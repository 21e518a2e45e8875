"""What starting another process needs for a moment: variables of its environment, and no main script to run again."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
