"""The data dictionary: tables with their columns, the rules of findings, what was published about the data.

Which questions use a column is asked of their measures: each is planned over empty tables that lack some of their
columns, and uses those without which it cannot be planned.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import product
from typing import Any, Literal, get_args, get_origin

import polars as pl

from analysis.measures import claims as published_claims
from analysis.records.rules import RULES as CONTRACT
from analysis.reference import method
from analysis.reference.method import Measure
from analysis.schema import (
    BASE_TABLES,
    COMPARED,
    DERIVED_TABLES,
    PRIVATE,
    REPLAY_TABLES,
    SWAPPED_VALUES,
    VALUES,
    Column,
    Table,
)

Pair = tuple[str, str]

KEPT = (*BASE_TABLES, *dict.fromkeys((*DERIVED_TABLES, VALUES, SWAPPED_VALUES, COMPARED, PRIVATE, *REPLAY_TABLES)))

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
def _read() -> dict[str, set[Pair]]:
    """What each question reads: (table, column), of the tables that are kept."""
    return {question.name: needs(question.measures) for question in method.questions()}


def needs(measures: Iterable[Measure]) -> set[Pair]:
    """Columns, as (table, column), without which one of the measures cannot be planned, of the tables that are kept."""
    kept = {table.name for table in KEPT}
    found: set[Pair] = set()
    for measure in measures:
        columns = [(name, column) for name in kept & set(measure.takes.values()) for column in table(name).names]
        for settings in choices(measure):
            lacking = partial(_failure, measure, settings)
            found |= set(_needed(lacking, [pair for pair in sorted(columns) if pair not in found]))
    return found


def _needed(failure: Callable[[list[Pair]], str | None], columns: list[Pair]) -> Iterator[Pair]:
    """Those of the columns without which there is a failure.

    What can be planned without many columns needs none of them: so they are left out together, and by parts only where
    that fails. Every attempt costs a plan; to try first what the error names spares half of them.
    """
    said = failure(columns) if columns else None
    if said is None:
        return
    if len(columns) == 1:
        yield columns[0]
        return
    named = re.search(r'"(\w+)"', said)
    first = [pair for pair in columns if named and pair[1] == named[1]]
    if len(first) in (0, len(columns)):
        first = columns[: len(columns) // 2]
    yield from _needed(failure, first)
    yield from _needed(failure, [pair for pair in columns if pair not in first])


def _failure(measure: Measure, settings: Mapping[str, Any], without: list[Pair]) -> str | None:
    """Why a measure cannot be planned over tables that lack these columns; None when it can."""
    given = {
        argument: _empty(name).drop([column for of, column in without if of == name])
        for argument, name in measure.takes.items()
    }
    try:
        measure.function(**settings, **given).collect_schema()
    except pl.exceptions.PolarsError as error:
        return str(error)
    return None


@cache
def _empty(name: str) -> pl.LazyFrame:
    return table(name).empty().lazy()


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
