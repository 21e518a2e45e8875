"""AgentDojo's logs: calls as `{"function": "name", "args": {…}}`, texts as parts, `error` beside a result."""

from analysis.records import facts
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.facts import Paths, first_id
from analysis.records.model import Trajectory
from analysis.records.record import Record
from analysis.records.shape import shape_of

NAME = "agentdojo"
_USER, _INJECTION = Paths("user_task_id"), Paths("injection_task_id")


def matches(record: Record) -> bool:
    shape = shape_of(record)
    return {"function", "args"} <= shape.calls or record.has("suite_name", "user_task_id", "messages")


def read(record: Record) -> Trajectory:
    parts = [part for paths in (_USER, _INJECTION) if (part := first_id(record, paths))]
    return finish(record, NAME, read_words(record, shape_of(record).member), task_id="+".join(parts) or None)


DIALECT = Dialect(
    names=(NAME,),
    origin="AgentDojo's logs",
    mark="`messages` whose calls are `function` (a name) and `args`",
    needs=("messages",),
    example='{"suite_name": "banking", "user_task_id": "user_task_0", "messages": [{"role": "assistant", '
    '"tool_calls": [{"function": "f", "args": {}, "id": "c1"}]}, '
    '{"role": "tool", "tool_call_id": "c1", "content": "ok", "error": null}]}',
    keys=facts.KEYS
    | {"messages", "system", "injection_task_id", "attack_type", "injections", "error", "security", "duration"},
    bodies=frozenset({"messages"}),
    matches=matches,
    read=read,
)
