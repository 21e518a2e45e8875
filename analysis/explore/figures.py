"""The figures to choose in: lists of names to click, histograms to drag over.

Their rows are a Vega parameter and not the chart's data: Python changes a parameter while the chart stands, with
whatever is marked in it. Each figure has two: `ROWS` and `PICK`, followed by its column.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from analysis.charts.theme import PALETTE
from analysis.explore.selection import Range

ROWS, PICK = "rows_", "pick_"
ROW = 17  # px a name
LABEL, BAR, COUNT = 160, 90, 70  # px of a row's parts, at most
LETTER = 6.9  # px, on average
WIDE, HIGH = 250, 62  # px of a histogram

# What is not chosen: its bar steps back, its number can still be read.
_FADED, _READABLE = 0.35, 0.7


def names(column: str, chosen: Sequence[str], longest: int) -> Any:
    """Names with a bar each; a click chooses one more, another click no more. Its rows are those of `facets.names`.

    Args:
        column: of NAMED.
        chosen: names that are chosen from the start.
        longest: characters of the longest name there may be.
    """
    label = min(LABEL, round(longest * LETTER) + 12)
    pick = alt.selection_point(
        name=PICK + column, fields=["name"], toggle="true", value=[{"name": name} for name in chosen] or alt.Undefined
    )
    # The order is said: where rows change, Vega keeps names in the places in which it first met them.
    order = alt.EncodingSortField(field="place", op="min")
    base = _rows(column, name=0, count=1, total=2).transform_window(place="row_number()")
    base = base.transform_calculate(
        # To say "12 of 12" of every name would be noise.
        shown="datum.count == datum.total ? format(datum.count, ',') : "
        "format(datum.count, ',') + ' of ' + format(datum.total, ',')"
    )
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=label - 8, ticks=False, domain=False))
    tooltip = [
        alt.Tooltip("name:N", title=" "),
        alt.Tooltip("count:Q", title="trajectories", format=","),
        alt.Tooltip("total:Q", title="in all", format=","),
    ]
    strong, readable = (alt.condition(pick, alt.value(1), alt.value(faded)) for faded in (_FADED, _READABLE))
    # The whole row can be clicked: the bar of a rare name is a hair.
    field = base.mark_rect(opacity=0, cursor="pointer").encode(
        x=alt.value(-label), x2=alt.value(BAR + COUNT), y=y, tooltip=tooltip
    )
    bars = base.mark_bar(height=ROW - 5).encode(
        x=alt.X("count:Q", axis=None, scale=alt.Scale(domainMin=0, nice=False)), y=y, opacity=strong
    )
    counts = base.mark_text(align="left", dx=5, fontSize=11).encode(x="count:Q", y=y, text="shown:N", opacity=readable)
    layers = alt.layer(bars, counts, field.add_params(pick)).add_params(alt.param(name=ROWS + column, value=[]))
    return layers.properties(width=BAR, height=alt.Step(ROW))


def histogram(column: str, span: Range, chosen: Range | None, title: str) -> Any:
    """How many trajectories of each count, before a shadow of all; a drag chooses a range, a click lets go.

    Its rows are those of `facets.bins`.

    Args:
        column: of COUNTED.
        span: the least count of all, and one more than the most.
        chosen: the range chosen from the start.
        title: of the axis.
    """
    marked: Any = alt.Undefined if chosen is None else {"x": [chosen[0] - 0.5, chosen[1] + 0.5]}
    brush = alt.selection_interval(name=PICK + column, encodings=["x"], value=marked)
    # A bar stands over its numbers: 3 is drawn from 2.5 to 3.5.
    base = _rows(column, least=0, most=1, count=2, total=3).transform_calculate(
        start="datum.least - 0.5",
        end="datum.most - 0.5",
        of="datum.most - datum.least == 1 ? '' + datum.least : datum.least + ' to ' + (datum.most - 1)",
    )
    x = alt.X(
        "start:Q",
        bin="binned",
        title=title,
        scale=alt.Scale(domain=[span[0] - 0.5, span[1] - 0.5], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1, format="d"),
    )
    tooltip = [
        alt.Tooltip("of:N", title=title),
        alt.Tooltip("count:Q", title="trajectories", format=","),
        alt.Tooltip("total:Q", title="in all", format=","),
    ]
    y: dict[str, Any] = {"scale": alt.Scale(domainMin=0, nice=False)}
    shadow = base.mark_bar(color=PALETTE[-1], opacity=0.25).encode(
        x=x, x2="end:Q", y=alt.Y("total:Q", axis=None, **y), tooltip=tooltip
    )
    # Room for any count: a figure must not move under the hand that drags in it.
    axis = alt.Axis(tickCount=3, grid=False, title=None, format="~s", minExtent=30, maxExtent=30)
    bars = base.mark_bar().encode(x=x, x2="end:Q", y=alt.Y("count:Q", axis=axis, **y), tooltip=tooltip)
    layers = alt.layer(shadow, bars.add_params(brush)).resolve_scale(y="independent")
    return layers.add_params(alt.param(name=ROWS + column, value=[])).properties(width=WIDE, height=HIGH)


def column(charts: Sequence[Any], spacing: int) -> Any:
    """Figures below each other, in one chart, with their plots in line."""
    return alt.vconcat(*charts, spacing=spacing, bounds="flush")


def with_rows(chart: Any, rows: Mapping[str, Any]) -> Any:
    """The chart with its first rows, by column. Last of all: Altair copies a chart, and all in it, at every step."""
    for parameter in chart.params:
        name = parameter.name if isinstance(parameter.name, str) else parameter.name.to_dict()
        if name.startswith(ROWS):
            parameter.value = rows[name.removeprefix(ROWS)]
    return chart


def _rows(column: str, **fields: int) -> Any:
    """A chart of the rows that the parameter holds now; names go in as values and never as an expression."""
    chart: Any = alt.Chart({"values": [{}]}).transform_calculate(row=ROWS + column).transform_flatten(["row"])
    return chart.transform_calculate(**{name: f"datum.row[{place}]" for name, place in fields.items()})
