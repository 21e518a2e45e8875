"""The rule above all: calls and texts that are not read are refused or told, never counted as none."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis import load
from analysis.cli.main import main
from analysis.measures import tool_usage
from analysis.records import read
from analysis.records.model import Rejected, Trajectory
from analysis.records.words import dialects, table
from tests.conftest import ROOT

LONG = "A text that nobody reads. " * 8


def said(*messages: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Go."}, *messages], **beside}


def assistant(content: Any = "", **beside: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **beside}


CALLS: dict[str, tuple[dict[str, Any], str]] = {
    **{
        text[:24]: (said(assistant(text)), sign)
        for text, sign in {
            '<|channel|>commentary to=functions.f<|message|>{"a": 1}<|call|>': "a token of calls",
            '<|python_start|>[f(a="1")]<|python_end|>': "a token of calls",
            '<｜DSML｜function_calls><｜DSML｜invoke name="f">': "a token of calls",
            "<own_tool_call>f</own_tool_call>": "a tag of calls",
            "<search>weather</search>": "a tag to be run",
            "Thought: I look.\n<code>\nf()\n</code>": "a thought with code",
            'f\n{"a": 1}': "a name above an object",
            "f(a=1)": "a text that is a call",
        }.items()
    },
    "a member no reader knows": (said(assistant(toolCalls=[{"n": "f"}])), "toolCalls"),
    "a part no reader knows": (said(assistant([{"type": "computer_call", "do": "click"}])), "computer_call"),
    "an action line": (said(assistant('I look.\nAction: search\nAction Input: {"q": 1}')), "Action:"),
    "tags of another model": (said(assistant("<|tool_calls_section_begin|>f")), "<|tool_call"),
    "a fence": (said(assistant('```json\n{"action": "f", "input": 1}\n```')), "fence"),
    "an object as the whole text": (said(assistant('{"name": "f", "arguments": {}}')), "names a function"),
    "only results": (said(assistant("I did."), {"role": "tool", "content": "ok"}), "`tool`"),
    "a result the user delivers": (said(assistant("…"), {"role": "user", "content": "<tool_response>1"}), "tool_resp"),
    "another member of the record": (said(assistant("Done."), steps_taken=[{"tool_calls": [1]}]), "tool_calls"),
    "what a command came to": (
        said(assistant("I look.\n```bash\nls\n```"), {"role": "user", "content": "<returncode>0"}),
        "<returncode>",
    ),
    "a part of a newer kind": (
        said({"role": "assistant", "parts": [{"type": "tool-f", "toolCallId": "c", "input": 1}]}),
        "toolCallId",
    ),
    "a thought with an action": (said(assistant("Think: I look.\n\nAct: bash\n\n```bash\nls\n```")), "an action"),
    "code to be run": (said(assistant("Thought: x\nCode:\n```py\nf()\n```")), "code to be run"),
    "calls none of which can be named": (said(assistant(tool_calls=[{"what": "f"}] * 3)), "tool_calls"),
    "rows of another dialect": ({"conversations": [{"from": "gpt", "value": "<execute_bash>ls"}]}, "<execute_"),
}


@pytest.mark.parametrize("case", CALLS)
def test_signs_of_calls_of_which_none_is_read_refuse_the_record(case: str) -> None:
    record, sign = CALLS[case]
    found = read(json.dumps(record).encode(), "here@0", 0)
    assert isinstance(found, Rejected), found.calls
    assert sign in found.reason
    assert "nearest dialect" in found.reason
    assert "--dialects" in found.reason
    assert "--keep-unread" in found.reason


@pytest.mark.parametrize(
    "record",
    [
        said(assistant("Done."), tools=[{"name": "f", "parameters": {"properties": {"action": {}}}}]),
        said({"role": "system", "content": "Write <tool_call>{…}</tool_call> to call."}, assistant("No need.")),
        said(assistant("Use [1] and (2)."), assistant('{"answer": 3}')),
        said(assistant("Done.", tool_calls=None, function_call=None)),
        said(assistant("Done.", tool_calls=[])),
        said(assistant("An action is needed.", action="")),
        said(assistant("Type <code>f(a=1)</code> or ls.<|im_end|>")),
        said(assistant("<|channel|>final<|message|>f\nis {}.")),
        said(assistant("<think>maybe <tool_call>{}</tool_call></think>No.")),
    ],
)
def test_what_only_speaks_of_calls_is_no_sign_of_one(record: dict[str, Any]) -> None:
    assert isinstance(read(json.dumps(record).encode(), "here"), Trajectory)


@pytest.mark.parametrize(
    "lost",
    [
        assistant("Seen.", body=LONG),
        assistant([{"type": "text", "text": "Seen."}, {"type": "card", "lines": [LONG]}]),
        {"role": "user", "content": "Seen.", "note": {"inner": [{"deep": LONG}]}},
        {"role": "narrator", "words": LONG},
    ],
)
def test_texts_that_end_up_nowhere_are_told_or_refuse_the_record(lost: dict[str, Any]) -> None:
    refused = read(json.dumps(said(lost)).encode(), "here")
    assert isinstance(refused, Rejected)
    assert f"{len(LONG.strip()):,} of the" in refused.reason
    kept = read(json.dumps(said(lost, assistant(LONG * 12))).encode(), "here")
    assert isinstance(kept, Trajectory)
    (told,) = [finding for finding in kept.findings if finding.rule == "unread_text"]
    assert told.detail.startswith(f"{len(LONG.strip()):,} of the")


def test_facts_about_a_message_are_no_texts() -> None:
    facts = {
        "timestamp": "2025-01-01T00:00:00",
        "usage": {"note": LONG},
        "signature": LONG,
        "model": "m",
        "raw_data": LONG,
    }
    found = read(json.dumps(said(assistant("Done.", **facts))).encode(), "here")
    assert isinstance(found, Trajectory)
    assert "unread_text" not in {finding.rule for finding in found.findings}


def test_asked_for_a_record_that_was_not_read_is_kept_with_a_finding() -> None:
    record, _ = CALLS["an action line"]
    found = read(json.dumps(record).encode(), "here", keep_unread=True)
    assert isinstance(found, Trajectory)
    assert "kept_unread" in {finding.rule for finding in found.findings}


def test_tables_keep_unread_records_apart_from_those_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    record, _ = CALLS["an action line"]
    source = tmp_path / "rows.jsonl"
    source.write_text(f"{json.dumps(record)}\n{json.dumps(said(assistant('Done.')))}\n", encoding="utf-8")
    for keeps, kept in ((False, 1), (True, 2), (False, 1)):
        manifest = load(str(source), progress=False, keep_unread=keeps).manifest
        assert (manifest["kept"], manifest["rejected"], manifest["kept_unread"]) == (kept, 2 - kept, kept - 1)


def test_the_command_keeps_unread_records_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    record, _ = CALLS["only results"]
    (tmp_path / "rows.json").write_text(json.dumps([record]), encoding="utf-8")
    arguments = ["tables", str(tmp_path / "rows.json"), str(tmp_path / "out"), "--quiet"]
    assert main(arguments) == 1
    assert main([*arguments, "--keep-unread"]) == 0
    assert "1 of the records kept could not be read whole" in capsys.readouterr().err
    assert load(str(tmp_path / "out")).manifest["kept_unread"] == 1


def test_every_dialect_is_listed_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "--dialects"]) == 0
    assert capsys.readouterr().out == dialects()


def test_the_readme_lists_the_dialects_that_are_read() -> None:
    assert table() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_calls_of_records_that_declare_no_tools_stand_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    record = json.loads((Path(__file__).parent / "no_tools.json").read_text(encoding="utf-8"))["record"]
    (tmp_path / "rows.json").write_text(json.dumps([record]), encoding="utf-8")
    data = load(str(tmp_path / "rows.json"), progress=False)
    usage = tool_usage.by_tool(data.tool_calls, data.trajectories, data.tools)
    across = tool_usage.across(usage).collect().row(0, named=True)
    assert (across["calls"], across["undeclared_calls"], across["outside_calls"]) == (0, 0, 2)
    assert set(data.tool_calls.collect()["arguments_class"]) == {"unchecked"}
    assert data.tool_calls.collect()["is_offered"].null_count() == 2
