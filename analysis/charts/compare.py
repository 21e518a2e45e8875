"""Compare, drawn: differences with their intervals, distributions laid over each other, tools used more or less."""

import json
from typing import Any, cast

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import MODE_NAMES, TOOL_TOOLTIPS, names_axis, number, percent, precise, share_axis
from analysis.charts.figure import Drawn, figure
from analysis.charts.histograms import two_sides, whole_numbers
from analysis.charts.rates import points
from analysis.measures.compare import DISTRIBUTIONS, HEADLINES, PAIRED, SIDES, TOOLS
from analysis.wording import count, more, verdict
from analysis.wording import percent as per_cent

# Names come from file names. They stand in titles and legends; Vega-Lite writes a tooltip's heading into an expression
# without escaping a backslash, so headings say left and right.
Names = tuple[str, str]
# Not the colours of the modes: left and right may be anything.
_TICKS = [-1, -0.5, -0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
_UNITS = {
    "assistant_messages": "steps per trajectory",
    "tool_calls": "tool calls per trajectory",
    "user_messages": "user messages per trajectory",
}
_VALUES = [
    alt.Tooltip("quantity:N"),
    precise("left", "left", 3),
    precise("right", "right", 3),
    precise("difference", "difference", 3, is_difference=True),
    precise("difference_low", "from", 3, is_difference=True),
    precise("difference_high", "to", 3, is_difference=True),
]


@figure(
    HEADLINES,
    definition="Relative difference (left - right) / right of each number, with its 95 % interval over scenarios: both "
    "sides are drawn together, a scenario with all its trajectories. What differs is told by Holm's procedure over all "
    "that the page compares. No interval under 10 scenarios on a side, and none relative to what may as well be 0. "
    "Descriptive: more is not better.",
    height=alt.Step(24),
)
def headlines(frame: pl.DataFrame, names: Names = SIDES) -> Drawn | str:
    """Relative difference of every headline number, with its interval."""
    if frame["relative_low"].null_count() == frame.height:
        return f"{_verdict(frame)} ({_against(names)}); the numbers are in the table"
    tooltip = [
        *_VALUES,
        alt.Tooltip("relative_difference:Q", title="relative", format="+.1%"),
        number("left_trials", "denominator, left"),
        number("right_trials", "denominator, right"),
    ]
    return Drawn(
        _forest(alt.Chart(frame), ("relative_difference", "relative_low", "relative_high"), names, tooltip),
        f"{_verdict(frame)} ({_against(names)})",
        f"n = {count(frame['scenarios'][0], 'scenario')} of both sides together; the numbers are in the table",
    )


@figure(
    PAIRED,
    definition="On the scenarios both sides have: the mean over scenarios on the left relative to that on the right, "
    "each scenario counted once, with its 95 % interval over scenarios, both sides drawn together. Difficulty is taken "
    "out.",
    height=alt.Step(24),
)
def paired(frame: pl.DataFrame, names: Names = SIDES) -> Drawn | str:
    """Mean difference on shared scenarios."""
    steps = frame.row(0, named=True)
    tooltip = [
        *_VALUES,
        number("scenarios", "scenarios"),
        number("left_higher", "higher on the left"),
        number("right_higher", "higher on the right"),
    ]
    sentence = (
        f"On the same scenarios: {more(steps['difference'], 'step')} per trajectory ({_against(names)})"
        if steps["quantity"] == "steps per trajectory" and steps["is_different"]
        else f"On the same scenarios: {_verdict(frame)} ({_against(names)})"
    )
    if frame["relative_low"].null_count() == frame.height:
        return f"{sentence}; the numbers are in the table"
    return Drawn(
        _forest(alt.Chart(frame), ("relative_difference", "relative_low", "relative_high"), names, tooltip),
        sentence,
        f"n = {count(steps['scenarios'], 'scenario')} that both sides have",
    )


@figure(
    DISTRIBUTIONS,
    definition="Trajectories by value, as a share of the side's trajectories, both sides laid over each other. Where "
    "the publisher's filter cut a side, its hard end is selection.",
)
def distributions(frame: pl.DataFrame, names: Names = SIDES, column: str = "assistant_messages") -> Drawn:
    """Both distributions, laid over each other."""
    unit = _UNITS.get(column, column)
    sides = (
        frame.group_by("side", maintain_order=True)
        .agg(
            pl.col("side_trajectories", "median").first(),
        )
        .with_columns(name=pl.col("side").cast(pl.String).replace(dict(zip(SIDES, names, strict=True))))
        .rows(named=True)
    )
    bars = whole_numbers(alt.Chart(frame), "value", unit).encode(
        y=share_axis(alt.Y, "trajectory_share", "share of the side", stack=None),
        color=_side_colour(names),
        tooltip=[
            alt.Tooltip("side:N"),
            number("value", "value"),
            number("trajectories", "trajectories"),
            percent("trajectory_share", "share of the side"),
            percent("cumulative_share", "up to here"),
        ],
    )
    return Drawn(
        two_sides(bars, frame, "side", SIDES),
        f"Median {unit}: " + ", ".join(f"{count(side['median'])} ({side['name']})" for side in sides),
        "n = trajectories: " + ", ".join(f"{count(side['side_trajectories'])} ({side['name']})" for side in sides),
    )


@figure(
    TOOLS,
    definition="Usage rate, trajectories calling / offered the tool, on both sides with 95 % intervals over scenarios; "
    "the tools with the largest difference among those offered to 20 trajectories or more on both sides. What differs "
    "is told by Holm's procedure over all tools compared.",
    height=alt.Step(20),
)
def tools(frame: pl.DataFrame, names: Names = SIDES) -> Drawn:
    """Tools whose usage differs most."""
    first = frame.row(0, named=True)
    label = "datum.tool_name" + (" + ' · ' + datum.env_id" if frame["env_id"].n_unique() > 1 else "")
    tooltip = [
        *TOOL_TOOLTIPS,
        percent("left_rate", "left"),
        percent("right_rate", "right"),
        alt.Tooltip("difference:Q", format="+.1%"),
        number("left_offering", "offered, left"),
        number("right_offering", "offered, right"),
    ]
    base = alt.Chart(frame).transform_calculate(tool=label).encode(y=names_axis("tool"), tooltip=tooltip)
    least = frame.select(pl.min_horizontal(pl.col("left_offering", "right_offering").min())).item()
    left, right = (f"{per_cent(first[f'{side}_rate'])} ({name})" for side, name in zip(SIDES, names, strict=True))
    return Drawn(
        alt.layer(*_usage(base, names)),
        f"{_verdict(frame, 'tool', first['different_tools'])}"
        + (f"; most for {first['tool_name']}: {left}, {right}" if first["is_different"] else ""),
        f"n = at least {count(least, 'trajectory')} offered the tool on a side; {count(frame.height)} of "
        f"{count(first['compared_tools'], 'tool')} compared are shown",
    )


def _usage(base: alt.Chart, names: Names) -> list[alt.Chart]:
    """Either side's rates, one a little above the other."""
    layers = []
    for side, colour, shift in zip(SIDES, _colours(names), (-3, 3), strict=True):
        axis: dict[str, Any] = {
            "axis": alt.Axis(format="%", title="trajectories calling / offered the tool"),
            "scale": _WHOLE,
        }
        rule = base.mark_rule(color=colour, strokeWidth=1.5, yOffset=shift)
        point = base.transform_calculate(side=f"'{side}'").mark_point(filled=True, size=60, yOffset=shift)
        layers += [
            rule.encode(x=alt.X(f"{side}_low:Q", **axis), x2=f"{side}_high:Q"),
            point.encode(x=alt.X(f"{side}_rate:Q", **axis), color=_side_colour(names)),
        ]
    return layers


_WHOLE = alt.Scale(domain=[0, 1])


def _forest(chart: alt.Chart, columns: tuple[str, str, str], names: Names, tooltip: list[Any]) -> alt.LayerChart:
    """A point with its interval per quantity, and a rule where both sides are alike."""
    base = chart.transform_filter(f"isValid(datum.{columns[0]})").encode(y=names_axis("quantity", 240), tooltip=tooltip)
    title = f"{_short(names[0])} relative to {_short(names[1])}"
    # One number may be several times the other while the rest differ by a few per cent: both must be readable.
    scale = alt.Scale(type="symlog", constant=0.1)
    axis = alt.Axis(title=title, format="+.0%", values=_TICKS)
    zero = chart.mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(0))
    return cast(alt.LayerChart, alt.layer(points(base, alt.X, *columns, axis=axis, scale=scale), zero))


def _colours(names: Names) -> list[str]:
    """A pair for the sides; the modes have theirs, as everywhere."""
    return theme.PALETTE[:2] if list(names) == MODE_NAMES else theme.PALETTE[2:4]


def _side_colour(names: Names) -> alt.Color:
    # Names may come from file names: json.dumps makes each a literal that Vega's expressions cannot leave.
    label = f"datum.label == 'left' ? {json.dumps(_short(names[0]))} : {json.dumps(_short(names[1]))}"
    return alt.Color(
        "side:N",
        scale=alt.Scale(domain=list(SIDES), range=_colours(names)),
        legend=alt.Legend(orient="bottom", title=None, labelExpr=label),
    )


def _verdict(frame: pl.DataFrame, noun: str = "number", different: int | None = None) -> str:
    first = frame.row(0, named=True)
    differ = int(frame["is_different"].sum()) if different is None else different
    return verdict(first["compared"], differ, first["by_chance"], noun)


def _against(names: Names) -> str:
    return f"{names[0]} against {names[1]}"


def _short(name: str) -> str:
    """The end of a long source name, which says most."""
    return name if len(name) <= 40 else "…" + name[-39:]
