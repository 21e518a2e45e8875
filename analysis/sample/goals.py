"""What an agent is asked to do: goals found by trying them out on a copy of the state, so that a task can be done.

A goal knows its words; its calls (`looks`, then `acts`) are what a careful agent would send. A refused goal is one that
the environment's rules forbid: the task says to leave it at that.
"""

from dataclasses import dataclass
from random import Random

from analysis.sample.engine import Environment, Record
from analysis.sample.shelf import Shelf
from analysis.sample.tools import Tool, is_asked
from analysis.sample.ways import Step, question, way_to
from analysis.sample.wording import Arguments, detail, inquiry, order, shown
from analysis.sample.words import vocabulary
from analysis.sample.world import arguments_of, asked, value


@dataclass(frozen=True)
class Goal:
    """One part of a task, in words (`core`, with `detail` and `proviso`) and in calls.

    `look_for` is what a user who wants to see first asks to look up; `detail` is what a forgetful user leaves out.
    """

    core: str
    detail: str
    proviso: str
    look_for: str
    looks: tuple[Step, ...]
    acts: tuple[Step, ...]
    subject: str
    is_refused: bool = False

    @property
    def ask(self) -> str:
        """The whole imperative."""
        return self.core + (f" ({self.detail})" if self.detail else "") + self.proviso

    @property
    def calls(self) -> int:
        """How many calls it takes a careful agent."""
        return len(self.looks) + len(self.acts)


def draw(env: Environment, shelf: Shelf, rng: Random) -> Goal | None:
    """One more goal, already carried out on `env`; None when the draw found nothing that fits."""
    kind = rng.random()
    if kind < 0.14:
        return _report(env, shelf, rng)
    if kind < 0.26:
        return _sweep(env, shelf, rng)
    tool = shelf.draw(rng, query=False)
    if tool is None:
        return None
    return _create(env, shelf, tool, rng) if tool.kind == "create" else _change(env, shelf, tool, rng)


def _change(env: Environment, shelf: Shelf, tool: Tool, rng: Random) -> Goal | None:
    """Change one record, found in one of several ways."""
    records = list(env.records(tool.entity).values())
    rng.shuffle(records)
    refused_too = rng.random() < 0.15
    for record in records[:6]:
        before = dict(record)
        arguments = {tool.entity.id_column: record[tool.entity.id_column], **_new_values(env, tool, record, rng)}
        looks, mention = way_to(env, shelf, tool.entity, before, rng)
        result = env.call(tool.name, arguments)
        if not result["success"] and not refused_too:
            continue
        return Goal(
            core=order(tool, mention),
            detail=detail(tool, arguments),
            proviso="" if result["success"] else "; if the system refuses, leave it and say why",
            look_for=mention,
            looks=looks,
            acts=(Step(tool, arguments),),
            subject=f"{tool.entity.words} {record[tool.entity.id_column]}",
            is_refused=not result["success"],
        )
    return None


def _create(env: Environment, shelf: Shelf, tool: Tool, rng: Random) -> Goal | None:
    entity = tool.entity
    for _ in range(6):
        if not all(env.records(env.description.entities[ref.to]) for ref in entity.refs):
            return None
        asked_fields = [f for f in entity.fields.values() if is_asked(f)]
        values = {f.column: value(env, f, rng, set()) for f in asked_fields}
        looks: list[Step] = []
        words: list[str] = []
        mentions: list[str] = []
        for f in asked_fields:
            if f.kind == "ref":
                parent = env.description.entities[f.to]
                way, mention = way_to(env, shelf, parent, env.records(parent)[values[f.column]], rng, short=True)
                looks.extend(way)
                words.append(mention)
                mentions.append(mention)
            else:
                words.append(f"{f.words}: {shown(values[f.column])}")
        arguments = arguments_of(env, tool, values)
        result = env.call(tool.name, arguments)
        if result["success"] or rng.random() < 0.12:
            return Goal(
                core=order(tool, f"a new {entity.words}"),
                detail=", ".join(words),
                proviso="" if result["success"] else "; if the rules forbid it, report the reason",
                look_for=" and ".join(mentions),
                looks=tuple(looks),
                acts=(Step(tool, arguments),),
                subject=f"new {entity.words}",
                is_refused=not result["success"],
            )
    return None


def _sweep(env: Environment, shelf: Shelf, rng: Random) -> Goal | None:
    """Move every record in a state, two to five of them; some may be refused."""
    moves = [t for t in shelf.tools if t.kind == "move" and t.move and not t.move.asks]
    rng.shuffle(moves)
    for tool in moves:
        assert tool.move is not None
        entity, state = tool.entity, rng.choice(tool.move.start)
        lister = shelf.find("state", entity)
        ids = [key for key, record in env.records(entity).items() if record[entity.state_name] == state]
        if lister is None or not 2 <= len(ids) <= 5:
            continue
        acts = tuple(Step(tool, {entity.id_column: record_id}) for record_id in ids)
        results = [env.call(tool.name, act.arguments)["success"] for act in acts]
        if not any(results):
            continue
        return Goal(
            core=f"go through all {entity.many_words} that are {state} and {order(tool, 'each of them')}",
            detail="",
            proviso="" if all(results) else "; skip those for which it is not allowed and name them",
            look_for=f"all {entity.many_words} that are {state}",
            looks=(Step(lister, {entity.state_name: state}),),
            acts=acts,
            subject=f"{entity.many_words} that are {state}",
            is_refused=not all(results),
        )
    return None


def _report(env: Environment, shelf: Shelf, rng: Random) -> Goal | None:
    """Find something out; nothing changes."""
    tool = shelf.draw(rng, query=True)
    if tool is None:
        return None
    entity = tool.entity
    arguments = question(env, tool, rng)
    if arguments is None:
        return None
    looks = [Step(tool, arguments)]
    found = env.call(tool.name, arguments).get("data")
    getter = shelf.find("get", entity)
    wanted = inquiry(tool, arguments)
    more = ""
    if getter and isinstance(found, list) and found and rng.random() < 0.5:
        chosen = rng.choice(found)[entity.id_column]
        looks.append(Step(getter, {entity.id_column: chosen}))
        more = f"and the details of {chosen}"
    return Goal(f"report {wanted}", more, "", wanted, looks=tuple(looks), acts=(), subject=f"{entity.many_words}")


def _new_values(env: Environment, tool: Tool, record: Record, rng: Random) -> Arguments:
    if tool.kind == "move":
        assert tool.move is not None
        note = {tool.move.note: _note(rng)} if tool.move.note and rng.random() < 0.5 else {}
        return {**asked(env, tool, rng), **note}
    if tool.kind == "remove" or tool.field is None:
        return {}
    column = tool.field.column
    if tool.kind == "adjust":
        most = max(2.0, min(tool.field.high - record[column], tool.field.high / 4))
        amount = rng.uniform(1, most)
        return {"amount": int(amount) if tool.field.kind == "integer" else round(amount, 1)}
    return {f"new_{column}": value(env, tool.field, rng, {record[column]})}


def _note(rng: Random) -> str:
    return rng.choice(vocabulary().pools["notes"])
