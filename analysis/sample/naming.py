"""Settle a description's names: plainly for the first environments, otherwise with other words for everything.

A further environment made from the same description has other entities, verbs, fields, tool names, ids and title, and
so another vocabulary throughout; its logic is the description's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TypeVar

import msgspec

from analysis.sample.description import Create, Description, Entity, Field, Move, Rule, descriptions
from analysis.sample.wording import articled
from analysis.sample.words import Vocabulary, vocabulary

Made = TypeVar("Made", Create, Move)


@cache
def environment(index: int, seed: int) -> Description:
    """The environment number `index` (from 0): descriptions in turn, each round with other names.

    Raises:
        ValueError: if `index` is negative.
    """
    if index < 0:
        raise ValueError(f"environments count from 0, not from {index}")
    plain = descriptions()
    words = vocabulary()
    variant, which = divmod(index, len(plain))
    rng = Random(f"names/{seed}/{index}")
    return _settle(plain[which], words, variant, which, rng)


@dataclass(frozen=True)
class _Names:
    """The names an environment goes by: entities (`one/many`), columns, verbs (`verb/done`), all of them in text."""

    entities: Mapping[str, str]
    columns: Mapping[tuple[str, str], str]
    verbs: Mapping[str, str]
    filling: Mapping[str, str]

    def fill(self, text: str) -> str:
        return articled(text.format_map(self.filling))


def _settle(plain: Description, words: Vocabulary, variant: int, which: int, rng: Random) -> Description:
    entities = {key: _pick(entity.names, variant, rng) for key, entity in plain.entities.items()}
    verbs = _verbs(plain, words, variant, rng)
    columns = _columns(plain, words, variant, rng, set(entities.values()))
    title = plain.titles[variant % len(plain.titles)]
    if variant:
        title = f"{words.qualifiers[(which + variant * 3) % len(words.qualifiers)]} {title}"
    names = _Names(entities, columns, verbs, {**_filling(plain, entities), "title": title})
    return msgspec.structs.replace(
        plain,
        title=title,
        introduction=names.fill(plain.introduction),
        facts=tuple(names.fill(fact) for fact in plain.facts),
        entities={key: _entity(entity, key, names) for key, entity in plain.entities.items()},
        style=words.styles[(which + variant) % len(words.styles)],
    )


def _pick(options: tuple[str, ...], variant: int, rng: Random) -> str:
    return options[0] if variant == 0 else rng.choice(options[1:])


def _verbs(plain: Description, words: Vocabulary, variant: int, rng: Random) -> dict[str, str]:
    """Other verbs, as `verb/done`: one for each verb of the description that has any."""
    if variant == 0:
        return {}
    used = {move.verb for entity in plain.entities.values() for move in entity.moves}
    used |= {entity.create.verb for entity in plain.entities.values() if entity.create}
    chosen: dict[str, str] = {}
    for verb in sorted(used):
        free = [other for other in words.verbs.get(verb, ()) if other.split("/")[0] not in used]
        if free and rng.random() < 0.7:
            chosen[verb] = rng.choice(free)
            used.add(chosen[verb].split("/")[0])
    return chosen


def _columns(
    plain: Description, words: Vocabulary, variant: int, rng: Random, taken: set[str]
) -> dict[tuple[str, str], str]:
    """The column of each (entity, field); a state's column under the field `status`."""
    columns: dict[tuple[str, str], str] = {}
    for key, entity in plain.entities.items():
        used = set(entity.fields)
        for name in [*entity.fields, "status"]:
            plain_name = entity.state_name if name == "status" else name
            free = [other for other in words.fields.get(plain_name, ()) if other not in used and other not in taken]
            chosen = rng.choice(free) if variant and free and rng.random() < 0.6 else plain_name
            used.add(chosen)
            columns[key, name] = chosen
    return columns


def _filling(plain: Description, names: Mapping[str, str]) -> dict[str, str]:
    filling: dict[str, str] = {}
    for key, entity in plain.entities.items():
        plain_one, plain_many = entity.names[0].split("/")
        one, many = (word.replace("_", " ") for word in names[key].split("/"))
        filling |= {plain_one: one, plain_one.capitalize(): one.capitalize()}
        filling |= {plain_many: many, plain_many.capitalize(): many.capitalize()}
    return filling


def _entity(entity: Entity, key: str, names: _Names) -> Entity:
    one, many = names.entities[key].split("/")
    fields: dict[str, Field] = {}
    for field_key, field in entity.fields.items():
        is_ref = field.kind == "ref"
        column = f"{names.entities[field.to].split('/')[0]}_id" if is_ref else names.columns[key, field_key]
        fields[field_key] = msgspec.structs.replace(field, key=field_key, column=column)
    return msgspec.structs.replace(
        entity,
        key=key,
        one=one,
        many=many,
        prefix=_prefix(one),
        state_name=names.columns[key, "status"],
        about=names.fill(entity.about),
        fields=fields,
        create=_verbed(entity.create, names) if entity.create else None,
        moves=tuple(_verbed(move, names) for move in entity.moves),
        remove_rules=_rules(entity.remove_rules, names),
    )


def _prefix(one: str) -> str:
    """Three capitals an id starts with: the first letter and the consonants after it."""
    letters = one.replace("_", "")
    return (letters[0] + "".join(letter for letter in letters[1:] if letter not in "aeiou") + letters[1:])[:3].upper()


def _verbed(made: Made, names: _Names) -> Made:
    verb, done = names.verbs.get(made.verb, f"{made.verb}/{made.done}").split("/")
    return msgspec.structs.replace(made, verb=verb, done=done, rules=_rules(made.rules, names))


def _rules(rules: tuple[Rule, ...], names: _Names) -> tuple[Rule, ...]:
    return tuple(msgspec.structs.replace(r, text=names.fill(r.text), error=names.fill(r.error)) for r in rules)
