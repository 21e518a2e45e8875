"""Where the next record starts after text that is no JSON.

Brackets and quotes of such text mislead: one quote less, and what was text is structure from there on. So the search
trusts neither. An object that begins with a key, `{"key":`, begins outside of strings, since a quote inside of one is
escaped; from such a candidate on, brackets are matched anew. One that turns out to stand deeper than what follows it
was a part of the broken record: its array closes. One at the lowest level so far is the next record, if it looks like
one. Every byte is read once, whatever the candidates turn out to be.
"""

import re
from collections.abc import Iterable
from functools import cached_property

from analysis.sources.containers.shapes import STRONG, is_conversation, is_record, keys_of, members
from analysis.sources.containers.unit import SPACE
from analysis.sources.containers.window import Window

# Text without a record's start is given up in parts of this size, so that memory stays bounded.
GIVE_UP_BYTES = 64 << 20
# A candidate that is cut by the buffer's end is no longer than this.
SEAM_BYTES = 512
OPENING = re.compile(rb'\{\s*+"([^"\\]{0,200})"\s*+:')
_RECORDS = frozenset(key.encode() for key in STRONG)
_CANDIDATE = re.compile(rb'(?<=[,\[\]}\s])\{\s*+"([^"\\]{0,200})"\s*+:')
_CONVERSATION = re.compile(rb'(?<=[\],}\s])\[\s*+\{\s*+"(?:role|from)"\s*+:')
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("|\\?\Z)|[{}\[\]]', re.DOTALL)
_LAST = re.compile(rb"\]\s*+\Z")
_CLOSES = {b"}": b"{", b"]": b"["}


class Neighbour:
    """The record before the broken one, if there was any: others begin as it does."""

    def __init__(self, text: bytes = b"") -> None:
        self.text = text

    @cached_property
    def opening(self) -> bytes:
        """Its first key; b"" where it has none."""
        match = OPENING.match(self.text)
        return match[1] if match else b""

    @cached_property
    def openings(self) -> frozenset[bytes]:
        """First keys with which records begin, and no objects inside of them."""
        again = re.compile(rb'\{\s*+"%b"\s*+:' % re.escape(self.opening))
        is_within = again.search(self.text, 1) is not None
        own = frozenset() if is_within or not self.opening else frozenset((self.opening,))
        return (_RECORDS - {key.encode() for key in self.keys}) | own

    @cached_property
    def keys(self) -> frozenset[str]:
        return keys_of(self.text)

    def is_rest(self, before: Iterable[str], keys: frozenset[str]) -> bool:
        """Are these the keys that a record such as this lacks after those before? Then a stray brace parts it."""
        head = frozenset(before)
        return bool(head) and not head & keys and head | keys == self.keys


def next_start(window: Window, neighbour: Neighbour) -> int:
    """Where in the buffer the next record starts, behind the position; the buffer's end where none does."""
    if is_conversation(window.buffer, window.position):
        return _next_conversation(window)
    search, track = window.offset + 1, _Track(neighbour)
    while True:
        match = _CANDIDATE.search(window.buffer, search - window.base)
        limit = match.start() if match else len(window.buffer) - (0 if window.is_all else SEAM_BYTES)
        is_outside = track.read(window, limit)
        if track.record is not None:
            return track.record - window.base
        search = max(search, window.base + limit + (match is not None))
        if match is not None:
            if track.meets(window, match.start(), is_outside) and match[1] in neighbour.openings:
                return match.start()
        elif window.rest > GIVE_UP_BYTES:
            return len(window.buffer)
        elif not window.more():
            return len(window.buffer) if neighbour.text else track.last_resort(window)


def seems_to_start(window: Window, neighbour: Neighbour) -> bool:
    """Is there another record, by its first key alone, in what is in hand?"""
    return _seeming_start(window, neighbour) is not None


def _seeming_start(window: Window, neighbour: Neighbour) -> int | None:
    starts = _CANDIDATE.finditer(window.buffer, window.position + 1)
    likely = (match.start() for match in starts if match[1] in neighbour.openings)
    return next((start for start in likely if not _is_value(window.buffer, start)), None)


def pass_by(window: Window, neighbour: Neighbour) -> None:
    """Let go of a record that is too long to be held: the next start, by its first key alone, becomes the position."""
    while (start := _seeming_start(window, neighbour)) is None:
        window.position = max(window.position, len(window.buffer) - SEAM_BYTES)
        if not window.more():
            window.position = len(window.buffer)
            return
    window.position = start


def _next_conversation(window: Window) -> int:
    """The same where a record is an array of messages."""
    search = window.offset + 1
    while True:
        if match := _CONVERSATION.search(window.buffer, search - window.base):
            if not _is_value(window.buffer, match.start()):
                return match.start()
            search = window.base + match.start() + 1
            continue
        search = max(search, window.base + len(window.buffer) - SEAM_BYTES)
        if window.rest > GIVE_UP_BYTES or not window.more():
            return len(window.buffer)


def _is_value(buffer: bytes, start: int) -> bool:
    """Does a colon stand before this? Then it is a member's value."""
    return _before(buffer, start) == b":"


def _before(buffer: bytes, start: int) -> bytes:
    """The last byte before this place that is not white space."""
    while start and buffer[start - 1] in SPACE:
        start -= 1
    return buffer[max(start - 1, 0) : start]


class _Track:
    """What is open since a candidate that stood outside of strings; all places are offsets in the file.

    While nothing is open, the text is at the lowest level so far: whatever closes there leads to a lower one, and shows
    the candidates before it to have stood inside of something.
    """

    def __init__(self, neighbour: Neighbour) -> None:
        self.neighbour = neighbour
        self.scanned: int | None = None
        self.open: list[tuple[bytes, int]] = []
        self.candidates: set[int] = set()
        self.whole: list[int] = []  # candidates of which nothing but their place shows that they are records
        self.record: int | None = None
        self.is_closed = False  # by the bracket with which the file ends

    def last_resort(self, window: Window) -> int:
        """Where the file ends as an array does, the first whole object on its level; else the buffer's end."""
        return self.whole[0] - window.base if self.whole and self.is_closed else len(window.buffer)

    def begin(self, start: int) -> None:
        self.scanned = start
        self.open.clear()
        self._lower()

    def meets(self, window: Window, place: int, is_outside: bool) -> bool:
        """Take note of a candidate; is it at the lowest level?

        In a string, or where an object would need a key, it cannot stand: one before it has misled.
        """
        if _is_value(window.buffer, place):
            return False
        start = window.base + place
        if self.scanned is None or not is_outside or (self.open and self.open[-1][0] == b"{"):
            self.begin(start)
        if not self.open:
            self.candidates.add(start)
        return not self.open

    def read(self, window: Window, stop: int) -> bool:
        """Go on to a place of the buffer; False where it is in a string, or brackets do not match before it."""
        if self.scanned is None:
            return True
        for token in _TOKEN.finditer(window.buffer, self.scanned - window.base, stop):
            place = window.base + token.start()
            if token[1] is not None:
                if token[1] != b'"':
                    return False
            elif token[0] in b"{[":
                self._open(window, token[0], place)
            elif not self._close(window, token[0], place):
                return False
            self.scanned = window.base + token.end()
            if self.record is not None:
                break
        return True

    def _open(self, window: Window, bracket: bytes, place: int) -> None:
        before = _before(window.buffer, place - window.base)
        # An array in an array of records is on their level; behind a value, nothing opens.
        is_array_of_records = not self.open and bracket == b"[" and before in (b",", b"]")
        if place in self.candidates or (before in (b",", b":", b"[") and not is_array_of_records):
            self.open.append((bracket, place))

    def _close(self, window: Window, bracket: bytes, place: int) -> bool:
        if not self.open:
            self.is_closed = window.is_all and _LAST.match(window.buffer, place - window.base) is not None
            if not self.is_closed:
                self._lower()
            return True
        opening, start = self.open.pop()
        if not self.open and start in self.candidates:
            self._weigh(window, start, window.buffer[start - window.base : place + 1 - window.base])
        return opening == _CLOSES[bracket]

    def _weigh(self, window: Window, start: int, data: bytes) -> None:
        if is_record(data, self.neighbour.keys):
            before = (member.key.decode("utf-8", "replace") for member in members(window.buffer, window.position))
            if self.neighbour.is_rest(before, keys_of(data)):
                return
            self.record = start
        self.whole.append(start)

    def _lower(self) -> None:
        self.candidates.clear()
        self.whole.clear()
