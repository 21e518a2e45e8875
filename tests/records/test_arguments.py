"""The short ways through the check of arguments say what the validator says."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records import arguments
from analysis.records.model import Call
from analysis.records.toolsets import toolset

FLAT = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"enum": ["x", "y"]}},
    "required": ["a", "b"],
}
NESTED = {
    "type": "object",
    "properties": {"a": {"type": "object", "properties": {"in": {"type": "string"}}, "required": ["in"]}, "b": {}},
    "required": ["a", "b"],
}
DEPENDENT = FLAT | {"dependentRequired": {"c": ["other"]}, "additionalProperties": True}
NAMED = {"type": "object", "properties": {"required": {"type": "string"}}, "required": ["required"]}
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["x", "y", "z"])),
    lambda inner: st.dictionaries(st.sampled_from(["in", "a"]), inner, max_size=2),
    max_leaves=3,
)


@pytest.mark.parametrize(
    "schema",
    [FLAT, NESTED, DEPENDENT, NAMED],
    ids=["flat", "nested", "dependent", "a property named required"],
)
@given(value=st.dictionaries(st.sampled_from(["a", "b", "c", "required", "other"]), VALUES, max_size=4))
def test_arguments_are_classed_as_the_validator_classes_them_and_in_its_words(
    schema: dict[str, Any], value: dict[str, Any]
) -> None:
    tools = toolset(json.dumps([{"type": "function", "function": {"name": "t", "parameters": schema}}]))
    call = Call("t", json.dumps(value), "string")
    details = [detail for _, detail in arguments.classify([call], tools)]
    expected, said = arguments.breach(value, tools.contracts["t"])
    assert (call.arguments_state, call.arguments_class) == ("object", expected)
    assert details == ([f"t: {said}"] if said else [])


def test_only_names_that_no_other_part_of_the_schema_could_miss_are_looked_for_first() -> None:
    tools = toolset(
        json.dumps(
            [
                {"name": name, "parameters": s}
                for name, s in (("f", FLAT), ("n", NESTED), ("d", DEPENDENT), ("r", NAMED))
            ]
        )
    )
    assert {name: contract.required for name, contract in tools.contracts.items()} == {
        "f": {"a", "b"},
        "n": frozenset(),
        "d": frozenset(),
        "r": frozenset(),
    }


@pytest.mark.parametrize(
    ("name", "text", "state", "kind", "detail"),
    [
        ("t", '{"a": "x", "b": 1}', "object", "valid", None),
        (None, "{}", "object", "unparsable", "the block names no tool"),
        ("u", "{}", "object", "undeclared_tool", "u is not among the 1 tools declared"),
        ("u", "[1]", "not_object", "undeclared_tool", "u is not among the 1 tools declared"),
        ("t", '{"a": ', "unparsable", "unparsable", "t: Expecting value at character 6 of 6"),
        ("t", "[1]", "not_object", "not_an_object", "t: arguments are list"),
        ("t", '"a"', "not_object", "not_an_object", "t: arguments are str"),
        ("t", None, "empty", "missing_required", 't: "a" is a required property'),
        ("t", " ", "empty", "missing_required", 't: "a" is a required property'),
        ("t", '{"a": "x", "b": 1, "d": 1}', "object", "unknown_key", "t: d not in the schema"),
        ("t", '{"a": "x", "b": "1"}', "object", "wrong_type", 't: b: "1" is not of type "integer"'),
        ("t", '{"a": "x", "b": 1, "c": "z"}', "object", "enum", 't: c: "z" is not one of "x" or "y"'),
    ],
)
def test_every_class_of_arguments_is_told_with_what_was_found(
    name: str | None, text: str | None, state: str, kind: str, detail: str | None
) -> None:
    tools = toolset(json.dumps([{"name": "t", "parameters": FLAT}]))
    call = Call(name, text, "string")
    found = list(arguments.classify([call], tools))
    assert (call.arguments_state, call.arguments_class, call.is_offered) == (state, kind, name == "t")
    assert found == ([] if detail is None else [(call, detail)])
