"""The members of a JSON object, each still as the JSON text of its value."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from analysis.canonical import canonical
from analysis.records.jsontext import loads
from analysis.records.record import Record, UnreadableError, exact_text

Members = Mapping[str, Any]
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
NULL = b"null"


def members_of(raw: bytes) -> Members:
    """The members of an object; none of anything else."""
    try:
        return _MEMBERS.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        try:
            value = loads(raw)[0]
        except ValueError:
            return {}
        return _again(value) if isinstance(value, dict) else {}


def flagged_members(record: Record, place: str, raw: bytes, index: int | None = None) -> Members:
    """The members of an object; what had to be cleaned in it becomes a finding.

    Raises:
        UnreadableError: it is no object.
    """
    try:
        return _MEMBERS.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    try:
        value, flags = loads(raw)
    except ValueError as error:
        raise UnreadableError(f"{place}: {error}") from None
    if not isinstance(value, dict):
        raise UnreadableError(f"{place}: {type(value).__name__}, not an object")
    record.flag(place, flags, index)
    return _again(value)


def flagged_list(record: Record, key: str, text: str | bytes) -> list[bytes]:
    """The items of a list as JSON texts.

    Raises:
        UnreadableError: it is no list.
    """
    try:
        return [bytes(item) for item in _LIST.decode(text)]
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    try:
        value, flags = loads(text)
    except ValueError as error:
        raise UnreadableError(f"{key}: {error}") from None
    if not isinstance(value, list):
        raise UnreadableError(f"{key}: {'absent' if value is None else type(value).__name__}, not a list")
    record.flag(key, flags)
    return [canonical(item).encode() for item in value]


def list_of(raw: bytes) -> list[bytes] | None:
    """The items of a list as JSON texts; None of anything else."""
    try:
        return [bytes(item) for item in _LIST.decode(raw)]
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def raw_of(members: Members, names: Iterable[str]) -> bytes:
    """The JSON text of the first of these members that is there and not null; `null` without any."""
    for name in names:
        if name in members and (raw := bytes(members[name]).strip()) != NULL:
            return raw
    return NULL


def value_of(members: Members, names: Iterable[str]) -> Any:
    """The value of the first of these members that is there and not null."""
    return loads(raw_of(members, names))[0]


def id_of(members: Members, names: Iterable[str]) -> str:
    """The first of these members as an id; "" without any."""
    return exact_text(raw_of(members, names)) or ""


def _again(value: dict[str, Any]) -> dict[str, bytes]:
    return {name: canonical(item).encode() for name, item in value.items()}
