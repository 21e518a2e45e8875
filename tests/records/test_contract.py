"""The contract: for every rule a record that breaks it, and nothing else beside what is named with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis import records
from analysis.records.model import Trajectory
from analysis.records.rules import BY_ID
from analysis.schema import END_CLASSES
from tests.builders import Messages, Record, step, tool, trajectory
from tests.dialects import block, make

DONE = step(says="Task Completed")
CALL = step("get", arguments={"id": "u1"})
FIELDS = {"id": {"type": "string", "enum": ["u1", "u2"]}, "note": {"type": "string", "maxLength": 3}}
GET = tool("get", properties=FIELDS, required=["id"])


def run(*steps: Messages, tools: list[Record] | None = None, **changed: Any) -> Record:
    """A run of three steps at least, as the publisher kept them."""
    given = [*steps, *[CALL] * (2 - len(steps)), DONE]
    record = trajectory(steps=given, tools=[GET] if tools is None else tools) | changed
    return {key: value for key, value in record.items() if value is not None}


def messages(change: Callable[[Messages], object], record: Record | None = None) -> Record:
    """A run with its messages changed in place."""
    record = record or run()
    inside = json.loads(record["messages"])
    change(inside)
    return record | {"messages": json.dumps(inside)}


def named(arguments: str, **kind: Any) -> Record:
    return run(step("get", arguments=arguments, **kind))


def fixture(name: str) -> Record:
    """The record of a fixture, for what only its dialect can break."""
    held = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    record: Record = held["record"]
    return record


TEXT = make("qwen_text")
OPENAI = make("openai")
OPEN = {"no_environment", "traj_type_inferred"}  # what a dialect says of itself that carries neither
NO_NAME: Record = {"type": "function", "function": {"description": "nameless"}}
BOMB = {"type": "function", "function": {"name": "other", "parameters": {"pattern": "((a{99}){99}){99}"}}}
NO_SCHEMA = {"type": "function", "function": {"name": "other", "parameters": {"type": "objekt"}}}


def said(content: str) -> Record:
    """The text dialect's record with another assistant message."""
    return TEXT | {"messages": [*TEXT["messages"][:2], {"role": "assistant", "content": content}]}


def with_ids(calls: list[str], answers: list[str]) -> Record:
    """An OpenAI record whose one step makes these calls and gets these results."""
    made = [
        {"id": id_, "type": "function", "function": {"name": "get_user", "arguments": '{"id": 1}'}} for id_ in calls
    ]
    results = [{"role": "tool", "content": "{}", "tool_call_id": id_} for id_ in answers]
    head, tail = OPENAI["messages"][:2], OPENAI["messages"][-1:]
    return OPENAI | {"messages": [*head, {"role": "assistant", "content": None, "tool_calls": made}, *results, *tail]}


INFO = {"env_id": "env_1_sft", "task_id": "env_1_sft-t1", "task": "Please do it."}
# The rule's record, and the other rules it cannot help breaking.
BROKEN: dict[str, tuple[Record | bytes, set[str]]] = {
    "inner_json": (run(user_messages="[1"), set()),
    "unreadable_tool": (run(tools=[GET, NO_NAME]), set()),
    "repeated_tool": (run(tools=[GET, GET]), set()),
    "schema_invalid": (run(tools=[GET, NO_SCHEMA]), set()),
    "schema_budget": (run(tools=[GET, BOMB]), set()),
    "first_role_system": (messages(lambda m: m.pop(0)), set()),
    "legal_roles": (messages(lambda m: m[-1].update(role="human")), set()),
    "alternation": (messages(lambda m: m.insert(1, m[1])), set()),
    "unanswered_call": (run(CALL[:1], CALL), {"alternation"}),
    "orphan_result": (messages(lambda m: m.insert(2, {"role": "tool", "content": "{}"})), {"alternation"}),
    "ambiguous_pairing": (with_ids(["", ""], ["", "", ""]), {*OPEN, "unanswered_call", "orphan_result"}),
    "duplicate_call_id": (with_ids(["c1", "c1"], ["", ""]), OPEN),
    "answered_by_user": (messages(lambda m: m[3].update(role="user", content="Error: no such id")), set()),
    "env_prefix": (run(task_info=INFO | {"task_id": "env_2_sft-t1"}), set()),
    "steps_mismatch": (run(steps=4), set()),
    "steps_form": (run(steps="3"), set()),
    "closing_marker": (messages(lambda m: m[-2].update(content="That is all.")), set()),
    "publisher_bounds": (trajectory(steps=[CALL, DONE], tools=[GET]), set()),
    "traj_type_inferred": (run(traj_type=None), set()),
    "env_id_missing": (run(task_info={"task_id": "t1", "task": "Do."}), set()),
    "task_id_missing": (run(task_info={"env_id": "env_1_sft", "task": "Do."}), set()),
    "no_environment": (OPENAI, {"traj_type_inferred"}),
    "unreadable_call": (said('<tool_call>\n{"arguments": {"id": 1}}\n</tool_call>'), {*OPEN, "unanswered_call"}),
    "extra_calls_not_run": (said(block({"id": 1}) * 2), {*OPEN, "unanswered_call"}),
    "unclosed_block": (said(block({"id": 1}).removesuffix("</tool_call>")), {*OPEN, "unanswered_call"}),
    "call_by_user": (messages(lambda m: m.insert(2, m[2] | {"role": "user"})), {"alternation"}),
    "repaired_call": (said(block({"id": 1}).replace("}}\n", "}}}\n")), {*OPEN, "unanswered_call"}),
    "reasoning_in_content": (said("<think>Hm.</think>Yes."), OPEN),
    "call_in_reasoning": (said(f"<think>{block({'id': 1})}</think>Yes."), {*OPEN, "reasoning_in_content"}),
    "content_parts": (messages(lambda m: m[1].update(content=[{"type": "image_url"}])), set()),
    "unanswered_by_design": (fixture("xlam"), {"no_environment", "traj_type_inferred", "first_role_system"}),
    "rejected_answer": (fixture("dpo"), OPEN),
    "unread_text": (messages(lambda m: m[1].update(note="Not read.")), set()),
    "reward_form": (run(total_reward=10**400), set()),
    "undeclared_tool": (run(step("steal", arguments={})), set()),
    "arguments_unparsable": (named('{"id": '), set()),
    "arguments_not_object": (named('["u1"]'), set()),
    "missing_required": (named("{}", error="no id"), set()),
    "over_required": (named("{}"), set()),
    "unknown_key": (named('{"id": "u1", "of": 1}'), set()),
    "wrong_type": (named('{"id": 1}'), set()),
    "enum": (named('{"id": "u3"}'), set()),
    "other_breach": (named('{"id": "u1", "note": "too long"}'), set()),
    "lone_surrogate": (messages(lambda m: m[1].update(content="\ud800")), set()),
    "non_finite_number": (json.dumps(run() | {"total_reward": float("nan")}).encode(), set()),
    "invalid_utf8": (json.dumps(run()).encode().replace(b"Please do it.\\", b"Please do \xff.\\"), set()),
}


