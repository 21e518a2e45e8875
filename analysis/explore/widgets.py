"""The kept widgets that the view is put together from, each set up for it: charts, table. They fetch nothing."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import traitlets
from itables.widget import ITable

from analysis.explore.figures import PICK, ROWS, with_rows
from analysis.explore.selection import Range, label
from analysis.markup import clean
from analysis.natural import natural_key
from analysis.tables import cache as kept
from analysis.tables import places

Rows = Sequence[Sequence[Any]]

_MODULE = Path(__file__).with_name("figure.js")
# Characters of a task that the table shows.
TASK_SHOWN = 120
# The table's columns: what a head says, and the column of RUNS behind it.
HEADS = {
    "trajectory": "trajectory_id",
    "environment": "env_id",
    "mode": "traj_type",
    "steps": "assistant_messages",
    "calls": "tool_calls",
    "failed": "errors",
    "user": "user_messages",
    "findings": "findings",
    "ending": "end_class",
    "task": "task",
    "scenario": "task_id",
}
# Where an environment stands among them, env_2 before env_10: the table sorts by it and does not show it.
PLACE = "place"
_ALWAYS = {"trajectory", "environment"}
# px; what is longer is cut with an ellipsis.
WIDTHS = {
    "trajectory": 112,
    "environment": 130,
    "mode": 130,
    "findings": 86,
    "ending": 130,
    "task": 330,
    "scenario": 150,
}
WIDTH = 70
# By a style, and over DataTables' own: while the table does not stand in the page yet, it measures and writes zeros.
COLUMN_STYLE = "\n".join(
    f".tj-explore table.dataTable col:nth-child({place}){{width:{WIDTHS.get(head, WIDTH)}px !important}}"
    for place, head in enumerate(HEADS, 1)
)
_TABLE: dict[str, Any] = {
    "maxBytes": 0,  # all rows: they are drawn as they are scrolled to
    "allow_html": False,
    "showIndex": False,
    "show_dtypes": False,
    "select": "single",
    "paging": True,
    "scroller": {"displayBuffer": 4},  # times the height: the rows drawn at once
    "scrollY": "21em",
    "scrollX": True,
    "autoWidth": False,
    "text_in_header_can_be_selected": False,
    "columnControl": [{"target": 1, "content": ["search"]}],
    "layout": {"topStart": "info", "topEnd": "search", "bottomStart": None, "bottomEnd": None},
    "classes": "display nowrap compact",
    # Widths are given: to find them, every text of every row would be measured at each selection.
    "style": "table-layout:fixed;width:1180px;margin:0",
    "language": {
        "info": "_TOTAL_ trajectories",
        "infoEmpty": "No trajectories",
        "infoFiltered": "found among _MAX_",
        "search": "In this table:",
        "emptyTable": "Nothing is selected",
        "select": {"rows": ""},
    },
}


class Figure:
    """A chart that stands while its rows change, and tells what is chosen in it."""

    def __init__(
        self,
        draw: Callable[[Mapping[str, Rows], Mapping[str, Any]], Any],
        on_choice: Callable[[str, Any], None],
        on_news: Callable[[], None],
        *,
        wait: int,
    ) -> None:
        """
        Args:
            draw: the chart of rows and choices by column.
            on_choice: called with a column and what is chosen there: names, a range, or None.
            on_news: called when the browser has fallen behind what was sent, or has caught up.
            wait: milliseconds of rest before a choice is told.
        """
        self._draw = draw
        self._on_choice = on_choice
        self._on_news = on_news
        self._wait = wait
        self._rows: dict[str, list[list[Any]]] = {}
        self.widget: Any = None

    def draw(self, rows: Mapping[str, Rows], chosen: Mapping[str, Any]) -> None:
        """Draw anew, with what is chosen marked."""
        self._rows = {column: _plain(of_column) for column, of_column in rows.items()}
        chart = with_rows(self._draw(self._rows, chosen), self._rows)
        if self.widget is None:
            options = {"renderer": "svg", "actions": False}
            self.widget = offline_chart()(chart, debounce_wait=self._wait, max_wait=False, embed_options=options)
            self.widget.observe(lambda _: self._on_news(), ["edition", "confirmed"])
        else:
            self.widget.chart = chart
        for column in rows:
            self.widget.selections.observe(self._tell, PICK + column)
        # Of all parameters at once: by name it would run before Altair's own observer, which then undoes it.
        self.widget.params.observe(self._insist)
        self.widget.edition += 1

    @property
    def is_behind(self) -> bool:
        """Whether the browser has not said yet that it draws the last rows."""
        return bool(self.widget.confirmed != self.widget.edition)

    def show(self, rows: Mapping[str, Rows]) -> None:
        """Change the rows under what is marked."""
        for column, of_column in rows.items():
            self._rows[column] = _plain(of_column)
            setattr(self.widget.params, ROWS + column, self._rows[column])
        self.widget.edition += 1

    def _tell(self, change: Any) -> None:
        self._on_choice(change["name"].removeprefix(PICK), chosen_in(change["new"].value))

    def _insist(self, change: Any) -> None:
        """The browser reports what it shows, sometimes after newer rows have been sent: these are sent again."""
        wanted = self._rows.get(change["name"].removeprefix(ROWS))
        if wanted is not None and change["new"] != wanted:
            setattr(self.widget.params, change["name"], wanted)
            self.widget.edition += 1


def chosen_in(value: Any) -> tuple[str, ...] | Range | None:
    """What a chart's selection holds: names clicked, whole numbers dragged over, or None."""
    if isinstance(value, list):
        return tuple(str(point["name"]) for point in value if "name" in point) or None
    spans = [span for span in (value or {}).values() if span]
    if not spans:
        return None
    least, most = math.ceil(min(spans[0])), math.floor(max(spans[0]))
    return (least, most) if least <= most else None


