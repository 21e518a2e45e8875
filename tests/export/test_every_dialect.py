"""A conversation of any dialect leaves in any format as the same calls, results, outcomes, texts and tools."""

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings

from analysis import records
from analysis.export.shapes import FORMATS, encode, source
from analysis.records.model import Trajectory
from tests.records.test_every_dialect import CONVERSATIONS, as_the_dialect_can, chars
from tests.records.writers import NAMES, WRITERS, Conversation

SHAPES = ("messages", "openai", "atif", "parquet", "sharegpt")
# ShareGPT's own: how LlamaFactory writes a thought, a text beside a call, and several results.
OWN = {"sharegpt": re.compile(r"</?think>|\n</?tool_call>\n?|\n</tool_response>\n<tool_response>\n")}
TAG = re.compile(
    r"</?(?:think|tools?|tool_calls?|tool_responses?|function_calls?|function|invoke|parameter)\b[^>]*>|<\|"
)


def read(raw: bytes) -> Trajectory:
    trajectory = records.read(raw, "here")
    assert isinstance(trajectory, Trajectory), trajectory
    return trajectory


def exported(shape: str, raw: bytes) -> dict[str, Any]:
    convert = FORMATS[shape]
    assert convert is not None
    (row,) = [encode(row) for row in convert(source(raw, read(raw), Counter()))]
    held: dict[str, Any] = json.loads(row)
    return held


def calls(trajectory: Trajectory) -> list[tuple[Any, ...]]:
    results = [
        None if c.result_message is None else trajectory.messages[c.result_message].content for c in trajectory.calls
    ]
    made = zip(trajectory.calls, results, strict=True)
    return [(call.name, json.loads(call.arguments or "{}"), result, call.outcome) for call, result in made]


def identity(trajectory: Trajectory) -> tuple[object, ...]:
    """What says where a record comes from and how it went; a task that was only the user's text may be read again."""
    return trajectory.env_id, trajectory.task_id, trajectory.trial, trajectory.model, trajectory.total_reward


@pytest.mark.parametrize("dialect", WRITERS)
@settings(max_examples=4)
@given(conversation=CONVERSATIONS)
def test_any_dialect_leaves_in_any_format_as_it_was(dialect: str, conversation: Conversation) -> None:
    raw = json.dumps(WRITERS[dialect](as_the_dialect_can(dialect, conversation)), ensure_ascii=False).encode()
    ours = read(raw)
    for shape in SHAPES:
        row = exported(shape, raw)
        theirs = read(json.dumps(row).encode())
        assert [(name, held, result) for name, held, result, _ in calls(theirs)] == [
            (name, held, result) for name, held, result, _ in calls(ours)
        ], shape
        assert identity(theirs) == identity(ours), shape
        assert [tool.name for tool in theirs.tools] == list(NAMES), shape
        if shape != "sharegpt":  # leaves out a closing turn without an answer
            assert chars(theirs) == chars(ours), shape
        assert not TAG.search(_plain(shape, row)), shape


def _plain(shape: str, row: dict[str, Any]) -> str:
    """All texts of a row but its tools and arguments, without what is the format's own syntax."""
    texts: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            for item in value.values():
                walk(item)

    walk({key: value for key, value in row.items() if key != "tools"})
    joined = "\0".join(texts)
    return OWN[shape].sub("", joined) if shape in OWN else joined
