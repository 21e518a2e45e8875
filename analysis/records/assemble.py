"""What all dialects share: from messages and tools to a finished Trajectory."""

from typing import Literal

from analysis.records import contract
from analysis.records.model import Finding, Message, Trajectory, turns
from analysis.records.pairing import pair
from analysis.records.record import Record
from analysis.records.toolsets import toolset

TrajType = Literal["conversation", "non_conversation"]


def assemble(
    record: Record,
    dialect: str,
    messages: list[Message],
    *,
    tools: str,
    traj_type: object = None,
    env_id: str | None = None,
    task_id: str | None = None,
    task: object = None,
    has_environments: bool = True,
) -> Trajectory:
    """Pair, judge and check a record's messages.

    Args:
        tools: JSON text of the declared tools.
        traj_type: as the record says; anything else is read from the user turns, with a finding.
        has_environments: False for a dialect that has no place for an environment or a scenario.
    """
    declared = toolset(tools)
    findings = [*record.findings, *declared.findings]
    if traj_type not in ("conversation", "non_conversation"):
        traj_type = infer_traj_type(messages)
        findings.append(Finding("traj_type_inferred", None, f"read as {traj_type} from the user turns"))
    if not has_environments:
        if env_id is None:
            findings.append(Finding("no_environment", None, f"{dialect} names no environment"))
    else:
        for name, value in (("env_id", env_id), ("task_id", task_id)):
            if value is None:
                findings.append(Finding(f"{name}_missing", None, f"no {name}"))
    shape, calls = turns(messages)
    trajectory = Trajectory(
        origin=record.origin,
        dialect=dialect,
        traj_type="conversation" if traj_type == "conversation" else "non_conversation",
        env_id=env_id,
        task_id=task_id,
        task=task if isinstance(task, str) else None,
        steps=_steps(record, findings, counts_steps=has_environments),
        tools=declared.tools,
        tool_set=declared.id,
        messages=messages,
        calls=calls,
        findings=findings,
        shape=shape,
        record_bytes=record.size,
    )
    pair(trajectory)
    contract.check(trajectory, declared)
    return trajectory


def infer_traj_type(messages: list[Message]) -> TrajType:
    """Conversation when there are user turns beyond the first and the closing one; error texts are not turns."""
    turns = [i for i, m in enumerate(messages) if m.role == "user" and not m.content.startswith("Error")]
    if turns and turns[-1] == len(messages) - 1 and len(turns) > 1:
        turns.pop()
    return "conversation" if len(turns) > 1 else "non_conversation"


def _steps(record: Record, findings: list[Finding], *, counts_steps: bool) -> int | None:
    if "steps" not in record:
        return None
    held = record.value("steps")
    if isinstance(held, int) and not isinstance(held, bool) and abs(held) < 2**63:
        return held
    if held is None or (isinstance(held, list) and not counts_steps):  # some dialects call their messages steps
        return None
    findings.append(Finding("steps_form", None, f"steps is {held!r}"[:200]))
    try:
        number = float(held)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**63 else None
