"""A call's arguments: what the text parses to, and how they stand against that record's own JSON Schema of the tool."""

from typing import Any

import msgspec

from analysis.records.jsontext import loads
from analysis.records.model import Call
from analysis.records.toolsets import Contract, ToolSet

_OBJECT = msgspec.json.Decoder(dict[str, Any])
_BY_KEYWORD = {
    "required": "missing_required",
    "additionalProperties": "unknown_key",
    "type": "wrong_type",
    "enum": "enum",
}
_ORDER = ("missing_required", "unknown_key", "wrong_type", "enum", "other_breach")

_VALID = ("object", "valid", "")


def check(call: Call, tools: ToolSet) -> tuple[str, str, str]:
    """Classify a call's arguments.

    Returns:
        (state, class, detail): `schema.ARGUMENTS_STATES`, `schema.ARGUMENTS_CLASSES`, and what was found; the first
        class that applies in the order undeclared tool, unparsable, not an object, missing required, unknown key,
        wrong type, enum. An empty text is read as no arguments.
    """
    contract = None if call.name is None else tools.contracts.get(call.name)
    # What nearly every call is: an object, for a tool that is declared.
    try:
        value = _OBJECT.decode(call.arguments or "")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        state, value = parse(call.arguments)
    else:
        state = "object"
        if (
            contract is not None
            and contract.validator is not None
            and (contract.is_open or contract.properties.issuperset(value))
            and contract.validator.is_valid(value)
        ):
            return _VALID
    if call.name is None:
        return state, "unparsable", "the block names no tool"
    if contract is None:
        return state, "undeclared_tool", f"{call.name[:200]} is not among the {len(tools.names)} tools declared"
    if state == "unparsable":
        return state, "unparsable", f"{call.name[:200]}: {value}"
    if state == "not_object":
        return state, "not_an_object", f"{call.name[:200]}: arguments are {type(value).__name__}"
    kind, detail = _breach(value, contract)
    return state, kind, detail and f"{call.name[:200]}: {detail}"


def parse(text: str | None) -> tuple[str, Any]:
    """(state, value): the parsed object, or for `unparsable` the reason."""
    if not text or text.isspace():
        return "empty", {}
    try:
        value, _ = loads(text)
    except ValueError as error:
        return "unparsable", str(error)
    return ("object" if isinstance(value, dict) else "not_object"), value


def _breach(value: dict[str, Any], contract: Contract) -> tuple[str, str]:
    """The first breach. Of missing arguments the same is said again and again, so it is asked for once."""
    missing = contract.required.difference(value)
    if not missing:
        return breach(value, contract)
    if missing not in contract.missing:
        contract.missing[missing] = breach(value, contract)[1]
    return "missing_required", contract.missing[missing]


def breach(value: dict[str, Any], contract: Contract) -> tuple[str, str]:
    """The first class of breach in the order of the definition, with its detail; ("valid", "") when there is none."""
    if contract.validator is None:
        return "unchecked", ""
    found: dict[str, str] = {}
    for error in contract.validator.iter_errors(value):
        kind = _BY_KEYWORD.get(error.kind.name, "other_breach")
        found.setdefault(kind, _where(error.instance_path, kind, error.message))
    unknown = () if contract.is_open else value.keys() - contract.properties
    if unknown:
        found["unknown_key"] = f"{', '.join(sorted(unknown))[:200]} not in the schema"
    for kind in _ORDER:
        if kind in found:
            return kind, found[kind]
    return "valid", ""


def _where(path: list[str | int], kind: str, message: str) -> str:
    place = ".".join(str(part) for part in path)
    return f"{place}: {message}"[:300] if place else message[:300]
