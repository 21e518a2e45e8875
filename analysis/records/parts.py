"""Content that is a list of parts: texts, thoughts, calls, results, and what is none of these."""

from typing import Any, NamedTuple

import msgspec

from analysis.records.calls import ANSWER_IDS, CALL_IDS, NAMES, read_call, result_facts
from analysis.records.jsontext import as_written, loads
from analysis.records.members import NULL, Members, id_of, list_of, members_of, raw_of, value_of
from analysis.records.model import Call, Finding, Message
from analysis.records.record import Record
from analysis.records.text import read_called

_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "refusal"})
_THOUGHTS = frozenset({"reasoning", "thinking", "thought", "reasoning_text"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "function_call", "toolcall"})
_CALL_KEYS = frozenset({"toolUse", "functionCall", "function_call"})
_RESULTS = frozenset({"tool_result", "tool_response", "tool_output", "function_response", "function_call_output"})
_RESULT_KEYS = frozenset({"toolResult", "functionResponse", "function_response"})
_MEDIA = frozenset({"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "document"})
_RESULT_TEXTS = ("content", "output", "result", "response", "value", "text")


class Parts(NamedTuple):
    """What the parts of one message hold. `opens_with_result`: a result stands before any text."""

    texts: list[str]
    thoughts: list[str]
    calls: list[Call]
    results: list[Message]
    opens_with_result: bool


def read_parts(record: Record, index: int, items: list[bytes]) -> Parts:
    """Read the parts of a message; those that are neither text nor call are a finding, with their number."""
    parts = Parts([], [], [], [], False)
    others = []
    for raw in items:
        if not _add(record, index, raw, parts):
            others.append(_kind(members_of(raw)))
        if parts.results and not parts.texts:
            parts = parts._replace(opens_with_result=True)
    if others:
        record.findings.append(Finding("content_parts", index, f"{len(others)} parts that are not text: {others[0]}"))
    return parts


def _add(record: Record, index: int, raw: bytes, parts: Parts) -> bool:
    if raw.startswith(b'"'):
        parts.texts.append(str(loads(raw)[0]))
        return True
    part = members_of(raw)
    kind = _kind(part)
    if kind in _CALLS or raw_of(part, _CALL_KEYS) != NULL:
        parts.calls.extend(_calls(record, index, raw, part))
    elif is_result(raw):
        parts.results.append(_result(record, index, part))
    elif kind in _TEXTS and (text := _text(part, kind)) is not None:
        (parts.thoughts if raw_of(part, ("thought",)) == b"true" else parts.texts).append(text)
    elif kind in _THOUGHTS and (text := _text(part, kind)) is not None:
        parts.thoughts.append(text)
    else:
        return False
    return True


def is_result(raw: bytes) -> bool:
    """Is a part the result of a call?"""
    part = members_of(raw)
    kind = _kind(part)
    return kind in _RESULTS or kind.endswith("_tool_result") or raw_of(part, _RESULT_KEYS) != NULL


def _kind(part: Members) -> str:
    return str(value_of(part, ("type",)) or "text").replace("-", "_")[:60]


def _text(part: Members, kind: str) -> str | None:
    held = value_of(part, (kind, "text", "content", "value", "summary"))
    if isinstance(held, list):
        held = "\n".join(str(item.get("text", "")) if isinstance(item, dict) else str(item) for item in held)
    return held if isinstance(held, str) else None


def _calls(record: Record, index: int, raw: bytes, part: Members) -> list[Call]:
    """A call as an object's own fields, or, as LLaMA-Factory writes it, as a JSON text under `value`."""
    held = value_of(part, ("value", "content", "tool_call", "text"))
    if raw_of(part, (*NAMES, *_CALL_KEYS)) == NULL and isinstance(held, str | dict):
        called = read_called(held if isinstance(held, str) else as_written(held), index)
        record.findings.extend(called.findings)
        return called.calls
    return [read_call(record, index, raw)]


def _result(record: Record, index: int, part: Members) -> Message:
    part = next((inner for key in _RESULT_KEYS if (inner := members_of(bytes(part.get(key, b"null"))))), part)
    return Message(
        "tool",
        result_text(record, index, raw_of(part, _RESULT_TEXTS)),
        answers=id_of(part, (*ANSWER_IDS, *CALL_IDS)),
        facts=result_facts(part),
    )


def result_text(record: Record, index: int, raw: bytes) -> str:
    """A result's content as one text; its parts that are no text are a finding, where they are not all of it."""
    kinds = [
        _kind(members_of(item)) for item in list_of(raw) or () if value_of(members_of(item), ("type",)) is not None
    ]
    others = [kind for kind in kinds if kind not in _TEXTS]
    if others and (len(others) < len(kinds) or _MEDIA.issuperset(others)):
        record.findings.append(Finding("content_parts", index, f"{len(others)} parts that are not text: {others[0]}"))
    return flat_text(raw)


def flat_text(raw: bytes) -> str:
    """A result's content as one text: a string, the texts of a list of parts, or the JSON text of anything else.

    A list in which each item says its type is parts, of which only the texts are a text; where none is, and they are
    no pictures and the like, they are data.
    """
    if raw == NULL:
        return ""
    value: Any = loads(raw)[0]
    if isinstance(value, str):
        return value
    items = list_of(raw)
    texts = [_plain_text(item) for item in items or ()]
    are_parts = all(isinstance(value_of(members_of(item), ("type",)), str) for item in items or ())
    is_media = all(_kind(members_of(item)) in _MEDIA for item in items or ())
    if texts and ((are_parts and (any(text is not None for text in texts) or is_media)) or None not in texts):
        return "\n".join(text for text in texts if text is not None)
    try:
        return msgspec.json.format(raw, indent=0).decode()
    except (msgspec.MsgspecError, UnicodeError):
        return as_written(value)


def _plain_text(raw: bytes) -> str | None:
    if raw.startswith(b'"'):
        return str(loads(raw)[0])
    part = members_of(raw)
    kind = _kind(part)
    return (
        _text(part, kind)
        if kind in _TEXTS and part.keys() <= {"type", "text", "content", "value", "annotations"}
        else None
    )
