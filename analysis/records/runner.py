"""What the runner writes before release, in its two modes: `fc` (calls as fields) and `prompt` (calls as text).

In prompt mode a call is a `<tool_call>` block of an assistant text, of which the runner runs the first only, and a
result is a user message: `<tool_response>`, or a bare text that the record's own `trajectory[i].observation.type` tells
from a user turn.
"""

from analysis.records.assemble import assemble
from analysis.records.chat import number, read_messages
from analysis.records.contract import STEP_CAPS
from analysis.records.model import Call, Finding, Message, Trajectory
from analysis.records.record import Record
from analysis.records.release import check_user_messages, rewards, task_info, tools_text
from analysis.records.text import declared_tools, responses, split_calls, split_reasoning

MARKS = frozenset({"trajectory", "final_observation", "final_info", "terminated", "truncated"})
KEYS = {
    *MARKS,
    "task_info",
    "tools",
    "messages",
    "user_messages",
    "total_reward",
    "steps",
    "traj_type",
    "trial",
    "model",
    "id",
}


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


def is_prompt_mode(messages: list[Message]) -> bool:
    """No call or result as a field, and text-style blocks or `<tools>` in the texts."""
    if any(message.calls or message.role == "tool" for message in messages):
        return False
    return any(
        "<tool_call>" in message.content if message.role == "assistant" else "<tools>" in message.content
        for message in messages
    )


def read_text_calls(record: Record, messages: list[Message], observed: list[str] | None = None) -> list[Message]:
    """Turn blocks in texts into calls and results."""
    types = iter(observed or ())
    for index, message in enumerate(messages):
        if message.role == "assistant":
            _read_assistant(record, index, message)
        elif message.role == "user" and index and messages[index - 1].role == "assistant":
            calls = messages[index - 1].calls
            _read_answer(message, index, calls, is_logged_result=next(types, None) == "tool" and bool(calls))
    return number(messages)


def _read_assistant(record: Record, index: int, message: Message) -> None:
    content, thought, is_closed = split_reasoning(message.content)
    if thought is not None:
        record.findings.append(Finding("reasoning_in_content", index, "a <think> block in the content"))
        message.reasoning = thought if message.reasoning is None else f"{message.reasoning}\n{thought}"
        if not is_closed:
            record.findings.append(Finding("unclosed_block", index, "a <think> block without its closing tag"))
    if message.reasoning and "<tool_call>" in message.reasoning:
        record.findings.append(Finding("call_in_reasoning", index, "a <tool_call> block inside the reasoning"))
    message.content, calls, findings = split_calls(content, index)
    record.findings.extend(findings)
    if len(calls) > 1:
        record.findings.append(Finding("extra_calls_not_run", index, f"{len(calls)} call blocks in one message"))
    message.calls = [*message.calls, *calls]


def _read_answer(message: Message, index: int, calls: list[Call], *, is_logged_result: bool) -> None:
    """A user message that carries results: one for each call in order, or one for the first call, the only one run."""
    texts = responses(message.content) or ([message.content] if is_logged_result else [])
    if not texts:
        return
    message.role, message.content = "tool", "\n".join(texts)
    if len(calls) > 1 and len(texts) in (1, len(calls)):
        for call, text in zip(calls, texts, strict=False):
            call.result_message, call.result_text = index, text


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
