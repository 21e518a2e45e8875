"""Conversations whose calls are text: blocks in the assistant's words become calls, answers to them results."""

from collections.abc import Collection

import msgspec

from analysis.records.chat import number
from analysis.records.members import members_of, value_of
from analysis.records.model import Call, Finding, Message, ResultFacts, hidden_call
from analysis.records.record import Record
from analysis.records.syntaxes import UNTYPED, listed, typed
from analysis.records.text import (
    CALL_TAGS,
    RESULT_OPENINGS,
    named_result,
    read_called,
    responses,
    split_calls,
    split_reasoning,
)
from analysis.records.toolsets import ToolSet


def is_prompt_mode(messages: list[Message]) -> bool:
    """No call or result as a field, and text-style blocks or `<tools>` in the texts."""
    if any(message.calls or message.role == "tool" for message in messages):
        return False
    return any(
        "<tool_call>" in message.content if message.role == "assistant" else "<tools>" in message.content
        for message in messages
    )


def read_blocks(record: Record, messages: list[Message], tools: ToolSet) -> list[Message]:
    """Turn what stands as text, of calls and of results, into calls and results, wherever no field holds them.

    Args:
        tools: those declared; a text that is `[name(…), …]` is a call only of these, where there are any, and what
            stands in tags has the types that they ask for.
    """
    if is_prompt_mode(messages):
        return read_text_calls(record, messages)
    names = tools.names
    is_text = any(m.role == "assistant" and not m.calls and _makes_calls(m.content, names) for m in messages)
    messages, tagged = _with_results_apart(messages, is_text=is_text)
    for index, message in enumerate(messages):
        if message.role != "assistant" or message.calls:
            continue
        if is_text:
            is_tagged = any(tag in message.content for tag in UNTYPED)
            _read_assistant(record, index, message, is_listed=_makes_calls(message.content, names))
            for call in message.calls if is_tagged else ():
                call.arguments = typed(call.arguments or "{}", tools.types_of(call.name or ""))
        elif _is_call(
            message.content, names, is_answered=[m.role for m in messages[index + 1 : index + 2]] == ["tool"]
        ):
            message.calls, message.content = read_called(message.content.strip(), index).calls, ""
    called = {call.name for message in messages for call in message.calls if call.name}
    for index in tagged:
        name, messages[index].content = named_result(messages[index].content, called)
        if name:
            messages[index].facts = ResultFacts(name)
    return number(messages)


def _with_results_apart(messages: list[Message], *, is_text: bool) -> tuple[list[Message], list[int]]:
    """(messages, the places of those whose text stood in tags): a message that carries several results as so many."""
    read: list[Message] = []
    tagged: list[int] = []
    for message in messages:
        follows_agent = bool(read) and read[-1].role in ("assistant", "tool")
        is_result = message.role == "tool" or (is_text and follows_agent and _opens_as_result(message))
        texts = responses(message.content) if is_result else []
        tagged.extend(range(len(read), len(read) + len(texts)))
        read.extend(_as_result(message, text, is_alone=len(texts) == 1) for text in texts)
        if not texts:
            read.append(_as_result(message, message.content, is_alone=True) if is_result else message)
    return read, tagged


def _opens_as_result(message: Message) -> bool:
    return message.role == "user" and message.content.lstrip().startswith(RESULT_OPENINGS)


def _as_result(message: Message, text: str, *, is_alone: bool) -> Message:
    answers = message.answers if is_alone else ""
    return msgspec.structs.replace(message, role="tool", content=text, answers=answers)


def _is_call(content: str, names: Collection[str], *, is_answered: bool) -> bool:
    """Is the whole text one call as an object: of a tool declared, or with a result behind it?"""
    text = content.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    members = members_of(text.encode("utf-8", "replace"))
    name = value_of(members, ("name",))
    is_form = members.keys() <= {"name", "arguments", "parameters", "id", "type"} and len(members) > 1
    return is_form and isinstance(name, str) and (name in names or (is_answered and not names))


def _makes_calls(content: str, names: Collection[str]) -> bool:
    if any(tag in content for tag in CALL_TAGS):
        return any(tag in split_reasoning(content)[0] for tag in CALL_TAGS)
    calls = listed(split_reasoning(content)[0]) if content.rstrip().endswith("]") else []
    return bool(calls) and all(not names or call.name in names for call in calls)


def read_text_calls(record: Record, messages: list[Message], observed: list[str] | None = None) -> list[Message]:
    """Turn blocks in texts into calls and results, as a runner delivers them that runs the first block only."""
    types = iter(observed or ())
    for index, message in enumerate(messages):
        if message.role == "assistant":
            _read_assistant(record, index, message)
            if len(message.calls) > 1:
                detail = f"{len(message.calls)} call blocks in one message"
                record.findings.append(Finding("extra_calls_not_run", index, detail))
        elif message.role == "user" and index and messages[index - 1].role == "assistant":
            calls = messages[index - 1].calls
            _read_answer(message, index, calls, is_logged_result=next(types, None) == "tool" and bool(calls))
    return number(messages)


def _read_assistant(record: Record, index: int, message: Message, *, is_listed: bool = False) -> None:
    _read_thought(record, index, message)
    calls = listed(message.content) if is_listed else []
    if calls:
        message.content = ""
        findings: list[Finding] = []
    else:
        message.content, calls, findings = split_calls(message.content, index)
    if any(call.name is None and call.arguments is None for call in calls):
        record.is_plain = False  # a block of which nothing was kept
    record.findings.extend(findings)
    message.calls = [*message.calls, *calls]
    if message.calls and message.reasoning and "<tool_call>" in message.reasoning:
        record.findings.append(hidden_call(index))


def _read_thought(record: Record, index: int, message: Message) -> None:
    message.content, thought, is_closed = split_reasoning(message.content)
    if thought is None:
        return
    record.findings.append(Finding("reasoning_in_content", index, "a <think> block in the content"))
    message.reasoning = thought if message.reasoning is None else f"{message.reasoning}\n{thought}"
    if not is_closed:
        record.findings.append(Finding("unclosed_block", index, "a <think> block without its closing tag"))


def _read_answer(message: Message, index: int, calls: list[Call], *, is_logged_result: bool) -> None:
    """A user message that carries results: one for each call in order, or one for the first call, the only one run."""
    texts = responses(message.content) or ([message.content] if is_logged_result else [])
    if not texts:
        return
    message.role, message.content = "tool", "\n".join(texts)
    if len(calls) > 1 and len(texts) in (1, len(calls)):
        for call, text in zip(calls, texts, strict=False):
            call.result_message, call.result_text = index, text
