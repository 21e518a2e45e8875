"""What leaves with ids throughout reads back as the same calls and results, whatever dialect it came in."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from analysis import records
from analysis.export.errors import RefusedError
from analysis.export.shapes import FORMATS, encode, source
from analysis.records.model import Trajectory

FIXTURES = sorted((Path(__file__).parents[1] / "records").glob("*.json"))
SHAPES = ("openai", "atif")
# What no format with a result behind every call can hold.
REFUSED: dict[str, str] = {
    "anthropic": "error_flag",
    "agentdojo": "error_flag",
    "inspect": "error_flag",
    "openai_chat": "content_parts",
    "runner_prompt": "unreadable_call",
    "swe_agent": "unanswered_call",
    "tau2": "legal_roles",
    "xlam": "unanswered_call",
}
TAG = re.compile(r"</?(?:tool_call|tool_response|tools|function_calls?|invoke|function=|parameter=)")


def read(raw: bytes) -> Trajectory:
    found = records.read(raw, "here")
    assert isinstance(found, Trajectory), found
    return found


def exported(shape: str, raw: bytes) -> dict[str, Any]:
    convert = FORMATS[shape]
    assert convert is not None
    (row,) = [encode(row) for row in convert(source(raw, read(raw), Counter()))]
    held: dict[str, Any] = json.loads(row)
    return held


def calls(trajectory: Trajectory) -> list[tuple[Any, ...]]:
    made = []
    for call in trajectory.calls:
        assert call.result_message is not None
        result = trajectory.messages[call.result_message].content if call.result_text is None else call.result_text
        if call.outcome_rule == "error_flag":
            assert call.outcome == "ok", "a success that only a field says is not in these formats"
        made.append((call.name, json.loads(call.arguments or "{}"), result, call.outcome == "error", call.error))
    return made


def lengths(trajectory: Trajectory) -> list[tuple[str, int, int]]:
    """Of what is said by others than the system, whose text may have told how to write calls."""
    answers = {call.result_message for call in trajectory.calls}
    return [
        (message.role, len(message.content), len(message.reasoning or ""))
        for index, message in enumerate(trajectory.messages)
        if message.role != "system" and index not in answers
    ]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_an_export_of_any_dialect_reads_back_as_the_same_calls(path: Path, shape: str) -> None:
    raw = json.dumps(json.loads(path.read_text(encoding="utf-8"))["record"]).encode()
    if path.stem in REFUSED:
        with pytest.raises(RefusedError) as caught:
            exported(shape, raw)
        assert caught.value.rule == REFUSED[path.stem]
        return
    row = exported(shape, raw)
    ours, theirs = read(raw), read(json.dumps(row).encode())
    assert calls(theirs) == calls(ours)
    assert lengths(theirs) == lengths(ours)
    assert not TAG.search(json.dumps(row))


def test_openai_rows_have_what_the_api_insists_on() -> None:
    made = {"function": {"name": "pay", "arguments": {"a": 1}}}
    messages = [
        {"role": "user", "content": "Pay."},
        {"role": "assistant", "content": "", "tool_calls": [made]},
        {"role": "tool", "content": "ok"},
        {"role": "assistant", "content": "Paid."},
    ]
    row = exported("openai", json.dumps({"messages": messages}).encode())
    called = {"id": "call_1", "type": "function", "function": {"name": "pay", "arguments": '{"a": 1}'}}
    assert row["messages"][1] == {"role": "assistant", "content": None, "tool_calls": [called]}
    assert row["messages"][2] == {"role": "tool", "tool_call_id": "call_1", "content": "ok"}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_without_a_result_is_refused(shape: str) -> None:
    made = {"id": "c", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
    messages = [{"role": "user", "content": "Pay."}, {"role": "assistant", "content": "", "tool_calls": [made]}]
    with pytest.raises(RefusedError) as caught:
        exported(shape, json.dumps({"messages": messages}).encode())
    assert caught.value.rule == "unanswered_call"


OTHERS = [path for path in FIXTURES if path.stem not in ("openai_chat", "runner_prompt", "tau2")]


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_messages_hold_no_tag_and_all_declared_tools(path: Path) -> None:
    raw = json.dumps(json.loads(path.read_text(encoding="utf-8"))["record"]).encode()
    row = exported("messages", raw)
    assert not TAG.search(json.dumps(row["messages"]))
    names = [tool.name for tool in read(raw).tools]
    assert [tool["function"]["name"] for tool in json.loads(row.get("tools", "[]"))] == names
