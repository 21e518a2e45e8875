"""Objects printed over several lines, one after another: each begins where a line is no more than its brace.

What is inside of one is indented, and a string holds no line break: so a brace with which a line begins, above an
indented key, opens a record, whatever byte of the one before it is broken.
"""

import re
from collections.abc import Iterator

import msgspec

from analysis.sources.containers import unit
from analysis.sources.containers.extent import extent
from analysis.sources.containers.sniff import HEAD_BYTES, are_printed
from analysis.sources.containers.unit import SPACE, Raw, Slice, too_long, torn
from analysis.sources.containers.window import Window

_START = re.compile(rb'\n\{(?=\r?\n[ \t]+")')
# As much as a start may be cut by the end of what is in hand.
_SEAM_BYTES = 256
# A rest that holds either may be a record: less is a stray byte of the one before.
_OF_A_RECORD = re.compile(rb'[{"]')


def are_objects(window: Window) -> bool:
    """Does such a file begin here?"""
    if window.buffer[window.position :].lstrip(SPACE)[:1] in (b"", b"["):
        return False
    window.hold(HEAD_BYTES)
    return are_printed(window.buffer[window.position : window.position + HEAD_BYTES])


def by_objects(slice_: Slice, window: Window) -> Iterator[Raw]:
    """Cut at each start; what stands between two is one record, or a whole one with a broken one behind it."""
    while window.skip(SPACE):
        start = window.offset
        text = _up_to_the_next(window)
        length = window.offset - start
        is_last = window.is_all and not window.rest
        if len(text) < length:
            yield Raw(slice_.origin(start), start, text, too_long(length))
            continue
        text = text.rstrip(SPACE)
        end = _end(text)
        if end == len(text):
            yield Raw(slice_.origin(start), start, text)
            continue
        behind = text[end:].lstrip(SPACE)
        if end and _OF_A_RECORD.search(behind):
            yield Raw(slice_.origin(start), start, text[:end])
            start, text = start + len(text) - len(behind), behind
        yield Raw(slice_.origin(start), start, text, torn(text) if is_last else unreadable(text))


def _up_to_the_next(window: Window) -> bytes:
    """What stands before the next start, which becomes the position; its head alone, where that is too long."""
    head, search = None, window.offset
    while True:
        if match := _START.search(window.buffer, search - window.base):
            text = window.take(match.start() + 1)
            return text if head is None else head
        search = max(search, window.base + len(window.buffer) - _SEAM_BYTES)
        if window.rest > unit.MOST_BYTES:
            head = head or window.buffer[window.position : window.position + unit.HEAD_BYTES]
            window.position = search - window.base
        if not window.more():
            text = window.take(len(window.buffer))
            return text if head is None else head


def _end(text: bytes) -> int:
    """Where the object ends that this begins with; 0 where it begins with none, or not with a whole one."""
    if not text.startswith(b"{"):
        return 0
    found = extent(text, 0, is_all=True)
    return found.end if found.state == "whole" else 0


def unreadable(text: bytes) -> str:
    """Why this is no object."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return f"not JSON: {error}"[:300]
    return "not an object"
