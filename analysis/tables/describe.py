"""What a handle says of itself: its source, what was rejected, and every table with its rows, columns, units, meanings.

As text for a terminal, and folded table by table for a notebook. Row counts come from the Parquet files' own metadata
unless a selection makes them a question.
"""

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Any, Protocol

import polars as pl

from analysis.markup import LAB_STYLE, grid, text
from analysis.schema import BASE_TABLES, RECORD_TABLES, REJECTED, Column, Table
from analysis.visible import one_line
from analysis.wording import count

FIRST_REJECTED = 5
WIDTH = 120
HOW_TO_GIVE = "none given: load(…, environments=…, scenarios=…) reads the sibling sets"


class Handle(Protocol):
    """What is told of tables; each table is an attribute of its name."""

    @property
    def source(self) -> str: ...
    @property
    def manifest(self) -> dict[str, Any]: ...
    @property
    def siblings(self) -> str: ...
    @property
    def is_narrowed(self) -> bool: ...
    @property
    def narrowing(self) -> str: ...
    @property
    def rejected(self) -> pl.LazyFrame: ...


def as_text(data: Handle) -> str:
    """The handle for a terminal: a line a column, wrapped to its place."""
    lines = [f"Tables of {one_line(data.source)}", *(f"  {one_line(fact)}" for fact in _facts(data))]
    lines += [f"    {one_line(origin)}: {one_line(reason)}" for origin, reason in _first_rejected(data)]
    for table, rows in _rows(data).items():
        if not _is_given(data, table, rows):
            lines += ["", f"{table.name}: {HOW_TO_GIVE}"]
            continue
        lines += ["", f"{table.name}: {_size(table, rows)}"]
        widths = [max(len(cell) for cell in cells) for cells in zip(*map(_cells, table), strict=True)][:3]
        for column in table:
            *narrow, meaning = _cells(column)
            start = "  " + "  ".join(cell.ljust(width) for cell, width in zip(narrow, widths, strict=True)) + "  "
            lines += wrap(meaning, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
    return "\n".join(lines)


def as_html(data: Handle) -> str:
    """The handle for a notebook: its facts, and each table folded behind a line that says what it holds."""
    facts = "".join(f"<p>{text(fact)}</p>" for fact in _facts(data))
    rejected = _first_rejected(data)
    if rejected:
        frame = pl.DataFrame(rejected, schema=["origin", "reason"], orient="row")
        heads = {name: (REJECTED[name].title, REJECTED[name].meaning) for name in frame.columns}
        facts += grid(frame, heads, f"The first {len(rejected)} rejected")
    folded = "".join(_folded(data, table, rows) for table, rows in _rows(data).items())
    return (
        f'{LAB_STYLE}<div class="tj tables"><p><strong>Tables of {text(data.source)}</strong></p>{facts}{folded}</div>'
    )


def _folded(data: Handle, table: Table, rows: int | None) -> str:
    size = _size(table, rows) if _is_given(data, table, rows) else HOW_TO_GIVE
    frame = pl.DataFrame([_cells(c) for c in table], schema=["column", "type", "unit", "meaning"], orient="row")
    # In the cells themselves: JupyterLab takes a style sheet out of a file it was sent, and sets tables to the right.
    body = re.sub("<(td|th) ", r'<\1 style="text-align:left" ', grid(frame, {}, f"Columns of {table.name}"))
    return f"<details><summary><code>{table.name}</code> {text(size)}</summary>{body}</details>"


def _facts(data: Handle) -> Iterator[str]:
    manifest = data.manifest
    synthetic = " Synthetic: played by scripts in made-up environments." if manifest.get("synthetic") else ""
    yield "{records_in:,} records in = {kept:,} kept + {rejected:,} rejected.".format(**manifest) + synthetic
    if data.is_narrowed:
        yield f"Selected: {data.narrowing}"
    for damage in manifest.get("damage", [])[:FIRST_REJECTED]:
        yield f"Lost: {damage['origin']}: {damage['reason']}"


def _first_rejected(data: Handle) -> list[tuple[str, str]]:
    if not data.manifest["rejected"]:
        return []
    try:
        return data.rejected.select("origin", "reason").head(FIRST_REJECTED).collect().rows()
    except (OSError, pl.exceptions.PolarsError):
        return []


def _rows(data: Handle) -> dict[Table, int | None]:
    """Rows of every table; None where its files cannot be read any more: what shows a handle must not raise."""
    try:
        counted = pl.collect_all([getattr(data, table.name).select(pl.len()) for table in BASE_TABLES])
    except (OSError, pl.exceptions.PolarsError):
        return dict.fromkeys(BASE_TABLES)
    return {table: frame.item() for table, frame in zip(BASE_TABLES, counted, strict=True)}


def _is_given(data: Handle, table: Table, rows: int | None) -> bool:
    return bool(rows or table in RECORD_TABLES or data.siblings)


def _size(table: Table, rows: int | None) -> str:
    if rows is None:
        return "its files cannot be read; load the source again"
    return f"{count(rows, 'row')}, one per {table.grain}"


def _cells(column: Column) -> tuple[str, str, str, str]:
    kind = str(column.dtype.base_type())
    values = f" ({', '.join(column.dtype.categories)})" if isinstance(column.dtype, pl.Enum) else ""
    return column.name, kind, column.unit or "", column.meaning + values
