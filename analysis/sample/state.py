"""A world in some state, with the rules that hold in it and the effects a change brings with it."""

from typing import Any

from analysis.sample.description import Description, Effect, Entity, Rule
from analysis.sample.tools import Tool

Record = dict[str, Any]
State = dict[str, dict[str, Record]]
Result = dict[str, Any]


class Refusal(Exception):  # noqa: N818 - it is an answer of the environment, not a fault of ours
    """A call that the environment answers with an error."""


class World:
    """A world in some state. `state` maps an entity's plural name to its records by id."""

    def __init__(self, description: Description, tools: dict[str, Tool], state: State, today: str) -> None:
        assert description.style is not None, "names are settled before play"
        self.description = description
        self.style = description.style
        self.tools = tools
        self.state = state
        self.today = today

    def records(self, entity: Entity) -> dict[str, Record]:
        return self.state[entity.many]

    def find(self, entity: Entity, record_id: Any) -> Record:
        """The record of that id.

        Raises:
            Refusal: in the environment's own words, if there is none.
        """
        record = self.records(entity).get(record_id) if isinstance(record_id, str) else None
        if record is None:
            text = self.style.not_found
            raise Refusal(text.format(One=entity.words.capitalize(), one=entity.one, id=record_id))
        return record

    def next_id(self, entity: Entity) -> str:
        """The id a new record gets: one above the highest there is."""
        numbers = [int("".join(c for c in key if c.isdigit())) for key in self.records(entity)]
        number = max(numbers, default=0) + 1
        return self.style.id_form.format(prefix=entity.prefix, lower=entity.prefix.lower(), number=number)

    def value(self, entity: Entity, record: Record, path: str) -> Any:
        """A field of the record (`fee`), or of one it refers to (`member.fee`); `status` is its state."""
        head, _, rest = path.partition(".")
        if rest:
            parent = self.description.entities[head]
            return self.value(parent, self.find(parent, record[entity.fields[head].column]), rest)
        return record[entity.state_name if head == "status" else entity.fields[head].column]

    def check(self, entity: Entity, record: Record, rules: tuple[Rule, ...]) -> None:
        """Raise the error of the first rule the record breaks."""
        for rule in rules:
            if not self._holds(entity, record, rule):
                raise Refusal(rule.error)

    def _holds(self, entity: Entity, record: Record, rule: Rule) -> bool:
        if rule.count:
            counted = self.description.entities[rule.count]
            column = counted.fields[rule.by].column
            parent = record[entity.id_column] if entity.key == rule.by else record[entity.fields[rule.by].column]
            holding = [
                other
                for other in self.records(counted).values()
                if other[column] == parent and (not rule.states or other[counted.state_name] in rule.states)
            ]
            return len(holding) <= float(rule.at_most or 0)
        value = self.value(entity, record, rule.check)
        if rule.among and value not in rule.among:
            return False
        low, high = (self._bound(entity, record, bound) for bound in (rule.at_least, rule.at_most))
        return (low is None or value >= low) and (high is None or value <= high)

    def _bound(self, entity: Entity, record: Record, bound: float | str | None) -> Any:
        return self.value(entity, record, bound[1:]) if isinstance(bound, str) else bound

    def apply(self, entity: Entity, record: Record, effects: tuple[Effect, ...]) -> None:
        """Carry out what a change brings with it."""
        for effect in effects:
            head, _, rest = (effect.set or effect.add).partition(".")
            owner, target, key = entity, record, head
            if rest:
                owner = self.description.entities[head]
                target, key = self.find(owner, record[entity.fields[head].column]), rest
            column = owner.state_name if key == "status" else owner.fields[key].column
            if effect.add:
                target[column] = round(target[column] + self._amount(entity, record, effect.amount), 2)
            else:
                target[column] = self.today if effect.to == "$today" else effect.to

    def _amount(self, entity: Entity, record: Record, amount: float | str) -> Any:
        if not isinstance(amount, str):
            return amount
        value = self.value(entity, record, amount.removeprefix("-"))
        return -value if amount.startswith("-") else value

    def changed(self, record: Record, message: str) -> Result:
        return {"data": dict(record)} if self.style.returns_record else {"message": message}
