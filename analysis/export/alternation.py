"""User and assistant by turns, as LlamaFactory's formats need them: what the assistant gives at once is one message."""

from collections import Counter

from analysis.records.model import Message, Trajectory


def in_turns(trajectory: Trajectory, changes: Counter[str], masked: set[int] | None = None) -> list[Message]:
    """The messages, where one of the assistant that only makes calls joins the one of the assistant before it.

    Some dialects write parallel calls, or a text and its call, as messages in a row. Results stand in the order of
    their calls: the formats pair by position alone.

    Args:
        trajectory: the record.
        changes: counts what joins.
        masked: messages, by their identity, from which nothing shall be learned: one that joins takes its mask along
            where both have one, and is learned from where one has not.
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
            joined = Message("assistant", before.content, before.reasoning, [*before.calls, *message.calls])
            messages[-1] = joined
            _mask(joined, before, message, masked, changes)
            changes["calls in a message of their own, written in the one before it"] += len(message.calls)
        else:
            messages.append(message)
    return messages + _in_order(results)


def _mask(joined: Message, before: Message, message: Message, masked: set[int] | None, changes: Counter[str]) -> None:
    under = [id(one) in (masked or ()) for one in (before, message)]
    if masked is not None and all(under):
        masked.add(id(joined))
    elif any(under):
        changes["masked calls that became part of a message that is learned from"] += 1


def _joins(before: Message, message: Message) -> bool:
    is_calls_only = bool(message.calls) and not message.content and message.reasoning is None
    return is_calls_only and before.role == message.role == "assistant"


def _in_order(results: list[tuple[int, Message]]) -> list[Message]:
    return [message for _, message in sorted(results, key=lambda numbered: numbered[0])]
