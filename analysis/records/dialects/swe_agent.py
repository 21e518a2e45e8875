"""SWE-agent's `.traj`: `history` of messages, `trajectory` of steps with an action, its observation, a thought.

Where the history holds calls, in fields or in texts, it is read. Where a step's action is a command of the agent's own
shell, the command's first word is the tool and the whole of it the argument.
"""

from typing import Any

from analysis.records import facts
from analysis.records.chat import number
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.jsontext import as_written, loads
from analysis.records.members import list_of, members_of
from analysis.records.model import Call, Message, Trajectory
from analysis.records.record import Record
from analysis.records.shape import shape_of

NAME = "swe_agent"
_STEP = frozenset({"action", "observation"})


def matches(record: Record) -> bool:
    steps = list_of(record.raw("trajectory")) if record.has("trajectory") else None
    return any(members_of(step).keys() >= _STEP for step in (steps or ())[:1])


def read(record: Record) -> Trajectory:
    shape = shape_of(record)
    if shape.member == "history" and (shape.calls or shape.has_tags):
        return finish(record, NAME, read_words(record, "history"))
    messages = _opening(record)
    for raw in list_of(record.raw("trajectory")) or []:
        step = loads(raw)[0]
        messages += _step(step if isinstance(step, dict) else {})
    return finish(record, NAME, number(messages))


def _opening(record: Record) -> list[Message]:
    """What stands in the history before the agent first speaks."""
    history = read_words(record, "history") if record.has("history") else []
    first = next((index for index, message in enumerate(history) if message.role == "assistant"), len(history))
    return history[:first]


def _step(step: dict[str, Any]) -> list[Message]:
    action, observation = _text(step.get("action")).strip(), step.get("observation")
    said = _text(step.get("thought")) or ("" if action else _text(step.get("response")))
    spoken = Message("assistant", said, delivered_as="action")
    if not action:
        return [spoken]
    spoken.calls = [Call(action.split()[0], as_written({"command": action}), "object")]
    return (
        [spoken] if observation is None else [spoken, Message("tool", _text(observation), delivered_as="observation")]
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


DIALECT = Dialect(
    names=(NAME,),
    origin="SWE-agent's .traj",
    mark="`trajectory` of steps with `action` and `observation`",
    needs=("trajectory",),
    example='{"environment": "swe_main", "trajectory": [{"action": "ls -a", "observation": "a.py", "thought": '
    '"I look.", "state": "{}"}], "history": [], "info": {"exit_status": "submitted"}}',
    keys=facts.KEYS | {"trajectory", "history", "info", "replay_config", "environment"},
    bodies=frozenset({"trajectory"}),
    # The thought and the action once more, and all that the model was sent.
    asides=frozenset({"response", "query", "extra_info"}),
    matches=matches,
    read=read,
)
