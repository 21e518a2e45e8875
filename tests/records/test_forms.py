"""Forms of calls that are met in the field, beside those that the dialects' fixtures hold."""

import json
from typing import Any

import pytest

from analysis.records import read
from analysis.records.model import Trajectory
from tests.records.test_unread import assistant, said

RESULT = {"role": "tool", "content": "ok"}
INVOKE = '<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>'
PAIR = {"type": "web_search_result", "title": "t", "url": "u"}

# (record; name, arguments and result of each call; texts of the agent that are left)
FORMS: dict[str, tuple[dict[str, Any], list[tuple[str, Any, str | None]], list[str]]] = {
    "Mistral's names and arguments": (
        said(
            assistant('[TOOL_CALLS]f[ARGS]{"a": [1]}[TOOL_CALLS]g[CALL_ID]x1[ARGS]{}'),
            RESULT,
            {**RESULT, "content": "2"},
        ),
        [("f", {"a": [1]}, "ok"), ("g", {}, "2")],
        [""],
    ),
    "another model's wrapping": (
        said(assistant(f"<minimax:tool_call>\n{INVOKE}\n</minimax:tool_call>"), RESULT),
        [("f", {"a": "1"}, "ok")],
        [""],
    ),
    "arguments under another name": (
        said(assistant(tool_calls=[{"tool_name": "f", "tool_args": {"a": 1}}]), RESULT), [("f", {"a": 1}, "ok")], [""],
    ),
    "tools that the server runs": (
        said(assistant([
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "a"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": [PAIR]},
            {"type": "text", "text": "Found."},
        ])),
        [("web_search", {"query": "a"}, json.dumps([PAIR]))],
        ["I look.", "Found."],
    ),
    "the release's shape with calls as text": (
        said(
            assistant('<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'),
            {"role": "user", "content": "<tool_response>\nok\n</tool_response>"},
            traj_type="conversation",
        ),
        [("f", {"a": 1}, "ok")],
        [""],
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_form_reads_as_its_calls_results_and_texts(form: str) -> None:
    record, calls, texts = FORMS[form]
    found = read(json.dumps(record).encode(), "here")
    assert isinstance(found, Trajectory), found
    results = [None if c.result_message is None else found.messages[c.result_message].content for c in found.calls]
    made = [(c.name, json.loads(c.arguments or "null"), r) for c, r in zip(found.calls, results, strict=True)]
    assert made == calls
    assert [message.content for message in found.messages if message.role == "assistant"] == texts
    assert {finding.rule for finding in found.findings}.isdisjoint({"unread_text", "orphan_result", "content_parts"})


def test_a_picture_alone_is_no_text_of_a_result() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 999}}
    blocks = [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]
    answer = [{"type": "tool_result", "tool_use_id": "c", "content": [picture]}]
    found = read(json.dumps(said(assistant(blocks), {"role": "user", "content": answer})).encode(), "here")
    assert isinstance(found, Trajectory)
    assert [message.content for message in found.messages if message.role == "tool"] == [""]
    assert "content_parts" in {finding.rule for finding in found.findings}


@pytest.mark.parametrize(
    "tag", ["<function=f>", '<invoke name="f">', "<invoke ", "<arg_key>", "[ARGS]", "[TOOL_CALLS]", "<|python_tag|>"]
)
def test_a_tag_in_the_text_of_an_argument_is_a_text(tag: str) -> None:
    call = json.dumps({"name": "f", "arguments": {"q": f"say {tag} twice"}})
    in_text = read(json.dumps(said(assistant(f"<tool_call>\n{call}\n</tool_call>"), RESULT)).encode(), "here", 0)
    turns = [{"from": "human", "value": "Do."}, {"from": "function_call", "value": call}]
    turns += [{"from": "observation", "value": "ok"}, {"from": "gpt", "value": "Done."}]
    shared = {"conversations": turns, "tools": json.dumps([{"name": "f", "parameters": {}}])}
    for record in (in_text, read(json.dumps(shared).encode(), "here", 0)):
        assert isinstance(record, Trajectory), record
        assert [(one.name, json.loads(one.arguments or "")) for one in record.calls] == [
            ("f", {"q": f"say {tag} twice"})
        ]
