"""Compare, drawn: differences with their intervals, distributions laid over each other, tools used more or less."""

import json
from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import number, percent
from analysis.charts.figure import figure
from analysis.charts.words import title
from analysis.measures.compare import DISTRIBUTIONS, HEADLINES, PAIRED, SIDES, TOOLS
from analysis.wording import count, signed

# Names come from file names. They stand in titles and legends; Vega-Lite writes a tooltip's heading into an expression
# without escaping a backslash, so headings say left and right.
Names = tuple[str, str]
# Not the colours of the modes: left and right may be anything.
_COLOURS = [theme.PALETTE[2], theme.PALETTE[3]]
_TICKS = [-1, -0.5, -0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
_UNITS = {
    "assistant_messages": "steps: assistant messages per trajectory",
    "tool_calls": "tool calls per trajectory",
    "user_messages": "user messages per trajectory",
}


@figure(
    HEADLINES,
    definition="Relative difference (left - right) / right of each number, with the 95 % bootstrap interval over "
    "scenarios; a scenario is drawn with all its runs on both sides. Descriptive: more is not better.",
)
def headlines(frame: pl.DataFrame, names: Names = SIDES) -> Any:
    """Relative difference of every headline number, with its interval."""
    rows = frame.rows(named=True)
    apart = [r for r in rows if r["difference_low"] is not None and not _holds_zero(r)]
    sentence = f"{len(apart)} of {len(rows)} numbers differ beyond their interval between {names[0]} and {names[1]}"
    tooltip = [
        alt.Tooltip("quantity:N"),
        alt.Tooltip("left:Q", title="left", format=".3f"),
        alt.Tooltip("right:Q", title="right", format=".3f"),
        *_difference_tooltips(),
        alt.Tooltip("relative_difference:Q", title="relative", format="+.1%"),
        number("left_trials", "denominator, left"),
        number("right_trials", "denominator, right"),
    ]
    axis = alt.Axis(title=f"{_short(names[0])} relative to {_short(names[1])}", format="+.0%", values=_TICKS)
    return _forest(frame, ("relative_difference", "relative_low", "relative_high"), axis, tooltip).properties(
        title=title(
            sentence, f"n = {count(rows[0]['scenarios'], 'scenario')} of either side; the numbers stand in the table"
        ),
        description=sentence,
        width="container",
        height=alt.Step(24),
    )


@figure(
    PAIRED,
    definition="On the scenarios both sides have: mean over scenarios of left - right, each scenario counted once, as "
    "a share of the mean on the right, with the 95 % bootstrap interval over scenarios. Difficulty is taken out.",
)
def paired(frame: pl.DataFrame, names: Names = SIDES) -> Any:
    """Mean difference on shared scenarios."""
    rows = frame.rows(named=True)
    steps = rows[0]
    sentence = (
        f"On the same scenarios: {signed(steps['difference'])} in {steps['quantity']}, {names[0]} against {names[1]}"
    )
    tooltip = [
        alt.Tooltip("quantity:N"),
        alt.Tooltip("left:Q", title="left", format=".3f"),
        alt.Tooltip("right:Q", title="right", format=".3f"),
        *_difference_tooltips(),
        number("scenarios", "scenarios"),
        number("left_higher", "higher on the left"),
        number("right_higher", "higher on the right"),
    ]
    relative = alt.Chart(frame).transform_filter("datum.right != 0")
    scaled = relative.transform_calculate(
        change="datum.difference / datum.right",
        change_low="isValid(datum.difference_low) ? datum.difference_low / datum.right : null",
        change_high="isValid(datum.difference_high) ? datum.difference_high / datum.right : null",
    )
    axis = alt.Axis(title=f"{_short(names[0])} relative to {_short(names[1])}", format="+.0%", values=_TICKS)
    return _forest(scaled, ("change", "change_low", "change_high"), axis, tooltip).properties(
        title=title(sentence, f"n = {count(steps['scenarios'], 'scenario')} both sides have"),
        description=sentence,
        width="container",
        height=alt.Step(24),
    )


@figure(
    DISTRIBUTIONS,
    definition="Trajectories by value, as a share of the side's trajectories, both sides laid over each other. Where "
    "the publisher's filter cut a side, its hard end is selection.",
)
def distributions(frame: pl.DataFrame, names: Names = SIDES, column: str = "assistant_messages") -> Any:
    """Both distributions, laid over each other."""
    rows = frame.rows(named=True)
    medians = {
        side: min(r["value"] for r in rows if r["side"] == side and r["cumulative_share"] >= 0.5)
        for side in SIDES
        if any(r["side"] == side for r in rows)
    }
    counts = {r["side"]: r["side_trajectories"] for r in rows}
    told = " and ".join(f"{value:,} in {names[SIDES.index(side)]}" for side, value in medians.items())
    n = ", ".join(f"{count:,} in {names[SIDES.index(side)]}" for side, count in counts.items())
    sentence = f"The median is {told}"
    return (
        alt.Chart(frame)
        .mark_bar(opacity=0.55)
        .encode(
            x=alt.X("value:Q", title=_UNITS.get(column, column), bin="binned", axis=alt.Axis(tickMinStep=1)),
            x2="value_to:Q",
            y=alt.Y("trajectory_share:Q", title="share of the side", axis=alt.Axis(format="%"), stack=None),
            color=_side_colour("side", names),
            tooltip=[
                alt.Tooltip("side:N"),
                number("value", "value"),
                number("trajectories", "trajectories"),
                percent("trajectory_share", "share of the side"),
                percent("cumulative_share", "up to here"),
            ],
        )
        .properties(
            title=title(sentence, f"n = trajectories: {n}"), description=sentence, width="container", height=240
        )
    )


@figure(
    TOOLS,
    definition="Usage rate, trajectories calling / offered the tool, on both sides with 95 % Wilson intervals; the "
    "tools with the largest difference among those offered to 20 trajectories or more on both sides. The largest of "
    "many differences is in part chance.",
)
def tools(frame: pl.DataFrame, names: Names = SIDES) -> Any:
    """Tools whose usage differs most."""
    rows = frame.rows(named=True)
    first = rows[0]
    sentence = (
        f"Usage differs most for {first['tool_name']}: {100 * first['left_rate']:.1f} % in {names[0]}, "
        f"{100 * first['right_rate']:.1f} % in {names[1]}"
    )
    several = frame.get_column("env_id").n_unique() > 1
    label = "datum.tool_name + ' · ' + datum.env_id" if several else "datum.tool_name"
    base = alt.Chart(frame).transform_calculate(tool=label)
    axis = alt.Axis(format="%", title="trajectories calling / offered the tool")
    scale = alt.Scale(domain=[0, 1])
    y = alt.Y("tool:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    layers = []
    for side, colour, shift in zip(SIDES, _COLOURS, (-3, 3), strict=True):
        placed = base.encode(
            y=y,
            tooltip=[
                alt.Tooltip("tool_name:N", title="tool"),
                alt.Tooltip("env_id:N", title="environment"),
                percent("left_rate", "left"),
                percent("right_rate", "right"),
                alt.Tooltip("difference:Q", format="+.1%"),
                number("left_offering", "offered, left"),
                number("right_offering", "offered, right"),
            ],
        )
        layers.append(
            placed.mark_rule(color=colour, strokeWidth=1.5, yOffset=shift).encode(
                x=alt.X(f"{side}_low:Q", axis=axis, scale=scale), x2=f"{side}_high:Q"
            )
        )
        layers.append(
            placed.transform_calculate(side=f"'{side}'")
            .mark_point(filled=True, size=60, yOffset=shift)
            .encode(x=alt.X(f"{side}_rate:Q", axis=axis, scale=scale), color=_side_colour("side", names))
        )
    least = min(min(r["left_offering"], r["right_offering"]) for r in rows)
    return alt.layer(*layers).properties(
        title=title(
            sentence,
            f"n = at least {least:,} trajectories offered the tool on a side; {len(rows)} of "
            f"{first['compared_tools']:,} tools compared are shown",
        ),
        description=sentence,
        width="container",
        height=alt.Step(20),
    )


def _forest(data: Any, columns: tuple[str, str, str], axis: alt.Axis, tooltip: list[alt.Tooltip]) -> Any:
    """A point with its interval per quantity, and a rule where both sides are alike."""
    value, low, high = columns
    chart = alt.Chart(data) if isinstance(data, pl.DataFrame) else data
    known = chart.transform_filter(f"isValid(datum.{value})")
    base = known.encode(y=alt.Y("quantity:N", title=None, sort=None, axis=alt.Axis(labelLimit=240)), tooltip=tooltip)
    # One number may be several times the other while the rest differ by a few per cent: both must be readable.
    scale = alt.Scale(type="symlog", constant=0.1)
    zero = alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(0))
    interval = (
        base.transform_filter(f"isValid(datum.{low})")
        .mark_rule(strokeWidth=2, color=theme.PALETTE[0])
        .encode(x=alt.X(f"{low}:Q", axis=axis, scale=scale), x2=f"{high}:Q")
    )
    points = base.mark_point(filled=True, size=80, color=theme.PALETTE[0]).encode(
        x=alt.X(f"{value}:Q", axis=axis, scale=scale)
    )
    return alt.layer(interval, points, zero)


def _side_colour(field: str, names: Names) -> alt.Color:
    # Names may come from file names: json.dumps makes each a literal that Vega's expressions cannot leave.
    label = f"datum.label == 'left' ? {json.dumps(_short(names[0]))} : {json.dumps(_short(names[1]))}"
    return alt.Color(
        f"{field}:N",
        scale=alt.Scale(domain=list(SIDES), range=_COLOURS),
        legend=alt.Legend(orient="bottom", title=None, labelExpr=label),
    )


def _difference_tooltips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("difference:Q", format="+.3f"),
        alt.Tooltip("difference_low:Q", title="from", format="+.3f"),
        alt.Tooltip("difference_high:Q", title="to", format="+.3f"),
    ]


def _holds_zero(row: dict[str, Any]) -> bool:
    return bool(row["difference_low"] <= 0 <= row["difference_high"])


def _short(name: str) -> str:
    """The telling end of a long source name."""
    return name if len(name) <= 40 else "…" + name[-39:]
