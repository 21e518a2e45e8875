"""Units -> raw records."""

from collections.abc import Callable, Iterator

from analysis.sources.containers import archive
from analysis.sources.containers.brackets import by_brackets, take
from analysis.sources.containers.lines import by_lines
from analysis.sources.containers.packed import Rest, Unpacked, open_stream
from analysis.sources.containers.parquet import read_packed_rows, read_rows
from analysis.sources.containers.resync import Neighbour
from analysis.sources.containers.sniff import HEAD_BYTES, is_object, sniff
from analysis.sources.containers.unit import Damage, Raw, Slice, Stream, Unit
from analysis.sources.containers.window import Window
from analysis.sources.errors import SourceError
from analysis.sources.names import in_utf8

# How far a record may run on when a cut is doubted; without an end, every broken record would read the file's rest.
LOOK_AHEAD_BYTES = 64 << 20


def read_unit(unit: Unit) -> Iterator[Raw | Damage]:
    """Stream the raw records of a unit."""
    for slice_ in unit.slices:
        yield from READERS.get(slice_.container, _texts)(slice_)


def is_cut_wrong(unit: Unit, raw: Raw) -> bool:
    """Was a record that does not parse cut in the wrong place? True when, by brackets, a whole one starts there.

    A line of JSON Lines may only have been cut short; what stands behind its object is that line's own fault.
    """
    if raw.byte_offset is None:
        return False
    slice_ = next((slice_ for slice_ in unit.slices if raw.origin == slice_.origin(raw.byte_offset)), None)
    if slice_ is None or slice_.container not in ("indented", "lines"):
        return False
    with open_stream(slice_.path) as stream:
        stream.seek(raw.byte_offset)
        data, is_record = take(Window(stream, LOOK_AHEAD_BYTES), Neighbour())
    is_other = len(data) > len(raw.view) if slice_.container == "lines" else len(data) != len(raw.view)
    return is_record and is_other and is_object(data)


def _texts(slice_: Slice) -> Iterator[Raw | Damage]:
    with open_stream(slice_.path) as stream:
        if slice_.container == "packed parquet":
            yield from _any(slice_, stream)
            return
        yield from (by_brackets if slice_.container == "brackets" else by_lines)(slice_, stream)
        yield from _torn(slice_, stream)


def _members(slice_: Slice) -> Iterator[Raw | Damage]:
    """The records of an archive's members; their origins name archive and member."""
    for member in archive.members(slice_.path):
        named = slice_._replace(name=f"{slice_.name}/{in_utf8(member.name)}".rstrip("/"), container="brackets")
        if member.stream is None:
            yield Damage(named.origin(0), f"cannot be read: {member.torn}")
        else:
            yield from _any(named, member.stream)


def _any(slice_: Slice, stream: Stream) -> Iterator[Raw | Damage]:
    """The records of a stream that is read once, cut as its first bytes ask for."""
    head = stream.read(HEAD_BYTES)
    try:
        container = sniff(head, slice_.name)[0] if head else "brackets"
        if container == "parquet":
            yield from read_packed_rows(slice_, Rest(head, stream))
        else:
            yield from by_brackets(slice_, Rest(head, stream))
    except SourceError as error:
        yield Damage(slice_.origin(0), str(error).removeprefix(f"{slice_.name}: "))
    yield from _torn(slice_, stream)


def _why(slice_: Slice) -> Iterator[Damage]:
    why = slice_.prefix.decode().removeprefix(f"{slice_.name}: ")
    yield Damage(slice_.origin(0), f"the file is not read: {why}")


def _torn(slice_: Slice, stream: Stream) -> Iterator[Damage]:
    if isinstance(stream, Unpacked) and stream.torn:
        yield Damage(slice_.origin(stream.length), f"the packed file cannot be unpacked further: {stream.torn}")


READERS: dict[str, Callable[[Slice], Iterator[Raw | Damage]]] = {
    "parquet": read_rows,
    "archive": _members,
    "unreadable": _why,
}
