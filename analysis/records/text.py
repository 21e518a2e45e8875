"""Calls, results and reasoning written as text: `<tool_call>`, `<tool_response>`, `<think>`, `<tools>` and kin.

Text is parsed as far as it goes; the rest is a finding. A block whose JSON names no tool is a call with `name` None.
"""

import json
import re
from collections.abc import Container
from functools import lru_cache
from typing import NamedTuple

from analysis.canonical import canonical
from analysis.records.jsontext import as_written, clean, loads
from analysis.records.model import Call, Finding
from analysis.records.syntaxes import OBJECT, Read, listed, literal_of, raw_member, read_block, tagged


def _block(tag: str, *, ends: str) -> str:
    """A tag and the text up to one that ends it, or up to the end: from `<` to `<`, several times as fast as `.*?`."""
    return rf"<{tag}>([^<]*(?:<(?!{ends}>)[^<]*)*)"


_CALL = re.compile(_block("tool_call", ends="/?tool_call") + "(</tool_call>)?")
_FUNCTION_CALL = re.compile(r"<function_?call>([^<]*(?:<(?!/?function_?call>)[^<]*)*)(?:</function_?call>)?")
_LIST = re.compile(
    r"<(?:TOOLCALL|tool_calls)>([^<]*(?:<(?!/?(?:TOOLCALL|tool_calls)>)[^<]*)*)(?:</(?:TOOLCALL|tool_calls)>)?"
)
_WRAPPING = re.compile(r"</?(?:[\w-]{1,20}:)?(?:function_calls|tool_calls?)>")
_TO_THE_END = re.compile(r"(?:\[TOOL_CALLS\]|<\|python_tag\|>)(.*)", re.DOTALL)
_THINK = re.compile(_block("think", ends="/think") + "(?:</think>)?")
_TOOLS = re.compile(_block("tools", ends="/tools") + "(?:</tools>)?")
_STDOUT = re.compile(r"<stdout>\n?([^<]*(?:<(?!/stdout>)[^<]*)*?)\n?</stdout>")
_RESPONSE = re.compile(_block("tool_response", ends="/?tool_response") + "(?:</tool_response>)?")
MOST_LISTS = 500  # that are looked at for being one of tools: a text of brackets is none
_SCAN = json.JSONDecoder(strict=False)
# Any of them in an assistant's text, outside its reasoning, is a call, or the attempt at one.
CALL_TAGS = (
    *("<tool_call>", "<function=", "<function_call>", "<functioncall>", "<invoke name=", "[TOOL_CALLS]"),
    *("<|python_tag|>", "<TOOLCALL>", "<tool_calls>"),
)
# What a user's text that is a result opens with.
RESULT_OPENINGS = (
    *("EXECUTION RESULT of [", "OBSERVATION:", "Observation:", "<tool_response>", "<function_results>"),
    *("<returncode>", "[TOOL_RESULTS]", "<TOOL_RESPONSE>"),
)
# Around the whole text of a result.
_RESULT_TAGS = (
    ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    ("<TOOL_RESPONSE>", "</TOOL_RESPONSE>"),
    ("<function_results>", "</function_results>"),
)
THOUGHT = "<think>\n{}\n</think>\n\n"
TEXT_BESIDE_CALL = "{}\n<tool_call>\n{}\n</tool_call>"
_OPEN_THOUGHT, _CLOSE_THOUGHT = THOUGHT.split("{}")
_, _OPEN_CALL, _CLOSE_CALL = TEXT_BESIDE_CALL.split("{}")


class Called(NamedTuple):
    """What a text that holds calls comes to: the text around them, the thought in front of it, the calls, findings."""

    text: str
    thought: str | None
    calls: list[Call]
    findings: list[Finding]


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


def split_thought(value: str) -> tuple[str | None, str]:
    """(thought, the rest of the text); no thought where the text does not open with one, as LlamaFactory writes it."""
    thought, end, rest = value.removeprefix(_OPEN_THOUGHT).partition(_CLOSE_THOUGHT)
    return (thought, rest) if end and value.startswith(_OPEN_THOUGHT) else (None, value)


