"""Arguments against a tool's parameters, as a Python method would take them."""

from typing import Any

from analysis.sample.description import Field
from analysis.sample.state import Refusal
from analysis.sample.tools import Parameter, Tool


def checked(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with defaults filled in, as a Python method would take them."""
    names = {parameter.name for parameter in tool.parameters}
    for name in arguments:
        if name not in names:
            raise Refusal(f"{tool.name}() got an unexpected argument '{name}'")
    values: dict[str, Any] = {}
    for parameter in tool.parameters:
        if parameter.name in arguments:
            values[parameter.name] = fitting(parameter, arguments[parameter.name])
        elif parameter.is_optional:
            values[parameter.name] = parameter.default
        else:
            raise Refusal(f"{tool.name}() is missing the argument '{parameter.name}'")
    return values


FITTING: dict[str, tuple[tuple[type, ...], str]] = {
    "number": ((int, float), "a number"),
    "integer": ((int,), "a whole number"),
    "flag": ((bool,), "true or false"),
    "tags": ((list,), "a list"),
    "object": ((dict,), "an object"),
}


def fitting(parameter: Parameter, value: Any) -> Any:
    types, words = FITTING.get(parameter.kind, ((str,), "text"))
    if parameter.kind == "any" or (parameter.kind == "note" and value is None):
        return value
    if not isinstance(value, types) or (isinstance(value, bool) and parameter.kind != "flag"):
        raise Refusal(f"{parameter.name} must be {words}")
    if parameter.values and value not in parameter.values:
        raise Refusal(f"Invalid {parameter.name} '{value}'; it must be one of {', '.join(parameter.values)}")
    return value


def within(field: Field, value: Any) -> None:
    """Refuse a value that is out of the field's bounds or not among its values."""
    if field.kind in ("number", "integer"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Refusal(f"{field.column} must be a number")
        if not field.low <= value <= field.high:
            raise Refusal(f"{field.column} must be between {field.low:g} and {field.high:g}")
    if field.kind == "choice" and value not in field.values:
        raise Refusal(f"Invalid {field.column} '{value}'; it must be one of {', '.join(field.values)}")
