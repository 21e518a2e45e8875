"""Units -> raw records."""

from collections.abc import Iterator

from analysis.sources.containers.brackets import by_brackets, take
from analysis.sources.containers.lines import by_lines
from analysis.sources.containers.packed import Unpacked, open_stream
from analysis.sources.containers.parquet import read_rows
from analysis.sources.containers.resync import Neighbour
from analysis.sources.containers.sniff import is_object
from analysis.sources.containers.unit import Damage, Raw, Slice, Unit
from analysis.sources.containers.window import Window

# How far a record may run on when a cut is doubted; without an end, every broken record would read the file's rest.
LOOK_AHEAD_BYTES = 64 << 20


def read_unit(unit: Unit) -> Iterator[Raw | Damage]:
    """Stream the raw records of a unit."""
    for slice_ in unit.slices:
        yield from read_rows(slice_) if slice_.container == "parquet" else _texts(slice_)


def is_cut_wrong(unit: Unit, raw: Raw) -> bool:
    """Was a record that does not parse cut in the wrong place? True when, by brackets, a whole one starts there.

    A line of JSON Lines may only have been cut short; what stands behind its object is that line's own fault.
    """
    if raw.byte_offset is None:
        return False
    slice_ = next(slice_ for slice_ in unit.slices if raw.origin == slice_.origin(raw.byte_offset))
    if slice_.container not in ("indented", "lines"):
        return False
    with open_stream(slice_.path) as stream:
        stream.seek(raw.byte_offset)
        data, is_record = take(Window(stream, LOOK_AHEAD_BYTES), Neighbour())
    is_other = len(data) > len(raw.view) if slice_.container == "lines" else len(data) != len(raw.view)
    return is_record and is_other and is_object(data)


def _texts(slice_: Slice) -> Iterator[Raw | Damage]:
    with open_stream(slice_.path) as stream:
        yield from (by_brackets if slice_.container == "brackets" else by_lines)(slice_, stream)
        if isinstance(stream, Unpacked) and stream.torn:
            reason = f"the packed file cannot be unpacked further: {stream.torn}"
            yield Damage(slice_.origin(stream.length), reason)
