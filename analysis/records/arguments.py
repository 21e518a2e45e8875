"""A call's arguments: what the text parses to, and how they stand against that record's own JSON Schema of the tool."""

from collections.abc import Iterator
from typing import Any

import msgspec

from analysis.records import budget
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


def classify(calls: list[Call], tools: ToolSet) -> Iterator[tuple[Call, str]]:
    """Say of every call whether its tool is offered, and the state and class of its arguments.

    `arguments_state` and `arguments_class` become one of `schema.ARGUMENTS_STATES` and `schema.ARGUMENTS_CLASSES`, the
    first class that applies in the order undeclared tool, unparsable, not an object, missing required, unknown key,
    wrong type, enum. An empty text is read as no arguments. Where no tool is declared, nothing is offered or not, and
    what parses goes unchecked.

    Yields:
        (call, detail): the calls that are not valid objects, with what was found.
    """
    contracts = tools.contracts
    for call in calls:
        contract = None if call.name is None else contracts.get(call.name)
        call.is_offered = contract is not None if contracts else None
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
                and not contract.deepest
                and (contract.is_open or contract.properties.issuperset(value))
                and contract.validator.is_valid(value)
            ):
                call.arguments_state, call.arguments_class = "object", "valid"
                continue
        call.arguments_state = state
        call.arguments_class, detail = _class(call.name, state, value, contract, tools)
        yield call, detail


def _class(name: str | None, state: str, value: Any, contract: Contract | None, tools: ToolSet) -> tuple[str, str]:
    if name is None:
        return "unparsable", "the block names no tool"
    if contract is None and tools.names:
        return "undeclared_tool", f"{name[:200]} is not among the {len(tools.names)} tools declared"
    if state == "unparsable":
        return "unparsable", f"{name[:200]}: {value}"
    if state == "not_object":
        return "not_an_object", f"{name[:200]}: arguments are {type(value).__name__}"
    if contract is None:
        return "unchecked", ""
    kind, detail = _breach(value, contract)
    return kind, detail and f"{name[:200]}: {detail}"


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
    if contract.deepest and budget.is_deeper(value, contract.deepest):
        return "unchecked", f"nested more than {contract.deepest} levels deep, in a schema that refers to itself"
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
