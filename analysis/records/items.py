"""One message as an object, in the words of any dialect -> the messages it comes to.

Most often one. A user's turn that carries results is one for each of them, and one for what the user says besides.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import msgspec

from analysis.canonical import canonical
from analysis.records.calls import (
    ANSWER_IDS,
    CALL_IDS,
    NAMES,
    name_of,
    read_arguments,
    read_call,
    read_calls,
    result_facts,
)
from analysis.records.jsontext import as_written, loads
from analysis.records.members import NULL, Members, flagged_members, id_of, list_of, raw_of, value_of
from analysis.records.model import Call, Finding, Message, ResultFacts, Role
from analysis.records.parts import Parts, flat_text, is_result, read_parts
from analysis.records.record import Record
from analysis.records.roles import CALLERS, ROLES, role_of
from analysis.records.text import read_called

SPEAKERS = ("role", "from", "speaker", "sender")
CONTENTS = ("content", "value", "text", "message", "parts", "refusal")
REASONINGS = ("reasoning_content", "reasoning", "thinking", "thought", "thoughts", "tool_plan")
_KNOWN = {"tool_calls", "function_call", "tool_call_id", "name", "id", *SPEAKERS, *CONTENTS, *REASONINGS}
# Items that are no message but a call, a result or a thought of their own, by their `type`.
ITEM_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call", "tool_call"})
ITEM_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_result", "tool_output"})
# Calls of tools that the server runs: the tool is the item's type, what it is asked one of these.
_ASKED = ("arguments", "action", "input", "queries", "query", "code")
_GOT = ("output", "outputs", "results", "result")
_RESULT_TEXTS = ("output", *CONTENTS, "result")
_NOTHING = Parts([], [], [], [], False)


def read_item(record: Record, key: str, index: int, raw: bytes, own: Mapping[str, Role] = ROLES) -> list[Message]:
    """Read one message; `own` are the roles of its dialect, no others are legal.

    Args:
        key: the member of the record that holds the messages.
        index: the message's place among those read so far.

    Raises:
        UnreadableError: it is no object.
    """
    item = flagged_members(record, f"{key}[{index}]", raw, index)
    for name in item.keys() - _KNOWN:
        record.unknown_keys[f"{key}[].{name}"] += 1
    speaker = value_of(item, SPEAKERS)
    kind = _plain(record, item, "type") if speaker is None and "type" in item else None
    kind = kind if isinstance(kind, str) else None
    if kind is not None and (kind in ITEM_CALLS or kind.endswith("_call")):
        return _call_item(record, index, raw, item, kind)
    if kind is not None and (kind in ITEM_RESULTS or kind.endswith("_call_output")):
        return [_result(record, item, flat_text(raw_of(item, _RESULT_TEXTS)), str(kind))]
    if kind == "reasoning":
        return [Message("assistant", "", _reasoning_item(record, index, item), delivered_as="reasoning")]
    return _spoken(record, index, item, speaker if speaker is not None else kind, own)


def _call_item(record: Record, index: int, raw: bytes, item: Members, kind: str) -> list[Message]:
    """A call that is an item of its own, with its result where the item brings it along."""
    if value_of(item, NAMES) is not None:
        call = read_call(record, index, raw)
    else:
        call = Call(kind.removesuffix("_call"), *read_arguments(raw_of(item, _ASKED)), id_of(item, CALL_IDS))
    if kind == "custom_tool_call":  # its input is a text, and no JSON
        call.arguments, call.form = as_written({"input": call.arguments or ""}), "object"
    made = Message("assistant", "", calls=[call], delivered_as=kind)
    got = raw_of(item, _GOT)
    if got in (NULL, b"[]"):
        return [made]
    return [made, Message("tool", flat_text(got), answers=call.id, delivered_as=kind, facts=result_facts(item))]


def _spoken(record: Record, index: int, item: Members, word: Any, own: Mapping[str, Role]) -> list[Message]:
    role = role_of(record, index, word, own)
    if role == "assistant" and len(runs := _runs(item)) > 1:
        return [message for run in runs for message in _spoken(record, index, run, word, own)]
    text, parts = _content(record, index, item)
    delivered_as = str(word)
    if isinstance(word, str) and word in CALLERS:
        return [_caller(record, index, item, text, parts, delivered_as)]
    results = [_delivered(result, delivered_as) for result in parts.results]
    if role == "tool":
        return results or [_result(record, item, text, delivered_as)]
    calls = [*parts.calls, *read_calls(record, index, item)]
    if calls and role != "assistant":
        return [_by_user(record, index, text, calls, delivered_as)]
    spoken = Message(
        *(role, text, _reasoning(record, item, parts, text), calls, id_of(item, ("tool_call_id",)), delivered_as),
        facts=ResultFacts(name) if (name := name_of(item)) else None,
    )
    if not results:
        return [spoken]
    said = [spoken] if text or calls or spoken.reasoning else []
    return [*results, *said] if parts.opens_with_result else [*said, *results]


def _caller(record: Record, index: int, item: Members, text: str, parts: Parts, delivered_as: str) -> Message:
    """A message whose role says that its text is calls."""
    called = read_called(text, index)
    record.findings.extend(called.findings)
    thought = called.thought if called.thought is not None else _reasoning(record, item, parts, text)
    return Message("assistant", called.text, thought, [*called.calls, *parts.calls], delivered_as=delivered_as)


def _runs(item: Members) -> list[Members]:
    """A message whose parts hold results among its own words, as where the server runs the tools: one for each stretch.

    What stands beside the parts is the first one's.
    """
    name = next((name for name in CONTENTS if name in item), "")
    parts = list_of(bytes(item[name])) if name else None
    stretches = [[*run] for _, run in groupby(parts or (), is_result)]
    if len(stretches) < 2:
        return [item]
    bare = {key: value for key, value in item.items() if key in SPEAKERS}
    held = [{name: msgspec.Raw(b"[" + b",".join(stretch) + b"]")} for stretch in stretches]
    return [{**(bare if place else item), **each} for place, each in enumerate(held)]


def _content(record: Record, index: int, item: Members) -> tuple[str, Parts]:
    raw = raw_of(item, CONTENTS)
    if raw == NULL:
        return "", _NOTHING
    items = list_of(raw)
    if items is not None:
        parts = read_parts(record, index, items)
        return "\n".join(parts.texts), parts
    value, flags = loads(raw)
    record.flag("content", flags)
    if isinstance(value, str):
        return value, _NOTHING
    if isinstance(value, list):
        parts = read_parts(record, index, [canonical(part).encode() for part in value])
        return "\n".join(parts.texts), parts
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        parts = read_parts(record, index, [raw])
        return "\n".join(parts.texts), parts
    record.findings.append(Finding("content_parts", index, f"content is {type(value).__name__}"))
    return canonical(value), _NOTHING


def _reasoning(record: Record, item: Members, parts: Parts, text: str) -> str | None:
    """Thoughts of the parts, then of the message's own members; a `thought` that stands in the text is no second."""
    thoughts = ["\n".join(parts.thoughts)] if parts.thoughts else []
    for name in REASONINGS:
        held = _plain(record, item, name)
        if isinstance(held, str) and not (name == "thought" and held.strip() and held in text):
            thoughts.append(held)
    return "\n".join(thoughts) if thoughts else None


