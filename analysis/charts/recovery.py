"""Recovery from errors, drawn."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, TOOL_TOOLTIPS, mode_colour, number, percent, tool_label
from analysis.charts.figure import figure
from analysis.charts.rates import dots, mode_bars
from analysis.charts.words import title
from analysis.measures.recovery import LATENCIES, LONGEST_LATENCY, NEXT_CALLS, RUNS, TOOLS
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate


@figure(
    NEXT_CALLS,
    definition="The call after an error against the one that failed: an identical retry has the same name and "
    "canonical arguments. Shares of the mode's errors of calls that name a tool, with 95 % Wilson intervals.",
)
def next_calls(frame: pl.DataFrame) -> Any:
    """What follows an error, per mode."""
    rows = frame.rows(named=True)
    counts = {r["traj_type"]: r["mode_errors"] for r in rows}
    retried = dict.fromkeys(counts, 0)
    retried |= {r["traj_type"]: r["errors"] for r in rows if r["response"] == "identical_retry"}
    sentence = "The same call is tried again unchanged after " + each_mode(
        {mode: f"{rate(retried[mode], n)} of the errors" for mode, n in counts.items()}
    )
    words = {
        "identical_retry": "same call again",
        "same_tool": "same tool, other arguments",
        "other_tool": "another tool",
        "no_further_call": "no further call",
    }
    label = " : ".join(f"datum.response == '{k}' ? '{v}'" for k, v in words.items()) + " : ''"
    return dots(
        frame,
        label=label,
        rate="response_rate",
        events="errors",
        trials="mode_errors",
        axis_title="of the mode's errors",
        tooltip=[MODE_TOOLTIP, percent("recovered_rate", "recovered later"), number("recovered", "recovered")],
        by_mode=True,
    ).properties(
        title=title(sentence, f"n = errors: {each_mode({m: f'{n:,}' for m, n in counts.items()})}"),
        description=sentence,
        width="container",
        height=alt.Step(15),
    )


@figure(
    LATENCIES,
    definition="An error is recovered when a later call of the same tool in the trajectory is ok; latency is the "
    f"number of calls from the error to that ok, {LONGEST_LATENCY} standing for that many or more. The rest of the "
    "way to 100 % is never recovered.",
)
def latencies(frame: pl.DataFrame) -> Any:
    """Share of errors recovered within so many calls."""
    rows = frame.rows(named=True)
    modes = {r["traj_type"]: r["mode_errors"] for r in rows}
    recovered = {m: sum(r["recovered"] for r in rows if r["traj_type"] == m) for m in modes}
    sentence = "The same tool succeeds later after " + each_mode(
        {m: f"{rate(recovered[m], n)} of the errors" for m, n in modes.items()}
    )
    return (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", point=True)
        .encode(
            x=alt.X(
                "latency:Q",
                title="calls from the error to the ok",
                scale=alt.Scale(domain=[1, LONGEST_LATENCY]),
                axis=alt.Axis(tickMinStep=1),
            ),
            y=alt.Y(
                "cumulative_share:Q",
                title="errors recovered by then",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("latency", "calls"),
                number("recovered", "recovered then"),
                percent("cumulative_share", "recovered by then"),
                number("mode_errors", "errors of the mode"),
            ],
        )
        .properties(
            title=title(sentence, f"n = errors: {each_mode({m: f'{n:,}' for m, n in modes.items()})}"),
            description=sentence,
            width="container",
            height=240,
        )
    )


@figure(
    RUNS,
    definition="Longest run of consecutive errors in a trajectory, 0 for none; an unknown outcome ends a run. Shares "
    "of the mode's trajectories with a call.",
)
def runs(frame: pl.DataFrame) -> Any:
    """Trajectories by their longest run of errors, per mode."""
    rows = frame.rows(named=True)
    modes = {r["traj_type"]: r["mode_trajectories"] for r in rows}
    several = {m: sum(r["trajectories"] for r in rows if r["traj_type"] == m and r["longest_run"] > 1) for m in modes}
    longest = max(r["longest_run"] for r in rows)
    sentence = (
        f"Two or more errors in a row: {each_mode({m: rate(several[m], n) for m, n in modes.items()})}; "
        f"the longest run has {longest}"
        if longest
        else "No trajectory meets an error"
    )
    return mode_bars(
        frame,
        x=alt.X("longest_run:O", title="longest run of errors", axis=alt.Axis(labelAngle=0)),
        share="trajectory_share",
        axis_title="trajectories with a call",
        tooltip=[number("longest_run", "errors in a row"), number("trajectories", "trajectories")],
    ).properties(
        title=title(sentence, f"n = trajectories: {each_mode({m: f'{n:,}' for m, n in modes.items()})}"),
        description=sentence,
        width="container",
        height=220,
    )


@figure(
    TOOLS,
    definition="Errors after which a later call of the same tool is ok, over the tool's errors, with the 95 % Wilson "
    "interval, of the tools with most errors; counts under 20 errors.",
)
def by_tool(frame: pl.DataFrame) -> Any:
    """Recovery rate of the tools with most errors."""
    rows = frame.rows(named=True)
    n, recovered = (sum(r[c] for r in rows) for c in ("errors", "recovered"))
    sentence = f"Of the errors of the tools with most of them, {rate(recovered, n)} are recovered"
    return dots(
        frame,
        label=tool_label(frame),
        rate="recovered_rate",
        events="recovered",
        trials="errors",
        axis_title="recovered / errors",
        tooltip=list(TOOL_TOOLTIPS),
    ).properties(
        title=title(sentence, f"n = {count(n, 'error')} of {count(len(rows), 'tool')}"),
        description=sentence,
        width="container",
        height=alt.Step(18),
    )
