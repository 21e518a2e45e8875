"""What each kind of tool does to a world: eight ways to read it, six to change it.

Every function raises `Refusal` before it changes anything.
"""

from collections.abc import Callable
from typing import Any

from analysis.sample.arguments import within
from analysis.sample.description import Entity, Field
from analysis.sample.state import Record, Refusal, Result, World
from analysis.sample.tools import Tool, is_asked


def _get(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    return {"data": dict(world.find(tool.entity, arguments[tool.entity.id_column]))}


def _list(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    return {"data": [dict(record) for record in world.records(tool.entity).values()]}


def _where(world: World, entity: Entity, column: str, value: Any) -> Result:
    return {"data": [dict(record) for record in world.records(entity).values() if record[column] == value]}


def _state(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    column = tool.entity.state_name
    return _where(world, tool.entity, column, arguments[column])


def _of(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    field = _field(tool)
    world.find(world.description.entities[field.to], arguments[field.column])
    return _where(world, tool.entity, field.column, arguments[field.column])


def _search(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    column, wanted = _field(tool).column, arguments["text"].casefold()
    found = [dict(record) for record in world.records(tool.entity).values() if wanted in record[column].casefold()]
    return {"data": found[: arguments["limit"]]}


def _floor(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    column = _field(tool).column
    least = arguments[f"min_{column}"]
    found = [dict(record) for record in world.records(tool.entity).values() if record[column] >= least]
    return {"data": sorted(found, key=lambda record: -record[column])}


def _filter(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    column = _field(tool).column
    return _where(world, tool.entity, column, arguments[column])


def _tally(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    states = [record[tool.entity.state_name] for record in world.records(tool.entity).values()]
    return {"data": {state: states.count(state) for state in tool.entity.states}}


def _create(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    entity, create = tool.entity, tool.create
    assert create is not None
    given = arguments[f"{entity.one}_info"] if world.style.packed else arguments
    record: Record = {entity.id_column: world.next_id(entity)}
    for field in entity.fields.values():
        if is_asked(field):
            if field.column not in given:
                raise Refusal(f"Missing {field.column} in {entity.one}_info")
            value = given[field.column]
            if field.kind == "ref":
                world.find(world.description.entities[field.to], value)
            within(field, value)
            record[field.column] = value
        else:
            record[field.column] = field.start if field.start != "" else None
    if entity.states:
        record[entity.state_name] = entity.states[0]
    world.check(entity, record, create.rules)
    world.records(entity)[record[entity.id_column]] = record
    world.apply(entity, record, create.effects)
    return world.changed(record, f"{entity.words.capitalize()} {record[entity.id_column]} {create.done}")


def _move(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    entity, move = tool.entity, tool.move
    assert move is not None
    record = world.find(entity, arguments[entity.id_column])
    state = record[entity.state_name]
    if state not in move.start:
        allowed = " or ".join(move.start)
        raise Refusal(f"{entity.words.capitalize()} is {state}; it can only be {move.done} when {allowed}")
    for key in move.asks:
        within(entity.fields[key], arguments[entity.fields[key].column])
    world.check(entity, record, move.rules)
    for key in move.asks:
        record[entity.fields[key].column] = arguments[entity.fields[key].column]
    note = entity.fields.get(move.note)
    if note and arguments[move.note]:
        record[note.column] = arguments[move.note]
    record[entity.state_name] = move.end
    world.apply(entity, record, move.effects)
    return world.changed(record, f"{entity.words.capitalize()} {record[entity.id_column]} {move.done}")


def _set(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    entity, field = tool.entity, _field(tool)
    record = world.find(entity, arguments[entity.id_column])
    value = arguments[f"new_{field.column}"]
    within(field, value)
    record[field.column] = value
    return world.changed(record, f"{field.words.capitalize()} of {record[entity.id_column]} set to {value}")


def _adjust(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    entity, field = tool.entity, _field(tool)
    record = world.find(entity, arguments[entity.id_column])
    value = round(record[field.column] + arguments["amount"], 2)
    if value < field.low:
        raise Refusal(f"The {field.words} can't go below {field.low:g}; it is {record[field.column]:g} now")
    if value > field.high:
        raise Refusal(f"The {field.words} can't go above {field.high:g}; it is {record[field.column]:g} now")
    record[field.column] = value
    return world.changed(record, f"{field.words.capitalize()} of {record[entity.id_column]} is now {value:g}")


def _assign(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    entity, field = tool.entity, _field(tool)
    record = world.find(entity, arguments[entity.id_column])
    parent = world.description.entities[field.to]
    new = world.find(parent, arguments[f"new_{field.column}"])[parent.id_column]
    if record[field.column] == new:
        raise Refusal(f"{entity.words.capitalize()} already belongs to {parent.words} {new}")
    record[field.column] = new
    return world.changed(record, f"{entity.words.capitalize()} {record[entity.id_column]} now belongs to {new}")


def _remove(world: World, tool: Tool, arguments: dict[str, Any]) -> Result:
    entity = tool.entity
    record = world.find(entity, arguments[entity.id_column])
    world.check(entity, record, entity.remove_rules)
    del world.records(entity)[record[entity.id_column]]
    return {"message": f"{entity.words.capitalize()} {record[entity.id_column]} is gone"}


def _field(tool: Tool) -> Field:
    assert tool.field is not None, f"{tool.name} acts on a field"
    return tool.field


OPERATIONS: dict[str, Callable[[World, Tool, dict[str, Any]], Result]] = {
    "get": _get, "list": _list, "state": _state, "of": _of, "search": _search, "floor": _floor, "filter": _filter,
    "tally": _tally, "create": _create, "move": _move, "set": _set, "adjust": _adjust, "assign": _assign,
    "remove": _remove,
}  # fmt: skip
