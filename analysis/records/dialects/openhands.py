"""OpenHands' events: `history` of actions and observations, each action with its `args`, paired by `cause`.

What the agent calls is its action, or the function that the event's metadata names; messages are no calls.
"""

from typing import Any

from analysis.records import facts
from analysis.records.chat import number
from analysis.records.conversation import finish
from analysis.records.dialects.dialect import Dialect
from analysis.records.jsontext import as_written, loads
from analysis.records.members import flagged_list
from analysis.records.model import Call, Message, ResultFacts, Trajectory
from analysis.records.record import Record
from analysis.records.shape import shape_of

NAME = "openhands"
# Actions that are no calls of the agent's: what is said, and what the runner does by itself.
SAYINGS = frozenset({"message", "system"})
OWN = frozenset({"change_agent_state", "recall", "null", "start", "stop", "pause", "resume"})
_NO_ARGUMENTS = ("thought", "hidden", "is_input", "blocking", "confirmation_state", "security_risk", "is_confirmed")


def matches(record: Record) -> bool:
    shape = shape_of(record)
    return shape.member in ("history", "trajectory") and {"action", "args", "source"} <= shape.keys


def read(record: Record) -> Trajectory:
    member = shape_of(record).member
    messages: list[Message] = []
    for raw in flagged_list(record, member, record.inner(member)):
        event, flags = loads(raw)
        record.flag(member, flags, len(messages))
        if isinstance(event, dict):
            messages += _event(event)
    return finish(record, NAME, number(messages))


def _event(event: dict[str, Any]) -> list[Message]:
    action, args = event.get("action"), event.get("args")
    args = args if isinstance(args, dict) else {}
    if isinstance(action, str):
        if action in OWN:
            return []
        if action in SAYINGS:
            return [_said(event, args, action)]
        return [_call(event, args, action)]
    observation = event.get("observation")
    if observation in (None, "agent_state_changed", "null", "recall"):
        return []
    error = None if observation != "error" else _text(event.get("content"))
    result = Message(
        "tool", _text(event.get("content")), answers=_id(event.get("cause")), delivered_as=str(observation)
    )
    if observation == "error":
        result.facts = ResultFacts("", True, error)
    return [result]


def _said(event: dict[str, Any], args: dict[str, Any], action: str) -> Message:
    role = "system" if action == "system" else "user" if event.get("source") == "user" else "assistant"
    text = _text(args.get("content")) or _text(event.get("message"))
    return Message(role, text, _text(args.get("thought")) or None, delivered_as=action)  # type: ignore[arg-type]


def _call(event: dict[str, Any], args: dict[str, Any], action: str) -> Message:
    """An action that does something; what the agent thinks before it is its text."""
    made = event.get("tool_call_metadata")
    name = made.get("function_name") if isinstance(made, dict) else None
    given = {key: held for key, held in args.items() if key not in _NO_ARGUMENTS and held is not None}
    call = Call(name if isinstance(name, str) and name else action, as_written(given), "object", _id(event.get("id")))
    return Message("assistant", _text(args.get("thought")), calls=[call], delivered_as=action)


def _id(value: Any) -> str:
    return str(value) if isinstance(value, int | str) else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


DIALECT = Dialect(
    names=(NAME,),
    origin="OpenHands' events",
    mark="`history` of events with `action` and `args`, `observation` and `content`",
    needs=("history",),
    example='{"instance_id": "i", "history": [{"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", '
    '"thought": "I look."}}, {"id": 2, "source": "agent", "observation": "run", "cause": 1, "content": "a.py"}]}',
    keys=facts.KEYS | {"history", "trajectory", "metadata", "test_result", "git_patch", "error", "metrics", "instance"},
    bodies=frozenset({"history", "trajectory"}),
    asides=frozenset(
        {"action", "observation", "message", "extras", "tool_call_metadata", "llm_metrics", "security_risk"}
    ),
    matches=matches,
    read=read,
)
