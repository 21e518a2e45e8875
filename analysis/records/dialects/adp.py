"""The standard form of the agent data protocol: `content` is actions and observations, each with its `class_`.

An `api_action` calls its `function`; a `code_action` calls its language, with the code as the one argument. The first
observation of the environment behind a call answers it.
"""

from typing import Any

from analysis.canonical import canonical
from analysis.records import facts
from analysis.records.chat import number
from analysis.records.conversation import finish
from analysis.records.dialects.dialect import Dialect
from analysis.records.jsontext import as_written
from analysis.records.members import flagged_list, flagged_members, list_of, members_of, raw_of, value_of
from analysis.records.model import Call, Message, Trajectory
from analysis.records.record import Record

NAME = "adp"
ACTIONS = frozenset({"api_action", "code_action", "message_action"})
OBSERVATIONS = frozenset({"text_observation", "web_observation", "image_observation"})


def matches(record: Record) -> bool:
    items = list_of(record.raw("content")) if "content" in record else None
    return any(str(value_of(members_of(item), ("class_",))) in ACTIONS | OBSERVATIONS for item in (items or ())[:1])


def read(record: Record) -> Trajectory:
    messages: list[Message] = []
    for place, raw in enumerate(flagged_list(record, "content", record.inner("content"))):
        item = flagged_members(record, f"content[{place}]", raw, place)
        held = {key: value_of(item, (key,)) for key in item}
        messages.append(
            _action(held, raw_of(item, ("kwargs",))) if str(held.get("class_")) in ACTIONS else _observation(held)
        )
    return finish(record, NAME, number(messages))


def _action(held: dict[str, Any], kwargs: bytes) -> Message:
    kind, text = str(held["class_"]), _text(held.get("description"))
    if kind == "message_action":
        thought = _text(held.get("description")) or None
        return Message("assistant", _text(held.get("content")), thought, delivered_as=kind)
    if kind == "code_action":
        name, arguments = _text(held.get("language")), as_written({"code": _text(held.get("content"))})
    else:
        name, arguments = _text(held.get("function")), kwargs.decode("utf-8", "replace")
    return Message("assistant", text, calls=[Call(name or None, arguments, "object")], delivered_as=kind)


def _observation(held: dict[str, Any]) -> Message:
    source, kind = held.get("source"), str(held.get("class_"))
    if kind == "web_observation":
        keys = ("url", "axtree", "html", "viewport_size")
        text = "\n".join(str(held[key]) for key in keys if held.get(key))
    else:
        text = held["content"] if isinstance(held.get("content"), str) else canonical(held.get("content") or "")
    if source in ("user", "system"):
        return Message("user" if source == "user" else "system", text, delivered_as=kind)
    return Message("assistant" if source == "agent" else "tool", text, delivered_as=kind)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


DIALECT = Dialect(
    names=(NAME,),
    origin="agent-data-protocol, standard form",
    mark="`content` of actions and observations with `class_`",
    needs=("content",),
    example='{"id": "a", "content": [{"class_": "text_observation", "content": "Go.", "source": "user"}, {"class_": '
    '"api_action", "function": "f", "kwargs": {}, "description": null}, '
    '{"class_": "text_observation", "content": "ok", "source": "environment"}], "details": {}}',
    keys=facts.KEYS | {"content", "details"},
    bodies=frozenset({"content"}),
    matches=matches,
    read=read,
)
