"""Reasoning, drawn: where it is missing, how long it is, how it changes along the trajectory."""

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, mode_colour, number, percent, share_axis
from analysis.charts.figure import Drawn, figure
from analysis.charts.modes import counts_by_mode, each_mode, rate_by_mode
from analysis.charts.rates import dots
from analysis.measures.reasoning import FIRST, LAST, LENGTHS, POSITIONS, SUMMARY
from analysis.wording import count


@figure(
    SUMMARY,
    definition="Share of assistant messages without reasoning (reasoning of no characters is none), with its 95 % "
    "interval over scenarios.",
    height=alt.Step(30),
)
def missing(frame: pl.DataFrame) -> Drawn:
    """Rate of messages without reasoning per mode, with its interval."""
    rates = rate_by_mode(frame, "without_reasoning", "assistant_messages")
    return Drawn(
        dots(
            frame,
            label="datum.traj_type",
            rate="missing_rate",
            events="without_reasoning",
            trials="assistant_messages",
            axis_title="assistant messages without reasoning",
            tooltip=[MODE_TOOLTIP],
            colour=mode_colour(),
            narrowest=0.05,
        ),
        f"Assistant messages without reasoning: {rates}"
        if frame["without_reasoning"].sum()
        else "Every assistant message has reasoning",
        f"n = assistant messages: {counts_by_mode(frame, 'assistant_messages')}",
    )


@figure(
    LENGTHS,
    definition="Assistant messages by the length of their reasoning in characters, in bins of equal ratio (ten to a "
    "power of ten), as a share of the mode's messages with reasoning.",
    height=260,
)
def lengths(frame: pl.DataFrame) -> Drawn:
    """Distribution of the length of the reasoning, on a logarithmic axis."""
    commonest = frame.sort("thoughts", descending=True, maintain_order=True)
    span = each_mode(commonest, lambda r: f"{count(r['chars_from'])} to {count(r['chars_to'])} characters")
    line = (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", strokeWidth=2, point=alt.OverlayMarkDef(size=18))
        .encode(
            x=alt.X(
                "chars_from:Q",
                scale=alt.Scale(type="log"),
                title="reasoning of a message (characters)",
                axis=alt.Axis(format="~s"),
            ),
            y=share_axis(alt.Y, "thought_share", "share of messages with reasoning"),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("chars_from", "characters from"),
                number("chars_to", "to below"),
                number("thoughts", "messages"),
                percent("thought_share", "share"),
            ],
        )
    )
    return Drawn(
        line,
        f"The most common length of reasoning is {span}",
        f"n = messages with reasoning: {counts_by_mode(frame, 'mode_thoughts')}",
    )


_POSITION = [
    MODE_TOOLTIP,
    number("decile", "tenth"),
    number("p50_chars", "median characters"),
    number("p25_chars", "25th percentile"),
    number("p75_chars", "75th percentile"),
    percent("missing_rate", "without reasoning"),
    number("assistant_messages", "messages"),
]


@figure(
    POSITIONS,
    definition="Median length of the reasoning in each tenth of a trajectory's assistant messages, with the middle "
    "half (25th to 75th percentile) shaded; the first and the last message stand by themselves. Messages without "
    "reasoning do not count, nor do trajectories of fewer than ten.",
    height=260,
)
def positions(frame: pl.DataFrame) -> Drawn:
    """Length of the reasoning along the trajectory: median and middle half per tenth."""
    between = pl.col("decile").is_between(FIRST, LAST, closed="none")
    median = pl.col("p50_chars").sort_by("decile")
    trend = frame.filter(between).drop_nulls("p50_chars")
    trend = trend.group_by("traj_type").agg(first=median.first(), last=median.last())
    place = f"datum.value === {FIRST} ? 'first' : datum.value === {LAST} ? 'last' : datum.label"
    base = alt.Chart(frame).encode(
        x=alt.X(
            "decile:Q",
            title="first message, tenths of those between, last message",
            axis=alt.Axis(values=[*range(FIRST, LAST + 1)], labelExpr=place, grid=False),
        ),
        color=mode_colour(),
        tooltip=_POSITION,
    )
    inner = base.transform_filter(f"datum.decile > {FIRST} && datum.decile < {LAST}")
    band = inner.mark_area(opacity=0.18).encode(y=alt.Y("p25_chars:Q"), y2="p75_chars:Q")
    line = inner.mark_line().encode(y=alt.Y("p50_chars:Q", title="median reasoning (characters)"))
    points = base.mark_point(filled=True).encode(y="p50_chars:Q")
    return Drawn(
        alt.layer(band, line, points),
        "From the first tenth to the last, the median length of reasoning goes "
        + each_mode(trend, lambda r: f"from {count(r['first'])} to {count(r['last'])} characters"),
        f"n = {count(frame['assistant_messages'].sum(), 'assistant message')}",
    )
