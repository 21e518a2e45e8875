"""What a record becomes in each format, what is refused, and that our own readers read the same out of it."""

import json
import re
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import records
from analysis.export.errors import RefusedError
from analysis.export.shapes import FORMATS, encode, source
from analysis.records.model import Trajectory
from tests.builders import Record, step, tool, trajectory

READABLE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
WORDS = READABLE.filter(lambda text: "<" not in text and text.strip() == text and not text.startswith("Error"))
NAMES = st.sampled_from(["get_user", "transfer", "naïve-tool"])
VALUES = st.recursive(st.none() | st.integers() | READABLE, lambda inner: st.lists(inner, max_size=2), max_leaves=4)
ARGUMENTS = st.dictionaries(READABLE, VALUES, max_size=3)
STEPS = st.one_of(
    st.builds(step, tool=NAMES, arguments=ARGUMENTS, result=READABLE, reasoning=st.none() | WORDS),
    st.builds(step, says=WORDS, user=WORDS, reasoning=st.none() | WORDS),
)


def read(record: Record | bytes) -> Trajectory:
    found = records.read(record if isinstance(record, bytes) else json.dumps(record).encode(), "here")
    assert isinstance(found, Trajectory), found
    return found


def rows(shape: str, record: Record, changes: Counter[str] | None = None) -> list[dict[str, Any]]:
    """The rows of a record as whoever loads the file sees them."""
    raw = json.dumps(record, ensure_ascii=False, indent=1).encode()
    convert = FORMATS[shape]
    assert convert is not None
    made = [encode(row) for row in convert(source(raw, read(raw), Counter() if changes is None else changes))]
    assert all(b"\n" not in row for row in made)
    return [json.loads(row) for row in made]


def same(trajectory: Trajectory, **changed: Any) -> Trajectory:
    """A trajectory without what every copy changes, and what this one may."""
    return msgspec.structs.replace(trajectory, origin="", record_bytes=0, **changed)


# Round trips


@settings(max_examples=40)
@given(st.lists(STEPS, min_size=1, max_size=5), st.sampled_from(["conversation", "non_conversation"]))
def test_chat_rows_read_as_the_record_itself(steps: list[Any], traj_type: str) -> None:
    record = trajectory(env_id="bank", traj_type=traj_type, steps=steps, trial=3, total_reward=0.5)
    (row,) = rows("messages", record)
    assert same(read(row)) == same(read(record))


@settings(max_examples=40)
@given(st.lists(STEPS, min_size=1, max_size=5))
def test_sharegpt_rows_read_as_the_record_without_its_closing_turn(steps: list[Any]) -> None:
    record = trajectory(env_id="bank", steps=steps)
    (row,) = rows("sharegpt", record)
    ours, theirs = read(record), read(row)
    last = max(index for index, message in enumerate(ours.messages) if message.role == "assistant")
    spoken = ours.messages[: last + 1]
    assert [(m.role, m.content, m.reasoning, m.step) for m in theirs.messages] == [
        (m.role, m.content, m.reasoning, m.step) for m in spoken
    ]
    assert [(c.name, c.arguments, c.arguments_class) for c in theirs.calls] == [
        (c.name, c.arguments, c.arguments_class) for c in ours.calls
    ]
    answered = [(c.result_message, c.outcome) for c in ours.calls if (c.result_message or 0) < last]
    assert [(c.result_message, c.outcome) for c in theirs.calls][: len(answered)] == answered
    assert (theirs.env_id, theirs.task_id, theirs.steps, theirs.tool_set, theirs.tools) == (
        ours.env_id,
        ours.task_id,
        ours.steps,
        ours.tool_set,
        ours.tools,
    )


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=4))
def test_the_last_alpaca_row_reads_as_the_record_with_its_last_thought_alone(steps: list[Any]) -> None:
    # With a tool at least: a row without any has nothing to tell it from plain chat, whose thoughts are its text.
    record = trajectory(env_id="bank", steps=[step(tool="get_user"), *steps])
    ours = read(record)
    if re.search("think>|tool_(call|response)>", json.dumps(record)):
        with pytest.raises(RefusedError, match=r"think>|a tag of calls"):
            rows("alpaca-mask-history", record)
        return
    made = rows("alpaca-mask-history", record)
    theirs = read(made[-1])
    assert len(made) == sum(message.role == "assistant" for message in ours.messages)
    assert [c.name for c in theirs.calls] == [c.name for c in ours.calls]
    assert [json.loads(c.arguments or "") for c in theirs.calls] == [json.loads(c.arguments or "") for c in ours.calls]
    assert [tool.name for tool in theirs.tools] == [tool.name for tool in ours.tools]
    thoughts = [m.reasoning for m in ours.messages if m.role == "assistant"]
    heard = [m.reasoning or None for m in theirs.messages if m.role == "assistant"]
    assert heard == [*(None for _ in thoughts[1:]), thoughts[-1]]


