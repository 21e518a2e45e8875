"""A scenario's initial state: the empty environment, played until it is peopled, so that it keeps its own rules."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from random import Random
from typing import Any

from analysis.sample.description import Description, Entity, Field
from analysis.sample.engine import Environment, Record, State
from analysis.sample.tools import Tool, is_asked
from analysis.sample.words import vocabulary

# Far more than any description has needed: the busiest one needs a second world now and then.
WORLDS = 50


def people(description: Description, tools: Mapping[str, Tool], rng: Random) -> Environment:
    """An environment with a few records of every entity, in various states.

    Records are created and moved by the engine itself; what its rules refuse does not come to be. Where that leaves an
    entity without any record, another world is tried.
    """
    for _ in range(WORLDS):
        today = date(2024, 1, 8) + timedelta(days=rng.randrange(600))
        state: State = {entity.many: {} for entity in description.entities.values()}
        env = Environment(description, dict(tools), state, today.isoformat())
        for entity in description.entities.values():
            used: set[Any] = set()
            for _ in range(rng.randint(*entity.count)):
                record = _put(env, entity, rng, used)
                if record is not None:
                    _stir(env, entity, record, rng)
        if all(state.values()):
            return env
    raise ValueError(f"{description.title}: in {WORLDS} worlds an entity had no record; do its rules allow one?")


def value(env: Environment, field: Field, rng: Random, used: set[Any]) -> Any:
    """A value for a field of a new record; for a label, one that is not among `used`."""
    draw = DRAWS.get(field.kind, _text)
    if not field.search:
        return draw(env, field, rng)
    drawn = draw(env, field, rng)
    for _ in range(30):
        if drawn not in used:
            break
        drawn = draw(env, field, rng)
    used.add(drawn)
    return drawn


def _text(env: Environment, field: Field, rng: Random) -> str:
    words = vocabulary()
    if field.pool == "people":
        return f"{rng.choice(words.first_names)} {rng.choice(words.last_names)}"
    if field.pool == "emails":
        return f"{rng.choice(words.first_names)}.{rng.randrange(100, 999)}@example.org".lower()
    return rng.choice(words.pools[field.pool] if field.pool else field.values)


def _date(env: Environment, field: Field, rng: Random) -> str:
    days = rng.randint(3, 60) if field.ahead else -rng.randint(1, 400)
    return (date.fromisoformat(env.today) + timedelta(days=days)).isoformat()


def _number(env: Environment, field: Field, rng: Random) -> float:
    return round(rng.uniform(field.low, field.high), rng.choice((1, 2, 2)))


def _note(env: Environment, field: Field, rng: Random) -> str | None:
    return rng.choice(vocabulary().pools["notes"]) if rng.random() < 0.8 else None


DRAWS: dict[str, Callable[[Environment, Field, Random], Any]] = {
    "number": _number,
    "date": _date,
    "integer": lambda env, field, rng: rng.randint(int(field.low), int(field.high)),
    "note": _note,
    "flag": lambda env, field, rng: rng.random() < 0.4,
    "tags": lambda env, field, rng: rng.sample(field.values, rng.randint(0, 3)),
    "ref": lambda env, field, rng: rng.choice(sorted(env.records(env.description.entities[field.to]))),
}


def arguments_of(env: Environment, tool: Tool, values: dict[str, Any]) -> dict[str, Any]:
    """The arguments that create a record of these values, in the form the style asks for."""
    return {f"{tool.entity.one}_info": values} if env.style.packed else values


def _put(env: Environment, entity: Entity, rng: Random, used: set[Any]) -> Record | None:
    """One more record with some history, by the environment's own tool where it has one; None if its rules refuse."""
    if not all(env.records(env.description.entities[field.to]) for field in entity.refs):
        return None
    tool = next((tool for tool in env.tools.values() if tool.kind == "create" and tool.entity is entity), None)
    for _ in range(8):
        values = {f.column: value(env, f, rng, used) for f in entity.fields.values() if is_asked(f)}
        record = _created(env, tool, values) if tool else _placed(env, entity, values)
        if record is not None:
            return _aged(env, entity, record, rng)
    return None


def _created(env: Environment, tool: Tool, values: dict[str, Any]) -> Record | None:
    record_id = env.next_id(tool.entity)
    is_made = env.call(tool.name, arguments_of(env, tool, values))["success"]
    return env.records(tool.entity)[record_id] if is_made else None


def _placed(env: Environment, entity: Entity, values: dict[str, Any]) -> Record:
    record_id = env.next_id(entity)
    record: Record = {entity.id_column: record_id}
    for field in entity.fields.values():
        record[field.column] = values.get(field.column, field.start if field.start != "" else None)
    if entity.states:
        record[entity.state_name] = entity.states[0]
    env.records(entity)[record_id] = record
    return record


def _aged(env: Environment, entity: Entity, record: Record, rng: Random) -> Record:
    """What may have gathered on a record since it was made: an amount, a remark."""
    for field in entity.fields.values():
        if field.start is not None and field.kind == "number" and rng.random() < 0.7:
            record[field.column] = _number(env, field, rng)
        if field.kind == "note" and rng.random() < 0.3:
            record[field.column] = rng.choice(vocabulary().pools["notes"])
    return record


def _stir(env: Environment, entity: Entity, record: Record, rng: Random) -> None:
    """Take the record some way through its states."""
    moves = [tool for tool in env.tools.values() if tool.kind == "move" and tool.entity is entity]
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        fitting = [tool for tool in moves if tool.move and record[entity.state_name] in tool.move.start]
        if not fitting:
            return
        tool = rng.choice(fitting)
        env.call(tool.name, {entity.id_column: record[entity.id_column], **asked(env, tool, rng)})


def asked(env: Environment, tool: Tool, rng: Random) -> dict[str, Any]:
    """Values for what a move asks beside the record's id."""
    if tool.move is None:
        return {}
    fields = [tool.entity.fields[key] for key in tool.move.asks]
    return {field.column: value(env, field, rng, set()) for field in fields}
