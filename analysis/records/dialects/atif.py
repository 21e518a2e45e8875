"""ATIF, the Agent Trajectory Interchange Format: `steps` of a `source`, its message, its calls and their results."""

import msgspec

from analysis.records import facts
from analysis.records.chat import number, read_items
from analysis.records.conversation import finish
from analysis.records.dialects.dialect import Dialect
from analysis.records.members import Members, flagged_list, flagged_members, list_of, members_of, raw_of
from analysis.records.model import Message, Trajectory
from analysis.records.record import Record
from analysis.records.roles import ALL_WORDS

NAME = "atif"
_STEP_KEYS = ("message", "reasoning_content", "tool_calls")


def matches(record: Record) -> bool:
    if not record.has("steps"):
        return False
    version = record.value("schema_version") if record.has("schema_version") else None
    if isinstance(version, str) and version.upper().startswith("ATIF"):
        return True
    steps = list_of(record.raw("steps")) or []
    return bool(steps) and {"source", "message"} <= members_of(steps[0]).keys()


def read(record: Record) -> Trajectory:
    messages: list[Message] = []
    for place, raw in enumerate(flagged_list(record, "steps", record.inner("steps"))):
        step = flagged_members(record, f"steps[{place}]", raw, len(messages))
        role = b'"tool"' if list_of(raw_of(step, ("tool_calls",))) else raw_of(step, ("source",))
        items = [_spoken(step), *(_result(result, role) for result in _results(step))]
        for message in read_items(record, "steps", items, ALL_WORDS):
            messages.append(message)
    return finish(record, NAME, number(messages))


def _spoken(step: Members) -> bytes:
    item = {"role": msgspec.Raw(raw_of(step, ("source",)))}
    item |= {key: msgspec.Raw(bytes(step[key])) for key in _STEP_KEYS if key in step}
    return msgspec.json.encode(item)


def _results(step: Members) -> list[bytes]:
    return list_of(raw_of(members_of(raw_of(step, ("observation",))), ("results",))) or []


def _result(raw: bytes, role: bytes) -> bytes:
    """What was observed as a message; of a step without calls it is no result, but the source's own."""
    return msgspec.json.encode({"role": msgspec.Raw(role), **members_of(raw)})


DIALECT = Dialect(
    names=(NAME,),
    origin="ATIF (Harbor, Terminal-Bench)",
    mark="`steps` of `source` and `message`, with `schema_version` ATIF",
    needs=("schema_version", "steps"),
    example='{"schema_version": "ATIF-v1.4", "agent": {"model_name": "m"}, "steps": [{"source": "agent", "message": '
    '"", "tool_calls": [{"tool_call_id": "c1", "function_name": "f", "arguments": {}}], '
    '"observation": {"results": [{"source_call_id": "c1", "content": "ok"}]}}]}',
    keys=facts.KEYS | {"schema_version", "session_id", "agent", "steps", "final_metrics", "notes", "extra"},
    bodies=frozenset({"steps"}),
    matches=matches,
    read=read,
)
