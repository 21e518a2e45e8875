"""Recovery from errors, drawn."""

import altair as alt
import polars as pl

from analysis.charts.encodings import (
    MODE_TOOLTIP,
    TOOL_TOOLTIPS,
    mode_colour,
    number,
    percent,
    share_axis,
    tool_label,
)
from analysis.charts.figure import Drawn, figure
from analysis.charts.modes import counts_by_mode, each_mode, rate_by_mode
from analysis.charts.rates import dots, mode_bars
from analysis.measures.recovery import LATENCIES, LONGEST_LATENCY, NEXT_CALLS, RUNS, TOOLS
from analysis.wording import count, rate_of


@figure(
    NEXT_CALLS,
    definition="The call after an error against the one that failed: an identical retry has the same name and "
    "canonical arguments. Shares of the mode's errors of calls that name a tool, with 95 % interval over scenarios.",
    height=alt.Step(15),
)
def next_calls(frame: pl.DataFrame) -> Drawn:
    """What follows an error, per mode."""
    is_retry = pl.col("response") == "identical_retry"
    chart = dots(
        frame,
        label=" : ".join(f"datum.response == '{name}' ? '{text}'" for name, text in _RESPONSES.items()) + " : ''",
        rate="response_rate",
        events="errors",
        trials="mode_errors",
        axis_title="of the mode's errors",
        tooltip=[MODE_TOOLTIP, percent("recovered_rate", "recovered later"), number("recovered", "recovered")],
        by_mode=True,
    )
    return Drawn(
        chart,
        "The same call is tried again unchanged after "
        + rate_by_mode(frame, "errors", "mode_errors", is_retry, noun="error"),
        f"n = errors: {counts_by_mode(frame, 'mode_errors')}",
    )


@figure(
    LATENCIES,
    definition="Errors of a tool without an ok of it between them are one episode, recovered when a later call of the "
    "tool is ok. Share of episodes recovered within so many calls, had no trajectory ended before (Kaplan and "
    f"Meier's); up to {LONGEST_LATENCY} calls.",
)
def latencies(frame: pl.DataFrame) -> Drawn:
    """Share of error episodes recovered within so many calls."""
    calls = alt.X(
        "latency:Q",
        title="calls from the first error to the ok",
        scale=alt.Scale(domain=[1, LONGEST_LATENCY]),
        axis=alt.Axis(tickMinStep=1),
    )
    lines = alt.Chart(frame).mark_line(interpolate="step-after", point=True)
    return Drawn(
        lines.encode(
            x=calls,
            y=share_axis(alt.Y, "cumulative_share", "episodes recovered by then", is_whole=True),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("latency", "calls"),
                number("recovered", "recovered then"),
                percent("cumulative_share", "recovered by then"),
                number("open", "still open before"),
                number("mode_episodes", "episodes of the mode"),
            ],
        ),
        "The same tool succeeds later after "
        + each_mode(frame, lambda row: rate_of(row["mode_recovered"], row["mode_episodes"], "error episode")),
        f"n = error episodes: {counts_by_mode(frame, 'mode_episodes')}",
    )


@figure(
    RUNS,
    definition="Longest run of consecutive errors in a trajectory, 0 for none; an unknown outcome ends a run. Shares "
    "of the mode's trajectories with a call.",
    height=220,
)
def runs(frame: pl.DataFrame) -> Drawn:
    """Trajectories by their longest run of errors, per mode."""
    several = rate_by_mode(frame, "trajectories", "mode_trajectories", pl.col("longest_run") > 1)
    longest = max(frame["longest_run"])
    chart = mode_bars(
        frame,
        x=alt.X("longest_run:O", title="longest run of errors", axis=alt.Axis(labelAngle=0)),
        share="trajectory_share",
        axis_title="trajectories with a call",
        tooltip=[number("longest_run", "errors in a row"), number("trajectories", "trajectories")],
    )
    return Drawn(
        chart,
        f"Trajectories with two or more errors in a row: {several}; the longest run has {count(longest, 'error')}"
        if longest
        else "No trajectory has an error",
        f"n = trajectories: {counts_by_mode(frame, 'mode_trajectories')}",
    )


@figure(
    TOOLS,
    definition="Errors after which a later call of the same tool is ok, over the tool's errors, with the 95 % "
    "interval over scenarios, of the tools with the most errors; counts under 20 errors.",
    height=alt.Step(18),
)
def by_tool(frame: pl.DataFrame) -> Drawn:
    """Recovery rate of the tools with most errors."""
    errors, recovered = frame["errors"].sum(), frame["recovered"].sum()
    chart = dots(
        frame,
        label=tool_label(frame),
        rate="recovered_rate",
        events="recovered",
        trials="errors",
        axis_title="recovered / errors",
        tooltip=TOOL_TOOLTIPS,
    )
    return Drawn(
        chart,
        f"{rate_of(recovered, errors, 'error')} are recovered in the tools that fail most",
        f"n = {count(errors, 'error')} of {count(frame.height, 'tool')}",
    )


_RESPONSES = {
    "identical_retry": "same call again",
    "same_tool": "same tool, other arguments",
    "other_tool": "another tool",
    "no_further_call": "no further call",
}
