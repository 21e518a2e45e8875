"""ShareGPT rows: `conversations` of from / value (human, gpt, function_call, observation), `tools` as a string.

As LlamaFactory reads them: a thought stands in front of a value between `<think>` and `</think>`; a text beside a call
too, the call then between `<tool_call>` and `</tool_call>`; the results of parallel calls stand in one observation,
with the tags of Qwen's template between them.
"""

import msgspec

from analysis.canonical import canonical
from analysis.records.chat import NEAREST, ROLES, number, read_content
from analysis.records.dialects.dialect import Dialect
from analysis.records.dialects.openai import finish
from analysis.records.jsontext import loads
from analysis.records.model import Finding, Message, Role, Trajectory
from analysis.records.record import Record, UnreadableError
from analysis.records.text import read_call

NAME = "sharegpt"
THOUGHT = "<think>\n{}\n</think>\n\n"
TEXT_BESIDE_CALL = "{}\n<tool_call>\n{}\n</tool_call>"
BETWEEN_RESULTS = "\n</tool_response>\n<tool_response>\n"
_THINK, _THOUGHT = THOUGHT.split("{}")
_, _CALL, _CALLED = TEXT_BESIDE_CALL.split("{}")


def matches(record: Record) -> bool:
    return "conversations" in record


def read(record: Record) -> Trajectory:
    return finish(record, NAME, messages(record))


def messages(record: Record) -> list[Message]:
    """The turns as they stand, text-style blocks still in their texts."""
    turns = _turns(record)
    system = record.value("system")
    messages = [Message("system", system, delivered_as="system")] if isinstance(system, str) and system else []
    for turn in turns:
        messages.extend(_messages(record, len(messages), turn))
    return number(messages)


def _turns(record: Record) -> list[object]:
    try:
        turns, flags = loads(record.inner("conversations"))
    except ValueError as error:
        raise UnreadableError(f"conversations: {error}") from None
    record.flag("conversations", flags)
    if not isinstance(turns, list):
        raise UnreadableError(f"conversations: {type(turns).__name__}, not a list")
    return turns


def _messages(record: Record, index: int, turn: object) -> list[Message]:
    if not isinstance(turn, dict):
        raise UnreadableError(f"conversations[{index}]: {type(turn).__name__}, not an object")
    speaker = turn.get("from", turn.get("role"))
    value, reasoning = read_content(record, index, turn.get("value", turn.get("content")))
    if speaker == "function_call":
        return [_call_message(record, index, value)]
    role = _role(record, index, speaker)
    if role == "tool":
        return [Message(role, text, delivered_as=str(speaker)) for text in value.split(BETWEEN_RESULTS)]
    thought, text = _thought(value) if role == "assistant" else (None, value)
    return [Message(role, text, reasoning if thought is None else thought, delivered_as=str(speaker))]


def _thought(value: str) -> tuple[str | None, str]:
    """(thought, the rest of the value); no thought where the value does not open with one."""
    thought, end, rest = value.removeprefix(_THINK).partition(_THOUGHT)
    return (thought, rest) if end and value.startswith(_THINK) else (None, value)


def _call_message(record: Record, index: int, value: str) -> Message:
    thought, value = _thought(value)
    text, is_beside, call_text = value.partition(_CALL)
    if is_beside and call_text.endswith(_CALLED):
        value = call_text.removesuffix(_CALLED)
    else:
        text = ""
    calls = []
    for block in _blocks(record, index, value):
        call, detail = read_call(block)
        if detail:
            record.findings.append(Finding("unreadable_call" if call.name is None else "repaired_call", index, detail))
        calls.append(call)
    return Message("assistant", text, thought, calls, delivered_as="function_call")


def _blocks(record: Record, index: int, value: str) -> list[str]:
    """One text a call: the value is an object, or a list of objects for parallel calls."""
    try:
        held, flags = loads(value)
    except ValueError:
        return [value]
    if not isinstance(held, list):
        return [value]
    record.flag(f"conversations[{index}]", flags, index)
    if flags:
        return [canonical(item) for item in held]
    return [bytes(item).decode() for item in msgspec.json.decode(value, type=list[msgspec.Raw])]


def _role(record: Record, index: int, speaker: object) -> Role:
    # human, gpt and observation are this dialect's own words; only a foreign speaker is a breach of its contract.
    if isinstance(speaker, str) and speaker in ROLES:
        return ROLES[speaker]
    if isinstance(speaker, str) and speaker in NEAREST:
        return NEAREST[speaker]
    record.findings.append(Finding("legal_roles", index, f"speaker {str(speaker)[:60]!r}"))
    return "other"


DIALECT = Dialect(
    names=(NAME,),
    origin="ShareGPT rows, as LlamaFactory reads them",
    mark="`conversations` of from and value",
    example='{"conversations": [{"from": "human", "value": "Go."}, {"from": "function_call", "value": '
    '"{\\"name\\": \\"f\\", \\"arguments\\": {}}"}, {"from": "observation", "value": "ok"}], "tools": "[]"}',
    keys=frozenset(
        {"conversations", "tools", "system", "id", "env_id", "task_id", "model", "steps", "trial", "total_reward"}
    ),
    matches=matches,
    read=read,
)
