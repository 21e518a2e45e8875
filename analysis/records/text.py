"""Calls, results and reasoning written as text: `<tool_call>`, `<tool_response>`, `<think>`, `<tools>`.

Text is parsed as far as it goes; the rest is a finding. A block whose JSON names no tool is a call with `name` None.
"""

import json
import re
from functools import lru_cache

import msgspec

from analysis.canonical import canonical
from analysis.records.jsontext import clean
from analysis.records.model import Call, Finding


def _block(tag: str, *, ends: str) -> str:
    """A tag and the text up to one that ends it, or up to the end: from `<` to `<`, several times as fast as `.*?`."""
    return rf"<{tag}>([^<]*(?:<(?!{ends}>)[^<]*)*)"


_CALL = re.compile(_block("tool_call", ends="/?tool_call") + "(</tool_call>)?")
_THINK = re.compile(_block("think", ends="/think") + "(?:</think>)?")
_TOOLS = re.compile(_block("tools", ends="/tools") + "(?:</tools>)?")
_RESPONSE = re.compile(_block("tool_response", ends="/?tool_response") + "(?:</tool_response>)?")
_SCAN = json.JSONDecoder(strict=False)


def split_reasoning(content: str) -> tuple[str, str | None, bool]:
    """(visible text, reasoning, was it closed): `<think>` blocks taken out of a content; reasoning None without any."""
    if "<think>" not in content and "</think>" not in content:
        return content, None, True
    if "<think>" not in content:
        thought, _, rest = content.partition("</think>")
        return rest.lstrip("\n"), thought.strip("\n"), True
    thoughts = [thought.strip("\n") for thought in _THINK.findall(content)]
    is_closed = content.count("<think>") <= content.count("</think>")
    return _THINK.sub("", content).strip("\n"), "\n".join(thoughts), is_closed


def split_calls(content: str, message: int) -> tuple[str, list[Call], list[Finding]]:
    """(text around the blocks, one Call a `<tool_call>` block, findings)."""
    if "<tool_call>" not in content:
        return content, [], []
    calls, findings = [], []
    for block, closing in _CALL.findall(content):
        if not closing:
            findings.append(Finding("unclosed_block", message, "a <tool_call> block without its closing tag"))
        call, detail = read_call(block)
        if detail:
            rule = "unreadable_call" if call.name is None else "repaired_call"
            findings.append(Finding(rule, message, detail))
        calls.append(call)
    return _CALL.sub("", content).strip("\n"), calls, findings


def read_call(block: str) -> tuple[Call, str]:
    """One block's JSON as a Call, and what was wrong with it ("" when nothing)."""
    text = block.strip()
    start = text.find("{")
    if start < 0:
        return Call(None, None, None), f"a call block without an object: {text[:120]!r}"
    try:
        value, end = _SCAN.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        return Call(None, text[:2000], "string"), f"a call block that is not JSON ({error}): {text[:120]!r}"
    value, flags = clean(value)
    name, written = value.get("name"), text[start:end]
    detail = f"text around the call's object: {text[end : end + 40]!r}" if text[end:].strip() or start else ""
    detail = "; ".join([*filter(None, [detail]), *(said for _, said in flags)])
    if not isinstance(name, str) or not name:
        return Call(None, _arguments(written, value)[0], "object"), f"a call block that names no tool: {text[:120]!r}"
    arguments, form = _arguments(written, value)
    return Call(name, arguments, form), detail  # type: ignore[arg-type]


@lru_cache(maxsize=512)
def declared_tools(system: str) -> str | None:
    """JSON text of the list of tools between `<tools>` and `</tools>`, one JSON a line; None without such a block."""
    blocks = [block for block in _TOOLS.findall(system) if "{" in block]
    if not blocks:
        return None
    tools = []
    position, text = 0, blocks[-1]
    while (position := text.find("{", position)) >= 0:
        try:
            tool, position = _SCAN.raw_decode(text, position)
        except (ValueError, RecursionError):
            newline = text.find("\n", position)
            position = newline if newline >= 0 else len(text)
            continue
        tools.append(tool)
    return canonical(clean(tools)[0])


def responses(content: str) -> list[str]:
    """The texts of the `<tool_response>` blocks of a message."""
    if "<tool_response>" not in content:
        return []
    return [text.strip("\n") for text in _RESPONSE.findall(content)]


def _arguments(text: str, value: dict[str, object]) -> tuple[str | None, str | None]:
    if "arguments" not in value and "parameters" not in value:
        return None, None
    key = "arguments" if "arguments" in value else "parameters"
    held = value[key]
    if isinstance(held, str):
        return held, "string"
    return _raw_member(text, key) or canonical(held), "object"


def _raw_member(text: str, key: str) -> str | None:
    """The member's JSON text as written, found by decoding the object into raw members; None if only lenient JSON."""
    try:
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        return bytes(members[key]).decode()
    except (msgspec.MsgspecError, UnicodeError, KeyError):
        return None
