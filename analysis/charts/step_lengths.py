"""Step lengths, drawn: histograms and ECDFs with the publisher's cuts as rules, environments, characters."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, mode_colour, number, percent
from analysis.charts.figure import figure
from analysis.charts.words import MODES, title
from analysis.measures.step_lengths import BY_ENVIRONMENT, CHARACTERS, DISTRIBUTION, EDGES, KINDS
from analysis.wording import by_mode as each_mode
from analysis.wording import count

# Pixels from one line of the edges' names to the next.
_LINE = 13
_NAME: Any = {"baseline": "top", "fontSize": 10}

_UNITS = {"steps": "assistant messages", "tool calls": "tool calls", "user messages": "user messages"}


@figure(
    DISTRIBUTION,
    definition="Trajectories by how many of the quantity they hold, as a share of the mode's trajectories; a step is "
    "one assistant message with what it caused. Dashed rules: the EnvScaler release keeps nothing beyond.",
)
def histogram(frame: pl.DataFrame) -> Any:
    """Histogram of one quantity per mode; for steps the filter's edges are drawn and named."""
    rows = frame.rows(named=True)
    quantity = rows[0]["quantity"]
    medians = {mode: f"{_median(rows, mode):,}" for mode in _modes(rows)}
    sentence = f"The median of {quantity} is {each_mode(medians)}"
    bars = (
        alt.Chart(frame)
        .mark_bar(opacity=0.6)
        .encode(
            x=alt.X("value:Q", title=f"{_UNITS[quantity]} per trajectory", bin="binned", axis=alt.Axis(tickMinStep=1)),
            x2="value_to:Q",
            y=alt.Y("trajectory_share:Q", title="share of the mode", axis=alt.Axis(format="%"), stack=None),
            color=mode_colour(),
            tooltip=_tooltips(quantity),
        )
    )
    # Bars reach from a value to the next: what was kept ends after the upper edge.
    return _with_edges(bars, rows, quantity, after=1).properties(
        title=title(sentence, _n(rows), *_selection(rows, quantity)),
        description=sentence,
        width="container",
        height=240,
    )


@figure(
    DISTRIBUTION,
    definition="Share of the mode's trajectories with that many or fewer of the quantity. Dashed rules: the EnvScaler "
    "release keeps nothing beyond.",
)
def ecdf(frame: pl.DataFrame) -> Any:
    """Cumulative share of one quantity per mode."""
    rows = frame.rows(named=True)
    quantity = rows[0]["quantity"]
    nines = {mode: f"{_least(rows, mode, 0.9):,}" for mode in _modes(rows)}
    sentence = f"Nine in ten trajectories take no more {quantity} than {each_mode(nines)}"
    lines = (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("value:Q", title=f"{_UNITS[quantity]} per trajectory", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y(
                "cumulative_share:Q",
                title="trajectories up to here",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=mode_colour(),
            tooltip=_tooltips(quantity),
        )
    )
    return _with_edges(lines, rows, quantity, after=0).properties(
        title=title(sentence, _n(rows), *_selection(rows, quantity)),
        description=sentence,
        width="container",
        height=220,
    )


@figure(
    BY_ENVIRONMENT,
    definition="Steps per trajectory by environment and mode: line from the 10th to the 90th percentile, bar from the "
    "first to the third quartile, mark at the median; sorted by the median over both modes. Descriptive: longer is not "
    "worse.",
)
def by_environment(frame: pl.DataFrame) -> Any:
    """Quantiles of steps for the environments with the longest and the shortest medians."""
    rows = frame.rows(named=True)
    longest, shortest = rows[0], rows[-1]
    shown = frame.get_column("env_id").n_unique()
    sentence = (
        f"Medians over both modes run from {longest['environment_median']:g} steps in {longest['env_id']} to "
        f"{shortest['environment_median']:g} in {shortest['env_id']}"
        if shown > 1
        else f"The median in {longest['env_id']} is {longest['environment_median']:g} steps"
    )
    which = (
        ("the only environment" if shown == 1 else f"all {shown:,} environments")
        if shown == longest["environments"]
        else (f"the {shown:,} longest and shortest of {longest['environments']:,} environments")
    )
    n = sum(r["trajectories"] for r in rows)
    base = alt.Chart(frame).encode(
        y=alt.Y("env_id:N", title=None, sort=None),
        yOffset="traj_type:N",
        color=mode_colour(),
        tooltip=[
            alt.Tooltip("env_id:N", title="environment"),
            MODE_TOOLTIP,
            number("trajectories", "trajectories"),
            *[alt.Tooltip(f"{c}:Q", title=heading, format=".1f") for c, heading in _QUANTILES.items()],
        ],
    )
    axis = alt.Axis(title="steps: assistant messages per trajectory", tickMinStep=1)
    whiskers = base.mark_rule().encode(x=alt.X("p10:Q", axis=axis), x2="p90:Q")
    boxes = base.mark_bar(opacity=0.5).encode(x=alt.X("p25:Q", axis=axis), x2="p75:Q")
    medians = base.mark_tick(thickness=3).encode(x=alt.X("median:Q", axis=axis))
    return alt.layer(whiskers, boxes, medians).properties(
        title=title(sentence, f"n = {count(n, 'trajectory')}, {which}", *_selection(rows, "steps")),
        description=sentence,
        width="container",
        height=alt.Step(11),
    )


@figure(
    CHARACTERS,
    definition="Length of a text in characters by kind, on a logarithmic scale: bar from the first to the third "
    "quartile, mark at the median, dots at the 90th and 99th percentile. Lengths of 0 are drawn at 1; arguments of "
    "calls are not counted here.",
)
def characters(frame: pl.DataFrame) -> Any:
    """Quantiles of text length per kind and mode."""
    rows = frame.rows(named=True)
    most = max(rows, key=lambda r: r["char_share"])
    sentence = (
        f"Most characters are {most['kind']}: {100 * most['char_share']:.0f} % of all in {MODES[most['traj_type']]}"
    )
    texts = {mode: f"{sum(r['texts'] for r in rows if r['traj_type'] == mode):,}" for mode in _modes(rows)}
    base = (
        alt.Chart(frame)
        .transform_calculate(
            from_chars="max(1, datum.p25)",
            to_chars="max(1, datum.p75)",
            middle="max(1, datum.median)",
            ninety="max(1, datum.p90)",
            ninety_nine="max(1, datum.p99)",
        )
        .encode(
            y=alt.Y("kind:N", title=None, sort=list(KINDS)),
            yOffset="traj_type:N",
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                alt.Tooltip("kind:N"),
                number("texts", "texts"),
                percent("char_share", "of all characters"),
                number("mean_chars", "mean"),
                *[number(c, heading) for c, heading in _TEXT_QUANTILES.items()],
            ],
        )
    )
    axis, scale = alt.Axis(title="characters of a text", format="~s"), alt.Scale(type="log", domainMin=1)
    boxes = base.mark_bar(opacity=0.5).encode(x=alt.X("from_chars:Q", axis=axis, scale=scale), x2="to_chars:Q")
    medians = base.mark_tick(thickness=3).encode(x=alt.X("middle:Q", axis=axis, scale=scale))
    nineties = base.mark_point(size=30, filled=True).encode(x=alt.X("ninety:Q", axis=axis, scale=scale))
    tails = base.mark_point(size=30, filled=False).encode(x=alt.X("ninety_nine:Q", axis=axis, scale=scale))
    return alt.layer(boxes, medians, nineties, tails).properties(
        title=title(sentence, f"n = texts: {each_mode(texts)}"),
        description=sentence,
        width="container",
        height=alt.Step(16),
    )


