"""Alpaca rows: `instruction`, `input`, `output`, `system`, and `history` as pairs of earlier turns (mask_history).

Where the texts carry Qwen's template, calls and results are read out of them.
"""

from analysis.canonical import canonical
from analysis.records import facts
from analysis.records.chat import read_items
from analysis.records.conversation import finish
from analysis.records.dialects.dialect import Dialect
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
    system = record.value("system")
    turns: list[tuple[str, object]] = [("system", system)] if isinstance(system, str) and system else []
    for user, assistant in _pairs(record):
        turns += [("user", user), ("assistant", assistant)]
    items = [canonical({"role": role, "content": content}).encode() for role, content in turns]
    return read_items(record, "history", items)


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
    needs=("instruction", "output"),
    example='{"instruction": "Go.", "input": "", "output": "Done.", "system": "", "history": [["Hello.", "Hi."]]}',
    keys=facts.KEYS | {"instruction", "input", "output", "system", "history"},
    bodies=frozenset({"instruction", "input", "output", "system", "history"}),
    matches=matches,
    read=read,
)