def _reasoning_item(record: Record, index: int, item: Members) -> str:
    thoughts = []
    for name in ("summary", "content"):
        parts = read_parts(record, index, list_of(raw_of(item, (name,))) or [])
        thoughts += [*parts.texts, *parts.thoughts]
    return "\n".join(thoughts)


def _result(record: Record, item: Members, text: str, delivered_as: str) -> Message:
    is_users = value_of(item, ("requestor",)) == "user"
    return Message(
        "other" if is_users else "tool",
        text,
        _plain_reasoning(record, item),
        answers=id_of(item, ANSWER_IDS) or id_of(item, ("id",)),
        delivered_as=delivered_as,
        facts=result_facts(item),
    )


def _plain_reasoning(record: Record, item: Members) -> str | None:
    return next((held for name in REASONINGS if isinstance(held := _plain(record, item, name), str)), None)


def _by_user(record: Record, index: int, text: str, calls: list[Call], delivered_as: str) -> Message:
    """Calls that are not the agent's: what they are stands in the text, and nothing counts them."""
    record.findings.append(
        Finding("call_by_user", index, f"{len(calls)} calls of {(calls[0].name or 'no tool')[:100]}")
    )
    made = [f"{call.name or ''} {call.arguments or ''}" for call in calls]
    return Message("other", "\n".join([*filter(None, [text]), *made]), delivered_as=delivered_as)


def _delivered(result: Message, delivered_as: str) -> Message:
    result.delivered_as = delivered_as
    return result


def _plain(record: Record, item: Members, name: str) -> Any:
    if name not in item:
        return None
    value, flags = loads(bytes(item[name]))
    record.flag(name, flags)
    return value
