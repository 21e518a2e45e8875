"""The view: figures to choose in, the table of what is chosen, and the transcript of one of it.

Thin: what is chosen is a `Selection`, what the figures show comes from `facets`, how a transcript is searched from
`reading`. Here are only the widgets and who tells whom.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import polars as pl

from analysis.explore import facets, figures, reading
from analysis.explore.runs import runs
from analysis.explore.selection import COUNTED, NAMED, Selection
from analysis.explore.widgets import COLUMN_STYLE, Figure, Rows, RunTable
from analysis.markup import LAB_STYLE, text
from analysis.sources import SourceError
from analysis.tables import Tables, subsets
from analysis.wording import count

LISTS = {"env_id": "Environments", "tools_called": "Tools called"}
KINDS = {"traj_type": "Mode", "end_class": "Ending"}
LENGTHS = {"assistant_messages": "steps", "tool_calls": "calls", "errors": "failed calls"}
TALL = "372px"
STYLE = """<style>
.tj-explore .tj-head{font-weight:600;padding:0 0 2px}
.tj-explore .tj-head small{font-weight:400;opacity:.8}
.tj-explore .tj-scroll{overflow:hidden auto}
.tj-explore .vega-embed{padding:0}
.tj-explore .tj-line p{margin:0}
.tj-explore .tj-late{animation:tj-late 0s 2s both}
@keyframes tj-late{from{visibility:hidden}to{visibility:visible}}
.tj-explore .dt-container{font-size:var(--jp-ui-font-size1,13px)}
.tj-explore .itables_anywidget,.tj-explore .dt-container,.tj-explore table.dataTable.display,
.tj-explore .dts div.dt-scroll-body.dt-scroll-body{background:transparent}
.tj-explore table.dataTable td,.tj-explore table.dataTable th{overflow:hidden;text-overflow:ellipsis}
.tj-explore table.dataTable tbody tr{cursor:pointer}
.tj-explore .tj-read{max-height:46em;overflow:auto;border-top:1px solid var(--jp-border-color2,#bbb);padding-top:.4em}
.tj-explore .tj-read .widget-html-content{line-height:1.45}
.tj-explore .tj-read ol.turns{padding-inline-start:0;list-style:none}
.tj-explore .tj-read li.turn{padding:.3em .6em;border-top:1px solid var(--jp-border-color3,#ddd)}
.tj-explore .tj-read .prose{white-space:pre-wrap;overflow-wrap:anywhere}
.tj-explore .tj-read .speaker{font-weight:600}
.tj-explore .tj-read .position{opacity:.75}
.tj-explore .tj-read .hits{max-height:9em;overflow:auto;margin:.2em 0}
.tj-explore .tj-read .hits a{color:inherit}
.tj-explore .tj-read mark:target{outline:2px solid #d55e00}
</style>"""
BEHIND = (
    "The figures are not up to date yet: what is chosen stands in the line above. If this stays, run the cell again."
)
UNREAD = "Choose a row of the table to read its transcript here."

_numbers = itertools.count(1)


class View:
    """What `explore` returns: to look at, and to take the selection from.

    `selected` is what is chosen, as a Polars frame; `select` chooses from Python; `save` keeps a choice as a subset,
    which is a source itself.
    """

    def __init__(self, data: Tables) -> None:
        self._data = data
        self._runs = runs(data.trajectories, data.tool_calls, data.findings).collect()
        self._selection = Selection()
        self._is_drawing = False
        self._read = ""
        self._hits = f"tj-hit-{next(_numbers)}"
        self._figures = {
            **{column: Figure(_list_of(column), self._choose, self._tell_of_delay, wait=20) for column in LISTS},
            "lengths": Figure(_lengths, self._choose, self._tell_of_delay, wait=120),
            "kinds": Figure(_kinds, self._choose, self._tell_of_delay, wait=20),
        }
        self._columns = {**{column: [column] for column in LISTS}, "lengths": [*LENGTHS], "kinds": [*KINDS]}
        self._table = RunTable(self.read)
        self._heads = {column: widgets.HTML() for column in LISTS}
        self._said = _classed(widgets.HTML(), "tj-line")
        self._delay = _classed(widgets.HTML(), "tj-line")
        self._words = widgets.Text(
            placeholder="Words in task, ids or tools", continuous_update=False, layout={"width": "15em"}
        )
        self._all = widgets.Button(description="Select all again", icon="undo", layout={"width": "auto"})
        self._name = widgets.Text(placeholder="Name of a subset", layout={"width": "12em"})
        self._save = widgets.Button(description="Save", icon="save", layout={"width": "auto"})
        self._saved = _classed(widgets.HTML(), "tj-line")
        self._find = widgets.Text(
            placeholder="Search in this transcript", continuous_update=False, layout={"width": "20em"}
        )
        self._page = _classed(widgets.HTML(f"<p>{UNREAD}</p>"), "tj-read")
        self._words.observe(lambda _: self._choose("words", self._words.value), "value")
        self._all.on_click(lambda _: self.select())
        self._save.on_click(lambda _: self._keep())
        self._find.observe(lambda _: self._show_page(), "value")
        self._draw()
        self.widget = self._laid_out()

    @property
    def selection(self) -> Selection:
        """What is chosen by, as a value."""
        return self._selection

    @property
    def selected(self) -> pl.DataFrame:
        """The chosen trajectories: the columns of `trajectories`, with errors, findings and tools_called."""
        return self._selection.rows(self._runs)

    @property
    def subset(self) -> Tables:
        """The tables of what is chosen: for measures and charts, here and now."""
        return self._data.where(self.selected)

    @property
    def trajectory(self) -> str:
        """The id of the trajectory that is read; "" when none is."""
        return self._read

    def select(self, words: str = "", **chosen: Any) -> "View":
        """Choose from Python what could be clicked: `view.select(env_id="env_3", errors=(1, 5))`; nothing for all.

        Raises:
            ValueError: there is no such facet, or nothing of that name in it; the message names the nearest.
        """
        selection = Selection.of(words, **chosen)
        for column, names in selection.names.items():
            facets.refuse_unknown(self._runs, column, names)
        before, self._selection = self._selection, selection
        self._draw(before)
        return self

    def read(self, trajectory_id: str) -> None:
        """Show a trajectory's transcript, as a click on its row does.

        Raises:
            KeyError: no such trajectory.
        """
        if trajectory_id not in self._runs["trajectory_id"]:
            raise KeyError(f"no trajectory {trajectory_id} here")
        self._read = trajectory_id
        self._table.choose(trajectory_id)
        self._show_page()

    def save(self, name: str, *, replace: bool = False) -> Path:
        """Keep the selection as NAME.subset.toml in the working folder: a source for `load`, any notebook, any report.

        Raises:
            ValueError: nothing is selected, or the name is not one of a file.
            FileExistsError: there is a subset of that name, and it is not to be replaced.
        """
        data = self._data
        before = [data.subset.chosen] if data.subset else []
        before += data.selection_words
        return subsets.save(
            name,
            self.selected["trajectory_id"],
            source=data.subset.source if data.subset else data.source,
            manifest=data.manifest,
            trajectories=data.trajectories,
            chosen=", ".join(filter(None, [*before, self._selection.sentence()])),
            replace=replace,
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = self.widget._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        said = f"{self._counted()} Run this notebook in JupyterLab: what is chosen here lives with its kernel."
        return {**data, "text/plain": said, "text/html": f"<p>{text(said)}</p>"}

    def _choose(self, column: str, value: Any) -> None:
        if self._is_drawing:
            return
        left = self._selection.without(column)
        if column == "words":
            chosen = replace(left, words=value.strip())
        elif column in NAMED:
            chosen = replace(left, names={**left.names, column: value}) if value else left
        else:
            chosen = replace(left, ranges={**left.ranges, column: value}) if value else left
        if chosen != self._selection:
            self._selection = chosen
            for name, figure in self._figures.items():
                figure.show(self._rows(name))
            self._show_chosen()

    def _draw(self, marked: Selection | None = None) -> None:
        """The figures anew, with the selection marked in them; where it is marked as it was, only the rows change."""
        self._is_drawing = True
        try:
            for name, figure in self._figures.items():
                chosen = {column: self._selection.chosen(column) for column in self._columns[name]}
                if marked and all(marked.chosen(column) == value for column, value in chosen.items()):
                    figure.show(self._rows(name))
                else:
                    figure.draw(self._rows(name), {column: value for column, value in chosen.items() if value})
            self._words.value = self._selection.words
        finally:
            self._is_drawing = False
        self._show_chosen()

    def _rows(self, figure: str) -> dict[str, Rows]:
        rows: dict[str, Rows] = {}
        for column in self._columns[figure]:
            if column in COUNTED:
                rows[column] = facets.bins(self._runs, self._selection, column)
            else:
                rows[column], all_names = facets.names(self._runs, self._selection, column)
                self._title(column, len(rows[column]), all_names)
        return rows

    def _title(self, column: str, listed: int, all_names: int) -> None:
        if column in LISTS:
            most = f"the {count(listed)} busiest of {count(all_names)}" if listed < all_names else count(all_names)
            self._heads[column].value = f'<div class="tj-head">{LISTS[column]} <small>{most}</small></div>'

    def _show_chosen(self) -> None:
        self._said.value = f"<p>{self._counted(strong=True)}</p>"
        self._saved.value = ""
        self._table.show(self.selected)

    def _tell_of_delay(self) -> None:
        """Said from the first moment, and seen from the second second: usually it is gone by then."""
        behind = any(figure.widget is None or figure.is_behind for figure in self._figures.values())
        self._delay.value = f'<p class="tj-late" role="status">{BEHIND}</p>' if behind else ""

    def _counted(self, *, strong: bool = False) -> str:
        number = count(self.selected.height)
        sentence = self._selection.sentence()
        named = f"<b>{number}</b>" if strong else number
        how = text(sentence) if strong else sentence
        return f"{named} of {count(self._runs.height, 'trajectory')}{': ' + how if sentence else ''}."

    def _keep(self) -> None:
        try:
            path = self.save(self._name.value)
        except (ValueError, OSError) as error:
            self._saved.value = f"<p>Not saved: {text(error)}</p>"
        else:
            self._saved.value = f"<p>Saved. In any notebook here: <code>source = {text(repr(str(path)))}</code></p>"

    def _show_page(self) -> None:
        if not self._read:
            return
        try:
            (trajectory,) = self._data.read([self._read])
        except (SourceError, KeyError, OSError) as error:
            self._page.value = f"<p>{text(error)}</p>"
            return
        words = self._find.value
        html, hits = reading.find(reading.page(trajectory, self._read), words, self._hits)
        self._page.value = f'{LAB_STYLE}<div class="tj">{reading.listed(hits, words)}{html}</div>'

    def _laid_out(self) -> widgets.Widget:
        def pane(*children: widgets.Widget, tall: str = TALL) -> widgets.Widget:
            return _classed(widgets.Box(children, layout={"height": tall}), "tj-scroll")

        lists = [
            widgets.VBox([self._heads[column], pane(self._figures[column].widget)], layout={"margin": "0 14px 8px 0"})
            for column in LISTS
        ]
        head = '<div class="tj-head">{}</div>'
        lengths = widgets.VBox([widgets.HTML(head.format("Lengths")), self._figures["lengths"].widget])
        kinds = widgets.VBox([widgets.HTML(head.format("Mode and ending")), self._figures["kinds"].widget])
        # Beside each other where there is room for both, else below.
        wrapped = {"flex_flow": "row wrap", "align_items": "flex-start"}
        row = widgets.Box(
            [*lists, widgets.Box([lengths, kinds], layout={"flex": "1 1 280px", **wrapped})], layout=wrapped
        )
        tools = widgets.HBox(
            [self._words, self._all, self._name, self._save, self._saved], layout={"flex_flow": "row wrap"}
        )
        return _classed(
            widgets.VBox(
                [
                    widgets.HTML(f"{STYLE}<style>{COLUMN_STYLE}</style>"),
                    self._said,
                    self._delay,
                    tools,
                    row,
                    self._table.widget,
                    self._find,
                    self._page,
                ]
            ),
            "tj-explore",
        )


def _list_of(column: str) -> Callable[[Any, Any], Any]:
    def draw(rows: Any, chosen: Any) -> Any:
        return _names(column, rows, chosen)

    return draw


def _names(column: str, rows: Any, chosen: Any) -> Any:
    return figures.names(column, chosen.get(column, ()), max((len(row[0]) for row in rows[column]), default=0))


def _kinds(rows: Any, chosen: Any) -> Any:
    return figures.column([_names(column, rows, chosen) for column in KINDS], spacing=8)


def _lengths(rows: Any, chosen: Any) -> Any:
    return figures.column(
        [
            figures.histogram(column, _span(rows[column]), chosen.get(column), title)
            for column, title in LENGTHS.items()
        ],
        spacing=40,
    )


def _span(bins: Any) -> tuple[int, int]:
    return (bins[0][0], bins[-1][1]) if bins else (0, 1)


def _classed(widget: Any, name: str) -> Any:
    widget.add_class(name)
    return widget
