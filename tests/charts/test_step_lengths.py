"""Step lengths, drawn: the publisher's edges as named rules for steps and for nothing else."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import step_lengths as charts
from analysis.measures import step_lengths as m
from tests.charts.drawn import fields, marks, spec, subtitle, title
from tests.measures.small import MESSAGES_SEEN, SOLO, TRAJECTORIES_SEEN

PUBLISHED = TRAJECTORIES_SEEN.with_columns(env_id=pl.lit("env_1_sft"))
STEPS = m.distribution(PUBLISHED, "steps").collect()
CURVE = m.cumulative(PUBLISHED, "steps").collect()
CALLS = m.distribution(TRAJECTORIES_SEEN, "tool calls").collect()
ENVIRONMENTS = m.by_environment(TRAJECTORIES_SEEN, top=9).collect()
CHARACTERS = m.characters(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()

SAMPLES = {
    charts.histogram: (CALLS, 3),
    charts.ecdf: (m.cumulative(TRAJECTORIES_SEEN, "tool calls").collect(), 2),
    charts.by_environment: (ENVIRONMENTS, 9),
    charts.characters: (CHARACTERS, 12),
}


@pytest.mark.parametrize(("draw", "steps", "shift"), [(charts.histogram, STEPS, 0.5), (charts.ecdf, CURVE, 0)])
def test_the_publishers_edges_are_drawn_and_named_for_steps(draw: Any, steps: pl.DataFrame, shift: float) -> None:
    drawn = spec(draw(steps))
    edges = next(
        [row for row in rows if "named" in row] for rows in drawn["datasets"].values() if rows and "named" in rows[0]
    )
    # A bar reaches half a step to either side of its value.
    assert {(row["traj_type"], row["named"], row["edge"]) for row in edges} == {
        ("with user", "from 5", 5 - shift),
        ("with user", "to 39", 39 + shift),
        ("without user", "from 3", 3 - shift),
        ("without user", "to 29", 29 + shift),
    }
    # Bars or lines, and on top of them four rules and four names.
    assert marks(drawn) >= 2 + 4 + 4
    assert fields(drawn) - set(steps.columns) - {"bin_start", "bin_end"} == {"edge", "line", "named"}
    assert "selection" in subtitle(draw(steps))
    assert "selection" not in subtitle(charts.histogram(CALLS))
    others = m.distribution(TRAJECTORIES_SEEN, "steps").collect()
    assert "selection" not in subtitle(charts.histogram(others)), "nobody else's data were cut by the publisher"


def test_one_mode_alone_shows_its_own_edges() -> None:
    text = str(spec(charts.histogram(STEPS.filter(pl.col("traj_type") == SOLO))))
    assert "to 29" in text
    assert "to 39" not in text


def test_titles_say_what_the_figures_show() -> None:
    assert title(charts.histogram(STEPS)) == "The median number of steps is 5 with user, 29 without user"
    assert title(charts.ecdf(CURVE)) == (
        "Nine in ten trajectories have at most this many steps: 5 with user, 30 without user"
    )
    assert title(charts.by_environment(ENVIRONMENTS)) == ("Median steps by environment, over both modes: 4 to 29")
    one = charts.by_environment(ENVIRONMENTS.head(1))
    assert title(one) == "The median is 29 steps"
    assert "in 1 of 2 environments, those with the longest and shortest medians" in subtitle(one)
    assert title(charts.characters(CHARACTERS)) == (
        "Most of the characters without user are in one kind of text, “system”: 100 %"
    )


def test_trajectories_of_one_length_are_drawn_as_a_point() -> None:
    alike = TRAJECTORIES_SEEN.with_columns(tool_calls=pl.lit(4, pl.UInt32))
    (curve, *_) = spec(charts.ecdf(m.cumulative(alike, "tool calls").collect()))["layer"]
    assert curve["mark"]["point"] is True
