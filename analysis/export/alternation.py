"""User and assistant by turns, as LlamaFactory's formats need them: what the assistant gives at once is one message."""

from collections import Counter

from analysis.records.model import Message, Trajectory


def in_turns(trajectory: Trajectory, changes: Counter[str]) -> list[Message]:
    """The messages, where one of the assistant that only makes calls joins the one of the assistant before it.

    Some dialects write parallel calls, or a text and its call, as messages in a row. Results stand in the order of
    their calls: the formats pair by position alone.
    """
    messages: list[Message] = []
    answered: dict[int, int] = {
        call.result_message: n for n, call in enumerate(trajectory.calls) if call.result_message
    }
    results: list[tuple[int, Message]] = []
    for index, message in enumerate(trajectory.messages):
        if message.role == "tool":
            results.append((answered.get(index, -1), message))
            continue
        messages += _in_order(results)
        results = []
        if messages and _joins(messages[-1], message):
            before = messages[-1]
            messages[-1] = Message("assistant", before.content, before.reasoning, [*before.calls, *message.calls])
            changes["calls in a message of their own, written in the one before it"] += len(message.calls)
        else:
            messages.append(message)
    return messages + _in_order(results)


def _joins(before: Message, message: Message) -> bool:
    is_calls_only = bool(message.calls) and not message.content and message.reasoning is None
    return is_calls_only and before.role == message.role == "assistant"


def _in_order(results: list[tuple[int, Message]]) -> list[Message]:
    return [message for _, message in sorted(results, key=lambda numbered: numbered[0])]
