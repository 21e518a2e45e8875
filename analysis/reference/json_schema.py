"""A table as JSON Schema (draft 2020-12): the contract of the rows that charts draw, for tools that know no Polars.

A schema describes the rows as JSON: an array of objects, one a row, an Enum as one of its texts, an absent value as
null. What a draft has no word for stands beside its keywords, which validators pass over: `unit`, `x-grain`, `x-key`.
"""

import json
import re
from typing import Any

import polars as pl
from polars.datatypes import DataType

from analysis.reference import dictionary, method
from analysis.schema import Column, Table

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# The schema's suffixes promise a part of a whole, unless there is a unit; the ends of its interval are parts as well.
_PART = re.compile(r"_(share|rate)(_low|_high)?$")


def of(table: Table) -> dict[str, Any]:
    """The JSON Schema of a table's rows.

    >>> from analysis.schema import REJECTED
    >>> schema = of(REJECTED)
    >>> schema["title"], schema["items"]["properties"]["byte_offset"]["type"]
    ('rejected', ['integer', 'null'])
    """
    return {
        "$schema": DIALECT,
        "title": table.name,
        "description": f"One row per {table.grain}.",
        "type": "array",
        "items": {
            "type": "object",
            "properties": {column.name: _property(column) for column in table},
            "required": table.names,
            "additionalProperties": False,
        },
        "x-grain": table.grain,
        "x-key": list(table.key),
    }


def published() -> dict[str, Table]:
    """Every table that has a schema: those that are kept, and the results of measures."""
    return {**{table.name: table for table in dictionary.KEPT}, **method.results()}


def text(table: Table) -> str:
    """A table's schema as it is written: indented, its letters as they are."""
    return json.dumps(of(table), ensure_ascii=False, indent=2) + "\n"


def texts() -> str:
    """The schemas of all tables, by name, as one JSON object."""
    return json.dumps({name: of(table) for name, table in published().items()}, ensure_ascii=False, indent=2) + "\n"


def _property(column: Column) -> dict[str, Any]:
    values = _values(column.dtype)
    if _PART.search(column.name) and column.unit is None and values == {"type": "number"}:
        values |= {"minimum": 0, "maximum": 1}
    if column.nullable:
        values["type"] = [values["type"], "null"]
        if "enum" in values:
            values["enum"] = [*values["enum"], None]
    unit = {"unit": column.unit} if column.unit else {}
    return {"title": column.title, "description": column.meaning, **values, **unit}


def _values(dtype: DataType) -> dict[str, Any]:
    """What a value of the type is in JSON."""
    if isinstance(dtype, pl.Enum):
        return {"type": "string", "enum": list(dtype.categories)}
    if dtype.is_integer():
        return {"type": "integer", "minimum": 0} if dtype.is_unsigned_integer() else {"type": "integer"}
    if dtype.is_float():
        return {"type": "number"}
    if dtype == pl.Boolean():
        return {"type": "boolean"}
    if dtype == pl.String():
        return {"type": "string"}
    raise TypeError(f"{dtype}: say in reference.json_schema what such a value is in JSON")
