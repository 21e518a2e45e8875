"""Parameters in other words than JSON Schema's: `dict` and `int` for types, properties with no object around them."""

from typing import Any

_WORDS = {
    **dict.fromkeys(("dict", "map", "struct", "hashmap"), "object"),
    **dict.fromkeys(("list", "tuple", "set", "arraylist"), "array"),
    **dict.fromkeys(("str", "text", "char"), "string"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("int", "long"), "integer"),
    **{"bool": "boolean", "none": "null"},
}
_KEYWORDS = frozenset(
    {"type", "properties", "required", "items", "enum", "const", "additionalProperties", "$ref", "$defs", "definitions"}
    | {"anyOf", "oneOf", "allOf", "not", "$schema", "patternProperties", "description", "title"}
)
_NO_SCHEMA = frozenset({"enum", "const", "default", "examples", "required"})


def is_flat(parameters: dict[str, Any]) -> bool:
    """Are these the properties themselves, without an object around them?"""
    return bool(parameters) and not (parameters.keys() & _KEYWORDS) and all(map(_is_property, parameters.values()))


def around(parameters: dict[str, Any]) -> dict[str, Any]:
    """Properties as the object that has them; none is required, since none says so."""
    return {"type": "object", "properties": parameters}


def in_its_words(schema: Any) -> Any:
    """A schema with each type in JSON Schema's word for it; `any` is left out, and a word that says nothing stays."""
    if isinstance(schema, list):
        return [in_its_words(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    read = {key: held if key in _NO_SCHEMA else in_its_words(held) for key, held in schema.items()}
    if isinstance(word := schema.get("type"), str):
        read["type"] = _type(word)
    if read.get("type") == "any":
        del read["type"]
    return read


def _type(word: str) -> str:
    first = word.lower().replace("[", " ").replace(",", " ").split()
    return _WORDS.get(first[0], first[0]) if first else word


def _is_property(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.keys() & {"type", "description"})
