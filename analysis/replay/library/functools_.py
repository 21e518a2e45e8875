"""`functools`, what the sandbox lacks of it. A function has no name there for `wraps` to set."""

from typing import Any


def wraps(function: Any) -> Any:
    return lambda wrapper: wrapper
