"""OpenAI chat and TRL rows: `messages`, perhaps `tools` (or `functions`), calls as fields; no environment.

The same rows with calls as text in Qwen's template (`<think>`, `<tool_call>`, `<tool_response>`, `<tools>` in the
system text) are dialect `qwen_text`; with other blocks, such as the `<function=…>` of OpenHands and SWE-agent,
`text_calls`.
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
    return finish(record, name_of(messages), messages)


def name_of(messages: list[Message]) -> str:
    """`qwen_text` and `text_calls` have no call as a field, and blocks in the texts: Qwen's, or others."""
    if any(message.calls for message in messages):
        return "openai"
    texts = [message.content for message in messages if message.role == "assistant"]
    tags = {tag for tag in CALL_TAGS if any(tag in text for text in texts)}
    if tags and "<tool_call>" not in tags:
        return "text_calls"
    return "qwen_text" if tags or any("<tools>" in m.content for m in messages if m.role != "assistant") else "openai"


DIALECT = Dialect(
    names=("openai", "qwen_text", "text_calls"),
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
