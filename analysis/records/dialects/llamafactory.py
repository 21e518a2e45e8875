"""LLaMA-Factory's version 1: a content is parts of `type` and `value`: text, reasoning, tool_call."""

from analysis.records import facts
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Trajectory
from analysis.records.record import Record
from analysis.records.shape import shape_of

NAME = "llamafactory_v1"


def matches(record: Record) -> bool:
    return "value" in shape_of(record).part_keys


def read(record: Record) -> Trajectory:
    return finish(record, NAME, read_words(record, shape_of(record).member))


DIALECT = Dialect(
    names=(NAME,),
    origin="LLaMA-Factory, version 1",
    mark="`messages` whose content is parts of `type` and `value`",
    needs=("messages",),
    example='{"messages": [{"role": "assistant", "content": [{"type": "tool_call", "value": "{\\"name\\": \\"f\\", '
    '\\"arguments\\": {}}"}]}, {"role": "tool", "content": [{"type": "text", "value": "ok"}]}], "tools": "[]"}',
    keys=facts.KEYS | {"messages", "system", "_dataset_name"},
    bodies=frozenset({"messages", "system"}),
    matches=matches,
    read=read,
)
