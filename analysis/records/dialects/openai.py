"""OpenAI chat and TRL rows: `messages`, perhaps `tools` (or `functions`), calls as fields; no environment.

The same rows with calls as text in Qwen's template (`<think>`, `<tool_call>`, `<tool_response>`, `<tools>` in the
system text) are dialect `qwen_text`.
"""

from analysis.records import facts
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Message, Role, Trajectory
from analysis.records.record import Record
from analysis.records.roles import ROLES
from analysis.records.text import CALL_TAGS

# The API's own: `developer` has taken over from `system`, `tool` from `function`.
OWN_ROLES: dict[str, Role] = {**ROLES, "developer": "system", "function": "tool"}


def matches(record: Record) -> bool:
    return "messages" in record


def read(record: Record) -> Trajectory:
    messages = read_words(record, own=OWN_ROLES)
    return finish(record, "qwen_text" if is_text(messages) else "openai", messages)


def is_text(messages: list[Message]) -> bool:
    """No call as a field, and blocks or `<tools>` in the texts."""
    if any(message.calls for message in messages):
        return False
    return any(
        any(tag in message.content for tag in (CALL_TAGS if message.role == "assistant" else ("<tools>",)))
        for message in messages
    )


DIALECT = Dialect(
    names=("openai", "qwen_text"),
    origin="OpenAI chat and TRL rows; the same with calls as text",
    mark="`messages` of role and content",
    needs=("messages",),
    example='{"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", '
    '"function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]}',
    keys=facts.KEYS | {"messages", "steps", "system"},
    bodies=frozenset({"messages", "system"}),
    matches=matches,
    read=read,
)
