"""One raw record, opened one level deep: its keys, each with the raw JSON text of its value."""

from collections import defaultdict
from collections.abc import Set
from typing import Any

import msgspec

from analysis.canonical import canonical
from analysis.records.jsontext import Flag, loads
from analysis.records.model import Finding

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
# The members that say whose a message is, or of which type where it is none.
SPEAKERS = {"role", "from", "type", "speaker"}
_STRING = msgspec.json.Decoder(str)


class UnreadableError(Exception):
    """This record cannot be read; the message says why. Becomes a `Rejected`."""


class Record:
    """A record's fields as raw JSON, with the findings of opening it."""

    def __init__(self, raw: bytes | memoryview, origin: str) -> None:
        self.origin = origin
        self.size = len(raw)
        # Every character of its messages is part of a member that is read: chat.py says so of what it reads by types.
        self.is_plain = False
        self.findings: list[Finding] = []
        # What was read to learn the record's dialect, so that it is not read twice.
        self.memo: dict[str, Any] = {}
        self.unknown_keys: defaultdict[str, int] = defaultdict(int)
        # A bare conversation is a record of one member.
        is_list = bytes(raw[:1]) == b"["
        self.fields, flags = (_conversation(bytes(raw)), []) if is_list else open_members(raw)
        self.flag("record", flags)

    def __contains__(self, key: str) -> bool:
        return key in self.fields

    def has(self, *keys: str) -> bool:
        """Are these members there, and none of them null?"""
        return all(key in self.fields and bytes(memoryview(self.fields[key])[:4]) != b"null" for key in keys)

    @property
    def keys(self) -> Set[str]:
        return self.fields.keys()

    def flag(self, place: str, flags: list[Flag], message: int | None = None) -> None:
        if flags:
            self.findings.extend([Finding(rule, message, f"{place}: {detail}") for rule, detail in flags])

    def raw(self, key: str) -> bytes:
        """The raw JSON of a value; b"null" when the key is absent."""
        return bytes(self.fields.get(key, b"null"))

    def inner(self, key: str) -> str | bytes:
        """The JSON text of a value that may itself be held as a JSON string; `null` when absent or null."""
        held = self.fields.get(key, b"null")
        try:
            # Most often it is a string; to try costs less than to copy the value for a look at its first byte.
            return _STRING.decode(held)
        except (msgspec.MsgspecError, UnicodeError):
            raw = bytes(held)
            if not raw.startswith(b'"'):
                return raw
            value, flags = loads(raw)
            self.flag(key, flags)
            return str(value)

    def value(self, key: str) -> Any:
        """The decoded value, or None when absent or broken."""
        try:
            value, flags = loads(self.raw(key))
        except ValueError as error:
            self.findings.append(Finding("inner_json", None, f"{key}: {error}"))
            return None
        self.flag(key, flags)
        return value


def _conversation(raw: bytes) -> dict[str, Any]:
    try:
        messages = loads(raw)[0]
    except ValueError as error:
        raise UnreadableError(f"not JSON: {error}") from None
    if not messages or not all(isinstance(message, dict) and message.keys() & SPEAKERS for message in messages):
        raise UnreadableError("a JSON list, neither an object nor a list of messages, each with its role")
    return {"messages": msgspec.Raw(raw)}


def open_members(raw: str | bytes | memoryview) -> tuple[dict[str, Any], list[Flag]]:
    """The raw members of a JSON object, and what had to be cleaned to read them.

    Raises:
        UnreadableError: it is no object.
    """
    try:
        return _FIELDS.decode(raw), []
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        value, flags = loads(bytes(raw) if isinstance(raw, memoryview) else raw)
    except ValueError as error:
        raise UnreadableError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UnreadableError(f"a JSON {type(value).__name__}, not an object")
    return {key: canonical(item).encode() for key, item in value.items()}, flags


def exact_text(raw: bytes) -> str | None:
    """An id as text: a string's value, a number's digits as written; None for null and for anything else."""
    text = raw.strip()
    if text.startswith(b'"'):
        return str(loads(text)[0])
    if text[:1] in (b"-", *(b"%d" % digit for digit in range(10))):
        return text.decode()
    return None