# Chat


def test_chat_keeps_arguments_as_json_text_and_invents_no_key() -> None:
    record = trajectory(steps=[step(tool="pay", arguments='{"b": 1.50,  "a": []}', reasoning=None)])
    (row,) = rows("messages", record)
    call = {"role": "assistant", "content": None, "tool_calls": [
        {"function": {"name": "pay", "arguments": '{"b": 1.50,  "a": []}'}}]}  # fmt: skip
    assert row["messages"][2] == call
    assert list(row) == ["traj_type", "task_info", "steps", "tools", "messages"]
    assert row["tools"] == record["tools"]


def test_chat_keeps_the_ids_of_calls_and_results_where_there_are_some() -> None:
    made = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": {"a": 1}}}
    record = {
        "messages": [
            {"role": "user", "content": "Pay."},
            {"role": "assistant", "content": "", "tool_calls": [made]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            {"role": "assistant", "content": "Paid."},
        ]
    }
    (row,) = rows("messages", record)
    called = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"a": 1}'}}
    assert row["messages"][1]["tool_calls"] == [called]
    assert row["messages"][2]["tool_call_id"] == "c1"
    assert list(row) == ["messages"]


def test_a_runners_marks_go_along_so_that_its_step_cap_is_still_seen() -> None:
    steps = [step(tool="get") for _ in range(30)]
    record = trajectory(steps=steps, closing=False, terminated=False, truncated=False, traj_type="non_conversation")
    assert read(record).end_class == "step_cap"
    (row,) = rows("messages", record)
    assert read(row).end_class == "step_cap"


PROMPT_MODE = {
    "messages": [
        {"role": "system", "content": "Help.\n<tools>\n" + json.dumps(tool("pay")) + "\n</tools>"},
        {"role": "user", "content": "Pay."},
        {"role": "assistant", "content": '<think>\nHow?\n</think>\n\n<tool_call>\n{"name":  "pay"}\n</tool_call>'},
        {"role": "user", "content": "<tool_response>\nok\n</tool_response>"},
        {"role": "assistant", "content": "<think>\nDone.\n</think>\n\nPaid."},
    ]
}


