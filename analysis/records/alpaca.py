"""Alpaca rows: `instruction`, `input`, `output`, `system`, and `history` as pairs of earlier turns (mask_history).

Where the texts carry Qwen's template, calls and results are read out of them.
"""

from analysis.records.chat import number
from analysis.records.jsontext import loads
from analysis.records.model import Message, Trajectory
from analysis.records.openai import finish
from analysis.records.record import Record, UnreadableError

NAME = "alpaca"
KEYS = {"instruction", "input", "output", "system", "history", "tools", "id", "env_id", "task_id", "model"}


def matches(record: Record) -> bool:
    return "instruction" in record and "output" in record


def read(record: Record) -> Trajectory:
    return finish(record, NAME, messages(record))


def messages(record: Record) -> list[Message]:
    """The turns as they stand, blocks still in their texts."""
    messages = []
    system = record.value("system")
    if isinstance(system, str) and system:
        messages.append(Message("system", system, delivered_as="system"))
    for user, assistant in _pairs(record):
        messages.append(Message("user", user, delivered_as="user"))
        messages.append(Message("assistant", assistant, delivered_as="assistant"))
    return number(messages)


def _pairs(record: Record) -> list[tuple[str, str]]:
    try:
        history = loads(record.inner("history"))[0] or []
    except ValueError as error:
        raise UnreadableError(f"history: {error}") from None
    is_pairs = isinstance(history, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in history)
    if not is_pairs:
        raise UnreadableError("history: not a list of [user, assistant] pairs")
    last = "\n".join(text for text in (_text(record, "instruction"), _text(record, "input")) if text)
    return [*((str(user), str(assistant)) for user, assistant in history), (last, _text(record, "output"))]


def _text(record: Record, key: str) -> str:
    value = record.value(key)
    return value if isinstance(value, str) else ""
