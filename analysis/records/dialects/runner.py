"""What the runner writes before release, in its two modes: `fc` (calls as fields) and `prompt` (calls as text).

In prompt mode a call is a `<tool_call>` block of an assistant text, of which the runner runs the first only, and a
result is a user message: `<tool_response>`, or a bare text that the record's own `trajectory[i].observation.type` tells
from a user turn.
"""

from analysis.records import facts
from analysis.records.assemble import assemble
from analysis.records.chat import read_messages
from analysis.records.contract import STEP_CAPS
from analysis.records.dialects.dialect import Dialect
from analysis.records.dialects.release import check_user_messages
from analysis.records.facts import rewards, task_info, tools_text
from analysis.records.model import Message, Trajectory
from analysis.records.record import Record
from analysis.records.text import declared_tools
from analysis.records.textmode import is_prompt_mode, read_text_calls

MARKS = frozenset({"trajectory", "final_observation", "final_info", "terminated", "truncated"})


def matches(record: Record) -> bool:
    return "messages" in record and len(MARKS & record.keys) >= 2


def read(record: Record) -> Trajectory:
    messages = read_messages(record)
    tools = tools_text(record)
    is_prompt = is_prompt_mode(messages)
    if is_prompt:
        messages = read_text_calls(record, messages, _observed_types(record))
        tools = tools if tools != "[]" else _declared(messages) or "[]"
    info = task_info(record)
    trajectory = assemble(
        record,
        "prompt" if is_prompt else "fc",
        messages,
        tools=tools,
        traj_type=record.value("traj_type") if "traj_type" in record else None,
        env_id=info["env_id"],
        task_id=info["task_id"],
        task=info["task"],
    )
    check_user_messages(record, trajectory.findings)
    rewards(record, trajectory)
    _step_cap(record, trajectory)
    return trajectory


def _observed_types(record: Record) -> list[str]:
    """`tool` or `user` for what followed each step, from the runner's own log; its step 0 is the reset."""
    log = record.value("trajectory")
    if not isinstance(log, list):
        return []
    types = []
    for entry in log:
        observation = entry.get("observation") if isinstance(entry, dict) else None
        if isinstance(observation, dict):
            types.append(str(observation.get("type")))
    return types


def _declared(messages: list[Message]) -> str | None:
    return next((declared_tools(m.content) for m in messages if m.role == "system"), None)


def _step_cap(record: Record, trajectory: Trajectory) -> None:
    """At the limit the runner leaves both `terminated` and `truncated` false."""
    stopped = [record.value(mark) for mark in ("terminated", "truncated") if mark in record]
    assistants = sum(message.role == "assistant" for message in trajectory.messages)
    if stopped == [False, False] and assistants >= STEP_CAPS[trajectory.traj_type]:
        trajectory.end_class = "step_cap"


DIALECT = Dialect(
    names=("fc", "prompt"),
    origin="EnvScaler's runner, before release",
    mark="`messages` beside two of `trajectory`, `final_observation`, `final_info`, `terminated`, `truncated`",
    needs=("messages", "trajectory"),
    example='{"task_info": {"env_id": "e", "task_id": "e-1"}, "tools": [], "messages": [], "trajectory": [], '
    '"total_reward": 1.0, "terminated": true, "truncated": false}',
    keys=facts.KEYS | MARKS | {"task_info", "messages", "user_messages", "steps", "traj_type"},
    bodies=frozenset({"messages"}),
    matches=matches,
    read=read,
)
