"""The keys of a result that is an object, read without evaluating it: from a repr, from JSON, from YAML-like text.

One scanner reads keys at the top level of a repr or of a JSON text alike, so `nan`, sets, `<object at 0x…>` and a
*datum* that contains `'success': False` do not mislead it. Where a text is cut off inside a string, nothing behind that
string's quote is read: it may be the string's own words.
"""

import ast
import json
import re
from typing import NamedTuple

_QUOTED = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\""
# A quote that begins no whole string begins one that is cut off.
_TOKEN = re.compile(rf"(?P<text>{_QUOTED})|(?P<cut>['\"].*)|(?P<open>[\[{{(])|(?P<close>[\]}})])", re.DOTALL)
_VALUE = re.compile(rf"\s*:\s*(?P<value>{_QUOTED}|\{{\s*\}}|\[\s*\]|\[\s*[-+]?\d|[^\s,}}\]'\"][^\s,}}\]]*)", re.DOTALL)
_PAIRS = {"{": "}", "[": "]", "(": ")"}
_ONE_OBJECT = re.compile(r"\s*\[\s*(?=\{)")
_NEXT_OBJECT = re.compile(r"\s*+,?\s*+(?=\{)")
_LIST_END = re.compile(r"\s*+,?\s*+\]\s*+\Z")
_LINE = re.compile(r"(?P<key>[A-Za-z][\w-]{0,30})[ \t]*:(?:[ \t]+(?P<value>.*))?[ \t]*\Z")


class Keys(NamedTuple):
    """An object's keys in their one spelling (`isError` and `is_error` are `iserror`), with their values as written.

    `starts` says where a value begins, `end` is where the object ends in its text; None when it does not close.
    """

    values: dict[str, str]
    starts: dict[str, int]
    end: int | None


def of_object(text: str, start: int = 0) -> Keys:
    """The keys at depth 1 of the object (or of nothing, for a list) that begins at `start`."""
    stack: list[str] = []
    keys = Keys({}, {}, None)
    for token in _TOKEN.finditer(text, start):
        if token["open"]:
            stack.append(_PAIRS[token["open"]])
        elif token["close"]:
            if not stack or stack.pop() != token["close"]:
                return keys
            if not stack:
                return keys._replace(end=token.end())
        elif token["cut"]:
            return keys  # what follows is the inside of a string, whatever it looks like
        elif len(stack) == 1 and stack[0] == "}" and (value := _VALUE.match(text, token.end())):
            key = spelling(token["text"][1:-1])
            if key not in keys.values:
                keys.values[key], keys.starts[key] = value["value"], value.start("value")
    return keys


def of_one(text: str) -> int:
    """Where the only object of a list begins; 0 for every other text."""
    opening = _ONE_OBJECT.match(text)
    if not opening or not text[-100:].rstrip().endswith("]"):
        return 0
    end = of_object(text, opening.end()).end
    return opening.end() if end is not None and _LIST_END.match(text, end) else 0


def of_list(text: str) -> list[tuple[int, int]]:
    """Where the objects of a list begin and end; none where it holds anything else, or is cut off."""
    places: list[tuple[int, int]] = []
    position = text.find("[") + 1
    while opening := _NEXT_OBJECT.match(text, position):
        end = of_object(text, opening.end()).end
        if end is None:
            return []
        places.append((opening.end(), end))
        position = end
    return places if _LIST_END.match(text, position) else []


def of_lines(text: str) -> Keys | None:
    """The keys of YAML-like text: `key: value` a line, values of several lines indented; None for every other text."""
    keys = Keys({}, {}, len(text))
    for line in text.strip().splitlines():
        if line[:1] in (" ", "\t", "-", "") and keys.values:
            continue
        found = _LINE.match(line)
        if not found:
            return None
        keys.values.setdefault(spelling(found["key"]), (found["value"] or "").strip())
    return keys if keys.values else None


def spelling(key: str) -> str:
    """A key in small letters, without `_` and `-`."""
    return key.replace("_", "").replace("-", "").lower()


def unquoted(written: str) -> str:
    """What a quoted text says; any other value as it is written."""
    if written[:1] not in ("'", '"') or len(written) < 2:
        return written
    try:
        value = json.loads(written, strict=False) if written[0] == '"' else ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return written[1:-1]
    return str(value)
