"""Sequences of calls, drawn."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, ROW, names_axis, number, percent, precise
from analysis.charts.figure import Drawn, figure
from analysis.charts.modes import counts_by_mode, rate_by_mode
from analysis.charts.rates import dots
from analysis.charts.theme import PALETTE
from analysis.measures.calls import KIND_DEFINITION
from analysis.measures.order import END, START
from analysis.measures.sequences import ENTROPY, NGRAMS, READS_FIRST, TRANSITIONS
from analysis.schema import FEWEST_FOR_A_RATE
from analysis.wording import count, decimal, rate, rate_of

_TRANSITION = [
    alt.Tooltip("before:N", title="call"),
    alt.Tooltip("after:N", title="next"),
    percent("probability", "P(next | call)"),
    precise("lift", "lift"),
    number("transitions", "times"),
    number("before_transitions", "of"),
]


@figure(
    TRANSITIONS,
    definition="P(next | call): transitions from the row to the column over all transitions from the row, with start "
    "and end of the trajectory. Lift: transitions over as many as there would be if what follows did not hang on the "
    "call, within each environment. Calls of one message are one place, named as a + b.",
    height=alt.Step(20),
)
def transitions(frame: pl.DataFrame) -> Drawn:
    """What follows what, as a heat map; the most frequent calls first."""
    order = frame.filter(pl.col("before") != START)["before"].unique(maintain_order=True).to_list()
    n, shown = frame["all_transitions"][0], frame["transitions"].sum()
    # By opacity and not by a scheme of colours, which ends in white: on a dark page the rare would shine.
    probability = alt.Opacity(
        "probability:Q",
        title="P(next | call)",
        scale=alt.Scale(domain=[0, 1], range=[0.04, 1]),
        legend=alt.Legend(
            format="%", orient="bottom", symbolType="square", symbolFillColor=PALETTE[0], symbolStrokeWidth=0
        ),
    )
    cells = (
        alt.Chart(frame)
        .mark_rect(color=PALETTE[0])
        .encode(
            x=alt.X("after:N", title="next call", sort=[*order, END], axis=alt.Axis(labelAngle=-45, labelLimit=140)),
            y=alt.Y("before:N", title="call", sort=[START, *order], axis=alt.Axis(labelLimit=180)),
            opacity=probability,
            tooltip=_TRANSITION,
        )
    )
    return Drawn(
        cells,
        _follows(frame),
        f"n = {count(n, 'transition')}; {count(shown)} are between the {count(len(order), 'call')} shown, with start "
        "and end",
    )


def _follows(frame: pl.DataFrame) -> str:
    """The pair that is furthest above chance, of pairs of calls seen often enough; else the most frequent one."""
    is_often = (pl.col("before") != START) & (pl.col("after") != END) & (pl.col("transitions") >= FEWEST_FOR_A_RATE)
    often = frame.filter(is_often).sort("lift", descending=True, maintain_order=True)
    pair = (often if often.height else frame.sort("transitions", descending=True, maintain_order=True)).row(
        0, named=True
    )
    return (
        f"“{pair['after']}” follows “{pair['before']}” in "
        f"{rate_of(pair['transitions'], pair['before_transitions'], 'case')}, "
        f"{decimal(pair['lift'])} times as often as after any call of the same environment"
    )


@figure(
    ENTROPY,
    definition="Entropy rate: uncertainty of the next call given the last, in bits, expected over as many transitions "
    "as the smallest environment shown has, because over more of them it reads higher. 2 to its power is the number of "
    "equally likely next calls.",
    height=alt.Step(14),
)
def entropy(frame: pl.DataFrame) -> Drawn:
    """Effective number of next calls, per environment."""
    bars = (
        alt.Chart(frame)
        .transform_calculate(label="datum.env_id == null ? '(no environment)' : datum.env_id")
        .mark_bar()
        .encode(
            y=names_axis(limit=220),
            x=alt.X("effective_choices:Q", title="equally likely next calls", scale=alt.Scale(domainMin=0)),
            tooltip=[
                alt.Tooltip("label:N", title="environment"),
                precise("effective_choices", "equally likely next calls"),
                precise("entropy_rate", "entropy rate, bits"),
                precise("entropy", "knowing nothing, bits"),
                precise("seen_entropy_rate", "over all its transitions, bits"),
                number("states", "distinct calls"),
                number("transitions", "transitions"),
            ],
        )
    )
    n = count(frame["transitions"].sum(), "transition")
    return Drawn(
        bars,
        _choices(frame.drop_nulls("effective_choices").rows(named=True)),
        f"n = {n} in {count(frame.height, 'environment')}, with start and end, each cut down to "
        f"{count(frame['rarefied_to'].max())}",  # type: ignore[arg-type]
    )


def _choices(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "No environment has 20 transitions: there is no entropy to show"
    if len(rows) == 1:
        choices, states = rows[0]["effective_choices"], rows[0]["states"]
        return f"The next call is as uncertain as {decimal(choices)} equally likely choices among {count(states)}"
    least, most = (decimal(row["effective_choices"]) for row in (rows[0], rows[-1]))
    return f"The next call is as uncertain as {least} to {most} equally likely choices"


@figure(
    NGRAMS,
    definition="Sequences of two to four calls by the trajectories that contain them, not by occurrences. Only the "
    "maximal ones: no longer sequence (up to four) that contains it reaches the minimum. 95 % interval over scenarios.",
    height=ROW,
)
def ngrams(frame: pl.DataFrame) -> Drawn:
    """The sequences of calls that most trajectories share."""
    first = frame.row(0, named=True)
    n = first["all_trajectories"]
    return Drawn(
        dots(
            frame,
            label="datum.ngram",
            rate="trajectory_rate",
            events="trajectories",
            trials="all_trajectories",
            axis_title="trajectories that contain it / with a call",
            tooltip=[
                alt.Tooltip("ngram:N", title="sequence"),
                number("length", "calls"),
                number("occurrences", "occurrences"),
            ],
            limit=380,
        ),
        f"“{first['ngram']}” occurs in {rate_of(first['trajectories'], n, 'trajectory')}",
        f"n = {count(n, 'trajectory')} with a call",
    )


@figure(
    READS_FIRST,
    definition="Changing calls with a reading call anywhere before them in the trajectory, with 95 % interval over "
    "scenarios. "
    f"{KIND_DEFINITION}.",
    height=alt.Step(30),
)
def reads_first(frame: pl.DataFrame) -> Drawn:
    """How often a changing call comes after a reading call, per mode."""
    catalogued = rate(frame["catalogued_calls"].sum(), frame["changing_calls"].sum())
    return Drawn(
        dots(
            frame,
            label="datum.traj_type",
            rate="after_read_rate",
            events="after_read",
            trials="changing_calls",
            axis_title="after a reading call / changing calls",
            tooltip=[
                MODE_TOOLTIP,
                percent("directly_after_rate", "directly after one"),
                number("directly_after_read", "directly after one"),
            ],
        ),
        f"Changing calls that come after a reading call: {rate_by_mode(frame, 'after_read', 'changing_calls')}",
        [
            f"n = changing calls: {counts_by_mode(frame, 'changing_calls')}",
            f"directly after a reading call: {rate_by_mode(frame, 'directly_after_read', 'changing_calls')}",
            f"kind from the catalogue: {catalogued}; otherwise from the first word of the tool's name",
        ],
    )
