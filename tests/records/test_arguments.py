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