def test_calls_that_are_texts_are_written_as_the_format_writes_calls() -> None:
    (row,) = rows("messages", PROMPT_MODE)
    assert row["messages"] == [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "Pay."},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "How?",
            "tool_calls": [{"function": {"name": "pay", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "ok"},
        {"role": "assistant", "content": "Paid.", "reasoning_content": "Done."},
    ]
    assert [declared["function"]["name"] for declared in json.loads(row["tools"])] == ["pay"]
    (shared,) = rows("sharegpt", PROMPT_MODE)
    assert [turn["value"] for turn in shared["conversations"]] == [
        "Pay.",
        '<think>\nHow?\n</think>\n\n{"name": "pay", "arguments": {}}',
        "ok",
        "<think>\nDone.\n</think>\n\nPaid.",
    ]
    first, second = rows("alpaca-mask-history", PROMPT_MODE)
    call = '<tool_call>\n{"name": "pay", "arguments": {}}\n</tool_call>'
    assert first["output"] == f"<think>\nHow?\n</think>\n\n{call}"
    assert second["history"] == [["Pay.", call]]


def test_results_stand_in_the_order_of_their_calls_where_position_alone_pairs_them() -> None:
    messages = [
        {"role": "user", "content": "Both."},
        {"role": "assistant", "content": "Now."},
        *(
            {"role": "assistant", "content": None, "tool_calls": [{"id": id_, "function": {"name": name}}]}
            for id_, name in (("a", "get"), ("b", "put"))
        ),
        {"role": "tool", "tool_call_id": "b", "content": "second"},
        {"role": "tool", "tool_call_id": "a", "content": "first"},
        {"role": "assistant", "content": "Done."},
    ]  # fmt: skip
    (row,) = rows("sharegpt", {"messages": messages})
    again = read(row)
    results = [again.messages[call.result_message].content for call in again.calls if call.result_message]
    assert list(zip([call.name for call in again.calls], results, strict=True)) == [("get", "first"), ("put", "second")]
    assert [message.content for message in again.messages][:2] == ["Both.", "Now."]


# ShareGPT


def test_sharegpt_holds_a_call_as_one_json_text_with_its_thought_in_front() -> None:
    record = trajectory(steps=[step(tool="pay", arguments='{"a":  1}', reasoning="Pay first.")])
    (row,) = rows("sharegpt", record)
    assert row["conversations"][1] == {
        "from": "function_call",
        "value": '<think>\nPay first.\n</think>\n\n{"name": "pay", "arguments": {"a":  1}}',
    }
    assert row["system"] == "You are a helpful assistant."
    assert [turn["from"] for turn in row["conversations"]] == ["human", "function_call"]


def test_sharegpt_holds_parallel_calls_in_one_turn_and_their_results_in_the_next() -> None:
    messages = [
        {"role": "user", "content": "Both."},
        {"role": "assistant", "content": "Now.", "tool_calls": [
            {"id": id_, "function": {"name": "get", "arguments": "{}"}} for id_ in "ab"]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "assistant", "content": "Done."},
    ]  # fmt: skip
    (row,) = rows("sharegpt", {"messages": messages})
    assert [turn["from"] for turn in row["conversations"]] == ["human", "function_call", "observation", "gpt"]
    read_again = read(row)
    assert [(call.name, call.result_message) for call in read_again.calls] == [("get", 2), ("get", 3)]
    assert [message.content for message in read_again.messages] == ["Both.", "Now.", "1", "2", "Done."]


# Alpaca


def test_alpaca_is_a_row_for_every_turn_as_the_publisher_made_them() -> None:
    record = trajectory(
        env_id="bank",
        tools=["pay"],
        steps=[step(tool="pay", arguments='{"a": 1}', reasoning="Pay.", result="ok"), step(says="Task Completed")],
    )
    first, second = rows("alpaca-mask-history", record)
    call = '<tool_call>\n{"name": "pay", "arguments": {"a": 1}}\n</tool_call>'
    assert first["system"].startswith("You are a helpful assistant.\n\n# Tools\n")
    assert (first["instruction"], first["input"], first["history"]) == ("Please do it.", "", [])
    assert first["output"] == f"<think>\nPay.\n</think>\n\n{call}"
    assert second["instruction"] == "<tool_response>\nok\n</tool_response>"
    assert second["output"] == "<think>\nI think.\n</think>\n\nTask Completed"
    assert second["history"] == [["Please do it.", call]]
    assert (second["env_id"], second["task_id"]) == ("bank", "bank-t1")


# Changes and refusals


def test_what_is_changed_on_the_way_is_counted() -> None:
    changes: Counter[str] = Counter()
    (row,) = rows("sharegpt", trajectory(steps=[step(tool="get", arguments="")]), changes)
    assert row["conversations"][1]["value"].endswith('{"name": "get", "arguments": {}}')
    assert changes == {"calls without arguments, written as {}": 1, "closing turns without an answer, left out": 2}


CALLS = [{"function": {"name": "pay", "arguments": "{}"}}]


@pytest.mark.parametrize(
    ("shape", "record", "rule"),
    [
        ("alpaca-mask-history", trajectory(steps=[step(tool="pay", answered=False)]), "unanswered_call"),
        ("sharegpt", trajectory(steps=[step(tool="pay", answered=False)]), "unanswered_call"),
        ("sharegpt", trajectory(steps=[step(tool="pay", arguments="{broken")]), "arguments"),
        ("alpaca-mask-history", trajectory(steps=[step(tool="pay", arguments="[1]")]), "arguments"),
        ("sharegpt", trajectory(steps=[step(says="Hm."), step(says="Task Completed")]), "alternation"),
        ("alpaca-mask-history", trajectory(steps=[step(says="A </think> of its own.")]), "thought_tags"),
        ("sharegpt", trajectory(steps=[step(tool="pay", reasoning="A <tool_call>?")]), "call_tags"),
        ("sharegpt", trajectory(steps=[step(tool="pay", arguments={"<think>": 1})]), "thought_tags"),
        ("alpaca-mask-history", trajectory(steps=[step(tool="pay", arguments={"a": "</tool_call>"})]), "call_tags"),
        ("alpaca-mask-history", trajectory(steps=[step(tool="pay", result="<tool_response>")]), "call_tags"),
        ("messages", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "content_parts"),
        ("messages", {"messages": [{"role": "user", "content": "Anyone?"}]}, "no_assistant"),
        ("messages", {"messages": [{"role": "critic", "content": ""}, {"role": "assistant"}]}, "legal_roles"),
        ("parquet", {"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]}, "unreadable_call"),
    ],
)
def test_a_record_that_a_format_cannot_hold_is_refused_by_name(shape: str, record: Record, rule: str) -> None:
    with pytest.raises(RefusedError) as caught:
        rows(shape, record)
    assert caught.value.rule == rule
    assert caught.value.detail