def split_calls(content: str, message: int) -> tuple[str, list[Call], list[Finding]]:
    """(text around the blocks, their calls, findings)."""
    if "<tool_call>" in content:
        findings = [
            Finding("unclosed_block", message, "a <tool_call> block without its closing tag")
            for _, closing in _CALL.findall(content)
            if not closing
        ]
        read = [call for block, _ in _CALL.findall(content) for call in read_block(block)]
        return _CALL.sub("", content).strip("\n"), *_kept(read, message, findings)
    if "<function=" in content or "<invoke name=" in content:
        found = list(tagged(content))
        ends = [0, *(end for (_, end), _ in found)]
        starts = [*(start for (start, _), _ in found), len(content)]
        rest = "".join(content[end:start] for end, start in zip(ends, starts, strict=True))
        return _WRAPPING.sub("", rest).strip("\n"), *_kept([call for _, call in found], message, [])
    for pattern in (_FUNCTION_CALL, _LIST, _TO_THE_END):
        if blocks := pattern.findall(content):
            read = [call for block in blocks for call in read_block(block)]
            return pattern.sub("", content).strip("\n"), *_kept(read, message, [])
    return content, [], []


def read_called(value: str, message: int) -> Called:
    """A text that is known to make calls: JSON, a Python literal, or blocks, perhaps behind words and a thought."""
    thought, value = split_thought(value)
    text, is_beside, call_text = value.partition(_OPEN_CALL)
    if is_beside and call_text.endswith(_CLOSE_CALL):
        value = call_text.removesuffix(_CLOSE_CALL)
    elif OBJECT.match(value) is None and any(tag in value for tag in CALL_TAGS):
        text, calls, findings = split_calls(value, message)
        return Called(text, thought, calls, findings)
    else:
        text = ""
    if calls := listed(value):
        return Called(text, thought, calls, [])
    calls, findings = _kept(read_block(value), message, [])
    return Called(text, thought, calls, findings)


def _kept(read: list[Read], message: int, findings: list[Finding]) -> tuple[list[Call], list[Finding]]:
    for call, detail in read:
        if detail:
            findings.append(Finding("unreadable_call" if call.name is None else "repaired_call", message, detail))
    return [call for call, _ in read], findings


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
    literal = literal_of(text.strip()) if not tools else None
    return canonical(clean(tools or literal or [])[0])


@lru_cache(maxsize=512)
def listed_tools(system: str) -> str | None:
    """JSON text of the first list of tools that stands in a system text without any tag; None without one."""
    position = -1
    for _ in range(MOST_LISTS):
        if (position := system.find("[", position + 1)) < 0:
            break
        if not system[position + 1 : position + 40].lstrip().startswith("{"):
            continue
        try:
            value, _ = _SCAN.raw_decode(system, position)
        except (ValueError, RecursionError):
            continue
        if all(isinstance(tool, dict) and isinstance(tool.get("function", tool), dict) for tool in value):
            names = [tool.get("function", tool).get("name") for tool in value]
            if names and all(isinstance(name, str) for name in names):
                return canonical(clean(value)[0])
    return None


def responses(content: str) -> list[str]:
    """The texts of the `<tool_response>` blocks of a message, or the one that stands in other tags."""
    if "<tool_response>" in content:
        return [text.strip("\n") for text in _RESPONSE.findall(content)]
    whole = content.strip()
    for opening, closing in _RESULT_TAGS:
        if whole.startswith(opening) and whole.endswith(closing):
            inner = whole[len(opening) : -len(closing)].strip()
            outputs = _STDOUT.findall(inner)
            return outputs if outputs and len(outputs) == inner.count("<result>") else [inner]
    return []


def named_result(text: str, names: Container[str]) -> tuple[str, str]:
    """(name, text) of a result that says whose it is, `{"name": …, "content": …}`; ("", the text) of any other.

    Args:
        names: of the tools that are called; a result of no such name is data, and stays as it is.
    """
    try:
        value = loads(text)[0] if text.lstrip().startswith("{") else None
    except ValueError:
        value = literal_of(text.strip())
    if not isinstance(value, dict) or "content" not in value:
        return "", text
    if value.get("name") not in names and value.keys() != {"call_id", "content"}:
        return "", text
    held = value["content"]
    return value.get("name", ""), held if isinstance(held, str) else raw_member(text, "content") or as_written(held)
