"""Records of benchmarks: what is compared of each form, and what is not understood."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis import load
from analysis.records import benchmarks, compared
from analysis.sources import SourceError

FUNCTION = {
    "name": "mv",
    "description": "Move.",
    "parameters": {
        "type": "dict",
        "properties": {"to": {"type": "str", "description": "where"}, "from": {"type": "string"}},
        "required": ["to", "from"],
    },
}
MV = '{"properties":{"from":{"type":"string"},"to":{"type":"string"}},"required":["from","to"],"type":"object"}'
USER = [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Move a."}], [{"content": "And b."}]]

CASES: dict[str, tuple[dict[str, Any], list[compared.Row]]] = {
    "bfcl question": (
        {
            "id": "multi_turn_0",
            "question": USER,
            "initial_config": {"Files": {"file_id": 7}},
            "involved_classes": ["F"],
        },
        [("task", "F", "multi_turn_0", "Move a.\nAnd b."), ("value", "F", "file_id", "7")],
    ),
    "bfcl answer": (
        {"id": "multi_turn_0", "ground_truth": [["mv(to='B1x', n=2)", "open('x').read()", "not a call"], ["cd("]]},
        [("value", None, "to", "B1x")],
    ),
    "bfcl tool": (FUNCTION, [("tool", None, "mv", MV)]),
    "openai tool": ({"type": "function", "function": FUNCTION}, [("tool", None, "mv", MV)]),
    "acebench": (
        {"id": "a_0", "question": "Move a.", "function": [FUNCTION]},
        [("task", None, "a_0", "Move a."), ("tool", None, "mv", MV)],
    ),
    "tau-bench": (
        {"env": "airline", "instruction": "Fly.", "actions": [{"name": "book", "kwargs": {"user_id": "mia_3"}}]},
        [("task", "airline", None, "Fly."), ("value", "airline", "user_id", "mia_3")],
    ),
    "tau2": (
        {
            "id": "3",
            "user_scenario": {"persona": None, "instructions": {"domain": "airline", "reason_for_call": "Fly."}},
            "evaluation_criteria": {"actions": [{"name": "book", "arguments": {"id": "R1"}}]},
        },
        [("task", None, "3", "airline\nFly."), ("value", None, "id", "R1")],
    ),
    "environments": (
        {"env_1": {"env_id": "env_1", "tools": [FUNCTION]}},
        [("tool", "env_1", "mv", MV)],
    ),
}


@pytest.mark.parametrize(("record", "rows"), CASES.values(), ids=CASES)
def test_a_benchmarks_record_gives_task_tools_and_values(record: dict[str, Any], rows: list[compared.Row]) -> None:
    assert benchmarks.read(json.dumps(record).encode()) == rows


@pytest.mark.parametrize(
    "raw",
    [b"[1]", b"3", b"{", b'{"question": ""}', b'{"x": 1}', b'{"task": "Move.", "messages": "broken"}', b'{"tools": 3}'],
    ids=repr,
)
def test_what_is_not_understood_is_none(raw: bytes) -> None:
    assert benchmarks.read(raw) is None


def test_an_answer_is_never_run(tmp_path: Path) -> None:
    there = tmp_path / "made"
    text = f"mv(to=open({str(there)!r}, 'w'))"
    assert (
        benchmarks.read(json.dumps({"ground_truth": [text, "(" * 3_000, "mv(" + "-" * 3_000 + "1)"]}).encode()) is None
    )
    assert not there.exists()


@pytest.mark.parametrize("schema", ["null", "{}", '{"type": "object"}', '{"type": "dict", "properties": {}}'])
def test_a_tool_without_parameters_has_one_form(schema: str) -> None:
    assert compared.parameters(schema) == '{"type":"object"}'


def test_parameters_named_like_words_of_a_schema_stay() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "str", "title": "T"}, "default": {"type": "int"}}}
    expected = {"type": "object", "properties": {"title": {"type": "string"}, "default": {"type": "integer"}}}
    assert json.loads(compared.parameters(json.dumps(schema))) == expected


@pytest.mark.usefixtures("own_cache")
def test_what_of_the_other_set_was_not_read_is_counted(tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("\n".join(json.dumps(record) for record, _ in CASES.values()) + '\n{"x": 1}\n', encoding="utf-8")
    about = load("sample", against=str(mixed), progress=False).manifest["against"]
    counts = (about["records_in"], about["benchmark_records"], about["not_read"])
    assert counts == (len(CASES) + 1, len(CASES), 1)
    mixed.write_text('{"x": 1}\n', encoding="utf-8")
    with pytest.raises(SourceError, match="nothing to compare with: none of 1 record is a trajectory"):
        load("sample", against=str(mixed), progress=False)


@pytest.mark.parametrize(
    ("name", "tasks", "tools"),
    [
        ("bfcl_multi_turn_base_60.jsonl", 60, 0),
        ("bfcl_tools_travel_booking.jsonl", 0, 18),
        ("acebench_agent_multi_step.jsonl", 20, None),
        ("tau_bench_tasks.jsonl", 165, 0),
        ("envscaler_rl_scenarios.json", 3, 0),
        ("envscaler_environment.json", 0, 18),
    ],
)
def test_every_record_of_real_benchmarks_is_read(shared_data: Path, name: str, tasks: int, tools: int | None) -> None:
    text = (shared_data / name).read_text(encoding="utf-8")
    listed = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    listed = listed if isinstance(listed, list) else [listed]
    rows = [benchmarks.read(json.dumps(record).encode()) for record in listed]
    assert None not in rows
    kinds = [row[0] for read in rows for row in read or ()]
    named = sum(len(record.get("function", ())) for record in listed) if tools is None else tools
    assert (kinds.count("task"), kinds.count("tool")) == (tasks, named)
