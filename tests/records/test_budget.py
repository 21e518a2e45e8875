"""A tool's schema costs little before anything is held against it, or its calls go unchecked with a reason."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from analysis import records
from analysis.records import budget, toolsets
from analysis.records.model import Trajectory
from tests.builders import step, tool, trajectory
from tests.growth import is_linear

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def chain(length: int, link: Callable[[str], Schema], **last: Any) -> Schema:
    """`link` refers from each definition to the next one."""
    defs = {f"d{n}": link(f"d{n + 1}") for n in range(length)}
    return {"$defs": defs | {f"d{length}": {"type": "string", **last}}, **ref("d0")}


def repeating(**members: Any) -> Schema:
    return {"$defs": {"n": members}, **ref("n")}


OVER = {
    "any of two, twenty times": chain(20, lambda name: {"anyOf": [ref(name), ref(name)]}),
    "all of two, twenty times": chain(20, lambda name: {"allOf": [ref(name), ref(name)]}),
    "one of and not": chain(20, lambda name: {"oneOf": [ref(name)], "not": ref(name)}),
    "if, then, else": chain(13, lambda name: {"if": ref(name), "then": ref(name), "else": ref(name)}),
    "by what depends": chain(20, lambda name: {"dependentSchemas": {"a": ref(name), "b": ref(name)}}),
    "by names of members": chain(20, lambda name: {"propertyNames": ref(name), "not": ref(name)}),
    "by one member": chain(20, lambda name: {"properties": {"a": {"anyOf": [ref(name), ref(name)]}}}),
    "by a pattern and the rest": chain(
        20, lambda name: {"properties": {"a": ref(name)}, "patternProperties": {"a": ref(name)}}
    ),
    "by one item": chain(20, lambda name: {"items": {"anyOf": [ref(name), ref(name)]}}),
    "by items and what they contain": chain(20, lambda name: {"items": ref(name), "contains": ref(name)}),
    "by names of their own": {
        "$defs": {f"d{n}": {"$id": f"urn:x/d{n}", "anyOf": [{"$ref": f"d{n + 1}"}] * 2} for n in range(20)},
        "$ref": "urn:x/d0",
    },
    "by anchors": {
        "$defs": {f"d{n}": {"$anchor": f"a{n}", "anyOf": [{"$ref": f"#a{n + 1}"}] * 2} for n in range(20)},
        "$ref": "#a0",
    },
    "itself twice in a member": repeating(anyOf=[{"properties": {"a": ref("n")}}, {"properties": {"a": ref("n")}}]),
    "itself twice in an item": repeating(items={"allOf": [ref("n"), ref("n")]}),
    "a pattern that repeats repeats": {"properties": {"a": {"pattern": "((a{100}){100}){100}"}}},
    "many such patterns": {"properties": {f"a{n}": {"pattern": f"(a{{90}}){{90}}{n}"} for n in range(50)}},
    "such a name": {"patternProperties": {r"(\pL{99}){99}": {}}},
}
WITHIN = {
    "what nothing refers to": {"$defs": {"a": {"type": "string"}}, "type": "object"},
    "a thousand members that may be null": {
        "properties": {f"p{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(1000)}
    },
    "a hundred kinds": {"oneOf": [{"properties": {"kind": {"const": n}, f"v{n}": ref("v")}} for n in range(100)]}
    | {"$defs": {"v": {"type": "number"}}},
    "a chain that does not branch": chain(100, ref),
    "an ordinary pattern": {"properties": {"a": {"pattern": r"^[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}$"}}},
    "itself in place": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
}
REPEATING = {
    "any JSON": repeating(
        anyOf=[
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": ref("n")},
            {"type": "object", "additionalProperties": ref("n")},
        ]
    ),
    "a grammar of conditions": repeating(
        anyOf=[
            {"type": "object", "properties": {"and": {"type": "array", "items": ref("n")}}, "required": ["and"]},
            {"type": "object", "properties": {"left": ref("n"), "right": ref("n")}, "required": ["left"]},
            {"type": "object", "properties": {"not": ref("n")}, "required": ["not"]},
            {"type": "string"},
        ]
    ),
    "a tree": repeating(type="object", properties={"left": ref("n"), "right": ref("n"), "value": {"type": "integer"}}),
}


def read(parameters: Schema, *arguments: Any) -> Trajectory:
    steps = [step(tool="get_user", arguments=value) for value in arguments]
    declared = tool("get_user")
    declared["function"]["parameters"] = parameters
    record = records.read(json.dumps(trajectory("t1", steps=steps, tools=[declared])).encode(), "a@0", 0)
    assert isinstance(record, Trajectory)
    return record


def findings(record: Trajectory) -> list[str]:
    return [finding.detail for finding in record.findings if finding.rule == "schema_budget"]


@pytest.mark.parametrize("schema", OVER.values(), ids=OVER)
def test_a_schema_over_the_budget_is_not_compiled_and_its_calls_are_unchecked(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolsets.toolset.cache_clear()
    toolsets.contract.cache_clear()
    monkeypatch.setattr(jsonschema_rs, "validator_for", None)
    record = read(schema, {"a": "b"})
    assert [call.arguments_class for call in record.calls] == ["unchecked"]
    (reason,) = findings(record)
    assert reason.startswith("get_user: ")


@pytest.mark.parametrize("depth", [100, 300, 500, 2000])
@pytest.mark.parametrize("link", ['{"properties":{"a":%s}}', '{"allOf":[%s]}', '{"type":"dict","items":%s}'])
def test_a_schema_however_deep_stops_nothing(depth: int, link: str) -> None:
    before, after = link.split("%s")
    found = toolsets.contract(before * depth + "{}" + after * depth)
    assert found.validator is not None or depth > 100


@pytest.mark.parametrize("schema", WITHIN.values(), ids=WITHIN)
def test_an_ordinary_schema_is_within_the_budget(schema: Schema) -> None:
    assert budget.deepest(json.dumps(schema), schema) == 0


@pytest.mark.parametrize("schema", REPEATING.values(), ids=REPEATING)
def test_a_schema_that_refers_to_itself_is_checked_so_many_levels_deep(schema: Schema) -> None:
    assert budget.deepest(json.dumps(schema), schema) == budget.DEEPEST
    value: dict[str, Any] = {"left": {"left": {}, "right": {}}}
    deep: dict[str, Any] = {}
    for _ in range(budget.DEEPEST + 1):
        deep = {"left": deep}
    record = read(schema, value, deep)
    assert record.calls[0].arguments_class != "unchecked"
    assert record.calls[1].arguments_class == "unchecked"
    (reason,) = findings(record)
    assert "levels deep" in reason


def test_what_looking_at_a_schema_takes_does_not_grow_with_the_bomb() -> None:
    def work(length: int) -> int:
        schema = chain(length, lambda name: {"anyOf": [ref(name), ref(name)]})
        costs = budget._Costs(schema)
        with pytest.raises(budget.OverBudgetError):
            costs.of(schema, budget.DEEPEST)
        return costs.work

    assert work(40) < 2 * work(20)


@pytest.mark.parametrize("part", ["[", "(", "a{9", "\\p{", "{", "a", "[\\", "a{99999999999}"])
def test_a_pattern_is_reckoned_in_time_linear_in_its_length(part: str) -> None:
    assert is_linear(budget._cost_of_pattern, lambda size: part * size, 10_000)


def test_the_bomb_of_the_cases_costs_little_and_says_so(shared_cases: Path) -> None:
    (fine, bomb) = json.loads((shared_cases / "faults" / "schema_bomb_20.json").read_text(encoding="utf-8"))
    for record, classes in ((fine, ["valid"]), (bomb, ["unchecked"])):
        found = records.read(json.dumps(record).encode(), "a@0", 0)
        assert isinstance(found, Trajectory)
        assert [call.arguments_class for call in found.calls] == classes
        assert len(findings(found)) == (classes == ["unchecked"])
