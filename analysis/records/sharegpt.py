"""ShareGPT rows: `conversations` of from / value (human, gpt, function_call, observation), `tools` as a string."""

import msgspec

from analysis.records.chat import NEAREST, ROLES, number
from analysis.records.jsontext import loads
from analysis.records.model import Finding, Message, Role, Trajectory
from analysis.records.openai import finish
from analysis.records.record import Record, UnreadableError
from analysis.records.text import read_call

NAME = "sharegpt"
KEYS = {"conversations", "tools", "system", "id", "env_id", "task_id", "model"}


def matches(record: Record) -> bool:
    return "conversations" in record


def read(record: Record) -> Trajectory:
    turns = _turns(record)
    system = record.value("system")
    messages = [Message("system", system, delivered_as="system")] if isinstance(system, str) and system else []
    for turn in turns:
        messages.append(_message(record, len(messages), turn))
    return finish(record, NAME, number(messages))


def _turns(record: Record) -> list[object]:
    try:
        turns, flags = loads(record.inner("conversations"))
    except ValueError as error:
        raise UnreadableError(f"conversations: {error}") from None
    record.flag("conversations", flags)
    if not isinstance(turns, list):
        raise UnreadableError(f"conversations: {type(turns).__name__}, not a list")
    return turns


def _message(record: Record, index: int, turn: object) -> Message:
    if not isinstance(turn, dict):
        raise UnreadableError(f"conversations[{index}]: {type(turn).__name__}, not an object")
    speaker = turn.get("from", turn.get("role"))
    held = turn.get("value", turn.get("content"))
    value = held if isinstance(held, str) else ""
    if speaker == "function_call":
        return _call_message(record, index, value)
    return Message(_role(record, index, speaker), value, delivered_as=str(speaker))


def _call_message(record: Record, index: int, value: str) -> Message:
    calls = []
    for block in _blocks(value):
        call, detail = read_call(block)
        if detail:
            record.findings.append(Finding("unreadable_call" if call.name is None else "repaired_call", index, detail))
        calls.append(call)
    return Message("assistant", "", calls=calls, delivered_as="function_call")


def _blocks(value: str) -> list[str]:
    """One text a call: the value is an object, or a list of objects for parallel calls."""
    try:
        held = loads(value)[0]
    except ValueError:
        return [value]
    if not isinstance(held, list):
        return [value]
    return [bytes(item).decode() for item in msgspec.json.decode(value, type=list[msgspec.Raw])]


def _role(record: Record, index: int, speaker: object) -> Role:
    # human, gpt and observation are this dialect's own words; only a foreign speaker is a breach of its contract.
    if isinstance(speaker, str) and speaker in ROLES:
        return ROLES[speaker]
    if isinstance(speaker, str) and speaker in NEAREST:
        return NEAREST[speaker]
    record.findings.append(Finding("legal_roles", index, f"speaker {str(speaker)[:60]!r}"))
    return "other"
