"""New question, drawn."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts.encodings import MODE_TOOLTIP, mode_colour, number
from analysis.charts.figure import figure
from analysis.charts.words import title
from analysis.measures.new_question import RESULT


@figure(RESULT, definition="Tool calls over trajectories, per environment and mode.")
def by_environment(frame: pl.DataFrame) -> Any:
    """A point per environment and mode; a title that tells the finding, under it n and the denominator."""
    most = frame.sort("mean_calls", "env_id", "traj_type", descending=[True, False, False]).row(0, named=True)
    sentence = f"{most['env_id']} takes the most calls: {most['mean_calls']:.1f} in the mean"
    return (
        alt.Chart(frame)
        .mark_point(size=70)
        .encode(
            x=alt.X("mean_calls:Q", title="calls of a trajectory, mean"),
            y=alt.Y("env_id:N", title=None, sort=None),
            color=mode_colour(),
            tooltip=[
                alt.Tooltip("env_id:N", title="environment"),
                MODE_TOOLTIP,
                alt.Tooltip("mean_calls:Q", title="calls, mean", format=".1f"),
                number("trajectories", "trajectories"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {frame['trajectories'].sum():,} trajectories of the environments shown"),
            description=sentence,
            width="container",
        )
    )
