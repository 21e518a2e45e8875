"""The contract, checked on one assembled trajectory; each breach a finding."""

import re
from functools import lru_cache

from analysis.records import arguments
from analysis.records.model import Call, Finding, Message, Trajectory, hidden_call
from analysis.records.toolsets import ToolSet

# The publisher kept trajectories of this many assistant messages; a record outside is not from that filter.
PUBLISHER_BOUNDS = {"non_conversation": (3, 29), "conversation": (5, 39)}
STEP_CAPS = {"non_conversation": 30, "conversation": 40}
# How the publisher names its environments. A record of its shape about anything else follows no rule of its filter.
_ITS_ENVIRONMENTS = re.compile(r"env_\d+(?:_[a-z]+)?", re.ASCII)
ENVSCALER = frozenset({"release", "fc", "prompt"})
_RULE_OF_CLASS = {
    "undeclared_tool": "undeclared_tool",
    "unparsable": "arguments_unparsable",
    "not_an_object": "arguments_not_object",
}

_FINE = ("valid", "unchecked")
# Over `model.shape`, the message before one that may not follow it: assistant on assistant, a result on what made no
# call, a user on anything but an assistant or the system's text, and the system's text anywhere but first.
_BREACH = re.compile(r"[ACM](?=[ACM])|[SUOA](?=T)|[UOT](?=[UO])|.(?=S)")


def check(trajectory: Trajectory, tools: ToolSet) -> None:
    """Classify every call's arguments and add the findings of the contract."""
    for call, detail in arguments.classify(trajectory.calls, tools):
        if call.arguments_class == "unchecked" and detail:
            trajectory.findings.append(Finding("schema_budget", call.message, detail))
        elif call.arguments_class not in _FINE and call.name is not None:
            trajectory.findings.append(Finding(_rule(call), call.message, detail))
    _order(trajectory)
    # A message that makes calls beside is looked at by who reads its text: here only what would seem to make none.
    index = trajectory.shape.find("A")
    while index >= 0:
        thought = trajectory.messages[index].reasoning
        # One character is looked for several times as fast as eleven, and most thoughts have none.
        if thought and "<" in thought and "<tool_call>" in thought:
            trajectory.findings.append(hidden_call(index))
        index = trajectory.shape.find("A", index + 1)
    trajectory.end_class = end_class(trajectory.messages)
    if trajectory.dialect in ENVSCALER:
        _release(trajectory)


def _rule(call: Call) -> str:
    if call.arguments_class == "missing_required" and call.outcome == "ok":
        return "over_required"
    return _RULE_OF_CLASS.get(call.arguments_class, call.arguments_class)


def _order(trajectory: Trajectory) -> None:
    messages, turns, found = trajectory.messages, trajectory.shape, trajectory.findings.append
    if messages and not turns.startswith("S"):
        found(Finding("first_role_system", 0, f"the first message is {messages[0].delivered_as or messages[0].role}"))
    if breaches := _breaches(turns):
        before, after = messages[breaches[0] - 1].role, messages[breaches[0]].role
        found(Finding("alternation", breaches[0], f"{after} after {before}; {len(breaches)} such places"))


@lru_cache(maxsize=4096)
def _breaches(turns: str) -> tuple[int, ...]:
    """Positions of messages that may not follow the one before. Most records share their turns with others."""
    return tuple(found.start() + 1 for found in _BREACH.finditer(turns))


def _release(trajectory: Trajectory) -> None:
    found = trajectory.findings.append
    assistants = sum(map(trajectory.shape.count, "ACM"))
    if trajectory.env_id and trajectory.task_id and not trajectory.task_id.startswith(trajectory.env_id):
        detail = f"{trajectory.task_id[:100]} does not start with {trajectory.env_id[:100]}"
        found(Finding("env_prefix", None, detail))
    if trajectory.steps is not None and trajectory.steps != assistants:
        calls, results = len(trajectory.calls), trajectory.shape.count("T")
        detail = f"steps is {trajectory.steps}; {assistants} assistant messages, {calls} calls, {results} tool messages"
        found(Finding("steps_mismatch", None, detail))
    if trajectory.env_id is not None and not _ITS_ENVIRONMENTS.fullmatch(trajectory.env_id):
        return
    marker = {"conversation": "stop_marker", "non_conversation": "completed_marker"}[trajectory.traj_type]
    if trajectory.end_class != marker:
        found(Finding("closing_marker", None, f"{trajectory.traj_type} ends as {trajectory.end_class}"))
    low, high = PUBLISHER_BOUNDS[trajectory.traj_type]
    if not low <= assistants <= high:
        found(Finding("publisher_bounds", None, f"{assistants} assistant messages, outside {low}-{high}"))


def end_class(messages: list[Message]) -> str:
    """How a record ends, by its last messages alone (the step cap is the runner's to know)."""
    if not messages:
        return "empty"
    last = messages[-1]
    if last.role == "user" and "###STOP###" in last.content:
        return "stop_marker"
    if last.role == "user" and last.content.lstrip().startswith("Error"):
        return "exception"
    has_reply = last.role == "user" and len(messages) > 1 and messages[-2].role == "assistant"
    return "ends_on_result" if last.role == "tool" else _by_last_words(messages[-2] if has_reply else last)


def _by_last_words(spoken: Message) -> str:
    if spoken.calls:
        return "dangling_call"
    if spoken.role == "assistant" and "Task Completed" in spoken.content:
        return "completed_marker"
    if spoken.role == "assistant" and "Task Failed" in spoken.content:
        return "failed_marker"
    return "text_without_marker"