_QUANTILES = {"p10": "10th", "p25": "25th", "median": "median", "p75": "75th", "p90": "90th"}
_TEXT_QUANTILES = {"p25": "25th", "median": "median", "p75": "75th", "p90": "90th", "p99": "99th", "maximum": "longest"}


def _with_edges(marks: Any, rows: list[dict[str, Any]], quantity: str, *, after: int) -> Any:
    """The marks with the publisher's cuts: a rule and its name at either end, in the colour of the mode."""
    if quantity != "steps":
        return alt.layer(marks)
    modes = _modes(rows)
    edges = [
        {"traj_type": mode, "edge": edge, "named": f"{name} {value}", "line": line - len(modes)}
        for line, mode in enumerate(modes)
        for name, value, edge in (
            ("from", EDGES[mode][0], EDGES[mode][0]),
            ("to", EDGES[mode][1], EDGES[mode][1] + after),
        )
    ]
    base = alt.Chart(pl.DataFrame(edges)).encode(x="edge:Q", color=mode_colour())
    rules = base.mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
    # Above the plot, where no curve runs, and a line of names per mode: "from 3" and "from 5" stand close.
    above = alt.Scale(domain=[-len(modes), 0], range=[-_LINE * len(modes), 0], nice=False, zero=False)
    names = base.encode(y=alt.Y("line:Q", scale=above, axis=None), text="named:N")
    lower = names.transform_filter("indexof(datum.named, 'from') == 0").mark_text(align="left", **_NAME)
    upper = names.transform_filter("indexof(datum.named, 'to') == 0").mark_text(align="right", **_NAME)
    return alt.layer(alt.layer(marks, rules), alt.layer(lower, upper)).resolve_scale(y="independent")


def _selection(rows: list[dict[str, Any]], quantity: str) -> list[str]:
    """What of the figure is the publisher's doing, where steps are concerned."""
    if quantity != "steps":
        return []
    kept = {mode: f"{EDGES[mode][0]}–{EDGES[mode][1]}" for mode in _modes(rows)}
    return [f"Selection: the EnvScaler release keeps {each_mode(kept)}; hard ends there are not behaviour"]


def _tooltips(quantity: str) -> list[alt.Tooltip]:
    return [
        MODE_TOOLTIP,
        number("value", quantity),
        number("trajectories", "trajectories"),
        percent("trajectory_share", "share of the mode"),
        percent("cumulative_share", "up to here"),
    ]


def _modes(rows: list[dict[str, Any]]) -> list[str]:
    found = {r["traj_type"] for r in rows}
    return [mode for mode in MODES if mode in found]


def _n(rows: list[dict[str, Any]]) -> str:
    counts = {
        mode: f"{next(r['mode_trajectories'] for r in rows if r['traj_type'] == mode):,}" for mode in _modes(rows)
    }
    return f"n = trajectories: {each_mode(counts)}"


def _least(rows: list[dict[str, Any]], mode: str, share: float) -> int:
    """The smallest value (or the bin's lower end) that this share of the mode does not exceed."""
    return min(int(r["value"]) for r in rows if r["traj_type"] == mode and r["cumulative_share"] >= share)


def _median(rows: list[dict[str, Any]], mode: str) -> int:
    return _least(rows, mode, 0.5)
