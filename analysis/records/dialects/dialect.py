"""What a dialect is: how its records are known, and how they are read."""

from collections.abc import Callable
from typing import NamedTuple

from analysis.records.model import Trajectory
from analysis.records.record import Record


class Dialect(NamedTuple):
    """One shape of record.

    `names` are what stands in the column `dialect`; `origin` says whose records these are, `mark` how one is known,
    `example` is one, on one line, as short as it may be; `keys` are the members of a record that the dialect knows of.
    """

    names: tuple[str, ...]
    origin: str
    mark: str
    example: str
    keys: frozenset[str]
    matches: Callable[[Record], bool]
    read: Callable[[Record], Trajectory]
