"""How an agent gets to a record from what a task says of it, and what may sensibly be asked of a state."""

from dataclasses import dataclass
from random import Random

from analysis.sample.description import Entity
from analysis.sample.engine import Environment, Record
from analysis.sample.shelf import Shelf
from analysis.sample.tools import Tool
from analysis.sample.wording import Arguments


@dataclass(frozen=True)
class Step:
    """One call a careful agent would make."""

    tool: Tool
    arguments: Arguments


def question(env: Environment, tool: Tool, rng: Random) -> Arguments | None:
    """Arguments a query can be asked with, that make sense in this state; None where there is nothing to ask about."""
    entity, records = tool.entity, env.records(tool.entity)
    if not records:
        return None
    record = rng.choice(list(records.values()))
    match tool.kind:
        case "get":
            asked = {entity.id_column: record[entity.id_column]}
        case "state":
            asked = {entity.state_name: record[entity.state_name]}
        case "search":
            text = record[tool.column].split(" ")[rng.choice((0, -1))]
            asked = {"text": text} if rng.random() < 0.8 else {"text": text, "limit": 5}
        case "floor" if tool.field:
            low, high = tool.field.low, tool.field.high
            asked = {f"min_{tool.column}": int(low + (high - low) * rng.uniform(0.2, 0.8))}
        case "of" | "filter":
            asked = {tool.column: record[tool.column]}
        case _:
            asked = {}
    return asked


def way_to(
    env: Environment, shelf: Shelf, entity: Entity, record: Record, rng: Random, *, short: bool = False
) -> tuple[tuple[Step, ...], str]:
    """How an agent gets to a record from what the task says of it, and those words."""
    record_id = record[entity.id_column]
    ways: list[tuple[tuple[Step, ...], str]] = [((), f"{entity.words} {record_id}")]
    getter = shelf.find("get", entity)
    by_id = (Step(getter, {entity.id_column: record_id}),) if getter else ()
    if by_id:
        ways.append((by_id, f"{entity.words} {record_id}"))
    search = shelf.find("search", entity)
    if search and entity.label:
        label = record[entity.label.column]
        steps = (Step(search, {"text": label}),)
        ways += [(steps if short or rng.random() < 0.5 else steps + by_id, f"the {entity.words} “{label}”")] * 2
    lister = shelf.find("state", entity)
    if lister and not short:
        state = record[entity.state_name]
        ways.append(((Step(lister, {entity.state_name: state}),), f"{entity.words} {record_id} (it should be {state})"))
    for ref in entity.refs if not short else ():
        parent = env.description.entities[ref.to]
        of = shelf.find("of", entity, ref.to)
        if of is None:
            continue
        owner = env.records(parent).get(record[ref.column])
        if owner is None:
            continue
        way, mention = way_to(env, shelf, parent, owner, rng, short=True)
        ways += [((*way, Step(of, {ref.column: record[ref.column]})), f"{entity.words} {record_id} of {mention}")] * 2
    return rng.choice(ways)
