"""ShareGPT rows: `conversations` of from / value (human, gpt, function_call, observation), `tools` as a string.

As LlamaFactory reads them: a thought stands in front of a value between `<think>` and `</think>`; a text beside a call
too, the call then between `<tool_call>` and `</tool_call>`; the results of parallel calls stand in one observation,
with the tags of Qwen's template between them.
"""

import msgspec

from analysis.records import facts
from analysis.records.chat import number
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Message, Trajectory
from analysis.records.record import Record
from analysis.records.text import split_thought

NAME = "sharegpt"
BETWEEN_RESULTS = "\n</tool_response>\n<tool_response>\n"


def matches(record: Record) -> bool:
    return "conversations" in record


def read(record: Record) -> Trajectory:
    return finish(record, NAME, messages(record))


def messages(record: Record, key: str = "conversations") -> list[Message]:
    """The turns as they stand, text-style blocks still in their texts."""
    return number([apart for message in read_words(record, key) for apart in _apart(message)])


def _apart(message: Message) -> list[Message]:
    """The results that stand in one turn as so many messages; a thought that stands before a text apart from it."""
    if message.role == "tool":
        texts = message.content.split(BETWEEN_RESULTS) if "<tool_response>\n" in message.content else []
        is_whole = bool(texts) and not message.content.lstrip().startswith("<tool_response>")
        return [msgspec.structs.replace(message, content=text) for text in texts] if is_whole else [message]
    if message.role == "assistant" and not message.calls:
        thought, text = split_thought(message.content)
        if thought is not None:
            message.content, message.reasoning = text, thought
    return [message]


DIALECT = Dialect(
    names=(NAME,),
    origin="ShareGPT rows, as LlamaFactory reads them",
    mark="`conversations` of from and value",
    needs=("conversations",),
    example='{"conversations": [{"from": "human", "value": "Go."}, {"from": "function_call", "value": '
    '"{\\"name\\": \\"f\\", \\"arguments\\": {}}"}, {"from": "observation", "value": "ok"}], "tools": "[]"}',
    keys=facts.KEYS | {"conversations", "system", "steps"},
    bodies=frozenset({"conversations", "system"}),
    matches=matches,
    read=read,
)
