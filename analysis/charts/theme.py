"""The look of every chart, the one way a chart function is declared, and how a chart reaches a notebook.

`@figure(RESULT, definition="…")` wraps a chart function (small frame in, `alt.Chart` out). It
- refuses a frame over MAX_ROWS rows: aggregation belongs to the measure;
- answers an empty frame with an empty-state chart whose usermeta says so, so that pages print the sentence instead;
- puts the definition and the columns' meaning into the chart's `usermeta`, where the page finds them.

Importing this module enables the theme and the renderer `trajectory`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

import altair as alt
import polars as pl
from altair.utils.schemapi import debug_mode

from analysis.markup import CHART_TYPE
from analysis.schema import Table

P = ParamSpec("P")
MAX_ROWS = 2_000

# JupyterLab's Vega never settles on a width of "container": a notebook gets this one, the page puts the container back.
NOTEBOOK_WIDTH = 680

# After Okabe and Ito, told apart with any common colour vision deficiency. The light ones are darkened until each
# colour stands out 3:1 (WCAG 1.4.11) against white and against the page's dark background.
PALETTE = ["#0072B2", "#C77C02", "#009E73", "#C2649A", "#3B97CF", "#D55E00", "#9A8500", "#858585"]

# Text takes the colour of its surroundings: one specification for light, dark, print and forced colours.
INK = "currentColor"
FAINT = "#8080804d"


@alt.theme.register("trajectory", enable=True)
def _theme() -> alt.theme.ThemeConfig:
    words: Any = {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    config: Any = {
        "background": "transparent",
        "font": "system-ui, sans-serif",
        "view": {"stroke": None, "continuousWidth": NOTEBOOK_WIDTH},
        "axis": {
            **words,
            "gridColor": FAINT,
            "domainColor": "#808080",
            "tickColor": "#808080",
            "labelLimit": 220,
            "labelSeparation": 6,
        },
        # As many lines as there is room for their labels: a line without one measures nothing.
        "axisXQuantitative": {"tickCount": {"expr": "max(4, ceil(width / 90))"}},
        "legend": {**words, "orient": "bottom", "labelLimit": 260, "symbolStrokeWidth": 2},
        "header": words,
        "title": {
            "color": INK,
            "subtitleColor": INK,
            "fontSize": 14,
            "subtitleFontSize": 12,
            "anchor": "start",
            "subtitlePadding": 4,
        },
        "text": {"color": INK},
        "rule": {"color": INK},
        "range": {"category": PALETTE},
        "bar": {"color": PALETTE[0]},
        "line": {"color": PALETTE[0]},
        "point": {"color": PALETTE[0], "filled": True, "opacity": 1},
        "tick": {"color": PALETTE[0]},
        "area": {"color": PALETTE[0]},
    }
    return {"config": config}


def _render(spec: dict[str, Any], **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mime bundle of a chart, and what the page needs to undo for its own sake."""
    # Marks would be described one by one, by an expression that a backslash in an axis title breaks. A chart has one
    # description that tells the finding, and its numbers as a table.
    config = {**spec.get("config", {}), "mark": {**spec.get("config", {}).get("mark", {}), "aria": False}}
    spec = {**_quoted(spec), "config": config}
    meta: dict[str, Any] = {"kind": "chart"}
    if spec.get("width") == "container":
        spec = {**spec, "width": NOTEBOOK_WIDTH}
        meta["width"] = "container"
    words = spec.get("description") or title_text(spec)
    # As SVG the text takes the colour of the theme it stands in; JupyterLab's own choice would be a canvas.
    embedding = {CHART_TYPE: {"embed_options": {"renderer": "svg"}}}
    return {CHART_TYPE: spec, "text/plain": words or "A chart"}, {"trajectory": meta, **embedding}


def _quoted(part: Any, inside: str = "") -> Any:
    """The specification with backslashes in the headings of tooltips doubled.

    Vega-Lite writes a heading into an expression between quotes and escapes the quotes in it, not backslashes and
    ends of lines.
    """
    if isinstance(part, list):
        return [_quoted(one, inside) for one in part]
    if not isinstance(part, dict) or inside == "datasets":
        return part
    if inside == "tooltip" and isinstance(part.get("title"), str):
        part = {**part, "title": part["title"].replace("\\", "\\\\").replace("\n", " ")}
    return {name: _quoted(one, name) for name, one in part.items()}


alt.renderers.register("trajectory", _render)
alt.renderers.enable("trajectory")


def title_text(spec: dict[str, Any], part: str = "text") -> str:
    """A specification's title (or its subtitle) as one line, however it was wrapped for drawing."""
    title = spec.get("title", "")
    words = title.get(part, "") if isinstance(title, dict) else title if part == "text" else ""
    return " ".join(words) if isinstance(words, list) else str(words)


@dataclass(frozen=True)
class Declared:
    """What a chart function was declared with: the table its frame conforms to, and its definition."""

    result: Table
    definition: str


def figure(
    result: Table, definition: str
) -> Callable[[Callable[Concatenate[pl.DataFrame, P], Any]], Callable[Concatenate[pl.DataFrame, P], Any]]:
    """Declare a chart function: what its frame carries and the one-sentence definition under the chart."""

    def declare(draw: Callable[Concatenate[pl.DataFrame, P], Any]) -> Callable[Concatenate[pl.DataFrame, P], Any]:
        @wraps(draw)
        def chart(frame: pl.DataFrame, *args: P.args, **kwargs: P.kwargs) -> Any:
            if frame.height > MAX_ROWS:
                raise ValueError(
                    f"{draw.__name__}: {frame.height:,} rows; aggregate to at most {MAX_ROWS:,} before drawing"
                )
            meta: dict[str, Any] = {
                "table": result.name,
                "definition": definition,
                "columns": {
                    c.name: {"title": c.title, "meaning": c.meaning} for c in result if c.name in frame.columns
                },
                # nbformat sorts the keys of what it writes.
                "order": [name for name in result.names if name in frame.columns],
            }
            if frame.is_empty():
                meta["empty"] = f"Nothing to draw: {result.grain} – no rows in this source or selection."
                return empty(meta["empty"]).properties(usermeta=meta)
            # Altair would check each part as it is made; the whole is checked when it is shown.
            with debug_mode(False):
                drawn = draw(frame, *args, **kwargs)
            own: Any = getattr(drawn, "usermeta", alt.Undefined)
            return drawn.properties(usermeta=meta if own is alt.Undefined else {**meta, **own})

        # For the pages that tell the method, and say which schema a chart's data keep.
        vars(chart)["declared"] = Declared(result, definition)
        return cast(Callable[Concatenate[pl.DataFrame, P], Any], chart)

    return declare


def empty(sentence: str) -> alt.Chart:
    """A chart that says why there is none."""
    chart = alt.Chart(pl.DataFrame({"text": [sentence]}), title=sentence).mark_text(align="left")
    return cast(alt.Chart, chart.encode(text="text:N"))
