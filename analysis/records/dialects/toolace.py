"""ToolACE: calls as text, `[name(argument="value"), …]`, and the results of all of them as one list of objects.

The tools stand in the system's text. The list of results answers the calls in their order, as far as it goes.
"""

import msgspec

from analysis.records import facts
from analysis.records.chat import number
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.members import list_of, members_of, raw_of, value_of
from analysis.records.model import Call, Message, ResultFacts, Trajectory
from analysis.records.parts import flat_text
from analysis.records.record import Record
from analysis.records.shape import shape_of

NAME = "toolace"
_TEXTS = ("results", "result", "content", "response", "output")


def matches(record: Record) -> bool:
    return shape_of(record).has_lists


def read(record: Record) -> Trajectory:
    return finish(record, NAME, read_words(record, shape_of(record).member), arrange=_arrange)


def _arrange(messages: list[Message]) -> list[Message]:
    apart = number([part for message in messages for part in _apart(message)])
    calls: list[Call] = []
    for index, message in enumerate(apart):
        if message.role == "assistant":
            calls = list(message.calls)
        elif message.role == "tool" and calls and _is_of(message, calls[0]):
            calls.pop(0).result_message = index
    return apart


def _apart(message: Message) -> list[Message]:
    """Each result of a list as a message; any other message as it is."""
    content = message.content.strip().encode("utf-8", "replace") if message.role == "tool" else b""
    items = list_of(b"[%s]" % content if content.startswith(b"{") else content)
    results = [members_of(item) for item in items or ()]
    if not results or not all("name" in result and raw_of(result, _TEXTS) != b"null" for result in results):
        return [message]
    return [
        msgspec.structs.replace(
            message, content=flat_text(raw_of(result, _TEXTS)), facts=ResultFacts(str(value_of(result, ("name",))))
        )
        for result in results
    ]


def _is_of(message: Message, call: Call) -> bool:
    return message.facts is None or not message.facts.name or message.facts.name == call.name


DIALECT = Dialect(
    names=(NAME,),
    origin="ToolACE",
    mark='texts of the assistant that are `[name(argument="value"), …]`',
    needs=("conversations", "system"),
    example='{"system": "…", "conversations": [{"from": "user", "value": "Go."}, {"from": "assistant", '
    '"value": "[f(a=1)]"}, {"from": "tool", "value": "[{\\"name\\": \\"f\\", \\"results\\": {\\"ok\\": 1}}]"}]}',
    keys=facts.KEYS | {"conversations", "messages", "system"},
    bodies=frozenset({"conversations", "messages", "system"}),
    matches=matches,
    read=read,
)
