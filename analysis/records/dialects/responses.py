"""OpenAI's Responses items: `function_call`, `function_call_output`, `reasoning`, `message`.

They stand in `messages`, or in `input` and `output`. What the model gives between two inputs is one message: its
thoughts, its text and its calls.
"""

from analysis.records import facts
from analysis.records.chat import number, read_items
from analysis.records.conversation import finish, system_text
from analysis.records.dialects.dialect import Dialect
from analysis.records.items import ITEM_CALLS, ITEM_RESULTS
from analysis.records.members import flagged_list, list_of, members_of, value_of
from analysis.records.model import Message, Trajectory
from analysis.records.record import Record
from analysis.records.roles import ALL_WORDS
from analysis.records.shape import shape_of

NAME = "responses"
TYPES = ITEM_CALLS | ITEM_RESULTS | {"reasoning", "message"}


def matches(record: Record) -> bool:
    if record.has("output") and record.has("input") and not record.has("messages"):
        return any(_is_item(item) for item in list_of(record.raw("output")) or ())
    return any(kind in ITEM_CALLS | ITEM_RESULTS or kind.endswith("_call") for kind in shape_of(record).types)


def _is_item(raw: bytes) -> bool:
    item = members_of(raw)
    return "role" in item or str(value_of(item, ("type",))) in TYPES


def read(record: Record) -> Trajectory:
    member = shape_of(record).member
    keys = [member] if member else ["input", "output"]
    messages = [*_instructions(record), *system_text(record)]
    for key in keys:
        messages += read_items(record, key, _items(record, key), ALL_WORDS)
    return finish(record, NAME, number(_joined(messages)))


def _instructions(record: Record) -> list[Message]:
    held = record.value("instructions") if record.has("instructions") else None
    return [Message("system", held, delivered_as="instructions")] if isinstance(held, str) and held else []


def _items(record: Record, key: str) -> list[bytes]:
    raw = record.raw(key).strip()
    if raw.startswith(b'"') and not raw.startswith((b'"[', b'"{')):
        return [b'{"role":"user","content":%s}' % raw]
    return flagged_list(record, key, record.inner(key))


def _joined(messages: list[Message]) -> list[Message]:
    """Consecutive items of the assistant's as one message."""
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else None
        if before is None or message.role != "assistant" or before.role != "assistant":
            joined.append(message)
            continue
        before.content = "\n".join(filter(None, (before.content, message.content)))
        thoughts = [thought for thought in (before.reasoning, message.reasoning) if thought is not None]
        before.reasoning = "\n".join(thoughts) if thoughts else None
        before.calls = [*before.calls, *message.calls]
    return joined


DIALECT = Dialect(
    names=(NAME,),
    origin="OpenAI's Responses API",
    mark="items of type `function_call` and `function_call_output`, in `messages` or in `input` and `output`",
    needs=("input", "output"),
    example='{"input": [{"role": "user", "content": "Go."}, {"type": "function_call", "call_id": "c1", "name": "f", '
    '"arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": "ok"}], '
    '"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}]}',
    keys=facts.KEYS | {"input", "output", "messages", "instructions", "system", "status", "object", "usage"},
    bodies=frozenset({"input", "output", "messages", "instructions", "system"}),
    matches=matches,
    read=read,
)
