"""Every environment follows from its description: names, tools, schemas, also when the names are varied."""

import ast
import re
from statistics import mean

import pytest

from analysis.sample.description import Create, Move, descriptions
from analysis.sample.naming import environment
from analysis.sample.toolbox import _tools, toolbox
from analysis.sample.wording import articled

PLAIN = range(len(descriptions()))
RELEASE = range(140)
SEED = 7


def test_a_dozen_and_more_descriptions_are_held_as_data() -> None:
    assert len(descriptions()) >= 12
    assert len({description.titles[0] for description in descriptions()}) == len(descriptions())


@pytest.mark.parametrize("index", PLAIN)
def test_eight_to_twelve_queries_and_six_to_ten_changes_follow_from_a_description(index: int) -> None:
    tools = toolbox(index, SEED).values()
    assert 8 <= sum(tool.is_query for tool in tools) <= 12
    assert 6 <= sum(not tool.is_query for tool in tools) <= 10


def test_an_environment_offers_about_eighteen_tools_as_in_the_release() -> None:
    assert 17 <= mean(len(toolbox(index, SEED)) for index in PLAIN) <= 19.5


@pytest.mark.parametrize("index", RELEASE)
def test_no_two_tools_of_an_environment_share_a_name_under_any_naming(index: int) -> None:
    description = environment(index, SEED)
    made = [tool.name for entity in description.entities.values() for tool in _tools(description, entity)]
    assert len(made) == len(set(made)) == len(toolbox(index, SEED))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{2,63}", name) for name in made)


def test_a_varied_environment_is_another_environment() -> None:
    toolsets = [frozenset(toolbox(index, SEED)) for index in RELEASE]
    assert len(set(toolsets)) == len(toolsets)
    assert len({environment(index, SEED).title for index in RELEASE}) > len(RELEASE) * 0.9


@pytest.mark.parametrize("index", RELEASE)
def test_names_are_settled_everywhere_before_play(index: int) -> None:
    description = environment(index, SEED)
    texts = [description.introduction, *description.facts]
    texts += [tool.docstring for tool in toolbox(index, SEED).values()]
    assert not [text for text in texts if re.search(r"\{[a-z_]+\}", text)]
    for entity in description.entities.values():
        columns = [entity.id_column, *(field.column for field in entity.fields.values())]
        columns += [entity.state_name] if entity.states else []
        assert len(columns) == len(set(columns)), f"{entity.one} has a column twice"


@pytest.mark.parametrize("index", PLAIN)
def test_states_named_by_moves_rules_and_effects_exist(index: int) -> None:
    entities = environment(index, SEED).entities
    for entity in entities.values():
        for move in entity.moves:
            assert {*move.start, move.end} <= set(entity.states)
        made: list[Move | Create] = [*entity.moves, *([entity.create] if entity.create else [])]
        for rule in [*(rule for each in made for rule in each.rules), *entity.remove_rules]:
            assert bool(rule.check) != bool(rule.count), rule.text
            if rule.check.endswith("status"):
                owner = entities[rule.check.split(".")[0]] if "." in rule.check else entity
                assert set(rule.among) <= set(owner.states), rule.text
            if rule.count:
                assert set(rule.states) <= set(entities[rule.count].states), rule.text
        for effect in (effect for each in made for effect in each.effects):
            if effect.set.endswith(".status"):
                assert effect.to in entities[effect.set.split(".")[0]].states


@pytest.mark.parametrize("index", PLAIN)
def test_a_tool_is_an_openai_function_schema_with_a_whole_docstring(index: int) -> None:
    for tool in toolbox(index, SEED).values():
        schema = tool.schema
        assert list(schema) == ["type", "function"]
        function = schema["function"]
        assert list(function) == ["name", "description", "parameters"]
        assert function["parameters"]["type"] == "object"
        assert function["parameters"]["required"] == list(function["parameters"]["properties"])
        assert "\n\nReturns:\n    dict: " in function["description"]
        assert ("\n\nArgs:\n" in function["description"]) == bool(tool.parameters)
        assert all(f"    {parameter.name} (" in function["description"] for parameter in tool.parameters)


def test_schemas_show_the_release_s_odd_forms() -> None:
    schemas = [
        schema
        for index in RELEASE
        for tool in toolbox(index, SEED).values()
        for schema in tool.schema["function"]["parameters"]["properties"].values()
    ]
    assert {} in schemas
    assert {"type": "array", "items": {}} in schemas
    assert {"type": "object"} in schemas
    assert {"type": ["string", "null"]} in schemas
    tools = [tool for index in RELEASE for tool in toolbox(index, SEED).values()]
    assert any(not tool.parameters for tool in tools), "no tool without arguments"
    assert any(parameter.is_optional for tool in tools for parameter in tool.parameters), "nothing is over-required"


@pytest.mark.parametrize(
    ("text", "said"),
    [("A {x} opens", "An {x} opens"), ("a {x}", "an {x}")],
)
def test_articles_follow_the_word_that_was_filled_in(text: str, said: str) -> None:
    assert articled(text.format(x="order")) == said.format(x="order")
    assert articled(said.format(x="user")) == text.format(x="user")


def test_a_negative_index_is_refused() -> None:
    with pytest.raises(ValueError, match="count from 0"):
        environment(-1, SEED)


def test_docstrings_are_plain_text_that_python_source_can_hold() -> None:
    for index in PLAIN:
        for tool in toolbox(index, SEED).values():
            assert ast.literal_eval(f'"""{tool.docstring}\n"""').startswith(tool.summary)
