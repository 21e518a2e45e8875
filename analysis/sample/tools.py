"""A tool: its name, its docstring, its JSON Schema, and the part of a description it acts on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from analysis.sample.description import Create, Entity, Field, Move, Rule

ToolKind = Literal[
    "get", "list", "state", "of", "search", "floor", "filter", "tally",
    "create", "move", "set", "adjust", "assign", "remove",
]  # fmt: skip
QUERIES = ("get", "list", "state", "of", "search", "floor", "filter", "tally")

JSON_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "choice": {"type": "string"},
    "date": {"type": "string"},
    "ref": {"type": "string"},
    "note": {"type": ["string", "null"]},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {}},
    "any": {},
    "object": {"type": "object"},
}
PYTHON_TYPES = {
    "text": "str", "choice": "str", "date": "str", "ref": "str", "note": "str or None", "integer": "int",
    "number": "float", "flag": "bool", "tags": "list", "any": "Any", "object": "dict",
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One argument. One with a default is listed as required all the same, as in the release."""

    name: str
    kind: str
    about: str
    values: tuple[str, ...] = ()
    default: Any = None
    is_optional: bool = False


@dataclass(frozen=True)
class Tool:
    """One tool of an environment, and the part of the description it acts on."""

    name: str
    kind: ToolKind
    entity: Entity
    parameters: tuple[Parameter, ...]
    summary: str
    returns: str
    constraints: tuple[str, ...] = ()
    field: Field | None = None
    move: Move | None = None
    create: Create | None = None

    @property
    def is_query(self) -> bool:
        return self.kind in QUERIES

    @property
    def column(self) -> str:
        """Where the field it acts on stands in a record."""
        assert self.field is not None, f"{self.name} acts on a field"
        return self.field.column

    @property
    def rules(self) -> tuple[Rule, ...]:
        if self.kind == "remove":
            return self.entity.remove_rules
        made = self.move or self.create
        return made.rules if made else ()

    @cached_property
    def docstring(self) -> str:
        """What the model reads: summary, arguments, result, constraints."""
        parts = [self.summary]
        if self.parameters:
            parts.append("Args:\n" + "\n".join(_argument_line(parameter) for parameter in self.parameters))
        parts.append(
            f'Returns:\n    dict: On success: {{\n        "success": True,\n        {self.returns}\n    }}\n'
            '    On failure: {\n        "success": False,\n        "error": str  # what went wrong\n    }'
        )
        usual = "The state is read, never changed." if self.is_query else "A call that fails changes nothing."
        parts.append("Constraints:\n" + "\n".join(f"    - {line}" for line in (*self.constraints, usual)))
        return "\n\n".join(parts)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI function schema."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.docstring,
                "parameters": {
                    "type": "object",
                    "properties": {parameter.name: JSON_TYPES[parameter.kind] for parameter in self.parameters},
                    "required": [parameter.name for parameter in self.parameters],
                },
            },
        }


def _argument_line(parameter: Parameter) -> str:
    optional = f", optional): {parameter.about} Defaults to {parameter.default!r}." if parameter.is_optional else ""
    return f"    {parameter.name} ({PYTHON_TYPES[parameter.kind]}{optional or f'): {parameter.about}'}"


def is_asked(field: Field) -> bool:
    """Whether creating a record asks for the field."""
    return field.start is None and field.kind != "note"
