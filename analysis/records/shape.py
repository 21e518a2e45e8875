"""What the messages of a record look like, seen once: by this its dialect is known."""

from typing import Any, NamedTuple

from analysis.records.chat import typed
from analysis.records.jsontext import loads
from analysis.records.record import Record
from analysis.records.syntaxes import is_listed
from analysis.records.text import CALL_TAGS

# The members under which people keep a conversation, in the order in which they are looked at.
CONVERSATIONS = (
    *("messages", "conversations", "conversation", "traj", "history", "trajectory", "turns", "dialogue"),
    *("chat", "dialog", "contents"),
)
_SPEAKERS = ("role", "from", "speaker")
_MEMO = "what the messages look like"


class Shape(NamedTuple):
    """The messages' words. A member that is null counts as absent: readers of columns fill them in.

    `member` holds the messages, "" where none does; `roles` are who speaks, `types` the types of items that nobody
    speaks, `keys` the members of a message, `parts` the types of the parts of a content and `part_keys` their members,
    `calls` the members of the entries of `tool_calls`. `has_tags` and `has_lists`: some text of the assistant holds
    calls in tags, or is `[name(…)]`.
    """

    member: str = ""
    roles: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    part_keys: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    has_tags: bool = False
    has_lists: bool = False


def shape_of(record: Record) -> Shape:
    """The shape of a record's messages."""
    if _MEMO not in record.memo:
        record.memo[_MEMO] = _shape(record)
    shape: Shape = record.memo[_MEMO]
    return shape


def _shape(record: Record) -> Shape:
    there = [key for key in CONVERSATIONS if record.has(key)]
    for key in there:
        messages = typed(record, key)
        if messages:
            record.memo[key] = messages
            texts = [message.content for message in messages if message.role == "assistant"]
            roles = frozenset(message.role for message in messages)
            return Shape(key, roles, has_tags=_has_tags(texts), has_lists=any(map(is_listed, texts)))
        items = _items(record, key)
        if items:
            return _of_items(key, items)
    return Shape(there[0]) if there else Shape()


def _items(record: Record, key: str) -> list[dict[str, Any]]:
    try:
        value = loads(record.inner(key))[0]
    except ValueError:
        return []
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _of_items(key: str, items: list[dict[str, Any]]) -> Shape:
    roles = [_speaker(item) for item in items]
    contents = [item.get("content", item.get("value")) for item in items]
    parts = [part for held in contents if isinstance(held, list) for part in held if isinstance(part, dict)]
    calls = [call for item in items for call in _list(item.get("tool_calls")) if isinstance(call, dict)]
    texts = [held for role, held in zip(roles, contents, strict=True) if role in _AGENTS and isinstance(held, str)]
    return Shape(
        key,
        frozenset(role for role in roles if role),
        frozenset(str(item.get("type")) for role, item in zip(roles, items, strict=True) if not role),
        _keys(items),
        frozenset(str(part.get("type", "text")) for part in parts),
        _keys(parts),
        _keys(calls),
        _has_tags(texts),
        any(map(is_listed, texts)),
    )


_AGENTS = ("assistant", "gpt", "model", "ai", "agent")


def _speaker(item: dict[str, Any]) -> str:
    return next((held for name in _SPEAKERS if isinstance(held := item.get(name), str)), "")


def _keys(items: list[dict[str, Any]]) -> frozenset[str]:
    return frozenset(key for item in items for key, held in item.items() if held is not None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _has_tags(texts: list[str]) -> bool:
    return any("<" in text and any(tag in text for tag in CALL_TAGS) for text in texts)
