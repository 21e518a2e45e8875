"""Sequences of calls, drawn."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, number
from analysis.charts.figure import figure
from analysis.charts.rates import dots
from analysis.charts.words import title
from analysis.measures.calls import KIND_DEFINITION
from analysis.measures.sequences import END, ENTROPY, NGRAMS, READS_FIRST, START, TRANSITIONS
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate


@figure(
    TRANSITIONS,
    definition="P(next | last): transitions from the row to the column over all transitions from the row, with start "
    "and end of the trajectory. Lift: that probability over the column's share of all transitions.",
)
def transitions(frame: pl.DataFrame) -> Any:
    """What follows what, as a heat map; the most frequent calls first."""
    rows = frame.rows(named=True)
    inner = [r for r in rows if r["before"] != START and r["after"] != END and r["transitions"] >= 20]
    strongest = max(inner, key=lambda r: r["lift"], default=None)
    most = max(rows, key=lambda r: r["transitions"])
    pair = strongest or most
    sentence = (
        f"“{pair['after']}” follows “{pair['before']}” in {rate(pair['transitions'], pair['before_transitions'])} "
        f"of the cases, {pair['lift']:.1f} times as often as it follows anything"
    )
    order = list(dict.fromkeys(r["before"] for r in rows if r["before"] != START))
    calls, n = len(order), rows[0]["all_transitions"]
    shown = frame.get_column("transitions").sum()
    return (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X("after:N", title="next call", sort=[*order, END], axis=alt.Axis(labelAngle=-45, labelLimit=140)),
            y=alt.Y("before:N", title="call", sort=[START, *order], axis=alt.Axis(labelLimit=180)),
            color=alt.Color(
                "probability:Q",
                title="P(next | call)",
                scale=alt.Scale(scheme="blues", domain=[0, 1]),
                legend=alt.Legend(format="%", orient="bottom"),
            ),
            tooltip=[
                alt.Tooltip("before:N", title="call"),
                alt.Tooltip("after:N", title="next"),
                alt.Tooltip("probability:Q", format=".1%", title="P(next | call)"),
                alt.Tooltip("lift:Q", format=".2f", title="lift"),
                number("transitions", "times"),
                number("before_transitions", "of"),
            ],
        )
        .properties(
            title=title(
                sentence,
                f"n = {count(n, 'transition')}, {shown:,} of them between the {calls} calls shown, start and end",
            ),
            description=sentence,
            width="container",
            height=alt.Step(20),
        )
    )


@figure(
    ENTROPY,
    definition="Entropy rate: uncertainty of the next call given the last, in bits, weighted by how often the last "
    "occurs (observed frequencies, which read low where transitions are few); 2 to its power is the number of equally "
    "likely next calls.",
)
def entropy(frame: pl.DataFrame) -> Any:
    """Effective number of next calls, per environment."""
    rows = [r for r in frame.rows(named=True) if r["effective_choices"] is not None]
    n = int(frame.get_column("transitions").sum())
    if not rows:
        sentence = "No environment has 20 transitions: there is no entropy to show"
    elif len(rows) == 1:
        only = rows[0]
        sentence = (
            f"The next call is as uncertain as a choice among {only['effective_choices']:.1f} of {only['states']:,}"
        )
    else:
        sentence = (
            f"The next call is as uncertain as a choice among {rows[0]['effective_choices']:.1f} "
            f"({rows[0]['env_id'] or 'no environment'}) to {rows[-1]['effective_choices']:.1f} "
            f"({rows[-1]['env_id'] or 'no environment'})"
        )
    return (
        alt.Chart(frame)
        .transform_calculate(label="datum.env_id == null ? '(no environment)' : datum.env_id")
        .mark_bar()
        .encode(
            y=alt.Y("label:N", title=None, sort=None),
            x=alt.X("effective_choices:Q", title="equally likely next calls", scale=alt.Scale(domainMin=0)),
            tooltip=[
                alt.Tooltip("label:N", title="environment"),
                alt.Tooltip("effective_choices:Q", format=".2f", title="effective choices"),
                alt.Tooltip("entropy_rate:Q", format=".2f", title="entropy rate, bits"),
                alt.Tooltip("entropy:Q", format=".2f", title="knowing nothing, bits"),
                number("states", "distinct calls"),
                number("transitions", "transitions"),
            ],
        )
        .properties(
            title=title(
                sentence,
                f"n = {count(n, 'transition')} in {count(frame.height, 'environment')}, start and end among them",
            ),
            description=sentence,
            width="container",
            height=alt.Step(14),
        )
    )


@figure(
    NGRAMS,
    definition="Runs of two to four calls by the trajectories that hold them, not by occurrences; only maximal ones: "
    "no longer run (up to four) that holds it reaches the minimum of trajectories. 95 % Wilson intervals.",
)
def ngrams(frame: pl.DataFrame) -> Any:
    """The runs of calls most trajectories share."""
    rows = frame.rows(named=True)
    first = rows[0]
    n = first["all_trajectories"]
    sentence = f"“{first['ngram']}” occurs in {rate(first['trajectories'], n)} of the trajectories"
    chart = dots(
        frame,
        label="datum.ngram",
        rate="trajectory_rate",
        events="trajectories",
        trials="all_trajectories",
        axis_title="trajectories that hold it / with a call",
        tooltip=[alt.Tooltip("ngram:N", title="run"), number("length", "calls"), number("occurrences", "occurrences")],
    )
    return chart.properties(
        title=title(sentence, f"n = {count(n, 'trajectory')} with a call"),
        description=sentence,
        width="container",
        height=alt.Step(18),
    ).configure_axisY(labelLimit=380)


@figure(
    READS_FIRST,
    definition="Changing calls with a reading call anywhere before them in the trajectory, with 95 % Wilson intervals. "
    f"{KIND_DEFINITION}.",
)
def reads_first(frame: pl.DataFrame) -> Any:
    """How often a changing call comes after a reading one, per mode."""
    rows = frame.rows(named=True)
    calls = {r["traj_type"]: r["changing_calls"] for r in rows}
    sentence = "Changing calls that come after a reading one: " + each_mode(
        {r["traj_type"]: rate(r["after_read"], r["changing_calls"]) for r in rows}
    )
    directly = each_mode({r["traj_type"]: rate(r["directly_after_read"], r["changing_calls"]) for r in rows})
    catalogued = sum(r["catalogued_calls"] for r in rows)
    return dots(
        frame,
        label="datum.traj_type == 'conversation' ? 'conversations' : 'runs without a user'",
        rate="after_read_rate",
        events="after_read",
        trials="changing_calls",
        axis_title="after a reading call / changing calls",
        tooltip=[
            MODE_TOOLTIP,
            alt.Tooltip("directly_after_rate:Q", title="right after one", format=".1%"),
            number("directly_after_read", "right after one"),
        ],
    ).properties(
        title=title(
            sentence,
            f"n = changing calls: {each_mode({m: f'{n:,}' for m, n in calls.items()})}; right after a reading call: "
            f"{directly}",
            f"kind by the catalogue: {rate(catalogued, sum(calls.values()))}; by the name's first word: the rest",
        ),
        description=sentence,
        width="container",
        height=alt.Step(30),
    )
