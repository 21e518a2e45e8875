"""Calls as models write them into text: one pattern and one reader a syntax. Nothing of a text is ever evaluated.

`<tool_call>` (a JSON object, a list of them, `<function=…>`, or `<arg_key>` pairs), `<function=name>` with parameters
or a JSON object, `<invoke name="…">`, `<function_call>`, `[TOOL_CALLS]`, `<|python_tag|>`, and a whole text that is
`[name(argument="value"), …]`.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from analysis.records.jsontext import as_written, clean, loads
from analysis.records.model import Call

Read = tuple[Call, str]
LONGEST_LITERAL = 1_000_000
# Tags in which every argument is a text.
UNTYPED = ("<function=", "<invoke name=")
_SCAN = json.JSONDecoder(strict=False)
_FUNCTION = r"<function=(?P<{n}>[^>\n]{{1,200}})>(?P<{b}>[^<]*(?:<(?!/function>|function=)[^<]*)*)(?:</function>)?"
_XML = re.compile(_FUNCTION.format(n="name", b="body"))
_INVOKE = re.compile(
    r'<invoke name="(?P<name>[^"\n]{1,200})">(?P<body>[^<]*(?:<(?!/invoke>|invoke )[^<]*)*)(?:</invoke>)?'
)
_PARAMETER = re.compile(
    r'<parameter(?:=(?P<key>[^>\n]{1,200})| name="(?P<name>[^"\n]{1,200})"[^>\n]*)>'
    r"(?P<value>[^<]*(?:<(?!/parameter>|parameter[= ])[^<]*)*)(?:</parameter>)?"
)
_PAIR = re.compile(r"<arg_key>([^<]*)</arg_key>\s*<arg_value>([^<]*(?:<(?!/arg_value>)[^<]*)*)</arg_value>")
# Mistral's later way, a stretch for each call.
_NAMED_ARGUMENTS = re.compile(
    r"(?:\[TOOL_CALLS\]|\A)\s*([\w.:-]{1,200})(?:\[CALL_ID\]([\w-]{1,200}))?\[ARGS\]([^\[]*(?:\[(?!TOOL_CALLS\])[^\[]*)*)"
)
_LISTED = re.compile(r"\s*\[\s*[^\W\d][^()\[\]{}\"'\n]{0,120}\(.*\)\s*\]\s*", re.DOTALL)


def read_object(block: str) -> Read:
    """A block's JSON object as a Call, and what was wrong with it ("" when nothing)."""
    text = block.strip()
    start = text.find("{")
    if start < 0:
        return Call(None, None, None), f"a call block without an object: {text[:120]!r}"
    try:
        value, end = _SCAN.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        return Call(None, text[:2000], "string"), f"a call block that is not JSON ({error}): {text[:120]!r}"
    value, flags = clean(value)
    name, written = _name(value), text[start:end]
    detail = f"text around the call's object: {text[end : end + 40]!r}" if text[end:].strip() or start else ""
    detail = "; ".join([*filter(None, [detail]), *(said for _, said in flags)])
    arguments, form = _arguments(written, value)
    if not name:
        return Call(None, arguments, "object"), f"a call block that names no tool: {text[:120]!r}"
    return Call(name, arguments, form, _id(value)), detail  # type: ignore[arg-type]


OBJECT = re.compile(r"\s*(?:\[\s*)?\{")


def read_block(block: str) -> list[Read]:
    """The calls inside one `<tool_call>` block, or of a text that is nothing but calls."""
    text = block.strip()
    is_object = OBJECT.match(text) is not None  # what looks like a tag in it is an argument's text
    if not is_object and ("<function=" in text or "<invoke " in text):
        return [call for _, call in tagged(text)]
    if not is_object and "<arg_key>" in text:
        pairs = {key.strip(): _typed(value.strip("\n")) for key, value in _PAIR.findall(text)}
        return [(Call(text.partition("<")[0].strip() or None, as_written(pairs), "object"), "")]
    if not is_object and "[ARGS]" in text and (calls := _NAMED_ARGUMENTS.findall(text)):
        return [(Call(name, arguments.strip(), "string", id_), "") for name, id_, arguments in calls]
    if text.startswith("["):
        return [read_object(item) for item in _items(text)] or [read_object(block)]
    if text.startswith("{") and (literal := literal_of(text)) is not None:
        return [read_object(as_written(literal))]
    return [read_object(block)]