def rules(record: Record | bytes) -> set[str]:
    found = records.read(record if isinstance(record, bytes) else json.dumps(record).encode(), "here@0", 0)
    assert isinstance(found, Trajectory), found
    return {finding.rule for finding in found.findings}


def test_a_sound_record_breaks_no_rule() -> None:
    assert rules(run()) == set()
    talk = [*[step(says="Who?", user="Ann.")] * 4, step(says="Done.")]
    assert rules(trajectory(traj_type="conversation", steps=talk)) == set()


@pytest.mark.parametrize("rule", BROKEN)
def test_every_rule_is_broken_by_its_record_and_by_no_sound_one(rule: str) -> None:
    record, beside = BROKEN[rule]
    assert rules(record) == {rule} | beside


@pytest.mark.parametrize(
    ("traj_type", "assistants", "is_within"),
    [
        *[("non_conversation", n, 3 <= n <= 29) for n in (2, 3, 29, 30)],
        *[("conversation", n, 5 <= n <= 39) for n in (4, 5, 39, 40)],
    ],
)
def test_the_publishers_bounds_are_his_of_each_mode(traj_type: str, assistants: int, is_within: bool) -> None:
    record = trajectory(traj_type=traj_type, steps=[*[CALL] * (assistants - 1), DONE], tools=[GET])
    assert rules(record) == (set() if is_within else {"publisher_bounds"})


USER = {"role": "user", "content": "Task finished"}
ENDS: dict[str, list[Messages]] = {
    "completed_marker": [[*DONE, USER], DONE],
    "failed_marker": [[*step(says="Task Failed: no such id."), USER], step(says="Task Failed")],
    "stop_marker": [[*DONE, {"role": "user", "content": "Thanks. ###STOP###"}]],
    "exception": [[*CALL[:1], {"role": "user", "content": " Error: no answer"}]],
    "ends_on_result": [CALL],
    "dangling_call": [CALL[:1], [*CALL[:1], USER]],
    "text_without_marker": [step(says="That is all."), [*step(says="That is all."), USER], [*CALL, USER], [USER]],
    "empty": [[]],
}


@pytest.mark.parametrize("end", ENDS)
def test_a_record_ends_as_its_last_messages_say(end: str) -> None:
    for last in ENDS[end]:
        start = [{"role": "system", "content": "Help."}] if last else []
        record = run() | {"messages": json.dumps([*start, *last])}
        found = records.read(json.dumps(record).encode(), "here@0", 0)
        assert isinstance(found, Trajectory)
        assert (last, found.end_class) == (last, end)


@pytest.mark.parametrize(
    ("assistants", "stopped", "is_capped"),
    [(29, (False, False), False), (30, (False, False), True), (30, (True, False), False), (30, (False, True), False)],
)
def test_a_runner_that_says_it_did_not_stop_was_stopped_at_the_step_limit(
    assistants: int, stopped: tuple[bool, bool], is_capped: bool
) -> None:
    seen = trajectory(steps=[CALL] * assistants, tools=[GET], closing=False)
    record = make("fc") | dict(zip(("terminated", "truncated"), stopped, strict=True))
    record |= {"tools": [GET], "messages": json.loads(seen["messages"])}
    found = records.read(json.dumps(record).encode(), "here@0", 0)
    assert isinstance(found, Trajectory)
    assert found.end_class == ("step_cap" if is_capped else "ends_on_result")


def test_no_way_to_end_is_without_its_record() -> None:
    assert ENDS.keys() | {"step_cap"} == set(END_CLASSES)


def test_no_rule_is_without_its_record() -> None:
    of_the_whole_set, when_asked_for = {"repeated_task"}, {"kept_unread"}
    assert BROKEN.keys() | of_the_whole_set | when_asked_for == BY_ID.keys()
