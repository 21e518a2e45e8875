"""Reasoning, drawn: where it is missing, how long it is, how it changes along the trajectory."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, mode_colour, number, percent
from analysis.charts.figure import figure
from analysis.charts.words import title
from analysis.measures.reasoning import LENGTHS, POSITIONS, SUMMARY
from analysis.wording import by_mode as each_mode
from analysis.wording import rate


@figure(
    SUMMARY,
    definition="Share of assistant messages that carry no reasoning (a thought of no characters is none), with its "
    "95 % Wilson interval.",
)
def missing(frame: pl.DataFrame) -> Any:
    """Missing-thought rate per mode, with its interval."""
    rows = frame.rows(named=True)
    found = {r["traj_type"]: rate(r["without_reasoning"], r["assistant_messages"]) for r in rows}
    counts = {r["traj_type"]: f"{r['assistant_messages']:,}" for r in rows}
    y = alt.Y("traj_type:N", title=None)
    tooltip = [
        MODE_TOOLTIP,
        percent("missing_rate", "without reasoning"),
        percent("missing_rate_low", "from"),
        percent("missing_rate_high", "to"),
        number("without_reasoning", "messages without"),
        number("assistant_messages", "assistant messages"),
    ]
    base = alt.Chart(frame).encode(y=y, color=mode_colour(), tooltip=tooltip)
    axis = alt.Axis(format="%", title="assistant messages without reasoning")
    # Wide enough that an interval around nothing does not look like something.
    scale = alt.Scale(domain=[0, max(0.05, *(r["missing_rate_high"] or 0 for r in rows))])
    interval = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("missing_rate_low:Q", axis=axis, scale=scale), x2="missing_rate_high:Q"
    )
    points = base.mark_point(filled=True, size=90).encode(x=alt.X("missing_rate:Q", axis=axis, scale=scale))
    some = any(r["without_reasoning"] for r in rows)
    sentence = f"No reasoning in assistant messages: {each_mode(found)}" if some else "Every assistant message reasons"
    counted = (
        base.transform_filter("datum.missing_rate === null")
        .transform_calculate(counted="datum.without_reasoning + ' of ' + datum.assistant_messages")
        .mark_text(align="left", dx=4)
        .encode(x=alt.XDatum(0, axis=axis, scale=scale), text="counted:N")
    )
    return alt.layer(interval, points, counted).properties(
        title=title(sentence, f"n = assistant messages: {each_mode(counts)}"),
        description=sentence,
        width="container",
        height=90,
    )


@figure(
    LENGTHS,
    definition="Assistant messages by the length of their reasoning in characters, in bins of equal ratio (ten to a "
    "power of ten), as a share of the mode's messages that carry reasoning.",
)
def lengths(frame: pl.DataFrame) -> Any:
    """Distribution of the length of the reasoning, on a logarithmic axis."""
    most = {r["traj_type"]: r for r in frame.sort("thoughts").iter_rows(named=True)}
    found = {mode: f"{r['chars_from']:,.0f} to {r['chars_to']:,.0f} characters" for mode, r in sorted(most.items())}
    counts = {mode: f"{r['mode_thoughts']:,}" for mode, r in sorted(most.items())}
    sentence = f"Thoughts are most often {each_mode(found)}"
    return (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", strokeWidth=2, point=alt.OverlayMarkDef(size=18))
        .encode(
            x=alt.X(
                "chars_from:Q",
                scale=alt.Scale(type="log"),
                title="reasoning of a message (characters)",
                axis=alt.Axis(format="~s"),
            ),
            y=alt.Y("thought_share:Q", title="share of messages with reasoning", axis=alt.Axis(format="%")),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("chars_from", "characters from"),
                number("chars_to", "to below"),
                number("thoughts", "messages"),
                percent("thought_share", "share"),
            ],
        )
        .properties(
            title=title(sentence, f"n = messages with reasoning: {each_mode(counts)}"),
            description=sentence,
            width="container",
            height=260,
        )
    )


@figure(
    POSITIONS,
    definition="Median length of the reasoning in each tenth of a trajectory's assistant messages, with the middle "
    "half (25th to 75th percentile) shaded; messages without reasoning stay out of the length.",
)
def positions(frame: pl.DataFrame) -> Any:
    """Length of the reasoning along the trajectory: median and middle half per decile."""
    rows = frame.drop_nulls("p50_chars").sort("decile").partition_by("traj_type", maintain_order=True)
    found = {
        part["traj_type"][0]: f"from {part['p50_chars'][0]:,.0f} to {part['p50_chars'][-1]:,.0f} characters"
        for part in sorted(rows, key=lambda part: str(part["traj_type"][0]))
    }
    sentence = f"From the first tenth to the last the median thought goes {each_mode(found)}"
    base = alt.Chart(frame).encode(
        x=alt.X("decile:O", title="tenth of the trajectory's assistant messages", axis=alt.Axis(labelAngle=0)),
        color=mode_colour(),
        tooltip=[
            MODE_TOOLTIP,
            number("decile", "tenth"),
            number("p50_chars", "median characters"),
            number("p25_chars", "25th percentile"),
            number("p75_chars", "75th percentile"),
            percent("missing_rate", "without reasoning"),
            number("assistant_messages", "messages"),
        ],
    )
    scale = alt.Scale(zero=True)
    band = base.mark_area(opacity=0.18).encode(y=alt.Y("p25_chars:Q", scale=scale), y2="p75_chars:Q")
    line = base.mark_line(point=True).encode(y=alt.Y("p50_chars:Q", title="median reasoning (characters)", scale=scale))
    return alt.layer(band, line).properties(
        title=title(sentence, f"n = {frame['assistant_messages'].sum():,} assistant messages"),
        description=sentence,
        width="container",
        height=260,
    )
