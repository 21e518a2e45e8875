"""What an object looks like from outside: a message, a record, or a wrapper that holds a list of records.

Only the members of one object are looked at, and of a list its first element. What a record means is no matter here.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

import msgspec

from analysis.sources.containers.extent import Extent, extent
from analysis.sources.containers.unit import SPACE

# Keys by which dialects know a record.
KEYS = frozenset(
    (b"traj_type", b"task_info", b"tools", b"messages", b"conversations", b"instruction", b"env_id", b"task_id")
)
# Lists of any objects under these names are lists of records, if the object around them is none itself.
LISTS = frozenset(
    b"samples simulations rollouts trajectories episodes runs data records rows items examples instances "
    b"train test validation".split()
)
# Of a wrapper's own members, those are of all its records that are no longer than this and have no such name: a run's
# id, or how it ended, is none of its records'.
SMALL_BYTES = 1000
OWN = frozenset(
    b"id status error success passed resolved reward score total_reward steps count total num_rows length size "
    b"num_samples".split()
)
# What is in hand of an object is too little to tell what it is.
SHORT: Final = "short"
# Keys by which a record is known wherever it stands; objects inside of records have the others, too.
STRONG = frozenset(key.decode() for key in KEYS - {b"env_id", b"task_id"})
# Of these, a wrapper has none itself.
_OWN_KEYS = KEYS - {b"env_id", b"task_id", b"tools", b"instruction"}
_MEMBER = re.compile(rb'[\s,]*+"((?:[^"\\]|\\.)*+)"\s*+:\s*+')
_COMMA = re.compile(rb"\s*+,")
_WITHIN = re.compile(rb"\[\s*+(.?)", re.DOTALL)
# A stray byte before the first record, or in place of its brace, costs that one alone.
_LIST = re.compile(rb'\[\s*+(?=(\[\s*+)?(?:[",:]\s*+)?(\{|"(?="[^"\\]{1,200}"\s*+:)))')
_ITEM = re.compile(rb'"type"\s*+:\s*+"(?:message|reasoning|function_call|function_call_output)"')
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Member(NamedTuple):
    """A member of an object: its key, where its value starts, and how far that goes."""

    key: bytes
    start: int
    extent: Extent


class Wrapper(NamedTuple):
    """Where the list of records starts in a wrapper, and the small members before it."""

    start: int
    members: dict[bytes, bytes]


def members(buffer: bytes, start: int) -> Iterator[Member]:
    """The members of the object that starts here, as far as it is JSON; the last one may be short or broken."""
    position = start + 1
    while match := _MEMBER.match(buffer, position):
        value = match.end()
        if value >= len(buffer):
            return
        member = Member(match[1], value, _value(buffer, value))
        yield member
        if member.extent.state != "whole":
            return
        position = member.extent.end


def is_message(buffer: bytes, start: int) -> bool:
    """Does a message of a conversation start here?"""
    keys: set[bytes] = set()
    end = start
    for member in members(buffer, start):
        if keys and not _COMMA.match(buffer, end):
            return False  # the object before has lost its bracket: what follows is another's
        end = member.extent.end
        keys.add(member.key)
        if member.key == b"role" or {b"from", b"value"} <= keys or {b"source", b"message"} <= keys:
            return True
        if member.key == b"type" and _ITEM.match(b'"type":' + buffer[member.start : member.extent.end]):
            return True
    return False


def is_conversation(buffer: bytes, start: int) -> bool:
    """Does an array of messages start here?"""
    match = _LIST.match(buffer, start)
    return match is not None and match[1] is None and is_message(buffer, match.start(2))


def is_cut(buffer: bytes, start: int) -> bool:
    """Is less in hand than the first object of the array that starts here?"""
    within = first_within(buffer, start)
    return not within or (within == b"{" and extent(buffer, buffer.index(b"{", start), is_all=False).state == "short")


def first_within(buffer: bytes, start: int) -> bytes:
    """The first byte in the array that starts here; b"" where it is not in hand."""
    match = _WITHIN.match(buffer, start)
    return match[1] if match else b""


def holds_conversation(buffer: bytes, start: int) -> bool:
    """Does an object start here of which a member is an array of messages?"""
    return any(is_conversation(buffer, member.start) for member in members(buffer, start))


def is_record(data: bytes, like: frozenset[str] = frozenset()) -> bool:
    """Is it a whole object that is a record by its members?

    Args:
        data: the object's text.
        like: the keys of a record beside it, where one is known.
    """
    try:
        keys = _OBJECT.decode(data).keys()
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    is_alike = 2 * len(like & keys) > len(like | keys)
    return is_alike or not STRONG.isdisjoint(keys) or holds_conversation(data, 0)


def keys_of(data: bytes) -> frozenset[str]:
    """The keys of an object, none where it is not JSON by the strict reader."""
    try:
        return frozenset(_OBJECT.decode(data))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return frozenset()


def wrapper(buffer: bytes, start: int) -> Wrapper | Literal["short"] | None:
    """The wrapper that starts here; None where the object is a record, SHORT where more of it must be read to know.

    An object is one if it is no record itself and holds a list of records: of objects with a conversation, of
    conversations, or of any objects under one of the usual names.
    """
    small: dict[bytes, bytes] = {}
    end = start + 1
    for member in members(buffer, start):
        if member.key in _OWN_KEYS or is_conversation(buffer, member.start):
            return None
        if _is_list_of_records(buffer, member.start, is_named=member.key in LISTS):
            return Wrapper(member.start, small)
        if member.extent.state == "broken":
            return None
        small |= small_member(buffer, member)
        end = member.extent.end
    return None if buffer[end:].lstrip(SPACE).startswith(b"}") else SHORT


def small_member(buffer: bytes, member: Member) -> dict[bytes, bytes]:
    """The member by its key, if it is one that a wrapper's records share."""
    value = buffer[member.start : member.extent.end]
    is_small = member.extent.state == "whole" and len(value) <= SMALL_BYTES and not value.startswith((b"{", b"["))
    return {member.key: value} if is_small and value != b"null" and member.key not in OWN else {}


def _is_list_of_records(buffer: bytes, start: int, *, is_named: bool) -> bool:
    match = _LIST.match(buffer, start)
    if match is None:
        return False
    is_spoken = is_message(buffer, match.start(2))
    if match[1] is not None:
        # Conversations under any other name are parts of a record: the turns of a question, what was weighed.
        return is_named or (not is_spoken and holds_conversation(buffer, match.start(2)))
    return not is_spoken and (is_named or holds_conversation(buffer, match.start(2)))


def _value(buffer: bytes, start: int) -> Extent:
    """The extent of any value, as if the file ended here."""
    found = extent(buffer, start, is_all=False)
    is_cut = found.state == "whole" and found.end == len(buffer) and buffer[start : start + 1] not in b'{["'
    return Extent(found.end, "short") if is_cut else found
