"""Value flow, drawn: where the ids that calls carry appeared before."""

import json

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, ROW, number, plain_axis
from analysis.charts.figure import Drawn, figure
from analysis.charts.modes import counts_by_mode, rate_by_mode
from analysis.charts.rates import dots, mode_bars
from analysis.measures.grounding import ARGUMENTS, CHAINS, DISTANCES, LONGEST_DISTANCE, SOURCES, is_ungrounded
from analysis.wording import count

_ID_LIKE = (
    "Id-like: under a name that ends in id, or a word of 3 to 64 characters with a letter and a digit that is no date. "
)
_PLACES = {
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
    definition=f"{_ID_LIKE}The place is the first text before the call that contains the value as a whole word. The "
    "last two places are ungrounded; ids that an agent gives to what it creates are ungrounded as well.",
    height=alt.Step(15),
)
def sources(frame: pl.DataFrame) -> Drawn:
    """Where id-like argument values appear first, per mode."""
    return Drawn(
        dots(
            frame,
            label=f"{json.dumps(_PLACES)}[datum.source]",
            rate="source_rate",
            events="values",
            trials="mode_values",
            axis_title="of the mode's id-like values",
            tooltip=[MODE_TOOLTIP, alt.Tooltip("label:N", title="appears first in")],
            by_mode=True,
        ),
        f"Ungrounded id-like values: {rate_by_mode(frame, 'values', 'mode_values', is_ungrounded())}",
        f"n = id-like values: {counts_by_mode(frame, 'mode_values')}",
    )


@figure(
    ARGUMENTS,
    definition=f"{_ID_LIKE}Ungrounded: no earlier result, user, system or task text contains the value. 95 % "
    "interval over scenarios; counts under 20 values.",
    height=ROW,
)
def by_argument(frame: pl.DataFrame) -> Drawn:
    """Ungrounded rate of the arguments with most ungrounded values."""
    first = frame.row(0, named=True)
    return Drawn(
        dots(
            frame,
            label="datum.argument",
            rate="ungrounded_rate",
            events="ungrounded",
            trials="values",
            axis_title="ungrounded / id-like values",
            tooltip=[alt.Tooltip("argument:N", title="argument")],
        ),
        f"{count(frame['ungrounded'].sum(), 'ungrounded value')}, {count(first['ungrounded'])} of them in the argument "
        f"{first['argument']}"
        if first["ungrounded"]
        else "An earlier text contains every id-like value",
        f"n = {count(frame['values'].sum(), 'id-like value')} of {count(frame.height, 'argument')} shown",
    )


@figure(
    DISTANCES,
    definition="Calls from the result that first contained a value to a call that uses it, over id-like values taken "
    f"from results; {LONGEST_DISTANCE} stands for that many or more.",
    height=220,
)
def distances(frame: pl.DataFrame) -> Drawn:
    """How far back the values come from, per mode."""
    next_call = rate_by_mode(frame, "values", "mode_values", pl.col("distance") == 1)
    return Drawn(
        mode_bars(
            frame,
            x=plain_axis(alt.X, "distance", "calls from the result to the use"),
            share="value_share",
            axis_title="values taken from results",
            tooltip=[number("distance", "calls"), number("values", "values")],
        ),
        f"Values from a result are used in the very next call: {next_call}",
        f"n = values taken from results: {counts_by_mode(frame, 'mode_values')}",
    )


@figure(
    CHAINS,
    definition="A call is linked to the call whose result first contained one of its id-like values. The longest chain "
    "of links is counted in calls, 1 where no call uses a result. Shares of the mode's trajectories with a call.",
    height=220,
)
def chains(frame: pl.DataFrame) -> Drawn:
    """Trajectories by their longest chain of calls linked by reuse, per mode."""
    long = rate_by_mode(frame, "trajectories", "mode_trajectories", pl.col("longest_chain") >= 3)
    return Drawn(
        mode_bars(
            frame,
            x=plain_axis(alt.X, "longest_chain", "calls of the longest chain"),
            share="trajectory_share",
            axis_title="trajectories with a call",
            tooltip=[number("longest_chain", "calls"), number("trajectories", "trajectories")],
        ),
        f"Trajectories with three or more calls in a chain, each using a result of the one before: {long}",
        f"n = trajectories with a call: {counts_by_mode(frame, 'mode_trajectories')}",
    )
