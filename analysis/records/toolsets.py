"""The tools a record declares: parsed and compiled once per distinct set, found again by the raw text."""

import hashlib
from functools import lru_cache
from typing import Any

import jsonschema_rs
import msgspec

from analysis.canonical import canonical
from analysis.records import budget
from analysis.records.jsontext import as_written, loads
from analysis.records.model import Finding, Tool
from analysis.records.schemas import around, in_its_words, is_flat

_GROUPS = ("functionDeclarations", "function_declarations")


class ToolSet(msgspec.Struct, frozen=True):
    """A distinct set of declared tools: its hash, the tools, and what was wrong with the declaration."""

    id: str
    tools: tuple[Tool, ...]
    names: frozenset[str]
    contracts: dict[str, "Contract"]
    findings: tuple[Finding, ...] = ()

    def types_of(self, name: str) -> dict[str, Any]:
        """The types that a tool's schema gives its arguments, by their names."""
        schema = next((tool.schema for tool in self.tools if tool.name == name), "null")
        listed = (loads(schema)[0] or {}).get("properties") if schema.startswith("{") else None
        properties = listed if isinstance(listed, dict) else {}
        return {key: held.get("type") for key, held in properties.items() if isinstance(held, dict)}


class Contract(msgspec.Struct, frozen=True):
    """What a tool's JSON Schema asks of the arguments. `validator` is None where the schema itself does not compile.

    `required` are the names without which nothing else of the value need be looked at, none where some part of the
    schema requires too; `missing` remembers what the validator says of those that were not given. `deepest` is how deep
    arguments may be to be checked, 0 for any depth; `refusal` says why a schema is not even compiled.
    """

    validator: Any
    properties: frozenset[str]
    is_open: bool
    required: frozenset[str] = frozenset()
    missing: dict[frozenset[str], str] = {}
    deepest: int = 0
    refusal: str = ""


@lru_cache(maxsize=512)
def toolset(text: str) -> ToolSet:
    """Read the JSON text of a list of tools: OpenAI function schemas, bare functions, or names.

    The hash is over the canonical JSON, so that neither indentation nor the order of keys makes another set.
    """
    try:
        declared, flags = loads(text)
    except ValueError as error:
        broken = Finding("inner_json", None, f"tools: {error}")
        return ToolSet(_digest([]), (), frozenset(), {}, (broken,))
    findings = [Finding(rule, None, f"tools: {detail}") for rule, detail in flags]
    if isinstance(declared, dict):
        declared = list(declared.values()) if all(isinstance(v, dict) for v in declared.values()) else [declared]
    if not isinstance(declared, list):
        declared = []
    tools, contracts = [], {}
    for position, entry in enumerate(_one_by_one(declared)):
        function = _function(entry)
        if function is None:
            findings.append(Finding("unreadable_tool", None, f"tools[{position}] has no name"))
            continue
        parameters = function.get("parameters")
        tool = Tool(function["name"], _text(function.get("description")), as_written(parameters), *_counts(parameters))
        if tool.name in contracts:
            findings.append(Finding("repeated_tool", None, f"tools[{position}]: {tool.name} is declared twice"))
            continue
        tools.append(tool)
        contracts[tool.name] = contract(tool.schema)
        if contracts[tool.name].validator is None:
            findings.append(_unchecked(tool.name, contracts[tool.name]))
    names = frozenset(contracts)
    return ToolSet(_digest(declared), tuple(tools), names, contracts, tuple(findings))


def _unchecked(name: str, held: Contract) -> Finding:
    """Why calls of a tool go unchecked."""
    if held.refusal:
        return Finding("schema_budget", None, f"{name}: {held.refusal}")
    return Finding("schema_invalid", None, f"{name}: its parameters are not a JSON Schema")


@lru_cache(maxsize=8192)
def contract(schema: str) -> Contract:
    """Compile one tool's schema. Nothing is fetched: a `$ref` to another document does not compile."""
    try:
        return _compiled(schema)
    except RecursionError:
        return Contract(None, frozenset(), is_open=True, refusal="nested too deeply")


def _compiled(schema: str) -> Contract:
    parsed = msgspec.json.decode(schema)
    if not isinstance(parsed, dict):
        return Contract(jsonschema_rs.validator_for(True), frozenset(), is_open=True)
    parsed = around(parsed) if is_flat(parsed) else parsed
    listed = parsed.get("properties")
    properties = frozenset(listed) if isinstance(listed, dict) else frozenset()
    is_open = not properties or bool(parsed.get("additionalProperties"))
    try:
        deepest = budget.deepest(schema, parsed)
    except budget.OverBudgetError as error:
        return Contract(None, properties, is_open, refusal=str(error))
    # In other words only where its own are no schema: what compiles is what its author meant.
    validator = _validator(parsed) or _validator(in_its_words(parsed))
    required = _required(schema, parsed) if validator else frozenset()
    return Contract(validator, properties, is_open, required, {}, deepest)


def _validator(schema: Any) -> Any:
    try:
        return jsonschema_rs.validator_for(
            schema, validate_formats=False, offline=True, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (ValueError, jsonschema_rs.ReferencingError):
        return None


def _required(schema: str, parsed: dict[str, Any]) -> frozenset[str]:
    listed = parsed.get("required")
    is_alone = schema.count('"required"') == 1 and '"depend' not in schema  # dependentRequired, dependencies
    return frozenset(listed) if is_alone and isinstance(listed, list) else frozenset()


def _one_by_one(declared: list[Any]) -> list[Any]:
    """The declarations, those that Gemini groups apart."""
    groups = [
        next((held for name in _GROUPS if isinstance(held := entry.get(name), list)), None)
        if isinstance(entry, dict)
        else None
        for entry in declared
    ]
    return [
        function
        for entry, group in zip(declared, groups, strict=True)
        for function in ([entry] if group is None else group)
    ]


def _function(entry: object) -> dict[str, Any] | None:
    if isinstance(entry, str):
        return {"name": entry}
    if not isinstance(entry, dict):
        return None
    inner = entry.get("function", entry.get("toolSpec", entry))
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        return None
    if "parameters" in inner:
        return inner
    schema = inner.get("input_schema", inner.get("inputSchema", inner.get("parametersJsonSchema")))
    if isinstance(schema, dict) and schema.keys() == {"json"}:  # as Bedrock writes it
        schema = schema["json"]
    return {**inner, "parameters": schema}


def _counts(parameters: object) -> tuple[int, int]:
    if not isinstance(parameters, dict):
        return 0, 0
    if is_flat(parameters):
        return len(parameters), 0
    listed, required = parameters.get("properties"), parameters.get("required")
    return (len(listed) if isinstance(listed, dict) else 0, len(required) if isinstance(required, list) else 0)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _digest(declared: object) -> str:
    return hashlib.sha256(canonical(declared).encode()).hexdigest()[:16]
