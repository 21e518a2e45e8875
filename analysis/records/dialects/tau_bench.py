"""tau-bench's results: the conversation under `traj`, the reward and the trial beside it."""

from analysis.records import facts
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Trajectory
from analysis.records.record import Record

NAME = "tau_bench"


def matches(record: Record) -> bool:
    return record.has("traj")


def read(record: Record) -> Trajectory:
    return finish(record, NAME, read_words(record, "traj"))


DIALECT = Dialect(
    names=(NAME,),
    origin="tau-bench's results",
    mark="a conversation under `traj`",
    needs=("traj",),
    example='{"task_id": 0, "reward": 1.0, "info": {}, "trial": 0, "traj": [{"role": "assistant", "content": null, '
    '"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, '
    '{"role": "tool", "tool_call_id": "c1", "content": "ok"}]}',
    keys=facts.KEYS | {"traj", "info"},
    bodies=frozenset({"traj"}),
    matches=matches,
    read=read,
)
