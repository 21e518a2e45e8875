"""A replayed result beside the recorded one: reproduced, differing, or not to be told, and in which way.

Texts of two plays, at different clocks and seeds, show which words of a result are ids, times or chance: there the
recorded words may be others, and an id that is recorded under one word must stay under it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from analysis.records.jsontext import loads
from analysis.records.outcome import judge

Judged = Literal["reproduced", "differing", "untold"]

_WORD = re.compile(r"[\w\-:.+@#/]+|\s+|.", re.DOTALL)
_EDGES = ".,:;/"
_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")
# A class's name stands before a method's in CPython's messages, and not in the sandbox's.
_QUALIFIED = re.compile(r"\b[A-Za-z_]\w*\.(?=\w+\(\) )")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{1,2}:\d{2}.*|\d+(?:\.\d+)?")
# What the sandbox says of Python that it does not have; an environment may pass it on as its own error.
_LACK = re.compile(
    r"not yet support|Permission denied: '|is not supported in this environment|Internal error in monty"
    r"|name '\w+' is not defined"
    r"|(?:type )?object '?[\w.]+'? has no attribute|'[\w.]+' object has no attribute|cannot import name|No module named"
)
LONGEST_LITERAL = 200_000
# Shorter words, and those without a digit, are chance rather than ids: nothing later carries them.
SHORTEST_ID = 4


class Answer(NamedTuple):
    """What a call came to in the sandbox: `returned` with its text, `raised` with name and message, or `absent`."""

    how: str
    name: str
    text: str


class Verdict(NamedTuple):
    """What became of a call, and the kind of agreement or difference."""

    judged: Judged
    kind: str


@dataclass
class Names:
    """Recorded words -> those of each play, for ids and times that every run makes anew."""

    plays: list[dict[str, str]] = field(default_factory=lambda: [{}, {}])

    def translate(self, value: Any, play: int) -> Any:
        """A call's arguments in the words of a play."""
        words = self.plays[play]
        if not words or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return words.get(value) or "".join(words.get(word, word) for word in _WORD.findall(value))
        if isinstance(value, int):
            own = words.get(str(value), "")
            return int(own) if own.isdecimal() else value
        if isinstance(value, list):
            return [self.translate(item, play) for item in value]
        if isinstance(value, dict):
            return {self.translate(key, play): self.translate(item, play) for key, item in value.items()}
        return value

    def learn(self, recorded: str, own: list[str]) -> bool:
        """Take a recorded word for the plays' own, where it may be an id; False where it breaks what was learnt."""
        word = recorded.strip(_EDGES)
        if len(word) < SHORTEST_ID or not any(character.isdigit() for character in word):
            return True
        is_consistent = True
        for words, text in zip(self.plays, own, strict=True):
            mine = text.strip(_EDGES)
            is_known = words.setdefault(word, mine) == mine and list(words.values()).count(mine) == 1
            is_consistent = is_consistent and (is_known or bool(_TIME.fullmatch(word)))
        return is_consistent


def verdict(recorded: str | None, outcome: str, answers: list[Answer], names: Names, *, has_sets: bool) -> Verdict:
    """Judge a call.

    Args:
        recorded: the result's text; None where the record has none.
        outcome: what the record says of the call.
        answers: what the plays came to, one or two.
        names: words learned so far; learns.
        has_sets: the environment lists sets, whose order is chance.
    """
    if recorded is None:
        return Verdict("untold", "no result")
    first = answers[0]
    if first.how == "absent":
        return Verdict("reproduced", "refused") if outcome == "error" else Verdict("differing", "no such tool")
    if first.how == "raised":
        return _raised(recorded, outcome, first)
    return (
        _agreement(first.text, recorded)
        or (_by_two(recorded, answers, names) if len(answers) > 1 else None)
        or _doubt(first.text, recorded, has_sets=has_sets)
        or Verdict("differing", "outcome" if judge(first.text)[0] != outcome else "content")
    )


def _agreement(text: str, recorded: str) -> Verdict | None:
    if text.strip() == recorded.strip():
        return Verdict("reproduced", "text")
    return Verdict("reproduced", "value") if _is_same_value(text, recorded) else None


def _doubt(text: str, recorded: str, *, has_sets: bool) -> Verdict | None:
    """Why a difference may be none of the record's."""
    if _lacks(text, recorded):
        return Verdict("untold", "sandbox")
    is_reordered = has_sets and sorted(_WORD.findall(text)) == sorted(_WORD.findall(recorded))
    return Verdict("untold", "order") if is_reordered else None


def masked(first: str, second: str) -> str:
    """A text without what two plays have different; the text itself where they do not align."""
    mine, other = _WORD.findall(first), _WORD.findall(second)
    if len(mine) != len(other):
        return first
    return "".join(a if a == b else "\x00" for a, b in zip(mine, other, strict=True))


def _raised(recorded: str, outcome: str, answer: Answer) -> Verdict:
    message = _QUALIFIED.sub("", answer.text)
    if message and message in _QUALIFIED.sub("", recorded):
        return Verdict("reproduced", "exception")
    if _lacks(f"{answer.name}: {answer.text}", recorded):
        return Verdict("untold", "sandbox")
    if outcome == "error":
        return Verdict("untold", "exception")
    return Verdict("differing", "exception")


def _by_two(recorded: str, answers: list[Answer], names: Names) -> Verdict | None:
    """By the words that two plays have different; None where they have none, or the rest differs."""
    first, second = (_WORD.findall(answer.text) for answer in answers)
    if answers[0].text == answers[1].text:
        return None
    if len(first) != len(second):
        return Verdict("untold", "clock or chance")
    words = _WORD.findall(recorded)
    if len(words) != len(first) or any(w != a for w, a, b in zip(words, first, second, strict=True) if a == b):
        return None
    differing = [(w, [a, b]) for w, a, b in zip(words, first, second, strict=True) if a != b]
    is_one = all([names.learn(word, own) for word, own in differing])  # noqa: C419  all of them are learnt
    return Verdict("reproduced", "ids and times") if is_one else Verdict("differing", "ids")


def _is_same_value(text: str, recorded: str) -> bool:
    if _ADDRESS.sub("0x", text) == _ADDRESS.sub("0x", recorded):
        return True
    if max(len(text), len(recorded)) > LONGEST_LITERAL:
        return False
    mine, theirs = _value(text), _value(recorded)
    return mine is not _NONE and theirs is not _NONE and _is_equal(mine, theirs)


_NONE = object()


def _value(text: str) -> Any:
    """The value that a repr or a JSON text stands for; `_NONE` where it is neither. Nothing is evaluated."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        pass
    try:
        return loads(text)[0]
    except ValueError:
        return _NONE


def _is_equal(mine: Any, theirs: Any) -> bool:
    """Equal, and of equal types: 1 is not True, 1.0 is not 1."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(_is_equal(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, list | tuple) and type(mine) is type(theirs):
        return len(mine) == len(theirs) and all(map(_is_equal, mine, theirs))
    return type(mine) is type(theirs) and bool(mine == theirs)


def _lacks(text: str, recorded: str) -> bool:
    return any(lack not in recorded for lack in _lacking(text))


def _lacking(text: str) -> Iterator[str]:
    return (found.group() for found in _LACK.finditer(text))
