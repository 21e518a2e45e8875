"""Encodings that many charts share: colours of the modes, axes and tooltips of counts and shares, names of tools."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import altair as alt
import polars as pl

from analysis.charts.theme import PALETTE
from analysis.wording import MODES

MODE_NAMES = list(MODES.values())
# The modes of the frame that is being drawn: a legend names no mode that the source does not have.
MODES_DRAWN: ContextVar[tuple[str, ...]] = ContextVar("MODES_DRAWN", default=())
MODE_TOOLTIP = alt.Tooltip("traj_type:N", title="mode")
ENVIRONMENT_TOOLTIP = alt.Tooltip("env_id:N", title="environment")
TOOL_TOOLTIPS = [alt.Tooltip("tool_name:N", title="tool"), ENVIRONMENT_TOOLTIP]
# Between a tool's name and its environment's.
SEPARATOR = " · "
LETTER = 6.6  # px, on average
# A row of a chart that lists names.
ROW = alt.Step(17)


def mode_scale() -> alt.Scale:
    """The modes that are drawn, in their order and colours, the same in every chart."""
    colours = dict(zip(MODE_NAMES, PALETTE, strict=False))
    here = [name for name in MODE_NAMES if name in (MODES_DRAWN.get() or MODE_NAMES)]
    return alt.Scale(domain=here, range=[colours[name] for name in here])


def mode_colour(field: str = "traj_type") -> alt.Color:
    """Colour by mode, the same in every chart."""
    return alt.Color(f"{field}:N", scale=mode_scale(), legend=alt.Legend(orient="bottom", title=None))


def kind_colour(field: str, colours: Mapping[str, str], *, title: str | None = None, **legend: Any) -> alt.Color:
    """A colour for each kind, by its name; the legend has the kinds in this order."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", title=title, scale=scale, legend=alt.Legend(orient="bottom", **legend))


def count_axis(channel: Any, field: str, title: str) -> Any:
    """An axis of a count, without marks between whole numbers; `channel` is alt.X or alt.Y."""
    return channel(f"{field}:Q", title=title, axis=alt.Axis(tickMinStep=1))


def share_axis(channel: Any, field: str, title: str, *, is_whole: bool = False, **more: Any) -> Any:
    """An axis of a share in per cent, from 0 to 100 where `is_whole`."""
    scale = {"scale": alt.Scale(domain=[0, 1])} if is_whole else {}
    return channel(f"{field}:Q", title=title, axis=alt.Axis(format="%"), **scale, **more)


def names_axis(field: str = "label", limit: int = 260) -> alt.Y:
    """Names down the side, in the frame's order; a long one loses its middle, and its environment stays whole.

    Args:
        field: of the names; of a tool with its environment, in two parts.
        limit: pixels, at most.
    """
    most = round(limit / LETTER)
    parts = f"split(datum.label, {SEPARATOR!r})"
    tool = f"truncate({parts}[0], max(8, {most} - length({parts}[1])), 'center')"
    short = f"length({parts}) == 2 ? {tool} + {SEPARATOR!r} + {parts}[1] : truncate(datum.label, {most}, 'center')"
    axis = alt.Axis(labelLimit=0, labelExpr=f"length(datum.label) <= {most} ? datum.label : {short}")
    return alt.Y(f"{field}:N", title=None, sort=None, axis=axis)


def percent(field: str, heading: str) -> alt.Tooltip:
    """A tooltip that shows a share as a percentage."""
    return alt.Tooltip(f"{field}:Q", title=heading, format=".1%")


def number(field: str, heading: str) -> alt.Tooltip:
    """A tooltip that shows a count or a size, rounded, with thousands apart."""
    return alt.Tooltip(f"{field}:Q", title=heading, format=",.0f")


def words_label(field: str) -> str:
    """Vega expression for the name of a rule or class as words."""
    return f"replace(datum.{field}, /_/g, ' ')"


def tool_label(frame: pl.DataFrame) -> str:
    """Vega expression for a tool's name, with its environment where there are several."""
    name = "(datum.tool_name == null ? '(unreadable block)' : datum.tool_name)"
    several = frame.get_column("env_id").n_unique() > 1
    return f"{name} + (datum.env_id == null ? '' : {SEPARATOR!r} + datum.env_id)" if several else name


def ends(name: str) -> list[alt.Tooltip]:
    """Tooltips of the two ends of a share's interval."""
    return [percent(f"{name}_low", "from"), percent(f"{name}_high", "to")]


def precise(field: str, heading: str, digits: int = 2, *, is_difference: bool = False) -> alt.Tooltip:
    """A tooltip that shows a number with so many digits after the point; a difference with its sign."""
    return alt.Tooltip(f"{field}:Q", title=heading, format=f"{'+' if is_difference else ''}.{digits}f")


def plain_axis(channel: Any, field: str, title: str, **more: Any) -> Any:
    """An axis of whole numbers one by one, their labels upright; `channel` is alt.X or alt.Y."""
    return channel(f"{field}:O", title=title, axis=alt.Axis(labelAngle=0), **more)
