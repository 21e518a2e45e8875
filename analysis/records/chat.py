"""A list of chat messages in the OpenAI shape and its kin -> Messages.

Two readers with one result: a typed one for what nearly every record is, and a patient one for parts lists, legacy
`function_call`, arguments as objects, foreign roles and keys. A property test holds them equal where both can read.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from analysis.records.items import read_item
from analysis.records.jsontext import unescaped
from analysis.records.members import flagged_list
from analysis.records.model import Call, Message, ResultFacts, Role
from analysis.records.record import Record
from analysis.records.roles import ROLES


class _Function(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    name: Annotated[str, msgspec.Meta(min_length=1)]  # a call that names no tool is a finding: the patient one's work
    arguments: str


class _Call(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    function: _Function
    id: str | None = None
    type: str | None = None


class _Message(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    name: str | None = None


_CALL_OF_ANOTHER = msgspec.ValidationError("a call of somebody who is not the assistant")
_TYPED = msgspec.json.Decoder(list[_Message])
# One list for all messages without a call. Nobody adds to a message's calls: who has more makes a new list.
_NO_CALLS: list[Call] = []


def read_messages(record: Record, key: str = "messages", own: Mapping[str, Role] = ROLES) -> list[Message]:
    """Read the messages of a record; `own` are the roles of its dialect, no others are legal.

    Raises:
        UnreadableError: they are not a list of objects.
    """
    messages = record.memo[key] if key in record.memo else typed(record, key)
    if messages is not None:
        record.is_plain = True
        return messages
    return read_items(record, key, flagged_list(record, key, record.inner(key)), own)


def typed(record: Record, key: str) -> list[Message] | None:
    """The messages, if they are what nearly all are; None where it takes the patient reader."""
    try:
        return _messages(_TYPED.decode(unescaped(record.fields.get(key, b""))))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    try:
        return _messages(_TYPED.decode(record.inner(key)))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def read_items(record: Record, key: str, items: list[bytes], own: Mapping[str, Role] = ROLES) -> list[Message]:
    """The patient way: each message by itself, in the words of any dialect."""
    messages: list[Message] = []
    for item in items:
        messages.extend(read_item(record, key, len(messages), item, own))
    return number(messages)


def number(messages: list[Message]) -> list[Message]:
    """Give every message its step and every call its message and step."""
    step = 0
    for index, message in enumerate(messages):
        step += message.role == "assistant"
        message.step = step
        for call in message.calls:
            call.message, call.step = index, step
    return messages


def _messages(typed: list[_Message]) -> list[Message]:
    messages = []
    step = 0
    for index, held in enumerate(typed):
        role = held.role
        if role == "assistant":
            step += 1
        calls = _NO_CALLS
        if held.tool_calls:
            if role != "assistant":
                raise _CALL_OF_ANOTHER
            calls = []
            for call in held.tool_calls:
                function = call.function
                calls.append(Call(function.name, function.arguments, "string", call.id or "", index, step))
        message = Message(role, held.content or "", held.reasoning_content, calls, held.tool_call_id or "", role, step)
        if held.name:
            message.facts = ResultFacts(held.name)
        messages.append(message)
    return messages
