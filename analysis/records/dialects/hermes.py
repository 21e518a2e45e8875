"""Hermes function calling: ShareGPT rows whose calls are blocks in the texts, and whose results are turns of `tool`.

One turn may hold several `<tool_response>` blocks, each with the name of its tool; the tools stand in the system text.
"""

from analysis.records import facts
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Trajectory
from analysis.records.record import Record
from analysis.records.shape import shape_of

NAME = "hermes"


def matches(record: Record) -> bool:
    shape = shape_of(record)
    return shape.member == "conversations" and shape.has_tags and "tool" in shape.roles


def read(record: Record) -> Trajectory:
    return finish(record, NAME, read_words(record, "conversations"))


DIALECT = Dialect(
    names=(NAME,),
    origin="Hermes function calling",
    mark="`conversations` with `<tool_call>` in the texts and turns of `tool`",
    needs=("conversations",),
    example='{"conversations": [{"from": "system", "value": "<tools>[…]</tools>"}, {"from": "gpt", "value": '
    '"<tool_call>{\\"name\\": \\"f\\", \\"arguments\\": {}}</tool_call>"}, '
    '{"from": "tool", "value": "<tool_response>{\\"name\\": \\"f\\", \\"content\\": \\"ok\\"}</tool_response>"}]}',
    keys=facts.KEYS | {"conversations", "system", "category", "subcategory"},
    bodies=frozenset({"conversations", "system"}),
    matches=matches,
    read=read,
)
