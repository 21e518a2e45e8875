"""A plain reading of raw records, independent of the project's decoder: what second opinions are computed from."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from analysis.sample import DEFAULT, records
from analysis.tables import Tables

Key = tuple[str, str]


class Raw(NamedTuple):
    """One record of the release's shape, its inner JSON read."""

    traj_type: str
    env_id: str
    task_id: str
    task: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]

    @property
    def assistant(self) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["role"] == "assistant"]

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [
            (call["function"]["name"], call["function"]["arguments"])
            for message in self.messages
            for call in message.get("tool_calls") or ()
        ]

    @property
    def offered(self) -> set[str]:
        return {tool["function"]["name"] for tool in self.tools}

    @property
    def lengths(self) -> dict[str, int]:
        return {
            "steps": len(self.assistant),
            "tool calls": len(self.calls),
            "user messages": sum(message["role"] == "user" for message in self.messages),
        }


# A source as the project decodes it, and its raw records read plainly: the fixture `source`.
Source = tuple[Tables, list[Raw]]


def read(record: dict[str, Any]) -> Raw:
    info = record["task_info"]
    return Raw(
        record["traj_type"],
        info["env_id"],
        str(info["task_id"]),
        info["task"],
        json.loads(record["messages"]),
        json.loads(record["tools"]),
    )


def sample() -> Iterator[Raw]:
    """The bundled sample."""
    yield from map(read, records(**DEFAULT))


def file(path: Path) -> Iterator[Raw]:
    """A file that holds one array of records of the release's shape."""
    yield from map(read, json.loads(path.read_text(encoding="utf-8")))


def modes(raw: list[Raw]) -> dict[str, list[Raw]]:
    """The records of each mode."""
    grouped = defaultdict(list)
    for record in raw:
        grouped[record.traj_type].append(record)
    return dict(sorted(grouped.items()))


def usage(raw: list[Raw]) -> dict[Key, tuple[int, int, int]]:
    """Calls, trajectories offered the tool, and those of them that call it, per environment and tool."""
    calls: Counter[Key] = Counter()
    offering: Counter[Key] = Counter()
    calling: Counter[Key] = Counter()
    for record in raw:
        names = {name for name, _ in record.calls}
        calls.update((record.env_id, name) for name, _ in record.calls)
        offering.update((record.env_id, name) for name in record.offered)
        calling.update((record.env_id, name) for name in names & record.offered)
    return {key: (calls[key], offering[key], calling[key]) for key in {*calls, *offering}}
