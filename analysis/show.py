"""What a notebook cell displays: charts with their definition, tables, headline numbers, notices, provenance.

Every string that comes from the data is escaped here.
"""

from dataclasses import dataclass
from html import escape
from typing import Any

import altair as alt
import polars as pl
from IPython.display import display

from analysis.schema import Table
from analysis.tables import Tables


@dataclass(frozen=True)
class Headline:
    """One number a reader takes away: already formatted, with its name and what it means (with the denominator)."""

    value: str
    label: str
    meaning: str


def chart(figure: alt.TopLevelMixin) -> None:
    """Display a chart and, under it, its definition; or, in place of an empty chart, the sentence that says why."""
    spec: dict[str, Any] = figure.to_dict()
    meta = spec.get("usermeta", {})
    if "empty" in meta:
        notice(meta["empty"])
        return
    display(figure)
    _html(f'<p class="definition">{escape(meta.get("definition", ""))}</p>', "definition")


def table(frame: pl.DataFrame, result: Table, *, caption: str, definition: str = "") -> None:
    """Display a frame as a table: heads with units from `result`, numbers rounded, texts escaped."""
    heads = "".join(
        f"<th>{escape(result[name].title if name in result.names else name)}</th>" for name in frame.columns
    )
    rows = "".join("<tr>" + "".join(f"<td>{escape(str(v))}</td>" for v in row) + "</tr>" for row in frame.iter_rows())
    _html(
        f"<table><caption>{escape(caption)}</caption><tr>{heads}</tr>{rows}</table><p>{escape(definition)}</p>", "table"
    )


def headlines(numbers: list[Headline]) -> None:
    """Display five to eight numbers with their meaning."""
    items = "".join(
        f"<dt>{escape(n.label)}</dt><dd>{escape(n.value)} <small>{escape(n.meaning)}</small></dd>" for n in numbers
    )
    _html(f"<dl>{items}</dl>", "headlines")


def notice(sentence: str) -> None:
    """Say, in place of a figure, why there is none, or what needs attention."""
    _html(f"<p>{escape(sentence)}</p>", "notice")


def provenance(data: Tables) -> None:
    """Last cell of every notebook: source, content hash, rows used and rejected, parameters, versions."""
    _html(f"<pre>{escape(str(data.manifest))}</pre>", "provenance")


def _html(html: str, kind: str) -> None:
    display({"text/html": html}, raw=True, metadata={"trajectory": {"kind": kind}})
