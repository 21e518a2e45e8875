"""The contract of ANALYSES 1 and 8, checked on one assembled trajectory; each breach a finding."""

from collections.abc import Iterator

from analysis.records import arguments
from analysis.records.model import Call, Finding, Message, Trajectory
from analysis.records.toolsets import ToolSet

# The publisher kept trajectories of this many assistant messages; a record outside is not from that filter.
PUBLISHER_BOUNDS = {"non_conversation": (3, 29), "conversation": (5, 39)}
STEP_CAPS = {"non_conversation": 30, "conversation": 40}
ENVSCALER = frozenset({"release", "fc", "prompt"})
_RULE_OF_CLASS = {
    "undeclared_tool": "undeclared_tool",
    "unparsable": "arguments_unparsable",
    "not_an_object": "arguments_not_object",
}


def check(trajectory: Trajectory, tools: ToolSet) -> None:
    """Classify every call's arguments and add the findings of the contract."""
    findings = trajectory.findings
    for message in trajectory.messages:
        for call in message.calls:
            findings.extend(_arguments(call, tools))
    findings.extend(_order(trajectory.messages))
    trajectory.end_class = end_class(trajectory.messages)
    if trajectory.dialect in ENVSCALER:
        findings.extend(_release(trajectory))


def _arguments(call: Call, tools: ToolSet) -> Iterator[Finding]:
    call.arguments_state, call.arguments_class, detail = arguments.check(call, tools)
    call.is_offered = call.name in tools.names
    if call.arguments_class in ("valid", "unchecked") or call.name is None:
        return
    rule = _RULE_OF_CLASS.get(call.arguments_class, call.arguments_class)
    if rule == "missing_required" and call.outcome == "ok":
        rule = "over_required"
    yield Finding(rule, call.message, detail)


def _order(messages: list[Message]) -> Iterator[Finding]:
    if messages and messages[0].role != "system":
        yield Finding("first_role_system", 0, f"the first message is {messages[0].delivered_as or messages[0].role}")
    breaches = [
        index
        for index in range(1, len(messages))
        if messages[index].role == "system" or not _may_follow(messages[index - 1], messages[index])
    ]
    if breaches:
        before, after = messages[breaches[0] - 1].role, messages[breaches[0]].role
        yield Finding("alternation", breaches[0], f"{after} after {before}; {len(breaches)} such places")


def _may_follow(before: Message, after: Message) -> bool:
    if after.role == "assistant":
        return before.role != "assistant"
    if after.role == "tool":
        return before.role == "tool" or bool(before.calls)
    return before.role in ("assistant", "system")


def _release(trajectory: Trajectory) -> Iterator[Finding]:
    messages = trajectory.messages
    assistants = sum(message.role == "assistant" for message in messages)
    if trajectory.env_id and trajectory.task_id and not trajectory.task_id.startswith(trajectory.env_id):
        yield Finding("env_prefix", None, f"{trajectory.task_id[:100]} does not start with {trajectory.env_id[:100]}")
    if trajectory.steps is not None and trajectory.steps != assistants:
        calls = sum(len(message.calls) for message in messages)
        results = sum(message.role == "tool" for message in messages)
        detail = f"steps is {trajectory.steps}; {assistants} assistant messages, {calls} calls, {results} tool messages"
        yield Finding("steps_mismatch", None, detail)
    marker = {"conversation": "stop_marker", "non_conversation": "completed_marker"}[trajectory.traj_type]
    if trajectory.end_class != marker:
        yield Finding("closing_marker", None, f"{trajectory.traj_type} ends as {trajectory.end_class}")
    low, high = PUBLISHER_BOUNDS[trajectory.traj_type]
    if not low <= assistants <= high:
        yield Finding("publisher_bounds", None, f"{assistants} assistant messages, outside {low}-{high}")


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
