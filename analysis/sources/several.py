"""Several sources as one: a JSON list of their names, which is a source's name itself.

So a list can be a notebook's parameter, stand on the command line, and be kept in a subset's file.
"""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePath


def joined(names: Iterable[str]) -> str:
    """One name for several.

    >>> joined(["day1.jsonl", "day 2.jsonl"])
    '["day1.jsonl", "day 2.jsonl"]'
    """
    return json.dumps(list(names), ensure_ascii=False)


def apart(source: str) -> list[str]:
    """The names that one name stands for; none when it is the name of one source, such as `run[1]`.

    >>> apart('["day1.jsonl", "day 2.jsonl"]')
    ['day1.jsonl', 'day 2.jsonl']
    >>> apart("[1]"), apart("run[1]")
    ([], [])
    """
    if source.startswith("["):
        with suppress(ValueError, RecursionError):
            names = json.loads(source)
            if names and all(isinstance(name, str) for name in names):
                return list(names)
    return []


def distinct(paths: list[str], names: list[str]) -> list[str]:
    """Names under which files of several sources can be told apart: longer where the short ones are alike.

    >>> distinct(["/runs/a/out.jsonl", "/runs/b/out.jsonl", "/more.jsonl"], ["out.jsonl", "out.jsonl", "more.jsonl"])
    ['a/out.jsonl', 'b/out.jsonl', 'more.jsonl']
    """
    parts = [PurePath(path).parts for path in paths]
    lengths = [len(PurePath(name).parts) for name in names]
    longer = list(names)
    while alike := {name for name, times in Counter(longer).items() if times > 1}:
        for at, name in enumerate(longer):
            if name in alike:
                lengths[at] += 1
                longer[at] = "/".join(parts[at][-lengths[at] :])
        if all(length > len(part) for length, part in zip(lengths, parts, strict=True)):
            break
    return longer
