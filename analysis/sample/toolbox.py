"""The tools that follow from a description: what can be asked of each entity and field, and what can be changed."""

from collections.abc import Iterator, Mapping
from functools import cache

from analysis.sample.description import Description, Entity, Field, Style
from analysis.sample.naming import environment
from analysis.sample.tools import PYTHON_TYPES, Parameter, Tool, is_asked
from analysis.sample.wording import articled


@cache
def toolbox(index: int, seed: int) -> dict[str, Tool]:
    """The tools of the environment number `index`, by name: queries first."""
    description = environment(index, seed)
    tools = [tool for entity in description.entities.values() for tool in _tools(description, entity)]
    return {tool.name: tool for tool in sorted(tools, key=lambda tool: not tool.is_query)}


def constraints(description: Description, tools: Mapping[str, Tool]) -> list[str]:
    """What holds in the environment: its rules, each sentence once, and its facts."""
    return list(dict.fromkeys([*(rule.text for tool in tools.values() for rule in tool.rules), *description.facts]))


def _tools(description: Description, entity: Entity) -> Iterator[Tool]:
    yield from _queries(description, entity)
    yield from _changes(description, entity)


def _name(pattern: str, entity: Entity, field: str = "", parent: str = "") -> str:
    return pattern.format(one=entity.one, many=entity.many, field=field, parent=parent)


def _style(description: Description) -> Style:
    assert description.style is not None, "names are settled before tools are made"
    return description.style


def _id(entity: Entity, about: str = "") -> Parameter:
    return Parameter(entity.id_column, "ref", about or f"Unique id of the {entity.words}.")


LIMIT = Parameter("limit", "integer", "Most records to return.", default=20, is_optional=True)


def _queries(description: Description, entity: Entity) -> Iterator[Tool]:
    style, many, words = _style(description), entity.many_words, entity.words
    record, records = f'"data": {entity.type_name}Info', f'"data": List[{entity.type_name}Info]'
    yield Tool(
        _name(style.get, entity), "get", entity, (_id(entity),),
        f"Retrieve everything recorded about one {words} by its id.", record,
        (f"The {words} must exist; upper and lower case in an id are told apart.",),
    )  # fmt: skip
    if entity.listed:
        yield Tool(
            _name(style.list, entity), "list", entity, (), f"Return all {many}, in the order of their ids.", records
        )
    if entity.states:
        states = Parameter(entity.state_name, "choice", f"One of: {', '.join(entity.states)}.", entity.states)
        yield Tool(
            _name(style.state, entity, entity.state_name), "state", entity, (states,),
            f"Return all {many} whose {entity.state_name.replace('_', ' ')} is the given one, if any.", records,
        )  # fmt: skip
    if entity.tally:
        yield Tool(
            _name(style.tally, entity, entity.state_name), "tally", entity, (),
            f"Count the {many} by {entity.state_name.replace('_', ' ')}.", '"data": Dict[str, int]',
        )  # fmt: skip
    for field in entity.fields.values():
        yield from _field_queries(description, entity, field, records)


def _field_queries(description: Description, entity: Entity, field: Field, records: str) -> Iterator[Tool]:
    style, many = _style(description), entity.many_words
    if field.kind == "ref":
        parent = description.entities[field.to]
        yield Tool(
            _name(style.of, entity, parent=parent.one), "of", entity,
            (Parameter(field.column, "ref", f"Id of the {parent.words}."),),
            f"Return the {many} that belong to one {parent.words}.", records,
            (f"The {parent.words} must exist; without {many} the list is empty.",), field,
        )  # fmt: skip
    if field.search:
        yield Tool(
            _name(style.search, entity, field.column), "search", entity,
            (Parameter("text", "text", f"Part of the {field.words}; upper and lower case are alike."), LIMIT),
            f"Find {many} whose {field.words} contains a text.", records, field=field,
        )  # fmt: skip
    if field.floor:
        yield Tool(
            _name(style.floor, entity, field.column), "floor", entity,
            (Parameter(f"min_{field.column}", "number", f"Smallest {field.words} to include."),),
            f"Return the {many} whose {field.words} is at least the given number, largest first.", records, field=field,
        )  # fmt: skip
    if field.filter:
        yield Tool(
            _name(style.filter, entity, field.column), "filter", entity,
            (Parameter(field.column, "choice", f"One of: {', '.join(field.values)}.", field.values),),
            f"Return the {many} whose {field.words} is the given one.", records, field=field,
        )  # fmt: skip


