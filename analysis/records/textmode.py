"""Conversations whose calls are text: blocks in the assistant's words become calls, answers to them results."""

from analysis.records.chat import number
from analysis.records.model import Call, Finding, Message
from analysis.records.record import Record
from analysis.records.text import responses, split_calls, split_reasoning


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
