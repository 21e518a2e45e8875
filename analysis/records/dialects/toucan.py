"""Rows whose calls have roles of their own: Toucan's SFT rows and ms-swift's, and Toucan's own with `function_call`.

A call is a message of role `tool_call`, its content the call as JSON or as Python writes it; a result has the role
`tool_response`. Parallel calls are consecutive messages of the assistant.
"""

from analysis.records import facts
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Trajectory
from analysis.records.record import Record
from analysis.records.roles import CALLERS
from analysis.records.shape import shape_of

NAME = "toucan"


def matches(record: Record) -> bool:
    shape = shape_of(record)
    has_roles = shape.member != "conversations" and bool(shape.roles & CALLERS)
    return has_roles or (record.has("available_tools") and "function_call" in shape.keys)


def read(record: Record) -> Trajectory:
    return finish(record, NAME, read_words(record, shape_of(record).member))


DIALECT = Dialect(
    names=(NAME,),
    origin="Toucan and ms-swift",
    mark="`messages` with the roles `tool_call` and `tool_response`, or `function_call` beside `available_tools`",
    needs=("messages",),
    example='{"messages": [{"role": "user", "content": "Go."}, {"role": "tool_call", "content": "{\\"name\\": \\"f\\", '
    '\\"arguments\\": {}}"}, {"role": "tool_response", "content": "ok"}], "tools": "[]"}',
    keys=facts.KEYS | {"messages", "system", "subset_name", "question", "target_tools"},
    bodies=frozenset({"messages", "system"}),
    matches=matches,
    read=read,
)