def _changes(description: Description, entity: Entity) -> Iterator[Tool]:
    style, words = _style(description), entity.words
    changed = f'"data": {entity.type_name}Info  # as it is now' if style.returns_record else '"message": str'
    if entity.create:
        asked = tuple(_parameter(field, description) for field in entity.fields.values() if is_asked(field))
        if style.packed:
            lines = "; ".join(f"{parameter.name} ({PYTHON_TYPES[parameter.kind]})" for parameter in asked)
            asked = (Parameter(f"{entity.one}_info", "object", f"All of: {lines}."),)
        yield Tool(
            _verbed(entity.create.verb, entity), "create", entity, asked,
            f"{_phrase(entity.create.verb, 'new ' + words)}. Its id is given by the system.", changed,
            tuple(rule.text for rule in entity.create.rules), create=entity.create,
        )  # fmt: skip
    for move in entity.moves:
        extra = tuple(_parameter(entity.fields[key], description, "new ") for key in move.asks)
        note = (Parameter(move.note, "text", "Remark to keep with it.", default="", is_optional=True),)
        yield Tool(
            _verbed(move.verb, entity), "move", entity, (_id(entity), *extra, *(note if move.note else ())),
            f"{articled(_phrase(move.verb, words))}: from {' or '.join(move.start)} to {move.end}.", changed,
            (f"The {words} must be {' or '.join(move.start)}.", *(rule.text for rule in move.rules)), move=move,
        )  # fmt: skip
    for field in entity.fields.values():
        yield from _field_changes(description, entity, field, changed)
    if entity.remove:
        yield Tool(
            _verbed(entity.remove, entity), "remove", entity, (_id(entity),),
            articled(f"{_sentence(entity.remove)} a {words} for good."), '"message": str',
            tuple(rule.text for rule in entity.remove_rules),
        )  # fmt: skip


def _field_changes(description: Description, entity: Entity, field: Field, changed: str) -> Iterator[Tool]:
    style, words = _style(description), entity.words
    if field.edit:
        kind = "any" if style.packed and field.kind == "number" else field.kind
        value = Parameter(f"new_{field.column}", kind, _about(field), field.values if field.kind == "choice" else ())
        yield Tool(
            _name(style.set, entity, field.column), "set", entity, (_id(entity), value),
            articled(f"Change the {field.words} of a {words}."), changed, _bounds(field), field,
        )  # fmt: skip
    if field.adjust:
        yield Tool(
            f"{field.adjust}_{entity.one}_{field.column}", "adjust", entity,
            (_id(entity), Parameter("amount", field.kind, f"What to add to the {field.words}; negative to take away.")),
            articled(f"{_sentence(field.adjust)} the {field.words} of a {words} by an amount."), changed,
            _bounds(field), field,
        )  # fmt: skip
    if field.assign:
        parent = description.entities[field.to]
        yield Tool(
            _name(style.assign, entity, parent=parent.one), "assign", entity,
            (_id(entity), Parameter(f"new_{field.column}", "ref", f"Id of the {parent.words} it goes to.")),
            articled(f"Give a {words} to another {parent.words}."), changed,
            (f"The new {parent.words} must exist.",), field,
        )  # fmt: skip


def _parameter(field: Field, description: Description, new: str = "") -> Parameter:
    if field.kind == "ref":
        return Parameter(field.column, "ref", f"Id of the {new}{description.entities[field.to].words}.")
    return Parameter(
        field.column,
        field.kind,
        f"The {new}{field.words}.{_values(field)}",
        field.values if field.kind == "choice" else (),
    )


def _about(field: Field) -> str:
    return f"The new {field.words}.{_values(field)}"


def _values(field: Field) -> str:
    if field.kind == "choice":
        return f" One of: {', '.join(field.values)}."
    return " As YYYY-MM-DD." if field.kind == "date" else ""


def _bounds(field: Field) -> tuple[str, ...]:
    if field.kind in ("number", "integer"):
        return (f"The {field.words} stays between {field.low:g} and {field.high:g}.",)
    return ()


def _sentence(verb: str) -> str:
    return verb.replace("_", " ").capitalize()


def _verbed(verb: str, entity: Entity) -> str:
    """`declare_lost` of a loan is `declare_loan_lost`."""
    first, _, rest = verb.partition("_")
    return f"{first}_{entity.one}_{rest}" if rest else f"{first}_{entity.one}"


def _phrase(verb: str, words: str) -> str:
    first, _, rest = verb.partition("_")
    return f"{first.capitalize()} a {words} {rest.replace('_', ' ')}".rstrip()
