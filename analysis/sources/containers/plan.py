"""Files -> units: large files are cut into slices, small ones read together.

Each unit ends with six files to write, and each figure begins with reading them.
"""

from collections.abc import Iterator
from itertools import accumulate, groupby
from typing import NamedTuple

from analysis.sources import address
from analysis.sources.containers import archive, parquet
from analysis.sources.containers.packed import Unpacked, open_stream
from analysis.sources.containers.sniff import HEAD_BYTES, sniff
from analysis.sources.containers.unit import Slice, Unit
from analysis.sources.errors import SourceError
from analysis.sources.locate import File
from analysis.sources.names import is_data

# At most. More cost memory and come out uneven, fewer cost time: each ends with six files to write.
UNIT_BYTES = 48 << 20
# A file of more than this part of a unit is no small one; a packed one holds about so many times its size.
SMALL = 8
PACKED = 8


class _Weighed(NamedTuple):
    """A slice and what it counts in one unit of several small files; 0 where it is read on its own.

    So is what a store holds: should one object fail, it costs no other.
    """

    slice: Slice
    weight: int


def plan(files: list[File]) -> list[Unit]:
    """Cut large files into units, and gather small ones.

    Raises:
        SourceError: the only file, or every file, is empty or holds no records; the message says what it looks like.
            Of several, one that holds none costs only itself, and is told as damage when it is read.
    """
    weighed = [each for file in files for each in _slices_or_why(file)]
    whys = [each.slice.prefix.decode() for each in weighed if each.slice.container == "unreadable"]
    if whys and len(whys) == len(files):
        raise SourceError(whys[0] if len(whys) == 1 else f"{whys[0]}; and {len(whys) - 1:,} files more")
    groups = (group for is_small, run in groupby(weighed, key=_is_small) for group in _groups([*run], is_small))
    return [Unit(shard, group) for shard, group in enumerate(groups)]


def whole(unit: Unit, size: int) -> Unit:
    """The unit that reads the same file, and those read with it, by brackets; `size` is the first file's own."""
    first, *others = unit.slices
    ends = (size, *(other.end for other in others))
    slices = zip((first, *others), ends, strict=True)
    return Unit(
        unit.shard, tuple(one._replace(container="brackets", start=0, end=end, prefix=b"") for one, end in slices)
    )


def _is_small(weighed: _Weighed) -> bool:
    return weighed.weight > 0


def _groups(run: list[_Weighed], is_small: bool) -> Iterator[tuple[Slice, ...]]:
    """What is read together: slices of large files one by one, small files as many as make a unit."""
    if not is_small:
        yield from ((each.slice,) for each in run)
        return
    limit = _equal(sum(each.weight for each in run))
    starts = accumulate((each.weight for each in run), initial=0)
    for _, group in groupby(zip(run, starts, strict=False), key=lambda each: each[1] // limit):
        yield tuple(each.slice for each, _ in group)


def _equal(size: int) -> int:
    """How large units of so much in all are: an even number of equal ones, so that two processes finish together."""
    count = 2 * -(-size // (2 * UNIT_BYTES)) if size > UNIT_BYTES else 1
    return -(-size // count)


def _slices_or_why(file: File) -> list[_Weighed]:
    try:
        return _slices(file)
    except SourceError as error:
        return [_Weighed(Slice(file.path, file.name, "unreadable", 0, file.size, str(error).encode()), 1)]


def _slices(file: File) -> list[_Weighed]:
    if file.size == 0:
        raise SourceError(f"{file.name}: the file is empty (0 bytes); was the run that writes it killed?")
    head, is_packed = _head(file)
    if kind := archive.kind(head):
        return [_Weighed(_of_archive(file, kind), _weight(file, is_packed=True))]
    container, prefix = sniff(head, file.name)
    if container == "parquet" and is_packed:
        return [_Weighed(Slice(file.path, file.name, "packed parquet", 0, file.size), 0)]
    if container == "parquet":
        return [_Weighed(each, 0) for each in parquet.slices(file)]
    if container == "brackets" or is_packed:
        return [_Weighed(Slice(file.path, file.name, "brackets", 0, file.size), _weight(file, is_packed=is_packed))]
    size = _equal(file.size)
    ends = [(start, min(start + size, file.size)) for start in range(0, file.size, size)]
    weight = _weight(file, is_packed=is_packed)
    return [_Weighed(Slice(file.path, file.name, container, start, end, prefix), weight) for start, end in ends]


def _of_archive(file: File, kind: str) -> Slice:
    """The archive as one slice. What is in a tar archive is not known until it is read."""
    names = archive.names(file.path) if kind == "zip" else []
    if kind == "zip" and not any(is_data(name) for name in names):
        named = ", ".join(map(repr, sorted(names)[:3])) or "nothing"
        raise SourceError(f"{file.name}: a zip archive of {len(names):,} files, none of them data: {named}")
    return Slice(file.path, file.name, "archive", 0, file.size)


def _head(file: File) -> tuple[bytes, bool]:
    """(the first bytes that are not all white space, is the file packed)."""
    with address.reading(file.path), open_stream(file.path) as stream:
        head = stream.read(HEAD_BYTES)
        while head.isspace():
            head = stream.read(HEAD_BYTES)
        return head, isinstance(stream, Unpacked)


def _weight(file: File, *, is_packed: bool) -> int:
    is_small = file.is_local and file.size <= UNIT_BYTES // SMALL
    return file.size * (PACKED if is_packed else 1) if is_small else 0
