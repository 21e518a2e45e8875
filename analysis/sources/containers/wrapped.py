"""Records in the list of a wrapper, such as a run's file: `{"model": "m", "simulations": [record, …], "info": {…}}`."""

from collections.abc import Iterator

import msgspec

from analysis.sources.containers import shapes
from analysis.sources.containers.unit import Damage, Raw, Slice
from analysis.sources.containers.window import Window

# Records wait for the members that stand behind their list, up to so many bytes.
WAITING_BYTES = 64 << 20
# So many places are tried where the list of a wrapper may end.
MOST_TAILS = 200
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Wrapped:
    """The wrapper that a file's records stand in, if they do.

    `depth` is how many arrays are open around it; `members` are those that its records share.
    """

    def __init__(self, slice_: Slice) -> None:
        self.slice = slice_
        self.depth: int | None = None
        self.members: dict[bytes, bytes] = {}
        self.waiting: list[Raw] = []
        self.bytes = 0

    def enter(self, window: Window, depth: int) -> bool:
        """Go to the first record of the wrapper that starts at the position; False where none does."""
        if self.depth is not None:
            return False
        while (found := shapes.wrapper(window.buffer, window.position)) == shapes.SHORT and window.more():
            pass
        if not isinstance(found, shapes.Wrapper):
            return False
        window.position = found.start + 1
        self.depth, self.members, self.bytes = depth, found.members, 0
        return True

    def put(self, raw: Raw) -> Iterator[Raw]:
        """A record, now or later."""
        if self.depth is None:
            yield raw
            return
        self.waiting.append(raw)
        self.bytes += len(raw.view)
        if self.bytes > WAITING_BYTES:
            yield from self.flush()

    def flush(self) -> Iterator[Raw]:
        """The records that waited, with the members known by now."""
        waiting, self.waiting = self.waiting, []
        for raw in waiting:
            yield raw if raw.broken else raw._replace(view=with_members(raw.data, self.members))

    def leave(self, window: Window) -> Iterator[Raw | Damage]:
        """Read what stands behind the list, up to the wrapper's end, and hand out what waited."""
        start = window.offset
        behind = self._behind(window)
        is_late = self.bytes > WAITING_BYTES
        if is_late and behind.keys() - self.members.keys():
            named = b", ".join(sorted(behind)).decode("utf-8", "replace")
            reason = f"{named}: behind a list of more than {WAITING_BYTES >> 20} MB, so its first records lack them"
            yield Damage(self.slice.origin(start), reason)
        self.members = behind | self.members
        yield from self.flush()
        self.depth, self.members = None, {}

    def _behind(self, window: Window) -> dict[bytes, bytes]:
        window.position -= 1  # as if the bracket were the object's
        while True:
            members = list(shapes.members(window.buffer, window.position))
            is_cut = (not members or members[-1].extent.state == "short") and not window.is_all
            if not is_cut or window.rest > WAITING_BYTES or not window.more():
                break
        whole = [member for member in members if member.extent.state == "whole"]
        window.position = whole[-1].extent.end if whole else window.position + 1
        if window.skip(b" \t\r\n,") == b"}":
            window.advance(1)
        small = [shapes.small_member(window.buffer, member) for member in whole]
        return {key: value for each in small for key, value in each.items()}

    def without_tail(self, text: bytes) -> tuple[bytes, bool]:
        """(a broken record's text without what closes the wrapper, did it hold that)."""
        if self.depth is None:
            return text, False
        end = len(text)
        for _ in range(MOST_TAILS):
            end = text.rfind(b"]", 0, end)
            if end < 0:
                break
            if shapes.keys_of(b"{" + text[end + 1 :].lstrip(b" \t\r\n,")) or text[end + 1 :].strip() == b"}":
                self.depth = None
                return text[:end].rstrip(), True
        return text, False


def with_members(data: bytes, members: dict[bytes, bytes]) -> bytes:
    """The record with those members that it lacks; a bare conversation becomes an object's `messages`.

    >>> with_members(b'{"n": 1}', {b"n": b"2", b"model": b'"m"'})
    b'{"n": 1, "model": "m"}'
    """
    if not members:
        return data
    if data.startswith(b"["):
        data = b'{"messages": ' + data + b"}"
    try:
        keys = {key.encode() for key in _OBJECT.decode(data)}
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return data
    lacking = b"".join(b', "%b": %b' % (key, value) for key, value in members.items() if key not in keys)
    body = data[:-1].rstrip()
    return (body + lacking if body != b"{" else body + lacking.removeprefix(b", ")) + b"}"
