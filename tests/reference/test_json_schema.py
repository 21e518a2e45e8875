"""JSON Schemas of the tables: valid themselves, and they let in what a table lets in and nothing else."""

import json
from typing import Any

import jsonschema_rs
import polars as pl
import pytest

from analysis.reference import dictionary, json_schema, method
from analysis.schema import Column, Table

SMALL = Table(
    "small",
    "thing",
    (
        Column("name", pl.String(), "what it is called"),
        Column("kind", pl.Enum(["a", "b"]), "sort of thing", nullable=True),
        Column("things", pl.UInt32(), "how many", unit="things"),
        Column("thing_share", pl.Float64(), "of all things", nullable=True),
        Column("change", pl.Float64(), "since yesterday"),
        Column("entropy_rate", pl.Float64(), "has a unit, so it is no part of a whole", unit="bits"),
        Column("is_new", pl.Boolean(), "not there yesterday"),
    ),
    key=("name",),
)
ROW = {"name": "x", "kind": "a", "things": 3, "thing_share": 0.5, "change": -2.5, "entropy_rate": 1.4, "is_new": True}


def accepts(row: dict[str, Any]) -> bool:
    return jsonschema_rs.validator_for(json_schema.of(SMALL)).is_valid([row])


@pytest.mark.parametrize("table", json_schema.published().values(), ids=list(json_schema.published()))
def test_a_schema_is_one_of_its_draft_and_tells_every_column(table: Table) -> None:
    schema = json_schema.of(table)
    assert schema["$schema"] == json_schema.DIALECT
    jsonschema_rs.meta.validate(schema)
    properties = schema["items"]["properties"]
    assert list(properties) == table.names == schema["items"]["required"]
    assert [told["description"] for told in properties.values()] == [column.meaning for column in table]
    assert jsonschema_rs.is_valid(schema, table.empty().to_dicts())


def test_what_conforms_is_let_in() -> None:
    assert accepts(ROW)
    assert accepts({**ROW, "kind": None, "thing_share": None})


@pytest.mark.parametrize(
    "breach",
    [
        {"name": None},
        {"kind": "c"},
        {"things": -1},
        {"things": 2.5},
        {"thing_share": 1.01},
        {"is_new": "yes"},
        {"change": "much"},
        {"unheard_of": 1},
    ],
    ids=str,
)
def test_what_breaks_the_table_is_kept_out(breach: dict[str, Any]) -> None:
    assert not accepts({**ROW, **breach})


def test_a_column_that_lacks_is_a_breach() -> None:
    assert not accepts({name: value for name, value in ROW.items() if name != "change"})


def test_units_grain_and_key_stand_beside_the_drafts_own_words() -> None:
    schema = json_schema.of(SMALL)
    assert schema["items"]["properties"]["things"]["unit"] == "things"
    assert (schema["x-grain"], schema["x-key"]) == ("thing", ["name"])


def test_a_type_nobody_has_thought_of_is_refused_rather_than_guessed() -> None:
    with pytest.raises(TypeError, match="Duration"):
        json_schema.of(Table("odd", "thing", (Column("lasted", pl.Duration(), "how long"),)))


def test_every_table_is_published_under_its_name() -> None:
    assert set(json_schema.published()) == {t.name for t in dictionary.KEPT} | set(method.results())
    assert {name: told["title"] for name, told in json.loads(json_schema.texts()).items()} == {
        name: name for name in json_schema.published()
    }