def typed(arguments: str, types: dict[str, Any]) -> str:
    """Arguments that are all texts, as tags give them, with those read that are asked for as something else."""
    given = loads(arguments)[0]
    read = {key: _typed(held) if types.get(key) not in (None, "string") else held for key, held in given.items()}
    return as_written(read) if read != given else arguments


def literal_of(text: str) -> Any:
    """The value of a Python literal that is no JSON, such as a dict in single quotes; None where it is none."""
    if len(text) > LONGEST_LITERAL or _is_json(text):
        return None
    try:
        value = clean(ast.literal_eval(text))[0]
        as_written(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError):
        return None
    return value


def tagged(text: str) -> Iterator[tuple[tuple[int, int], Read]]:
    """The calls of `<function=…>` and `<invoke …>` blocks, each with its place in the text."""
    pattern = _XML if "<function=" in text else _INVOKE
    for match in pattern.finditer(text):
        yield match.span(), (_by_tags(match["name"], match["body"]), "")


def is_listed(text: str) -> bool:
    """Is the text `[name(…), …]` by its looks?"""
    return text.rstrip().endswith("]") and len(text) <= LONGEST_LITERAL and _LISTED.fullmatch(text) is not None


def listed(text: str) -> list[Call]:
    """The calls of a text that is `[name(argument="value"), …]` from end to end; none of any other."""
    if not is_listed(text):
        return []
    calls = [_by_literals(part) for part in split_top(text.strip()[1:-1])]
    return [call for call in calls if call is not None] if all(calls) else []


def split_top(text: str) -> list[str]:
    """The parts of a text between the commas that stand in no bracket and no quotes."""
    parts, depth, start, quote, position = [], 0, 0, "", 0
    while position < len(text):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
        position += 1
    return [part for part in [*parts, text[start:]] if part.strip()]


def _by_tags(name: str, body: str) -> Call:
    if body.strip().startswith("{") and "<parameter" not in body:
        return Call(name.strip(), body.strip(), "object")
    given = {(m["key"] or m["name"]).strip(): m["value"].strip("\n") for m in _PARAMETER.finditer(body)}
    return Call(name.strip(), as_written(given), "object")


def _by_literals(text: str) -> Call | None:
    name, _, inside = text.strip().partition("(")
    try:
        tree = ast.parse(f"f({inside.strip()[:-1]})", mode="eval").body
        given = {word.arg: ast.literal_eval(word.value) for word in tree.keywords if word.arg}  # type: ignore[attr-defined]
        is_whole = isinstance(tree, ast.Call) and not tree.args and len(given) == len(tree.keywords)
        return Call(name.strip(), as_written(clean(given)[0]), "object") if is_whole else None
    except (ValueError, SyntaxError, TypeError, AttributeError, MemoryError, RecursionError, OverflowError):
        return None


def _items(text: str) -> list[str]:
    """The objects of a list, each as it is written; none where it is no list."""
    try:
        return [bytes(item).decode() for item in msgspec.json.decode(text, type=list[msgspec.Raw])]
    except (msgspec.MsgspecError, UnicodeError):
        pass
    try:  # what only Python's own writer writes: NaN, lone surrogates
        held = json.loads(text)
    except (ValueError, RecursionError):
        held = literal_of(text)
    return [json.dumps(item, ensure_ascii=False) for item in held] if isinstance(held, list) else []


def _typed(text: str) -> Any:
    try:
        return loads(text)[0]
    except ValueError:
        return text


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except ValueError:
        return False
    return True


def _name(value: dict[str, Any]) -> str | None:
    held = value.get("function", value)
    name = held.get("name", held.get("tool_name")) if isinstance(held, dict) else held
    return name if isinstance(name, str) and name else None


def _id(value: dict[str, Any]) -> str:
    held = value.get("id", value.get("tool_call_id"))
    return held if isinstance(held, str) else ""


def _arguments(text: str, value: dict[str, Any]) -> tuple[str | None, str | None]:
    if isinstance(value.get("function"), dict):
        text, value = raw_member(text, "function") or as_written(value["function"]), value["function"]
    key = next((key for key in ("arguments", "parameters", "args", "input") if key in value), None)
    if key is None:
        return None, None
    held = value[key]
    if isinstance(held, str):
        return held, "string"
    return raw_member(text, key) or as_written(held), "object"


def raw_member(text: str, key: str) -> str | None:
    """The member's JSON text as written, found by decoding the object into raw members; None if only lenient JSON."""
    try:
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        return bytes(members[key]).decode()
    except (msgspec.MsgspecError, UnicodeError, KeyError):
        return None
