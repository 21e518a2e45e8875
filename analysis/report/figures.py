"""Charts of an executed notebook, made ready for a page: their words as HTML, their data once for all of them.

A title inside a drawing neither wraps nor can be searched, copied or read aloud well; so it leaves the specification
and stands above it. Data leave it too, as columns shared by all charts, and so does the configuration of the theme.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from markupsafe import Markup

from analysis import markup
from analysis.wording import count

# A page must stay small and readable without scripts: beyond these rows the download is the place to look.
MOST_ROWS = 200


@dataclass(frozen=True)
class Figure:
    """What the page says around one drawing."""

    id: str
    title: str
    subtitle: str
    description: str
    definition: str
    table: Markup


@dataclass
class Store:
    """What all charts of a page draw from, written into the page once."""

    charts: dict[str, dict[str, Any]] = field(default_factory=dict)
    data: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    configs: list[dict[str, Any]] = field(default_factory=list)

    def add(self, spec: dict[str, Any], *, fluid: bool) -> Figure:
        """Take a chart in; give back what stands around it.

        Args:
            spec: a Vega-Lite specification as the theme's renderer emits it.
            fluid: it takes the width of its surroundings.
        """
        spec = dict(spec)
        meta = spec.pop("usermeta", {})
        title = spec.pop("title", None)
        config = spec.pop("config", {})
        datasets = spec.pop("datasets", {})
        if config not in self.configs:
            self.configs.append(config)
        columns, order = meta.get("columns", {}), meta.get("order", [])
        columns = {name: columns[name] for name in [*order, *columns] if name in columns}
        for name, rows in datasets.items():
            self.data.setdefault(name, columnar(rows, first=order))
        if fluid:
            spec.pop("width", None)
        id_ = f"figure-{len(self.charts) + 1}"
        described = markup.clean(spec.get("description") or "")
        heading = words(title) or described or f"Figure {len(self.charts) + 1}"
        self.charts[id_] = {
            "spec": spec,
            "title": title,
            "config": self.configs.index(config),
            "data": list(datasets),
            "fluid": fluid,
        }
        return Figure(
            id=id_,
            title=heading,
            subtitle=words(title, "subtitle"),
            description=described or heading,
            definition=markup.clean(meta.get("definition", "")),
            table=Markup("".join(_tables(datasets, columns, heading))),
        )


def words(title: Any, part: str = "text") -> str:
    """A title (or its subtitle) as one line, however it was wrapped for drawing."""
    found = title.get(part, "") if isinstance(title, dict) else title if part == "text" else ""
    return markup.clean(" ".join(map(str, found)) if isinstance(found, list) else str(found or ""))


def columnar(rows: list[dict[str, Any]], first: Iterable[str] = ()) -> dict[str, list[Any]]:
    """Rows as columns: each name is written once, not once a row; `first` names the columns to begin with."""
    found = dict.fromkeys(name for row in rows for name in row)
    names = dict.fromkeys([*(name for name in first if name in found), *found])
    return {name: [_clean(row.get(name)) for row in rows] for name in names}


def _clean(value: Any) -> Any:
    """A value that charts, tables and choices show alike."""
    return markup.clean(value) if isinstance(value, str) else value


def _tables(datasets: dict[str, list[dict[str, Any]]], columns: dict[str, Any], caption: str) -> Iterator[str]:
    """The table twin of a chart: the columns its result declares, every one where it declares none."""
    heads = {name: (column["title"], column["meaning"]) for name, column in columns.items()}
    for rows in datasets.values():
        present = columnar(rows[:MOST_ROWS])
        names = [name for name in heads if name in present] or list(present)
        if not names:
            continue
        frame = pl.DataFrame([pl.Series(name, present[name], strict=False) for name in names])
        yield markup.grid(frame, heads, f"Numbers of the figure: {caption}", exact=False)
        if len(rows) > MOST_ROWS:
            yield f"<p>The first {count(MOST_ROWS)} of {count(len(rows), 'row')}; the download has them all.</p>"
