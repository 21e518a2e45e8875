"""What a dialect is: how its records are known, and how they are read."""

from collections.abc import Callable
from typing import NamedTuple

from analysis.records.model import Trajectory
from analysis.records.record import Record


class Dialect(NamedTuple):
    """One shape of record.

    `names` are what stands in the column `dialect`; `origin` says whose records these are, `mark` how one is known,
    `example` is one, on one line, as short as it may be. `needs` are the members without which a record is of no such
    shape; `keys` are all that the dialect knows of, `bodies` those that hold what was said, of which nothing may be
    lost, `asides` the members of a message that say nothing new.
    """

    names: tuple[str, ...]
    origin: str
    mark: str
    needs: tuple[str, ...]
    example: str
    keys: frozenset[str]
    bodies: frozenset[str]
    matches: Callable[[Record], bool]
    read: Callable[[Record], Trajectory]
    asides: frozenset[str] = frozenset()
