"""The data dictionary: tables with their columns, the rules of findings, what was published about the data.

Which questions use a column is asked of their measures: each is planned over empty tables, once without each column,
and uses those without which it cannot be planned.
"""

import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any, Literal, get_args, get_origin

import polars as pl

from analysis.measures import claims as published_claims
from analysis.records.rules import RULES as CONTRACT
from analysis.reference import method
from analysis.reference.method import Measure
from analysis.schema import BASE_TABLES, DERIVED_TABLES, VALUES, Column, Table

KEPT = (*BASE_TABLES, *dict.fromkeys((*DERIVED_TABLES, VALUES)))

TABLES = Table(
    "dictionary_tables",
    "table",
    (
        Column("table", pl.String(), "name, as a property of what `load` gives"),
        Column("grain", pl.String(), "what one row is"),
        Column("key", pl.String(), "columns that make a row unique; null where rows may repeat", nullable=True),
        Column("columns", pl.UInt32(), "columns it has", unit="columns"),
        Column("used_by", pl.String(), "questions whose measures read it", nullable=True),
    ),
    key=("table",),
)

COLUMNS = Table(
    "dictionary_columns",
    "column of a table",
    (
        Column("column", pl.String(), "name"),
        Column("dtype", pl.String(), "type in Polars; of an Enum, its values"),
        Column("unit", pl.String(), "what is counted or measured", nullable=True),
        Column("nullable", pl.Boolean(), "whether a value may be absent"),
        Column("meaning", pl.String(), "what it holds"),
        Column("used_by", pl.String(), "questions whose measures read it", nullable=True),
    ),
    key=("column",),
)

RULES = Table(
    "dictionary_rules",
    "rule of the contract",
    (
        Column("rule", pl.String(), "id of the rule, as in `findings`"),
        Column("sentence", pl.String(), "what a sound record does"),
        Column("remedy", pl.String(), "what to do about one that does not"),
    ),
    key=("rule",),
)

CLAIMS = Table(
    "dictionary_claims",
    "published figure",
    tuple(published_claims.CLAIMS[name] for name in ("quantity", "scope", "statistic", "published", "where_published")),
)


def table(name: str) -> Table:
    """A table by its name: one that is kept, or the result of a measure.

    Raises:
        KeyError: there is none of that name.
    """
    for kept in KEPT:
        if kept.name == name:
            return kept
    return method.results()[name]


def tables() -> pl.DataFrame:
    """The tables that are kept, conforming to TABLES, in the order of the schema."""
    rows = [(t.name, t.grain, ", ".join(t.key) or None, len(t.columns), _listed(readers(t))) for t in KEPT]
    return pl.DataFrame(rows, schema=TABLES.schema, orient="row")


def columns(of: Table) -> pl.DataFrame:
    """The columns of a table, conforming to COLUMNS, in their order.

    Args:
        of: a table that is kept, or the result of a measure; results are read by charts, and `used_by` is null.
    """
    is_kept = of.name in {kept.name for kept in KEPT}
    used = {c.name: users(of, c) for c in of} if is_kept else {}
    rows = [(c.name, dtype(c), c.unit, c.nullable, c.meaning, _listed(used.get(c.name, ()))) for c in of]
    return pl.DataFrame(rows, schema=COLUMNS.schema, orient="row")


def rules() -> pl.DataFrame:
    """The rules a record may break and still be kept, conforming to RULES."""
    return pl.DataFrame([tuple(rule) for rule in CONTRACT], schema=RULES.schema, orient="row")


def claims() -> pl.DataFrame:
    """What was published about the EnvScaler sets, conforming to CLAIMS."""
    rows = [tuple(getattr(claim, name) for name in CLAIMS.names) for claim in published_claims.published()]
    return pl.DataFrame(rows, schema=CLAIMS.schema, orient="row")


def dtype(column: Column) -> str:
    """A column's type in words: UInt32, or the values of an Enum.

    >>> dtype(Column("outcome", pl.Enum(["ok", "error"]), ""))
    'Enum: ok, error'
    """
    if isinstance(column.dtype, pl.Enum):
        return f"Enum: {', '.join(column.dtype.categories)}"
    return str(column.dtype)


def readers(of: Table) -> list[str]:
    """Questions with a measure that takes the table."""
    return [q.name for q in method.questions() if any(of.name in m.takes.values() for m in q.measures)]


def users(of: Table, column: Column) -> list[str]:
    """Questions with a measure that takes the table and cannot do without the column."""
    return [name for name, read in _read().items() if (of.name, column.name) in read]


@cache
def _read() -> dict[str, set[tuple[str, str]]]:
    """What each question reads: (table, column), of the tables that are kept."""
    return {q.name: {pair for measure in q.measures for pair in _needs(measure)} for q in method.questions()}


def _needs(measure: Measure) -> Iterator[tuple[str, str]]:
    kept = {table.name for table in KEPT}
    for settings in choices(measure):
        given = {argument: table(name).empty().lazy() for argument, name in measure.takes.items()}
        for argument, name in measure.takes.items():
            for column in table(name).names if name in kept else ():
                try:
                    less = given[argument].drop(column)
                    measure.function(**settings, **{**given, argument: less}).collect_schema()
                except pl.exceptions.PolarsError:
                    yield name, column


def choices(measure: Measure) -> list[dict[str, Any]]:
    """Settings that a measure can be planned with: each of the words it lets choose from, some value for the rest."""
    values: dict[str, tuple[Any, ...]] = {}
    for name, parameter in inspect.signature(measure.function).parameters.items():
        if get_origin(parameter.annotation) is Literal:
            values[name] = get_args(parameter.annotation)
        elif name not in measure.takes and parameter.default is parameter.empty:
            values[name] = (1 if parameter.annotation is int else {},)
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def _listed(names: Iterable[str]) -> str | None:
    return ", ".join(names) or None
