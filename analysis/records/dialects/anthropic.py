"""Anthropic's messages: content blocks `thinking`, `text`, `tool_use`, `tool_result`, the system's text beside them.

A user's turn that carries results is no turn of the user's: each result is a message, with its own `is_error`.
"""

from analysis.records import facts
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Trajectory
from analysis.records.record import Record
from analysis.records.shape import shape_of

NAME = "anthropic"
BLOCKS = frozenset({"tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "thinking", "redacted_thinking"})


def matches(record: Record) -> bool:
    shape = shape_of(record)
    return bool(shape.parts & BLOCKS) and bool(shape.roles)


def read(record: Record) -> Trajectory:
    return finish(record, NAME, read_words(record, shape_of(record).member))


DIALECT = Dialect(
    names=(NAME,),
    origin="Anthropic's messages and logs of them",
    mark="`messages` whose content is blocks such as `tool_use` and `tool_result`",
    needs=("messages",),
    example='{"system": "…", "messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": '
    '"f", "input": {}}]}, {"role": "user", "content": '
    '[{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]}]}',
    keys=facts.KEYS | {"messages", "system", "steps"},
    bodies=frozenset({"messages", "system"}),
    matches=matches,
    read=read,
)
