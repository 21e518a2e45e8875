"""A call's arguments: what the text parses to, and how they stand against that record's own JSON Schema of the tool."""

from typing import Any

from analysis.records.jsontext import loads
from analysis.records.model import Call
from analysis.records.toolsets import Contract, ToolSet

_BY_KEYWORD = {
    "required": "missing_required",
    "additionalProperties": "unknown_key",
    "type": "wrong_type",
    "enum": "enum",
}
_ORDER = ("missing_required", "unknown_key", "wrong_type", "enum", "other_breach")


def check(call: Call, tools: ToolSet) -> tuple[str, str, str]:
    """Classify a call's arguments.

    Returns:
        (state, class, detail): `schema.ARGUMENTS_STATES`, `schema.ARGUMENTS_CLASSES`, and what was found; the first
        class that applies in the order undeclared tool, unparsable, not an object, missing required, unknown key,
        wrong type, enum. An empty text is read as no arguments.
    """
    state, value = parse(call.arguments)
    if call.name is None:
        return state, "unparsable", "the block names no tool"
    if call.name not in tools.names:
        return state, "undeclared_tool", f"{call.name[:200]} is not among the {len(tools.names)} tools declared"
    if state == "unparsable":
        return state, "unparsable", f"{call.name[:200]}: {value}"
    if state == "not_object":
        return state, "not_an_object", f"{call.name[:200]}: arguments are {type(value).__name__}"
    kind, detail = breach(value, tools.contracts[call.name])
    return state, kind, detail and f"{call.name[:200]}: {detail}"


def parse(text: str | None) -> tuple[str, Any]:
    """(state, value): the parsed object, or for `unparsable` the reason."""
    if text is None or not text.strip():
        return "empty", {}
    try:
        value, _ = loads(text)
    except ValueError as error:
        return "unparsable", str(error)
    return ("object" if isinstance(value, dict) else "not_object"), value


def breach(value: dict[str, Any], contract: Contract) -> tuple[str, str]:
    """The first class of breach in the order of the definition, with its detail; ("valid", "") when there is none."""
    if contract.validator is None:
        return "unchecked", ""
    found: dict[str, str] = {}
    if not contract.validator.is_valid(value):
        for error in contract.validator.iter_errors(value):
            kind = _BY_KEYWORD.get(error.kind.name, "other_breach")
            found.setdefault(kind, _where(error.instance_path, kind, error.message))
    if not contract.is_open and not contract.properties.issuperset(value):
        unknown = sorted(value.keys() - contract.properties)
        found["unknown_key"] = f"{', '.join(unknown)[:200]} not in the schema"
    for kind in _ORDER:
        if kind in found:
            return kind, found[kind]
    return "valid", ""


def _where(path: list[str | int], kind: str, message: str) -> str:
    place = ".".join(str(part) for part in path)
    return f"{place}: {message}"[:300] if place else message[:300]
