"""Value flow, drawn: where the ids that calls carry stood before."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, number
from analysis.charts.figure import figure
from analysis.charts.rates import dots, mode_bars
from analysis.charts.words import title
from analysis.measures.grounding import ARGUMENTS, CHAINS, DISTANCES, LONGEST_DISTANCE, SOURCES
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate

_ID_LIKE = (
    "Id-like: under a name that ends in id, or a word of 3 to 64 characters that holds a letter and a digit and is no "
    "date. "
)
_WORDS = {
    "result": "an earlier result",
    "user": "a user message",
    "system": "the system prompt",
    "task": "the task text only",
    "echo": "a result that echoes the agent",
    "agent": "the agent's own calls only",
    "none": "nowhere",
}


@figure(
    SOURCES,
    definition=f"{_ID_LIKE}The place is the first text before the call that holds the value as a whole word; "
    "ungrounded are the last two. Ids that an agent gives to what it creates are ungrounded as well.",
)
def sources(frame: pl.DataFrame) -> Any:
    """Where id-like argument values stood first, per mode."""
    rows = frame.rows(named=True)
    counts = {r["traj_type"]: r["mode_values"] for r in rows}
    ungrounded = {
        m: sum(r["values"] for r in rows if r["traj_type"] == m and r["source"] in ("agent", "none")) for m in counts
    }
    sentence = "Ungrounded id-like values: " + each_mode({m: rate(ungrounded[m], n) for m, n in counts.items()})
    label = " : ".join(f'datum.source == "{k}" ? "{v}"' for k, v in _WORDS.items()) + ' : ""'
    return dots(
        frame,
        label=label,
        rate="source_rate",
        events="values",
        trials="mode_values",
        axis_title="of the mode's id-like values",
        tooltip=[MODE_TOOLTIP, alt.Tooltip("label:N", title="stood first in")],
        by_mode=True,
    ).properties(
        title=title(sentence, f"n = id-like values: {each_mode({m: f'{n:,}' for m, n in counts.items()})}"),
        description=sentence,
        width="container",
        height=alt.Step(15),
    )


@figure(
    ARGUMENTS,
    definition=f"{_ID_LIKE}Ungrounded: no earlier result, user, system or task text holds the value. 95 % Wilson "
    "interval; counts under 20 values.",
)
def by_argument(frame: pl.DataFrame) -> Any:
    """Ungrounded rate of the arguments with most ungrounded values."""
    rows = frame.rows(named=True)
    first = rows[0]
    n, ungrounded = (sum(r[c] for r in rows) for c in ("values", "ungrounded"))
    sentence = (
        f"Most ungrounded values stand under {first['argument']}: {rate(first['ungrounded'], first['values'])} of its "
        "values"
        if ungrounded
        else "Every id-like value was given to the agent before"
    )
    return dots(
        frame,
        label="datum.argument",
        rate="ungrounded_rate",
        events="ungrounded",
        trials="values",
        axis_title="ungrounded / id-like values",
        tooltip=[alt.Tooltip("argument:N", title="argument")],
    ).properties(
        title=title(sentence, f"n = {count(n, 'id-like value')} of the {len(rows)} arguments shown"),
        description=sentence,
        width="container",
        height=alt.Step(18),
    )


@figure(
    DISTANCES,
    definition="Calls from the result that first held a value to a call that uses it, over id-like values taken from "
    f"results; {LONGEST_DISTANCE} stands for that many or more.",
)
def distances(frame: pl.DataFrame) -> Any:
    """How far back the values come from, per mode."""
    rows = frame.rows(named=True)
    counts = {r["traj_type"]: r["mode_values"] for r in rows}
    next_call = {m: sum(r["values"] for r in rows if r["traj_type"] == m and r["distance"] == 1) for m in counts}
    sentence = "Values from a result are used in the very next call: " + each_mode(
        {m: rate(next_call[m], n) for m, n in counts.items()}
    )
    return mode_bars(
        frame,
        x=alt.X("distance:O", title="calls from the result to the use", axis=alt.Axis(labelAngle=0)),
        share="value_share",
        axis_title="values taken from results",
        tooltip=[number("distance", "calls"), number("values", "values")],
    ).properties(
        title=title(sentence, f"n = values taken from results: {each_mode({m: f'{n:,}' for m, n in counts.items()})}"),
        description=sentence,
        width="container",
        height=220,
    )


@figure(
    CHAINS,
    definition="A call is linked to the call whose result first held one of its id-like values; the longest chain of "
    "links, counted in calls, 1 where no call uses a result. Shares of the mode's trajectories with a call.",
)
def chains(frame: pl.DataFrame) -> Any:
    """Trajectories by their longest chain of calls linked by reuse, per mode."""
    rows = frame.rows(named=True)
    counts = {r["traj_type"]: r["mode_trajectories"] for r in rows}
    long = {m: sum(r["trajectories"] for r in rows if r["traj_type"] == m and r["longest_chain"] >= 3) for m in counts}
    sentence = "Chains of three calls or more, each using a result of the one before: " + each_mode(
        {m: rate(long[m], n) for m, n in counts.items()}
    )
    return mode_bars(
        frame,
        x=alt.X("longest_chain:O", title="calls of the longest chain", axis=alt.Axis(labelAngle=0)),
        share="trajectory_share",
        axis_title="trajectories with a call",
        tooltip=[number("longest_chain", "calls"), number("trajectories", "trajectories")],
    ).properties(
        title=title(sentence, f"n = trajectories: {each_mode({m: f'{n:,}' for m, n in counts.items()})}"),
        description=sentence,
        width="container",
        height=220,
    )
