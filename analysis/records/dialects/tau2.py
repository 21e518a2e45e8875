"""tau2-bench's simulations: calls without `function`, each with its `requestor`; the user calls tools too.

Only the agent's calls count as calls. The rewards stand in `reward_info`.
"""

from analysis.records import facts
from analysis.records.chat import number, read_items
from analysis.records.conversation import finish
from analysis.records.dialects.dialect import Dialect
from analysis.records.members import flagged_list, list_of, members_of, raw_of
from analysis.records.model import Trajectory
from analysis.records.record import Record
from analysis.records.roles import ALL_WORDS
from analysis.records.shape import shape_of

NAME = "tau2"


def matches(record: Record) -> bool:
    shape = shape_of(record)
    return shape.member == "messages" and ("requestor" in shape.keys | shape.calls or record.has("reward_info"))


def read(record: Record) -> Trajectory:
    items = flagged_list(record, "messages", record.inner("messages"))
    spread = [part for item in items for part in _parts(item)]
    return finish(record, NAME, number(read_items(record, "messages", spread, ALL_WORDS)))


def _parts(item: bytes) -> list[bytes]:
    """The results of one message that holds several; any other message as it is."""
    return list_of(raw_of(members_of(item), ("tool_messages",))) or [item]


DIALECT = Dialect(
    names=(NAME,),
    origin="tau2-bench's simulations",
    mark="`messages` whose calls name their `requestor`, or that stand beside `reward_info`",
    needs=("messages", "reward_info"),
    example='{"task_id": "1", "trial": 0, "reward_info": {"reward": 1.0}, "messages": [{"role": "assistant", '
    '"content": null, "tool_calls": [{"id": "c1", "name": "f", "arguments": {}, "requestor": "assistant"}]}, '
    '{"role": "tool", "id": "c1", "content": "ok", "requestor": "assistant", "error": false}]}',
    keys=facts.KEYS
    | {"messages", "reward_info", "timestamp", "start_time", "end_time", "duration", "termination_reason", "seed"}
    | {"agent_cost", "user_cost", "mode"},
    bodies=frozenset({"messages"}),
    matches=matches,
    read=read,
)
