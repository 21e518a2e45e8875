"""What is compared with another set: a record's task, its declared tools, the id-like values of its calls.

The rows of `schema.COMPARED`. A tool's parameters are canonical: types in JSON Schema's words, keys and names in
order, descriptions and examples left out, so that two sets that word one schema differently have it in common.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from analysis.canonical import canonical
from analysis.records.model import Tool, Trajectory
from analysis.records.schemas import around, in_its_words, is_flat
from analysis.records.values import LONGEST_VALUE, id_like

# Part of the key under which the derived table is cached: raise it when the rows change.
VERSION = "1"
# What a schema says in words, or says again: no part of what a call has to be.
_WORDS = {"description", "title", "default", "examples", "example", "$schema", "additionalProperties", "strict"}

# (kind, env_id, name, text)
Row = tuple[str, str | None, str | None, str]


def rows(trajectory: Trajectory) -> Iterator[Row]:
    """The task, or what users say where the record names none; each declared tool; each distinct value.

    Yields:
        (kind, env_id, name, text), as of `schema.COMPARED`.
    """
    env_id = trajectory.env_id
    said = "\n".join(message.content for message in trajectory.messages if message.role == "user")
    if task := trajectory.task or said:
        yield "task", env_id, trajectory.task_id, task
    yield from tool_rows(trajectory.tools, env_id)
    yield from value_rows((call.arguments for call in trajectory.calls), env_id)


def tool_rows(tools: tuple[Tool, ...], env_id: str | None) -> Iterator[Row]:
    return (("tool", env_id, tool.name, parameters(tool.schema)) for tool in tools)


def value_rows(arguments: Iterator[str | None], env_id: str | None) -> Iterator[Row]:
    """Each distinct id-like value of some arguments, under the name that it is first given."""
    names: dict[str, str] = {}
    for text in arguments:
        for _, name, value in id_like(text):
            names.setdefault(value[:LONGEST_VALUE], name)
    return (("value", env_id, name, value) for value, name in names.items())


@lru_cache(maxsize=8192)
def parameters(schema: str) -> str:
    """The canonical JSON of a tool's parameters; a schema that cannot be read stays as it is written.

    >>> parameters('{"type": "dict", "properties": {"id": {"type": "str", "description": "whose"}}, "required": []}')
    '{"properties":{"id":{"type":"string"}},"type":"object"}'
    """
    try:
        read = msgspec.json.decode(schema)
        if not isinstance(read, dict) or not read:
            return '{"type":"object"}'
        return canonical(_shape(in_its_words(around(read) if is_flat(read) else read)))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return schema


def _shape(schema: Any) -> Any:
    """A schema without words; what it lists without order is sorted, and what is empty says nothing."""
    if isinstance(schema, list):
        return [_shape(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    shape: dict[str, Any] = {}
    for key, held in schema.items():
        if key == "properties" and isinstance(held, dict):
            shape[key] = {name: _shape(in_its_words(inner)) for name, inner in held.items()}
        elif key in ("required", "enum") and isinstance(held, list):
            shape[key] = sorted(held, key=canonical)
        elif key not in _WORDS:
            shape[key] = _shape(held)
    return {key: held for key, held in shape.items() if held not in ({}, [])}
