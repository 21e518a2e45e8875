"""The published record: `traj_type`, `task_info`, and `tools`, `messages`, `user_messages` as JSON strings.

Also records laid into that shape with lists instead of strings, or without `traj_type`.
"""

from analysis.records import facts
from analysis.records.assemble import assemble
from analysis.records.chat import read_messages
from analysis.records.dialects.dialect import Dialect
from analysis.records.facts import rewards, task_info, tools_text
from analysis.records.jsontext import is_json, loads, unescaped
from analysis.records.model import Finding, Trajectory
from analysis.records.record import Record
from analysis.records.textmode import read_blocks
from analysis.records.toolsets import toolset

NAME = "release"


def matches(record: Record) -> bool:
    return "messages" in record and ("task_info" in record or "traj_type" in record)


def read(record: Record) -> Trajectory:
    info, messages = task_info(record), read_messages(record)
    if not any(message.calls for message in messages):  # some, laid into this shape, have their calls as text
        messages = read_blocks(record, messages, toolset(tools_text(record)))
    trajectory = assemble(
        record,
        NAME,
        messages,
        tools=tools_text(record),
        traj_type=record.value("traj_type") if "traj_type" in record else None,
        env_id=info["env_id"],
        task_id=info["task_id"],
        task=info["task"],
    )
    check_user_messages(record, trajectory.findings)
    rewards(record, trajectory)
    return trajectory


def check_user_messages(record: Record, findings: list[Finding]) -> None:
    """A finding when the dialogue as the user simulator saw it does not parse; nothing is measured on it."""
    if is_json(unescaped(record.fields.get("user_messages", b""))):
        return
    text = record.inner("user_messages")
    try:
        loads(text.strip() or "null")
    except ValueError as error:
        findings.append(Finding("inner_json", None, f"user_messages: {error}"))


DIALECT = Dialect(
    names=(NAME,),
    origin="EnvScaler's published set",
    mark="`messages` beside `task_info` or `traj_type`",
    needs=("messages", "task_info"),
    example='{"traj_type": "non_conversation", "task_info": {"env_id": "e", "task_id": "e-1", "task": "Go."}, "tools": '
    '"[]", "messages": "[]"}',
    keys=facts.KEYS - {"id"} | {"traj_type", "task_info", "messages", "user_messages", "steps"},
    bodies=frozenset({"messages"}),
    matches=matches,
    read=read,
)
