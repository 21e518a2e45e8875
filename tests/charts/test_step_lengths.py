"""Step lengths, drawn: the publisher's edges as named rules for steps and for nothing else."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import step_lengths as charts
from analysis.measures import step_lengths as m
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, fields, marks, spec, title
from tests.measures.small import MESSAGES_SEEN, SOLO, TRAJECTORIES_SEEN

STEPS = m.distribution(TRAJECTORIES_SEEN, "steps").collect()
CALLS = m.distribution(TRAJECTORIES_SEEN, "tool calls").collect()
ENVIRONMENTS = m.by_environment(TRAJECTORIES_SEEN, top=9).collect()
CHARACTERS = m.characters(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()

DRAWN = [
    (charts.histogram, CALLS, m.DISTRIBUTION, 3),
    (charts.ecdf, CALLS, m.DISTRIBUTION, 2),
    (charts.by_environment, ENVIRONMENTS, m.BY_ENVIRONMENT, 9),
    (charts.characters, CHARACTERS, m.CHARACTERS, 12),
]
IDS = [draw.__name__ for draw, *_ in DRAWN]


@pytest.mark.parametrize(("draw", "frame", "result", "at_least"), DRAWN, ids=IDS)
def test_every_chart_is_drawn_from_its_own_columns(
    draw: Any, frame: pl.DataFrame, result: Table, at_least: int
) -> None:
    assert_drawn(draw(frame), frame, result, at_least=at_least)


@pytest.mark.parametrize(("draw", "result"), [(row[0], row[2]) for row in DRAWN], ids=IDS)
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, result: Table) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


@pytest.mark.parametrize(("draw", "shift"), [(charts.histogram, 1), (charts.ecdf, 0)])
def test_the_publishers_edges_are_drawn_and_named_for_steps(draw: Any, shift: int) -> None:
    found = spec(draw(STEPS))
    edges = next(
        [row for row in rows if "named" in row] for rows in found["datasets"].values() if rows and "named" in rows[0]
    )
    # A bar reaches to the next value: its upper edge stands one further than a point's.
    assert {(row["traj_type"], row["named"], row["edge"]) for row in edges} == {
        ("conversation", "from 5", 5),
        ("conversation", "to 39", 39 + shift),
        ("non_conversation", "from 3", 3),
        ("non_conversation", "to 29", 29 + shift),
    }
    # Bars or lines, and on top of them four rules and four names.
    assert marks(found) >= 2 + 4 + 4
    assert fields(found) - set(STEPS.columns) == {"edge", "line", "named"}
    assert "Selection" in " ".join(found["title"]["subtitle"])
    assert "Selection" not in " ".join(spec(draw(CALLS))["title"]["subtitle"])


def test_one_mode_alone_shows_its_own_edges() -> None:
    text = str(spec(charts.histogram(STEPS.filter(pl.col("traj_type") == SOLO))))
    assert "to 29" in text
    assert "to 39" not in text


def test_titles_say_what_the_figures_show() -> None:
    assert title(charts.histogram(STEPS)) == "The median of steps is 5 in conversations, 29 in runs without a user"
    assert title(charts.ecdf(STEPS)) == (
        "Nine in ten trajectories take no more steps than 5 in conversations, 30 in runs without a user"
    )
    assert (
        title(charts.by_environment(ENVIRONMENTS)) == "Medians over both modes run from 29 steps in shop to 4 in bank"
    )
    assert title(charts.by_environment(ENVIRONMENTS.head(1))) == "The median in shop is 29 steps"
    assert title(charts.characters(CHARACTERS)) == "Most characters are system: 100 % of all in runs without a user"


def test_a_choice_of_environments_is_said() -> None:
    subtitle = " ".join(spec(charts.by_environment(ENVIRONMENTS.head(1)))["title"]["subtitle"])
    assert "the 1 longest and shortest of 2 environments" in subtitle
