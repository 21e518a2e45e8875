"""Alpaca rows: `instruction`, `input`, `output`, `system`, and `history` as pairs of earlier turns (mask_history).

Where the texts carry Qwen's template, calls and results are read out of them.
"""

from analysis.records.chat import ROLES, number, read_content
from analysis.records.dialects.dialect import Dialect
from analysis.records.dialects.openai import finish
from analysis.records.jsontext import loads
from analysis.records.model import Message, Trajectory
from analysis.records.record import Record, UnreadableError

NAME = "alpaca"


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
        for role, held in (("user", user), ("assistant", assistant)):
            text, thought = read_content(record, len(messages), held)
            messages.append(Message(ROLES[role], text, thought, delivered_as=role))
    return number(messages)


def _pairs(record: Record) -> list[tuple[object, object]]:
    try:
        held, flags = loads(record.inner("history"))
    except ValueError as error:
        raise UnreadableError(f"history: {error}") from None
    record.flag("history", flags)
    history = held or []
    is_pairs = isinstance(history, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in history)
    if not is_pairs:
        raise UnreadableError("history: not a list of [user, assistant] pairs")
    asked = [held for key in ("instruction", "input") if (held := record.value(key))]
    return [*map(tuple, history), (asked, record.value("output"))]


DIALECT = Dialect(
    names=(NAME,),
    origin="Alpaca rows",
    mark="`instruction` and `output`",
    example='{"instruction": "Go.", "input": "", "output": "Done.", "system": "", "history": [["Hello.", "Hi."]]}',
    keys=frozenset(
        {"instruction", "input", "output", "system", "history", "tools", "id", "env_id", "task_id", "model"}
    ),
    matches=matches,
    read=read,
)
