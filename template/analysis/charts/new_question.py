"""New question, drawn."""

import altair as alt
import polars as pl

from analysis.charts.encodings import ENVIRONMENT_TOOLTIP, MODE_TOOLTIP, mode_colour, names_axis, number, precise
from analysis.charts.figure import Drawn, figure
from analysis.measures.new_question import RESULT
from analysis.wording import count, decimal


@figure(RESULT, definition="Tool calls over trajectories, per environment and mode.")
def by_environment(frame: pl.DataFrame) -> Drawn:
    """A point per environment and mode; a sentence that tells the finding, and n with its denominator."""
    most = frame.sort("mean_calls", "env_id", "traj_type", descending=[True, False, False]).row(0, named=True)
    points = (
        alt.Chart(frame)
        .mark_point(size=70)
        .encode(
            x=alt.X("mean_calls:Q", title="calls per trajectory, mean"),
            y=names_axis("env_id"),
            color=mode_colour(),
            tooltip=[
                ENVIRONMENT_TOOLTIP,
                MODE_TOOLTIP,
                precise("mean_calls", "calls, mean", 1),
                number("trajectories", "trajectories"),
            ],
        )
    )
    return Drawn(
        points,
        f"{most['env_id']} takes the most calls: {decimal(most['mean_calls'])} per trajectory {most['traj_type']}",
        f"n = {count(frame['trajectories'].sum(), 'trajectory')} of the environments shown",
    )
