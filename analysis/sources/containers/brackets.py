"""Objects of an array, or one after another: each ends where its JSON does."""

import re
from collections.abc import Iterator

from analysis.sources.containers.extent import extent
from analysis.sources.containers.objects import are_objects, by_objects, unreadable
from analysis.sources.containers.resync import OPENING, Neighbour, next_start, pass_by, seems_to_start
from analysis.sources.containers.shapes import first_within, is_conversation, is_cut, keys_of
from analysis.sources.containers.unit import HEAD_BYTES, SPACE, UNCLOSED, Damage, Raw, Slice, Stream, too_long, torn
from analysis.sources.containers.window import Window
from analysis.sources.containers.wrapped import Wrapped

# How far a record that does not close may run on, while another seems to start in it.
RUN_ON_BYTES = 16 << 20
# What belongs to no record: the end, the next one, or what opens or closes arrays.
_BEHIND = re.compile(rb"\s*\n[ \t]*+\]|\s*+(?:\Z|[,{\[]|\](?=\s*+(?:\Z|[\[\]{},])))")
_MEMBER_BEHIND = re.compile(rb'\s*+(?:,\s*+)?"([^"\\]{0,200})"\s*+:')
# Quotes of a text in a string: the string was closed too early, by a quote that lost its backslash.
_WITHIN_TEXT = re.compile(rb'\s*+\][\s\]}]*+"|[\s\]}]*+,[\s\[{]*+\\++"[^"\\]{0,200}\\++"\s*+[:,\]}]')
_BEHIND_BYTES = 512


def by_brackets(slice_: Slice, stream: Stream) -> Iterator[Raw | Damage]:
    """Cut records out, whatever their layout.

    Arrays in arrays are one. An array of messages is a record. The list of a wrapper is an array of records, each of
    which gets the wrapper's small members that it lacks.
    """
    window = Window(stream)
    window.skip_bom()
    return by_objects(slice_, window) if are_objects(window) else _Cutter(slice_, window).cut()


def take(window: Window, neighbour: Neighbour) -> tuple[bytes, bool]:
    """(bytes, is it a record): the one at the position, or what must be given up before the next one."""
    while (value := extent(window.buffer, window.position, is_all=window.is_all)).state == "short":
        is_running_on = window.rest > RUN_ON_BYTES and seems_to_start(window, neighbour)
        if is_running_on or not window.more():
            break
    length = value.end - window.position
    if value.state == "whole" and not _is_closed_too_early(window, length, neighbour):
        return window.take(window.position + length), True
    return give_up(window, neighbour), False


def give_up(window: Window, neighbour: Neighbour) -> bytes:
    """What stands before the next record; its beginning only, where that is more than is held of one."""
    start = next_start(window, neighbour)
    if start < len(window.buffer) or window.is_all:
        return window.take(start)
    head = window.buffer[window.position : window.position + HEAD_BYTES]
    pass_by(window, neighbour)
    return head


def _is_closed_too_early(window: Window, length: int, neighbour: Neighbour) -> bool:
    """Does what stands behind this object belong to it? A brace too many, or a quote too few, has then closed it."""
    window.hold(length + _BEHIND_BYTES)
    end = window.position + length
    if member := _MEMBER_BEHIND.match(window.buffer, end):
        # With the object's own first key, it is of the next record, which lacks its brace.
        own = OPENING.match(window.buffer, window.position)
        return own is None or member[1] != own[1]
    if _WITHIN_TEXT.match(window.buffer, end):
        return True
    if _BEHIND.match(window.buffer, end):
        return False
    is_usual = keys_of(window.buffer[window.position : end]) == neighbour.keys
    return not is_usual or window.buffer[end : end + _BEHIND_BYTES].lstrip(SPACE).startswith(b"}")


class _Cutter:
    """Where a file is being cut: how many arrays are open, what the last record looked like, the wrapper around it."""

    def __init__(self, slice_: Slice, window: Window) -> None:
        self.slice = slice_
        self.window = window
        self.depth = 0
        self.is_torn = False
        self.neighbour = Neighbour()
        self.wrapped = Wrapped(slice_)

    def cut(self) -> Iterator[Raw | Damage]:
        while byte := self.window.skip(SPACE + b","):
            if byte == b"]" and self.depth:
                yield from self._leave()
            elif byte == b"[" and self._opens_array():
                self.depth += 1
                self.window.advance(1)
            elif byte == b"{" and self._enters_wrapper():
                self.depth += 1
            else:
                yield from self.wrapped.put(self._record(byte))
        yield from self.wrapped.flush()
        if self.depth and not self.is_torn:
            yield Damage(self.slice.origin(self.window.offset), UNCLOSED)

    def _opens_array(self) -> bool:
        window = self.window
        while not is_conversation(window.buffer, window.position):
            if not is_cut(window.buffer, window.position) or not window.more():
                return not self.depth or first_within(window.buffer, window.position) in (b"", b"{", b"[", b"]")
        return False

    def _enters_wrapper(self) -> bool:
        opening = OPENING.match(self.window.buffer, self.window.position)
        is_usual = opening is not None and opening[1] == self.neighbour.opening
        return not is_usual and self.wrapped.enter(self.window, self.depth)

    def _leave(self) -> Iterator[Raw | Damage]:
        self.depth -= 1
        self.window.advance(1)
        if self.wrapped.depth == self.depth:
            yield from self.wrapped.leave(self.window)

    def _record(self, byte: bytes) -> Raw:
        start, is_record = self.window.offset, False
        if byte == b"{" or is_conversation(self.window.buffer, self.window.position):
            text, is_record = take(self.window, self.neighbour)
        else:
            text = give_up(self.window, self.neighbour)
        if is_record:
            self.neighbour = Neighbour(text)
            return Raw(self.slice.origin(start), start, text)
        return self._broken(start, text)

    def _broken(self, start: int, text: bytes) -> Raw:
        """What was given up; the last record of a file takes along what closes the arrays."""
        length = self.window.offset - start
        is_held = len(text) == length
        text = text.strip(SPACE)
        is_last = not self.window.skip(SPACE)
        if is_last:
            text = self._without_closing(text)
            self.is_torn = self.depth > 0
        elif not self.depth and text.endswith(b","):
            # The list of a wrapper whose head is broken.
            self.wrapped.depth, self.depth = 0, 1
        text = text.removesuffix(b",")
        is_torn = self.is_torn or (is_last and self.window.base + start == 0)
        why = too_long(length) if not is_held else torn(text) if is_torn else unreadable(text)
        return Raw(self.slice.origin(start), start, text, why)

    def _without_closing(self, text: bytes) -> bytes:
        text, is_closed = self.wrapped.without_tail(text)
        self.depth -= is_closed
        while self.depth and text.endswith(b"]") and text[:-1].rstrip(SPACE)[-1:] in (b"}", b"]"):
            text = text[:-1].rstrip(SPACE)
            self.depth -= 1
        return text
