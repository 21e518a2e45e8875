"""A conversation in any words -> a Trajectory: what the dialects without a place for an environment share."""

from collections.abc import Mapping

from analysis.records.assemble import assemble
from analysis.records.chat import number, read_items, read_messages
from analysis.records.facts import ENV_IDS, TASK_IDS, first_id, rewards, task_of, tools_text
from analysis.records.members import list_of
from analysis.records.model import Message, Role, Trajectory
from analysis.records.record import Record
from analysis.records.roles import ALL_WORDS
from analysis.records.text import declared_tools, listed_tools
from analysis.records.textmode import read_blocks
from analysis.records.toolsets import toolset

# The members under which people keep a conversation, in the order in which they are looked at.
CONVERSATIONS = ("messages", "conversations", "conversation", "traj", "history", "trajectory", "turns", "dialogue")


def conversation_of(record: Record) -> str | None:
    """The member that holds the conversation: the first that is a list of objects, else the first that is there."""
    there = [key for key in CONVERSATIONS if key in record]
    for key in there:
        items = list_of(_bytes(record.inner(key))) or ()
        if any(item.startswith(b"{") for item in items):
            return key
    return there[0] if there else None


def read_words(record: Record, key: str = "messages", own: Mapping[str, Role] = ALL_WORDS) -> list[Message]:
    """The messages of a member as they stand, with the record's own `system` text in front where it has one."""
    return number([*system_text(record), *read_messages(record, key, own)])


def system_text(record: Record) -> list[Message]:
    """The record's `system` text as a message; none where it has no such text."""
    if "system" not in record:
        return []
    return [m for m in read_items(record, "system", [_as_item(record.raw("system"))], ALL_WORDS) if m.content]


def finish(
    record: Record, dialect: str, messages: list[Message], *, tools: str = "[]", env_id: str | None = None
) -> Trajectory:
    """Read calls and results out of the texts, name what is named, pair and check.

    Args:
        tools: JSON text of the tools declared where no usual member holds them.
    """
    declared = _declared(record, messages, tools)
    names = toolset(declared).names
    messages = read_blocks(record, messages, names)
    trajectory = assemble(
        record,
        dialect,
        messages,
        tools=declared,
        env_id=env_id or first_id(record, ENV_IDS),
        task_id=first_id(record, TASK_IDS),
        task=task_of(record),
        has_environments=False,
    )
    rewards(record, trajectory)
    return trajectory


def _declared(record: Record, messages: list[Message], tools: str) -> str:
    """The tools of the record's members, else those that its system text lists."""
    text = tools_text(record)
    if text != "[]" or tools != "[]":
        return text if text != "[]" else tools
    system = next((message.content for message in messages if message.role == "system"), "")
    return declared_tools(system) or (listed_tools(system) if "[" in system else None) or "[]"


def _as_item(raw: bytes) -> bytes:
    return b'{"role":"system","content":%s}' % raw


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "replace") if isinstance(text, str) else text
