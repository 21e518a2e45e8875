"""A list of chat messages in the OpenAI shape and its kin -> Messages.

Two readers with one result: a typed one for what nearly every record is, and a patient one for parts lists, legacy
`function_call`, arguments as objects, foreign roles and keys. A property test holds them equal where both can read.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from analysis.canonical import canonical
from analysis.records.jsontext import loads, unescaped
from analysis.records.model import ArgumentsForm, Call, Finding, Message, Role
from analysis.records.record import Record, UnreadableError, exact_text

ROLES: Mapping[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
NEAREST: Mapping[str, Role] = {
    "developer": "system",
    "human": "user",
    "gpt": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "function": "tool",
    "toolResult": "tool",
    "tool_result": "tool",
    "observation": "tool",
    "ipython": "tool",
    "environment": "tool",
}
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking", "thought")
_KNOWN_KEYS = {"role", "content", "tool_calls", "function_call", "tool_call_id", "name", "id", *_REASONING_KEYS}


class _Function(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    name: Annotated[str, msgspec.Meta(min_length=1)]  # a call that names no tool is a finding: the patient one's work
    arguments: str


class _Call(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    function: _Function
    id: str | None = None
    type: str | None = None


class _Message(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    name: str | None = None


_TYPED = msgspec.json.Decoder(list[_Message])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
# One list for all messages without a call. Nobody adds to a message's calls: who has more makes a new list.
_NO_CALLS: list[Call] = []


def read_messages(record: Record, key: str = "messages", own: Mapping[str, Role] = ROLES) -> list[Message]:
    """Read the messages of a record; `own` are the roles of its dialect, no others are legal.

    Raises:
        UnreadableError: they are not a list of objects.
    """
    try:
        return _messages(_TYPED.decode(unescaped(record.fields.get(key, b""))))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    text = record.inner(key)
    try:
        return _messages(_TYPED.decode(text))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _patient(record, key, text, own)


def number(messages: list[Message]) -> list[Message]:
    """Give every message its step and every call its message and step."""
    step = 0
    for index, message in enumerate(messages):
        step += message.role == "assistant"
        message.step = step
        for call in message.calls:
            call.message, call.step = index, step
    return messages


def _messages(typed: list[_Message]) -> list[Message]:
    messages = []
    step = 0
    for index, held in enumerate(typed):
        role = held.role
        if role == "assistant":
            step += 1
        calls = _NO_CALLS
        if held.tool_calls:
            calls = []
            for call in held.tool_calls:
                function = call.function
                calls.append(Call(function.name, function.arguments, "string", call.id or "", index, step))
        messages.append(
            Message(role, held.content or "", held.reasoning_content, calls, held.tool_call_id or "", role, step)
        )
    return messages


def _patient(record: Record, key: str, text: str | bytes, own: Mapping[str, Role]) -> list[Message]:
    try:
        items = _LIST.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        try:
            value, flags = loads(text)
        except ValueError as error:
            raise UnreadableError(f"{key}: {error}") from None
        if not isinstance(value, list):
            raise UnreadableError(f"{key}: {'absent' if value is None else type(value).__name__}, not a list") from None
        record.flag(key, flags)
        items = [msgspec.Raw(canonical(item).encode()) for item in value]
    return number([_open_message(record, key, index, bytes(item), own) for index, item in enumerate(items)])


def _open_message(record: Record, key: str, index: int, raw: bytes, own: Mapping[str, Role]) -> Message:
    try:
        members: dict[str, Any] = _MEMBERS.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        try:
            value, flags = loads(raw)
        except ValueError as error:
            raise UnreadableError(f"{key}[{index}]: {error}") from None
        if not isinstance(value, dict):
            raise UnreadableError(f"{key}[{index}]: {type(value).__name__}, not an object") from None
        record.flag(f"{key}[{index}]", flags, index)
        members = {name: canonical(item).encode() for name, item in value.items()}
    unknown = members.keys() - _KNOWN_KEYS
    for name in unknown:
        record.unknown_keys[f"{key}[].{name}"] += 1
    role = role_of(record, index, _plain(record, members, "role"), own)
    content, reasoning = read_content(record, index, _plain(record, members, "content"))
    for name in _REASONING_KEYS:
        held = _plain(record, members, name)
        if isinstance(held, str):
            reasoning = held if reasoning is None else f"{reasoning}\n{held}"
    calls = _calls(record, index, members)
    answers = exact_text(bytes(members.get("tool_call_id", b"null"))) or ""
    if role == "tool" and not answers:
        answers = exact_text(bytes(members.get("id", b"null"))) or ""
    return Message(role, content, reasoning, calls, answers, delivered_as=str(_plain(record, members, "role")))


def role_of(record: Record, index: int, held: object, own: Mapping[str, Role]) -> Role:
    """The role as one of ours; one foreign to the dialect is read as the nearest and becomes a finding."""
    if isinstance(held, str) and held in own:
        return own[held]
    nearest = NEAREST.get(held) if isinstance(held, str) else None
    read_as = nearest or "other"
    record.findings.append(Finding("legal_roles", index, f"role {str(held)[:60]!r}, read as {read_as}"))
    return read_as


def _plain(record: Record, members: Mapping[str, Any], name: str) -> Any:
    if name not in members:
        return None
    value, flags = loads(bytes(members[name]))
    record.flag(name, flags)
    return value


def read_content(record: Record, index: int, held: object) -> tuple[str, str | None]:
    """(text, thought) of a content that is a text, a list of parts, or something else; a finding on what is no text."""
    if held is None or isinstance(held, str):
        return held or "", None
    if not isinstance(held, list):
        record.findings.append(Finding("content_parts", index, f"content is {type(held).__name__}"))
        return canonical(held), None
    texts, thoughts, others = [], [], []
    for part in held:
        kind = str(part.get("type", "text")) if isinstance(part, dict) else "text"
        text = part.get(kind, part.get("text", part.get("content"))) if isinstance(part, dict) else part
        if kind in ("text", "input_text", "output_text") and isinstance(text, str):
            texts.append(text)
        elif kind in ("reasoning", "thinking", "thought") and isinstance(text, str):
            thoughts.append(text)
        else:
            others.append(str(kind)[:60])
    if others:
        record.findings.append(Finding("content_parts", index, f"{len(others)} parts that are not text: {others[0]}"))
    return "\n".join(texts), "\n".join(thoughts) if thoughts else None


def _calls(record: Record, index: int, members: Mapping[str, Any]) -> list[Call]:
    raw = bytes(members.get("tool_calls", b"null"))
    if raw.startswith(b'"'):
        held = loads(raw)[0]
        raw = str(held).encode() or b"null"
    calls: list[Call] = []
    if raw.strip() != b"null":
        try:
            items = _LIST.decode(raw)
        except (msgspec.MsgspecError, UnicodeError):
            record.findings.append(Finding("unreadable_call", index, "tool_calls is not a list"))
            return [Call(None, raw.decode("utf-8", "replace")[:2000], "object")]
        calls.extend(_call(record, index, bytes(item)) for item in items)
    legacy = bytes(members.get("function_call", b"null"))
    if legacy.strip() != b"null":
        calls.append(_call(record, index, legacy))
    return calls


def _call(record: Record, index: int, raw: bytes) -> Call:
    outer = _members(raw)
    function = _members(bytes(outer["function"])) if "function" in outer else outer
    name = loads(bytes(function["name"]))[0] if "name" in function else None
    if not isinstance(name, str) or not name:
        name = None
        record.findings.append(Finding("unreadable_call", index, f"a call that names no tool: {raw[:120]!r}"))
    arguments, form = read_arguments(function.get("arguments", function.get("parameters")))
    id_ = exact_text(bytes(outer.get("id", b"null"))) or ""
    return Call(name, arguments, form, id_)


def read_arguments(raw: Any) -> tuple[str | None, ArgumentsForm | None]:
    """(JSON text as written, form): a string's value, or an object's own bytes; (None, None) when absent or null."""
    if raw is None or bytes(raw).strip() == b"null":
        return None, None
    text = bytes(raw)
    if text.startswith(b'"'):
        return str(loads(text)[0]), "string"
    return text.decode("utf-8", "replace"), "object"


def _members(raw: bytes) -> dict[str, Any]:
    try:
        return _MEMBERS.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        try:
            value = loads(raw)[0]
        except ValueError:
            return {}
        return {k: canonical(v).encode() for k, v in value.items()} if isinstance(value, dict) else {}
