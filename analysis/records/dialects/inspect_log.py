"""Samples of an Inspect log: `messages` whose calls are `function` (a name) and `arguments`, beside `epoch`, `scores`.

Texts that the log keeps apart, under `attachments`, are put back. The first score that is a number, a truth value, or
one of Inspect's letters is the reward.
"""

from typing import Any

from analysis.canonical import canonical
from analysis.records import facts
from analysis.records.chat import number, read_items
from analysis.records.conversation import finish
from analysis.records.dialects.dialect import Dialect
from analysis.records.jsontext import loads
from analysis.records.members import flagged_list
from analysis.records.model import Trajectory
from analysis.records.record import Record
from analysis.records.roles import ALL_WORDS
from analysis.records.shape import shape_of

NAME = "inspect"
ATTACHMENT = "attachment://"
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_MARKS = ("epoch", "scores", "target", "events", "total_time")


def matches(record: Record) -> bool:
    shape = shape_of(record)
    has_calls = {"function", "arguments"} <= shape.calls and "requestor" not in shape.calls
    return shape.member == "messages" and (record.has("epoch") or has_calls) and any(map(record.has, _MARKS))


def read(record: Record) -> Trajectory:
    items = flagged_list(record, "messages", record.inner("messages"))
    if any(ATTACHMENT.encode() in item for item in items):
        apart = record.value("attachments")
        items = [canonical(_whole(loads(item)[0], apart if isinstance(apart, dict) else {})).encode() for item in items]
    trajectory = finish(record, NAME, number(read_items(record, "messages", items, ALL_WORDS)))
    trajectory.total_reward = _score(record.value("scores")) if record.has("scores") else trajectory.total_reward
    trajectory.model = trajectory.model or facts.first_id(record, facts.Paths("output.model"))
    return trajectory


def _whole(value: Any, apart: dict[str, Any]) -> Any:
    """A message with the texts that stand apart put back in."""
    if isinstance(value, dict):
        return {key: _whole(held, apart) for key, held in value.items()}
    if isinstance(value, list):
        return [_whole(held, apart) for held in value]
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return apart.get(value.removeprefix(ATTACHMENT), value)
    return value


def _score(scores: Any) -> float | None:
    for score in scores.values() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        value = LETTERS.get(value) if isinstance(value, str) else value
        if isinstance(value, int | float) and abs(value) < 1e300:
            return float(value)
    return None


DIALECT = Dialect(
    names=(NAME,),
    origin="Samples of Inspect logs",
    mark="`messages` beside `epoch` or `scores`, calls as `function` (a name) and `arguments`",
    needs=("messages", "epoch"),
    example='{"id": "s1", "epoch": 1, "target": "", "scores": {"match": {"value": "C"}}, "messages": [{"role": '
    '"assistant", "content": "", "tool_calls": [{"id": "c1", "function": "f", "arguments": {}, "type": "function"}]}, '
    '{"role": "tool", "content": "ok", "tool_call_id": "c1", "function": "f"}]}',
    keys=facts.KEYS
    | {"messages", "epoch", "input", "target", "scores", "output", "metadata", "store", "events", "attachments"}
    | {"model_usage", "total_time", "working_time", "sandbox", "choices", "files", "setup", "error", "limit"}
    | {"started_at", "completed_at", "error_retries", "invalidation", "timelines"},
    bodies=frozenset({"messages"}),
    matches=matches,
    read=read,
)
