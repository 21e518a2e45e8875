"""What an environment is, as data: entities with fields and states, the moves between states, rules and effects.

The descriptions themselves are the TOML files of `environments/`; everything else in this package follows from them.
Names are still open here: `naming.py` settles them, and makes further environments by settling them differently.
A TOML file may not hold a key that is not declared: a typing error in a description is an error.
"""

from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

Kind = Literal["text", "choice", "integer", "number", "date", "flag", "tags", "note", "ref"]
Scalar = str | int | float | bool


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One attribute of an entity.

    `search`, `floor`, `filter`, `edit`, `assign` and `adjust` (a verb) each give the environment one more tool;
    a field with a `start` is not asked for when a record is created.
    """

    kind: Kind
    values: tuple[str, ...] = ()
    pool: str = ""
    low: float = 0
    high: float = 100
    start: Scalar | None = None
    to: str = ""
    ahead: bool = False
    search: bool = False
    floor: bool = False
    filter: bool = False
    edit: bool = False
    assign: bool = False
    adjust: str = ""
    key: str = ""
    column: str = ""

    @property
    def words(self) -> str:
        """The column as words: `member`, `due date`."""
        words = self.column.removesuffix("_id").replace("_", " ")
        return f"{words.removesuffix(' on')} date" if words.endswith(" on") else words


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A condition on the record at hand, tested before anything changes.

    Either `check` names a field (`fees`, or `member.fees` of the record it refers to) that must be among `among`,
    or between `at_least` and `at_most` (a number, or `.member.limit`: another field); or `count` names an entity, of
    which at most `at_most` records in `states` may share this record's `by`.
    """

    text: str
    error: str
    check: str = ""
    among: tuple[Scalar, ...] = ()
    at_least: int | float | str | None = None
    at_most: int | float | str | None = None
    count: str = ""
    by: str = ""
    states: tuple[str, ...] = ()


class Effect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What else changes: a field is set, or a number is added to it.

    `$today` is the environment's date; an amount `-pieces` is what the record's own field says, with that sign.
    """

    set: str = ""
    to: Scalar | None = None
    add: str = ""
    amount: int | float | str = 0


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A transition an entity's record can make, and the tool that makes it."""

    verb: str
    done: str
    start: tuple[str, ...]
    end: str
    asks: tuple[str, ...] = ()
    note: str = ""
    rules: tuple[Rule, ...] = ()
    effects: tuple[Effect, ...] = ()


class Create(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a record comes into being."""

    verb: str
    done: str
    rules: tuple[Rule, ...] = ()
    effects: tuple[Effect, ...] = ()


class Entity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of record. `names` lists the names it may go by, as `one/many`; the first is its plain one."""

    names: tuple[str, ...]
    about: str
    fields: dict[str, Field]
    count: tuple[int, int] = (4, 7)
    states: tuple[str, ...] = ()
    state_name: str = "status"
    listed: bool = False
    tally: bool = False
    create: Create | None = None
    moves: tuple[Move, ...] = ()
    remove: str = ""
    remove_rules: tuple[Rule, ...] = ()
    key: str = ""
    one: str = ""
    many: str = ""
    prefix: str = ""

    @property
    def id_column(self) -> str:
        return f"{self.one}_id"

    @property
    def words(self) -> str:
        return self.one.replace("_", " ")

    @property
    def many_words(self) -> str:
        return self.many.replace("_", " ")

    @property
    def type_name(self) -> str:
        return self.one.title().replace("_", "")

    @property
    def label(self) -> Field | None:
        """The field people call a record by."""
        return next((field for field in self.fields.values() if field.search), None)

    @property
    def refs(self) -> list[Field]:
        return [field for field in self.fields.values() if field.kind == "ref"]


class Style(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one author names tools and words results."""

    get: str
    list: str
    state: str
    of: str
    search: str
    floor: str
    filter: str
    tally: str
    set: str
    assign: str
    not_found: str
    id_form: str
    packed: bool
    returns_record: bool


class Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole environment."""

    titles: tuple[str, ...]
    introduction: str
    entities: dict[str, Entity]
    facts: tuple[str, ...] = ()
    title: str = ""
    style: Style | None = None


@cache
def descriptions() -> tuple[Description, ...]:
    """All descriptions of `environments/`, by file name."""
    folder = files("analysis.sample").joinpath("environments")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))
    return tuple(msgspec.toml.decode(folder.joinpath(name).read_bytes(), type=Description) for name in names)
