"""Every dialect, by a record that fills a screen: what is read, and what is said about it."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.records import chat, read
from analysis.records.dialects import DIALECTS
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Rejected, Trajectory
from analysis.records.rules import BY_ID
from tests.builders import step, trajectory

FIXTURES = Path(__file__).parent


def fixture(name: str) -> Any:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


def decoded(record: Any) -> Trajectory:
    trajectory = read(json.dumps(record, ensure_ascii=False).encode(), "fixture")
    assert isinstance(trajectory, Trajectory), trajectory
    return trajectory


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
def test_no_reader_adds_to_the_list_that_messages_without_a_call_share(path: Path) -> None:
    trajectory = decoded(json.loads(path.read_text(encoding="utf-8"))["record"])
    assert any(message.calls for message in trajectory.messages)
    assert chat._NO_CALLS == []


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
def test_a_fixture_reads_as_the_file_beside_it_says(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    trajectory = decoded(case["record"])
    found = {
        "dialect": trajectory.dialect,
        "traj_type": trajectory.traj_type,
        "env_id": trajectory.env_id,
        "task_id": trajectory.task_id,
        "end_class": trajectory.end_class,
        "tools": [tool.name for tool in trajectory.tools],
        "roles": [message.role for message in trajectory.messages],
        "calls": [[c.step, c.name, c.arguments, c.form, c.arguments_class, c.outcome] for c in trajectory.calls],
        "reasoning": [message.reasoning for message in trajectory.messages if message.role == "assistant"],
        "findings": sorted({finding.rule for finding in trajectory.findings}),
    }
    assert found == case["reads_as"]


def test_every_dialect_has_a_fixture() -> None:
    names = {json.loads(path.read_text(encoding="utf-8"))["reads_as"]["dialect"] for path in FIXTURES.glob("*.json")}
    assert names == {name for dialect in DIALECTS for name in dialect.names}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.names[0])
def test_a_dialects_example_is_read_by_it(dialect: Dialect) -> None:
    assert decoded(json.loads(dialect.example)).dialect in dialect.names


def test_every_finding_is_of_a_known_rule() -> None:
    for path in FIXTURES.glob("*.json"):
        assert set(json.loads(path.read_text(encoding="utf-8"))["reads_as"]["findings"]) <= BY_ID.keys()


def test_a_record_of_no_known_shape_is_rejected_with_its_keys() -> None:
    rejected = read(b'{"prompt": "x", "completion": "y"}', "x@0", 0)
    assert isinstance(rejected, Rejected)
    assert "completion, prompt" in rejected.reason


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"task_info": {}, "messages": "[{"}, "messages"),
        ({"task_info": {}, "messages": None}, "not a list"),
        ({"task_info": {}, "messages": [1]}, "not an object"),
        ({"conversations": {"from": "human"}}, "not a list"),
        ({"instruction": "a", "output": "b", "history": [["only one"]]}, "pairs"),
    ],
)
def test_a_record_whose_messages_cannot_be_read_is_rejected_with_the_reason(record: Any, reason: str) -> None:
    rejected = read(json.dumps(record).encode(), "x@0", 0)
    assert isinstance(rejected, Rejected)
    assert reason in rejected.reason


def test_a_broken_tools_text_is_a_finding_and_the_record_is_kept() -> None:
    record = fixture("release")["record"] | {"tools": "[{"}
    assert "inner_json" in {finding.rule for finding in decoded(record).findings}


@pytest.mark.parametrize(
    ("arguments", "state"),
    [('{"a": 1}', "object"), ("", "empty"), ("null", "not_object"), ("[1]", "not_object"), ('{"a": 1', "unparsable")],
)
def test_arguments_keep_their_text_and_say_what_it_parses_to(arguments: str, state: str) -> None:
    message = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
    (call,) = decoded({"messages": [message]}).calls
    assert (call.arguments, call.form, call.arguments_state) == (arguments, "string", state)


def test_arguments_held_as_an_object_keep_their_own_bytes() -> None:
    call = b'{"function": {"name": "f", "arguments": {"b": 1.50,  "a":null}}}'
    trajectory = read(b'{"messages": [{"role": "assistant", "tool_calls": [%s]}]}' % call, "x")
    assert isinstance(trajectory, Trajectory)
    assert [(c.arguments, c.form) for c in trajectory.calls] == [('{"b": 1.50,  "a":null}', "object")]


def test_a_number_too_large_for_any_column_stays_exact_as_an_id() -> None:
    raw = b'{"task_info": {"env_id": "e", "task_id": 92233720368547758089}, "messages": []}'
    trajectory = read(raw, "x")
    assert isinstance(trajectory, Trajectory)
    assert trajectory.task_id == "92233720368547758089"


@pytest.mark.parametrize(("held", "steps"), [("3.0", 3), ('"3"', 3), ("3.5", None), ('"three"', None), ("[]", None)])
def test_steps_that_are_no_whole_number_are_a_finding(held: str, steps: int | None) -> None:
    trajectory = read(b'{"task_info": {}, "messages": [], "steps": %s}' % held.encode(), "x")
    assert isinstance(trajectory, Trajectory)
    assert trajectory.steps == steps
    assert "steps_form" in {finding.rule for finding in trajectory.findings}


def test_nan_and_lone_surrogates_are_kept_and_flagged() -> None:
    raw = b'{"task_info": {}, "total_reward": NaN, "messages": [{"role": "user", "content": "ok \\ud83d done"}]}'
    trajectory = read(raw, "x")
    assert isinstance(trajectory, Trajectory)
    assert trajectory.messages[0].content == "ok \ufffd done"
    assert {"lone_surrogate", "non_finite_number"} <= {finding.rule for finding in trajectory.findings}


def test_a_schema_that_points_elsewhere_is_not_fetched_and_its_calls_go_unchecked() -> None:
    tools = [{"name": "f", "parameters": {"$ref": "http://127.0.0.1:9/schema.json"}}]
    message = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    trajectory = decoded({"tools": tools, "messages": [message]})
    assert trajectory.calls[0].arguments_class == "unchecked"
    assert "schema_invalid" in {finding.rule for finding in trajectory.findings}


def test_one_response_to_several_text_blocks_answers_the_first_which_alone_was_run() -> None:
    blocks = '<tool_call>{"name": "a"}</tool_call><tool_call>{"name": "b"}</tool_call>'
    response = "<tool_response>{'success': True}</tool_response>"
    messages = [{"role": "assistant", "content": blocks}, {"role": "user", "content": response}]
    trajectory = decoded({"messages": messages})
    assert [(call.name, call.outcome) for call in trajectory.calls] == [("a", "ok"), ("b", "unknown")]
    assert {"extra_calls_not_run", "unanswered_call"} <= {finding.rule for finding in trajectory.findings}


def test_a_call_with_an_empty_name_is_a_finding_like_one_without() -> None:
    record = trajectory("t1", env_id="bank", steps=[step(tool="get_user")])
    for name in ('""', "null"):
        unnamed = {**record, "messages": record["messages"].replace('"name": "get_user"', f'"name": {name}')}
        assert unnamed != record
        assert [f.message for f in decoded(unnamed).findings if f.rule == "unreadable_call"] == [2], name


GEMINI = {
    "systemInstruction": {"parts": [{"text": "Be kind."}]},
    "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {}}}]}],
    "contents": [
        {"role": "user", "parts": [{"text": "Go."}]},
        {
            "role": "model",
            "parts": [{"text": "I think.", "thought": True}, {"functionCall": {"name": "f", "args": {}}}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"rows": 1}}}]},
    ],
}


def test_contents_of_gemini_keep_their_thoughts_tools_and_system_text() -> None:
    found = decoded(GEMINI)
    assert [(m.role, m.content, m.reasoning) for m in found.messages[:3]] == [
        ("system", "Be kind.", None),
        ("user", "Go.", None),
        ("assistant", "", "I think."),
    ]
    assert ([tool.name for tool in found.tools], [call.outcome for call in found.calls]) == (["f"], ["ok"])


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (
            '[TOOL_CALLS] [{"name": "f", "arguments": {}}]',
            '[TOOL_RESULTS] {"call_id": "c", "content": "1"} [/TOOL_RESULTS]',
        ),
        ('<TOOLCALL>[{"name": "f", "arguments": {}}]</TOOLCALL>', "<TOOL_RESPONSE>1</TOOL_RESPONSE>"),
        ('<tool_calls>[{"name": "f", "arguments": {}}]</tool_calls>', "1"),
        (
            '<function_calls><invoke name="f"></invoke></function_calls>',
            "<function_results><result><tool_name>f</tool_name><stdout>1</stdout></result></function_results>",
        ),
    ],
)
def test_results_in_the_tags_of_other_models_are_read_without_them(call: str, result: str) -> None:
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": call}]
    found = decoded({"messages": [*messages, {"role": "tool", "content": result}]})
    assert [call.name for call in found.calls] == ["f"]
    assert [message.content for message in found.messages if message.role == "tool"] == ["1"]


def test_a_refusal_and_a_call_of_a_custom_tool_are_read() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "code", "input": "print(1)"}}
    messages = [{"role": "assistant", "tool_calls": [custom]}, {"role": "tool", "tool_call_id": "c", "content": "1"}]
    found = decoded({"messages": [*messages, {"role": "assistant", "content": None, "refusal": "No."}]})
    assert [(call.name, call.arguments) for call in found.calls] == [("code", '{"input":"print(1)"}')]
    assert found.messages[-1].content == "No."