class RunTable:
    """A table of trajectories that draws the rows scrolled to; one of them is chosen by a click."""

    def __init__(self, on_choice: Callable[[str], None]) -> None:
        self._on_choice = on_choice
        self._ids: list[str] = []
        self._chosen = ""
        self.widget = ITable(pl.DataFrame(schema=dict.fromkeys([*HEADS, PLACE], pl.String)), **_TABLE)
        self.widget.observe(self._tell, "selected_rows")

    def show(self, rows: pl.DataFrame) -> None:
        """Other rows; the one chosen stays chosen where it is among them.

        Args:
            rows: conforms to RUNS.
        """
        ids = rows["trajectory_id"].to_list()
        if ids == self._ids:
            return
        self._ids = ids
        chosen = [self._ids.index(self._chosen)] if self._chosen in self._ids else []
        with self.widget.hold_sync():
            frame = shown(rows)
            self.widget.update(frame, selected_rows=chosen, columnDefs=_kinds(frame), **_TABLE)

    def choose(self, trajectory_id: str) -> None:
        self._chosen = trajectory_id
        self.widget.selected_rows = [self._ids.index(trajectory_id)] if trajectory_id in self._ids else []

    def _tell(self, change: Any) -> None:
        rows = [row for row in change["new"] if row < len(self._ids)]
        if rows and self._ids[rows[0]] != self._chosen:
            self._chosen = self._ids[rows[0]]
            self._on_choice(self._chosen)


def _kinds(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Each column's kind, said: guessed cell by cell, a selection takes longer to list, and a text to sort."""
    numbers = [place for place, dtype in enumerate(frame.dtypes) if dtype.is_numeric()]
    texts = [place for place in range(frame.width) if place not in numbers]
    naturally = {"targets": frame.columns.index("environment"), "orderData": [frame.columns.index(PLACE)]}
    hidden = {"targets": frame.columns.index(PLACE), "visible": False}
    return [hidden, naturally, {"targets": numbers, "type": "num"}, {"targets": texts, "type": "string"}]


def shown(rows: pl.DataFrame) -> pl.DataFrame:
    """RUNS as the table shows them: short heads and tasks, no column that is empty throughout, and a hidden PLACE."""
    frame = rows.with_columns(
        task=pl.when(pl.col("task").str.len_chars() > TASK_SHOWN)
        .then(pl.col("task").str.slice(0, TASK_SHOWN) + "…")
        .otherwise("task")
    )
    here = {head: name for head, name in HEADS.items() if frame[name].null_count() < frame.height or head in _ALWAYS}
    texts = {name for name, dtype in frame.schema.items() if not dtype.is_numeric()}
    columns = [(label(name) if name in texts else pl.col(name)).alias(head) for head, name in here.items()]
    environments = frame.select(label("env_id").unique()).to_series().to_list()
    places = {name: place for place, name in enumerate(sorted(environments, key=natural_key))}
    place = label("env_id").replace_strict(places, return_dtype=pl.UInt32, default=0)
    return frame.select(*columns, place.alias(PLACE))


@cache
def offline_chart() -> type[Any]:
    """Altair's widget with the chart library inside, kept on disk: to pack it takes seconds.

    `alt.JupyterChart` by itself fetches the library from a CDN each time it is shown. `edition` counts what was sent to
    the browser, `confirmed` is the last that it says it has drawn.
    """
    names = ("altair", "anywidget", "vl-convert-python")
    path = kept.root() / "vega" / f"widget-{'-'.join(version(name) for name in names)}.js"
    try:
        script = path.read_text(encoding="utf-8")
    except OSError:
        alt.JupyterChart.enable_offline()
        script = str(alt.JupyterChart._esm)
        with suppress(OSError):  # a cache that cannot be written costs seconds, not the chart
            places.write_bytes(str(path), script.encode())
    module = f"const LIBRARY = {json.dumps(script)};\n{_MODULE.read_text(encoding='utf-8')}"
    edition = {name: traitlets.Int(0).tag(sync=True) for name in ("edition", "confirmed")}
    return type("OfflineChart", (alt.JupyterChart,), {"_esm": module, **edition})


def _plain(rows: Iterable[Iterable[Any]]) -> list[list[Any]]:
    return [[clean(value) if isinstance(value, str) else value for value in row] for row in rows]
