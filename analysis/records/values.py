"""Value flow: where the id-like arguments of calls stood before: the rows of `schema.VALUES`.

An argument value is id-like when it is

- a text or whole number under a name that is `id`, `ids` or ends in `_id`, `_ids`, `Id` or `Ids`, or
- a text of 3 to 64 characters without white space that holds a letter and a digit and is no date or time.

It is looked for, as a whole word, in the texts before the call. `source` is the kind of the text that held it first:
`result` (of an earlier call that did not itself carry the value), `user`, `system`; else `echo` (it stands in an
earlier result, but the agent had put it in), `task` (only the scenario's text holds it), `agent` (only arguments of an
earlier call hold it, or the error that rejected it) or `none`. Grounded is all but agent and none.

A value may stand in a text by chance. `swapped` looks in the same places for values that other runs of the environment
gave to the same argument: what is found of them is what a rate of grounded values has to be held against.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from analysis.records.model import Call, Message, Trajectory

# Part of the key under which derived tables are cached: raise it when the rows change.
VERSION = "2"
LONGEST_VALUE = 64
# Prime, so that values of a pool come up in turn.
_STRIDE = 7919
_ID_NAME = re.compile(r"(?:^|_)ids?$|[a-z\d]Ids?$|^ID$", re.ASCII)
_DATE_OR_TIME = re.compile(r"\d{4}-\d{1,2}(?:-\d{1,2})?(?:[T ].*)?|\d{1,2}:\d{2}(?::\d{2})?(?:[ap]m)?", re.I)
# Told from a word that merely holds it: u_1 does not stand in u_10, nor A-1 in A-1-2.
_BEFORE = re.compile(r"(?:(?<![\w\-])|(?<=\\[nrt]))")
_AFTER = re.compile(r"(?![\w]|-\w)")
# Each word of a value is a whole word of the text, or one behind the escape of a line break.
_WORD = re.compile(r"\w+")
_ESCAPED_WORD = re.compile(r"\\[nrt](\w+)")
# So many texts are looked through sooner than their words are noted.
FEW_TEXTS = 64

Row = tuple[str | None, str, int, str | None, str, str, str, str, int | None, int | None, int | None, int]
# Per environment and name of an argument: its values, and how many runs use each.
Pool = Mapping[tuple[str | None, str], Sequence[tuple[str, int]]]


def rows(trajectory: Trajectory) -> Iterator[Row]:
    """One row per id-like argument value, in the order of calls.

    Yields:
        (env_id, traj_type, call, tool_name, path, argument, value, source, source_call, distance, nearest_distance,
        chain).
    """
    calls = trajectory.calls
    flow = _Flow(trajectory, calls)
    chains: dict[int, int] = {}
    for number, call in enumerate(calls, start=1):
        values = id_like(call.arguments)
        found = [(path, name, value, *flow.source(value, call.message)) for path, name, value in values]
        sources = [origin for *_, origin in found if origin is not None]
        # A parallel call's result stands in the text only after all of its siblings: sources are always earlier.
        chains[number] = 1 + max((chains[origin] for origin in sources), default=0)
        for path, name, value, source, origin in found:
            distance = None if origin is None else number - origin
            nearest = None if distance is None else number - flow.nearest(value, number, call.message)
            yield (
                *(trajectory.env_id, trajectory.traj_type, number, call.name),
                *(path, name, value[:LONGEST_VALUE], source, origin, distance, nearest, chains[number]),
            )
        flow.used(number, [value for *_, value in values])


def swapped(trajectory: Trajectory, pool: Pool) -> Iterator[tuple[str | None, str, int, str, str, str, str]]:
    """One row per id-like argument value for which another run of the environment has one.

    Each value is taken for another one that another run gave to the argument of that name, and looked for where the
    value itself is: in the texts before the call.

    Yields:
        (env_id, traj_type, call, path, argument, value, source), the value and its source as of `rows`.
    """
    calls = trajectory.calls
    flow = _Flow(trajectory, calls)
    values = {number: id_like(call.arguments) for number, call in enumerate(calls, start=1)}
    own = {value for found in values.values() for *_, value in found}
    turn = 0
    for number, call in enumerate(calls, start=1):
        for path, name, value in values[number]:
            others = pool.get((trajectory.env_id, name), ())
            choice = [other for other, runs in others if other != value and (runs > 1 or other not in own)]
            if choice:
                turn += 1
                other = choice[turn * _STRIDE % len(choice)]
                source, _ = flow.source(other, call.message)
                yield trajectory.env_id, trajectory.traj_type, number, path, name, other, source
        flow.used(number, [value for *_, value in values[number]])


def id_like(arguments: str | None) -> list[tuple[str, str, str]]:
    """(path, last name, value as text) of the id-like values of an arguments text; none if it does not parse."""
    try:
        read = msgspec.json.decode(arguments or "null")
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return []
    return list(_walk(read, "", "")) if isinstance(read, dict) else []


class _Texts:
    """The texts that the agent hears, in which values are looked for: those of tools, users and the system.

    Of many texts each word's places are noted once: to look for every value in every text takes the square of their
    number.
    """

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.places = [place for place, message in enumerate(messages) if message.role in ("tool", "user", "system")]
        self.by_word: dict[str, list[int]] = {}
        for place in self.places if len(self.places) > FEW_TEXTS else ():
            text = messages[place].content
            for word in {*_WORD.findall(text), *_ESCAPED_WORD.findall(text)}:
                self.by_word.setdefault(word, []).append(place)

    def candidates(self, value: str) -> list[int]:
        """Places, in their order, outside of which the value does not stand."""
        words = _WORD.findall(value) if self.by_word else []
        return min((self.by_word.get(word, []) for word in words), key=len, default=self.places)


@dataclass
class _Search:
    """How far a value has been looked for, and what came of it."""

    candidates: list[int]
    done: int = 0
    first: tuple[str, int | None] | None = None
    echoed: int | None = None
    is_in_task: bool = False
    holds: dict[int, bool] = field(default_factory=dict)


class _Flow:
    """What stood where before; each distinct value is looked for once in each text."""

    def __init__(self, trajectory: Trajectory, calls: list[Call]) -> None:
        self.messages = trajectory.messages
        self.task = trajectory.task or ""
        self.answers = {c.result_message: n for n, c in enumerate(calls, start=1) if c.result_message is not None}
        self.refused = {n for n, c in enumerate(calls, start=1) if c.outcome == "error"}
        self.texts = _Texts(trajectory.messages)
        self.searches: dict[str, _Search] = {}
        self.first_use: dict[str, int] = {}
        self.carried: dict[int, frozenset[str]] = {}

    def used(self, number: int, values: list[str]) -> None:
        self.carried[number] = frozenset(values)
        for value in values:
            self.first_use.setdefault(value, number)

    def source(self, value: str, before: int) -> tuple[str, int | None]:
        """Kind of the first text before a message that holds the value, and the call it is the result of.

        Messages are asked about in their order.
        """
        search = self.searches.get(value)
        if search is None:
            search = _Search(self.texts.candidates(value), is_in_task=is_word_in(value, self.task))
            self.searches[value] = search
        self._advance(search, value, before)
        if search.first is not None:
            return search.first
        if search.echoed is not None:
            return "echo", search.echoed
        if search.is_in_task:
            return "task", None
        return ("agent" if value in self.first_use else "none"), None

    def _advance(self, search: _Search, value: str, before: int) -> None:
        while search.first is None and search.done < len(search.candidates):
            place = search.candidates[search.done]
            if place >= before:
                return
            search.done += 1
            if is_word_in(value, self.messages[place].content):
                self._note(search, value, place)

    def _note(self, search: _Search, value: str, place: int) -> None:
        role, answered = self.messages[place].role, self.answers.get(place)
        if role in ("user", "system"):
            search.first = role, None
        elif answered is None or value not in self.carried.get(answered, frozenset()):
            search.first = "result", answered
        elif answered not in self.refused:
            search.echoed = search.echoed or answered

    def nearest(self, value: str, number: int, before: int) -> int:
        """The last call before this one whose result holds the value; this call where no result does."""
        search = self.searches[value]
        for place in reversed(search.candidates[: bisect_left(search.candidates, before)]):
            if place not in search.holds:
                search.holds[place] = is_word_in(value, self.messages[place].content)
            if search.holds[place] and (call := self.answers.get(place)) is not None:
                return call
        return number


def is_word_in(value: str, text: str) -> bool:
    """The value stands in the text, and not as part of a longer word."""
    # The plain search comes first: it is ten times as fast, and fails nearly always.
    place = text.find(value)
    while place >= 0:
        if _BEFORE.match(text, place) and _AFTER.match(text, place + len(value)):
            return True
        place = text.find(value, place + 1)
    return False


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
