"""How alike two tasks are by their words, and two tools by their names and parameters."""

import re
import unicodedata
from functools import lru_cache

import msgspec

SHINGLE_WORDS = 3
# Scripts without spaces have a word a sign.
_SIGNS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SIGNS}]|[^\W{_SIGNS}]+")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
# Marks the names of parameters, so that none is taken for a word of the tool's name.
_PARAMETER = "="


def words(text: str) -> list[str]:
    """The words of a text as tasks are compared by them: without case, punctuation and spacing.

    >>> words("Cancel order A-12, please!")
    ['cancel', 'order', 'a', '12', 'please']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=4096)
def task_shingles(name: str, text: str) -> frozenset[str]:
    """The distinct runs of three words of a task; a shorter one is one run."""
    said = words(text)
    last = max(len(said) - SHINGLE_WORDS + 1, 1)
    return frozenset(" ".join(said[start : start + SHINGLE_WORDS]) for start in range(last))


@lru_cache(maxsize=8192)
def tool_parts(name: str, text: str) -> frozenset[str]:
    """The words of a tool's name, and the names of its parameters."""
    try:
        read = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        read = None
    listed = read.get("properties") if isinstance(read, dict) else None
    given = (_PARAMETER + key for key in listed) if isinstance(listed, dict) else ()
    return frozenset([*(part.lower() for part in _NAME_PART.findall(name)), *given])


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared over all distinct ones; 0 for two empty sets."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0
