"""A conversation in any words -> a Trajectory: what the dialects without a place for an environment share."""

from collections.abc import Callable, Mapping

from analysis.records.assemble import assemble
from analysis.records.chat import number, read_items, read_messages
from analysis.records.facts import ENV_IDS, SYSTEMS, TASK_IDS, first_id, rewards, task_of, tools_text
from analysis.records.members import NULL, members_of, raw_of
from analysis.records.model import Message, Role, Trajectory
from analysis.records.record import Record
from analysis.records.roles import ALL_WORDS
from analysis.records.text import declared_tools, listed_tools
from analysis.records.textmode import read_blocks
from analysis.records.toolsets import toolset


def read_words(record: Record, key: str = "messages", own: Mapping[str, Role] = ALL_WORDS) -> list[Message]:
    """The messages of a member as they stand, with the record's own `system` text in front where it has one."""
    return number([*system_text(record), *read_messages(record, key, own)])


def system_text(record: Record) -> list[Message]:
    """The record's `system` text as a message; none where it has no such text."""
    key = next((key for key in SYSTEMS if key in record), "")
    if not key:
        return []
    raw = record.raw(key)
    held = raw_of(members_of(raw), ("parts",)) if raw.startswith(b"{") else NULL
    item = _as_item(raw if held == NULL else held)
    return [m for m in read_items(record, key, [item], ALL_WORDS) if m.content]


def finish(
    record: Record,
    dialect: str,
    messages: list[Message],
    *,
    tools: str = "[]",
    task_id: str | None = None,
    arrange: Callable[[list[Message]], list[Message]] = number,
) -> Trajectory:
    """Read calls and results out of the texts, name what is named, pair and check.

    Args:
        tools: JSON text of the tools declared where no usual member holds them.
        task_id: the scenario, where it is not under a usual name.
        arrange: what the dialect does to the messages when their calls and results are read.
    """
    declared = _declared(record, messages, tools)
    messages = arrange(read_blocks(record, messages, toolset(declared)))
    trajectory = assemble(
        record,
        dialect,
        messages,
        tools=declared,
        env_id=first_id(record, ENV_IDS),
        task_id=task_id or first_id(record, TASK_IDS),
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
