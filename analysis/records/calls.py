"""One call as an object, in the words of all dialects, and what a result's own fields say of how it went."""

from typing import Any

from analysis.records.jsontext import as_written, loads
from analysis.records.members import Members, id_of, list_of, members_of, raw_of, value_of
from analysis.records.model import ArgumentsForm, Call, Finding, ResultFacts
from analysis.records.record import Record

NAMES = ("name", "function_name", "tool_name", "toolName", "tool", "function")
ARGUMENTS = (
    "arguments",
    "args",
    "parameters",
    "input",
    "tool_input",
    "tool_args",
    "tool_arguments",
    "params",
    "kwargs",
)
CALL_IDS = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id")
ANSWER_IDS = ("tool_call_id", "call_id", "tool_use_id", "toolCallId", "toolUseId", "source_call_id")
_NESTED = ("function", "toolUse", "functionCall", "function_call", "custom")


def read_call(record: Record, index: int, raw: bytes) -> Call:
    """One call: `{"function": {"name", "arguments"}}`, `{"name", "input"}`, `{"function": "name", "args"}` and kin."""
    outer = members_of(str(loads(raw)[0]).encode() if raw.startswith(b'"') else raw)
    inner = next((held for key in _NESTED if (held := members_of(bytes(outer.get(key, b"null"))))), outer)
    name = value_of(inner, NAMES)
    if not isinstance(name, str) or not name:
        name = None
        record.findings.append(Finding("unreadable_call", index, f"a call that names no tool: {raw[:120]!r}"))
    arguments, form = read_arguments(raw_of(inner, ARGUMENTS))
    if "custom" in outer and form == "string":  # its input is a text, and no JSON
        arguments, form = as_written({"input": arguments}), "object"
    return Call(name, arguments, form, id_of(outer, CALL_IDS) or id_of(inner, CALL_IDS))


def read_calls(record: Record, index: int, members: Members) -> list[Call]:
    """The calls of a message's `tool_calls` and of its `function_call`, in this order."""
    raw = bytes(members.get("tool_calls", b"null"))
    if raw.startswith(b'"'):
        raw = str(loads(raw)[0]).encode() or b"null"
    calls: list[Call] = []
    if raw.strip() != b"null":
        items = list_of(raw)
        if items is None:
            record.findings.append(Finding("unreadable_call", index, "tool_calls is not a list"))
            return [Call(None, raw.decode("utf-8", "replace")[:2000], "object")]
        calls.extend(read_call(record, index, item) for item in items)
    legacy = raw_of(members, ("function_call",))
    if legacy.startswith(b'"') or members_of(legacy):
        calls.append(read_call(record, index, legacy))
    return calls


def read_arguments(raw: bytes) -> tuple[str | None, ArgumentsForm | None]:
    """(JSON text as written, form): a string's value, or an object's own bytes; (None, None) when absent or null."""
    if raw.strip() == b"null":
        return None, None
    if raw.startswith(b'"'):
        return str(loads(raw)[0]), "string"
    return raw.decode("utf-8", "replace"), "object"


def result_facts(members: Members) -> ResultFacts | None:
    """What a result's fields say beside its text; None where they say nothing."""
    name, (failed, error) = name_of(members), is_error(members)
    return ResultFacts(name, failed, error) if name or failed is not None else None


def name_of(members: Members) -> str:
    """The name of the tool that a message is the result of."""
    name = value_of(members, ("name", "tool_name", "toolName", "function"))
    return name if isinstance(name, str) else ""


def is_error(members: Members) -> tuple[bool | None, str | None]:
    """What a result's fields say beside its text: (whether it failed, None where they are silent; the error's text)."""
    for name in ("is_error", "isError"):
        if isinstance(flag := _value(members, name), bool):
            return flag, None
    for name in ("ok", "success"):
        if isinstance(flag := _value(members, name), bool):
            return not flag, None
    error = _value(members, "error")
    if error is not None and error != "":
        return _by_error(error)
    status = _value(members, "status")
    if isinstance(status, str) and status.lower() in ("error", "failed", "failure"):
        return True, None
    code = _value(members, "code")
    return (True, None) if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600 else (None, None)


def _by_error(error: Any) -> tuple[bool, str | None]:
    if isinstance(error, bool):
        return error, None
    if isinstance(error, dict):
        error = next((error[key] for key in ("message", "detail", "error", "type") if error.get(key)), error)
    return bool(error), str(error) if error else None


def _value(members: Members, name: str) -> Any:
    return loads(bytes(members[name]))[0] if name in members else None
