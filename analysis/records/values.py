"""Value flow: where the id-like arguments of calls stood before: the rows of `schema.VALUES`.

An argument value is id-like when it is

- a text or whole number under a name that is `id`, `ids` or ends in `_id`, `_ids`, `Id` or `Ids`, or
- a text of 3 to 64 characters without white space that holds a letter and a digit and is no date or time.

It is looked for, as a whole word, in the texts before the call. `source` is the kind of the text that held it first:
`result` (of an earlier call that did not itself carry the value), `user`, `system`; else `echo` (it stands in an
earlier result, but the agent had put it in), `task` (only the scenario's text holds it), `agent` (only arguments of an
earlier call hold it) or `none`. Grounded is all but agent and none.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from analysis.records.model import Call, Message, Trajectory

# Part of the key under which derived tables are cached: raise it when the rows change.
VERSION = "1"
LONGEST_VALUE = 64
_ID_NAME = re.compile(r"(?:^|_)ids?$|[a-z\d]Ids?$|^ID$", re.ASCII)
_DATE_OR_TIME = re.compile(r"\d{4}-\d{1,2}(?:-\d{1,2})?(?:[T ].*)?|\d{1,2}:\d{2}(?::\d{2})?(?:[ap]m)?", re.I)
# Told from a word that merely holds it: u_1 does not stand in u_10, nor A-1 in A-1-2.
_BEFORE = r"(?:(?<![\w\-])|(?<=\\[nrt]))"
_AFTER = r"(?![\w]|-\w)"

Row = tuple[str | None, str, int, str | None, str, str, str, str, int | None, int | None, int]


def rows(trajectory: Trajectory) -> Iterator[Row]:
    """One row per id-like argument value, in the order of calls.

    Yields:
        (env_id, traj_type, call, tool_name, path, argument, value, source, source_call, distance, chain).
    """
    calls = trajectory.calls
    flow = _Flow(trajectory, calls)
    chains: dict[int, int] = {}
    for number, call in enumerate(calls, start=1):
        values = id_like(call.arguments)
        found = [(path, name, value, *flow.source(value, number, call.message)) for path, name, value in values]
        sources = [origin for *_, origin in found if origin is not None]
        # A parallel call's result stands in the text only after all of its siblings: sources are always earlier.
        chains[number] = 1 + max((chains[origin] for origin in sources), default=0)
        for path, name, value, source, origin in found:
            distance = None if origin is None else number - origin
            yield (
                *(trajectory.env_id, trajectory.traj_type, number, call.name),
                *(path, name, value[:LONGEST_VALUE], source, origin, distance, chains[number]),
            )
        flow.used(number, [value for *_, value in values])


def id_like(arguments: str | None) -> list[tuple[str, str, str]]:
    """(path, last name, value as text) of the id-like values of an arguments text; none if it does not parse."""
    try:
        read = msgspec.json.decode(arguments or "null")
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return []
    return list(_walk(read, "", "")) if isinstance(read, dict) else []


class _Flow:
    """What stood where before; each distinct value is looked for once in each text."""

    def __init__(self, trajectory: Trajectory, calls: list[Call]) -> None:
        self.messages = trajectory.messages
        self.task = trajectory.task or ""
        self.answers = {c.result_message: n for n, c in enumerate(calls, start=1) if c.result_message is not None}
        self.positions: dict[str, list[int]] = {}
        self.searched: dict[str, int] = {}
        self.first_use: dict[str, int] = {}
        self.carried: dict[int, frozenset[str]] = {}

    def used(self, number: int, values: list[str]) -> None:
        self.carried[number] = frozenset(values)
        for value in values:
            self.first_use.setdefault(value, number)

    def source(self, value: str, number: int, before: int) -> tuple[str, int | None]:
        """Kind of the first text that holds the value, and the call it is the result of."""
        echoed: int | None = None
        for position in self._found(value, before):
            role = self.messages[position].role
            if role in ("user", "system"):
                return role, None
            answered = self.answers.get(position)
            if answered is None or value not in self.carried.get(answered, frozenset()):
                return "result", answered
            echoed = echoed or answered
        if echoed is not None:
            return "echo", echoed
        if is_word_in(value, self.task):
            return "task", None
        return ("agent" if value in self.first_use else "none"), None

    def _found(self, value: str, before: int) -> list[int]:
        """Positions of the texts before a message that hold the value; what the agent says itself does not count."""
        found = self.positions.setdefault(value, [])
        for position in range(self.searched.get(value, 0), before):
            if _is_heard(self.messages[position]) and is_word_in(value, self.messages[position].content):
                found.append(position)
        self.searched[value] = max(before, self.searched.get(value, 0))
        return [position for position in found if position < before]


def is_word_in(value: str, text: str) -> bool:
    """The value stands in the text, and not as part of a longer word."""
    # The plain search comes first: it is ten times as fast, and fails nearly always.
    return value in text and re.search(_BEFORE + re.escape(value) + _AFTER, text) is not None


def _is_heard(message: Message) -> bool:
    return message.role in ("tool", "user", "system")


def _walk(value: Any, path: str, name: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, f"{path}/{key}", key)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _walk(inner, f"{path}/{place}", name)
    elif _is_id_like(value, name):
        yield path, name, str(value)


def _is_id_like(value: Any, name: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    if _ID_NAME.search(name):
        return str(value) != ""
    if isinstance(value, int) or not 3 <= len(value) <= LONGEST_VALUE:
        return False
    has_both = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return has_both and not any(c.isspace() for c in value) and not _DATE_OR_TIME.fullmatch(value)
