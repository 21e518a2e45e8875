"""Messages and steps with ids throughout, for APIs and tools that insist on them: OpenAI's, and ATIF's.

Every call has an id, every result stands behind its call and names it, whatever dialect the record came in; calls that
were texts are fields. What says how to write calls as texts is left out of the system's text.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from analysis.export.errors import RefusedError
from analysis.records import chat_template
from analysis.records.model import Call, Message, Trajectory
from analysis.records.outcome import judge

Row = dict[str, Any]
ATIF_VERSION = "ATIF-v1.4"
_UNPAIRED = ("unanswered_call", "orphan_result", "ambiguous_pairing")
_TAG = re.compile(
    r"</?(?:tools?|tool_calls?|tool_responses?|function_calls?|invoke|function|parameter)(?:[=\s][^<>]*)?>"
)
_HOW_TO_CALL = (
    re.compile(r"(?<!\s)\s*# Tools\n\nYou may call one or more functions.*?</tool_call>(?:<\|im_end\|>)?", re.DOTALL),
    re.compile(r"(?<!\s)\s*<(tools|tool_call|tool_response|function_call)>(?:(?!<\1>).)*?</\1>", re.DOTALL),
    re.compile(rf"^.*{_TAG.pattern}.*\n?", re.MULTILINE),
)


class Turn(NamedTuple):
    """A message, its calls with their ids, and the text of each one's result."""

    message: Message
    content: str
    calls: list[tuple[str, Call, str]]


def turns(trajectory: Trajectory, changes: Counter[str]) -> list[Turn]:
    """The record's messages with their results behind them.

    Raises:
        RefusedError: a call or result stands alone, is unreadable, or says in a field alone that it failed.
    """
    _refuse(trajectory)
    ids = _ids(trajectory.calls, changes)
    answers = {call.result_message for call in trajectory.calls}
    found = []
    for index, message in enumerate(trajectory.messages):
        if index in answers and not message.calls:
            continue
        calls = [(ids[id(call)], call, _result(trajectory, call)) for call in message.calls]
        if told := sum(call.outcome_rule == "error_flag" and call.outcome == "ok" for call in message.calls):
            changes["results whose success a field alone says, written without it"] += told
        found.append(Turn(message, _content(message, index, changes), calls))
    return found


def openai_messages(
    trajectory: Trajectory, changes: Counter[str], weight: Callable[[Message], Row] = lambda message: {}
) -> Iterator[Row]:
    """OpenAI's messages: ids and types of calls, `tool_call_id` of results, arguments as JSON text.

    Args:
        trajectory: the record.
        changes: counts what is changed.
        weight: what a message says of being learned from.
    """
    for message, content, calls in turns(trajectory, changes):
        row: Row = {"role": message.role, "content": content}
        if message.reasoning is not None:
            row["reasoning_content"] = message.reasoning
        if calls:
            row["content"] = content or None
            row["tool_calls"] = [
                {"id": id_, "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
                for id_, call, _ in calls
            ]
        yield row | weight(message)
        yield from ({"role": "tool", "tool_call_id": id_, "content": result} for id_, _, result in calls)


def declarations(trajectory: Trajectory) -> list[Row]:
    """The tools as function schemas."""
    return [chat_template.declaration(tool) for tool in trajectory.tools]


def atif(trajectory: Trajectory, changes: Counter[str]) -> Row:
    """A record of the Agent Trajectory Interchange Format."""
    agent: Row = {"name": trajectory.model or "agent", "version": "unknown"}
    if trajectory.model:
        agent["model_name"] = trajectory.model
    if trajectory.tools:
        agent["tool_definitions"] = declarations(trajectory)
    names = ("env_id", "task_id", "task", "trial", "total_reward")
    known = {name: getattr(trajectory, name) for name in names}
    # A task read out of a row of texts may be a result in its tags.
    extra = {name: value for name, value in known.items() if value is not None and not _TAG.search(str(value))}
    steps = [_step(number, turn) for number, turn in enumerate(turns(trajectory, changes), start=1)]
    row = {"schema_version": ATIF_VERSION, "session_id": trajectory.origin, "agent": agent}
    return row | {"steps": steps} | ({"extra": extra} if extra else {})


def _step(number: int, turn: Turn) -> Row:
    source = "agent" if turn.message.role == "assistant" else turn.message.role
    row: Row = {"step_id": number, "source": source, "message": turn.content}
    if turn.message.reasoning is not None:
        row["reasoning_content"] = turn.message.reasoning
    if turn.calls:
        row["tool_calls"] = [
            {
                "tool_call_id": id_,
                "function_name": call.name,
                "arguments": msgspec.Raw((call.arguments or "{}").encode()),
            }
            for id_, call, _ in turn.calls
        ]
        results = [{"source_call_id": id_, "content": result} for id_, _, result in turn.calls]
        row["observation"] = {"results": results}
    return row


def _refuse(trajectory: Trajectory) -> None:
    for finding in trajectory.findings:
        if finding.rule in _UNPAIRED:
            raise RefusedError(finding.rule, f"message {finding.message}: {finding.detail}")
    for index, message in enumerate(trajectory.messages):
        if message.role == "other":
            raise RefusedError("legal_roles", f"message {index}: the role {message.delivered_as[:60]!r}")
    for call in trajectory.calls:
        if call.name is None:
            raise RefusedError("unreadable_call", f"message {call.message}: a call that names no tool")
        if call.arguments_state in ("unparsable", "not_object"):
            raise RefusedError("arguments", f"message {call.message}: {call.name}'s are not a JSON object")
        if (judge(_result(trajectory, call))[0] == "error") != (call.outcome == "error"):
            raise RefusedError("error_flag", f"message {call.message}: a field beside the result says that it failed")


def _ids(calls: list[Call], changes: Counter[str]) -> dict[int, str]:
    """An id for every call: its own where it is the only one of that id, else `call_` and its number."""
    counts = Counter(call.id for call in calls)
    ids = {}
    for number, call in enumerate(calls, start=1):
        is_own = bool(call.id) and counts[call.id] == 1
        made = f"call_{number}"
        while not is_own and made in counts:
            made += "_"
        if not is_own:
            changes["calls without an id of their own, given one"] += 1
        ids[id(call)] = call.id if is_own else made
    return ids


def _result(trajectory: Trajectory, call: Call) -> str:
    if call.result_message is None:
        raise RefusedError("unanswered_call", f"message {call.message}: {call.name} has no result")
    return trajectory.messages[call.result_message].content if call.result_text is None else call.result_text


def without_how_to_call(system: str, changes: Counter[str]) -> str:
    """A system text without the tools it lists and what it says of calling them: for rows that have fields for both."""
    content = system
    if _TAG.search(content):
        for pattern in _HOW_TO_CALL:
            content = pattern.sub("", content)
        changes["system texts without what they say of calls as texts"] += 1
    return content.strip() if content != system else content


def _content(message: Message, index: int, changes: Counter[str]) -> str:
    content = message.content
    if message.role == "system":
        content = without_how_to_call(content, changes)
    if any(_TAG.search(text) for text in (content, message.reasoning or "")):
        raise RefusedError("call_tags", f"message {index}: a tag of calls as texts in a text")
    return content
