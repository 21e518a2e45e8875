"""A plain reading of raw records, independent of the project's decoder: what second opinions are computed from."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from analysis.sample import DEFAULT, records


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
