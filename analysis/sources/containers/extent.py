"""Where a JSON value ends, or where its text stops being JSON, without reading what it holds."""

import json
import re
from typing import Literal, NamedTuple

import msgspec

from analysis.sources.containers.unit import SPACE

_STRICT = msgspec.json.Decoder(msgspec.Raw)
_PATIENT = json.JSONDecoder()
# The strict reader says where it stopped: behind a whole value, these are "trailing characters",
# of which it names the second.
_PLACE = re.compile(r"\(byte (\d+)\)\Z")
# As much as the patient reader is given first.
_FEW_BYTES = 1 << 16
# So near to the end of what it was given, it may have failed for want of more: a literal is cut there.
_LITERAL = 16


class Extent(NamedTuple):
    """A value's end; of one that is `broken`, where; of one that is `short`, the end of what is there of it."""

    end: int
    state: Literal["whole", "short", "broken"]
    why: str = ""


def extent(buffer: bytes, start: int, *, is_all: bool) -> Extent:
    """The extent of the object or array that starts here.

    Args:
        buffer: what was read of the file.
        start: of the value.
        is_all: whether the file ends with the buffer.
    """
    try:
        _STRICT.decode(memoryview(buffer)[start:])
    except RecursionError:
        return Extent(start, "broken", "nested too deeply")
    except (msgspec.DecodeError, UnicodeError) as error:
        return _behind_error(buffer, start, str(error), is_all)
    return Extent(_without_space(buffer, len(buffer)), "whole")


def _behind_error(buffer: bytes, start: int, why: str, is_all: bool) -> Extent:
    place = _PLACE.search(why)
    stopped = start + int(place[1]) if place else len(buffer)
    if "trailing characters" in why:
        return Extent(_without_space(buffer, stopped - 1), "whole")
    is_short = stopped >= len(buffer)
    if is_short and not is_all:
        return Extent(len(buffer), "short", why)
    return _patient(buffer, start, "the file ends within it" if is_short else why)


def _patient(buffer: bytes, start: int, why: str) -> Extent:
    """The same by Python's own reader, which takes NaN, lone surrogates and, here, any bytes."""
    size = _FEW_BYTES
    while True:
        text = buffer[start : start + size].decode("utf-8", "surrogateescape")
        try:
            _, end = _PATIENT.raw_decode(text)
            return Extent(start + _bytes(text, end), "whole")
        except json.JSONDecodeError as error:
            if error.pos < len(text) - _LITERAL and not error.msg.startswith("Unterminated"):
                return Extent(start + _bytes(text, error.pos), "broken", why)
        except (ValueError, RecursionError) as error:
            return Extent(start, "broken", str(error))
        if start + size >= len(buffer):
            return Extent(len(buffer), "short", why)
        size *= 2


def _bytes(text: str, end: int) -> int:
    return len(text[:end].encode("utf-8", "surrogateescape"))


def _without_space(buffer: bytes, end: int) -> int:
    while end and buffer[end - 1] in SPACE:
        end -= 1
    return end
