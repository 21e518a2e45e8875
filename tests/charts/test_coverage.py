"""Coverage, drawn: with a catalogue its absent environments stand there, without one the denominator says so."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import coverage as charts
from analysis.measures import coverage as m
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, calculated, fields, marks, spec, title
from tests.measures.frames import rows
from tests.measures.small import (
    ENVIRONMENTS_GIVEN,
    NO_ENVIRONMENTS,
    NO_SCENARIOS,
    SCENARIOS_GIVEN,
    TRAJECTORIES_SEEN,
)

SEEN = m.environments(TRAJECTORIES_SEEN, NO_ENVIRONMENTS, NO_SCENARIOS).collect()
GIVEN = m.environments(TRAJECTORIES_SEEN, ENVIRONMENTS_GIVEN, SCENARIOS_GIVEN).collect()
LORENZ = m.lorenz(GIVEN.lazy()).collect()
PER_SCENARIO = m.per_scenario(TRAJECTORIES_SEEN, SCENARIOS_GIVEN).collect()
SEEN_SCENARIOS = m.per_scenario(TRAJECTORIES_SEEN, NO_SCENARIOS).collect()

DRAWN = [(charts.lorenz, LORENZ, m.LORENZ, 2), (charts.per_scenario, PER_SCENARIO, m.PER_SCENARIO, 3)]


@pytest.mark.parametrize(("draw", "frame", "result", "at_least"), DRAWN, ids=["lorenz", "per_scenario"])
def test_every_chart_is_drawn_from_its_own_columns(
    draw: Any, frame: pl.DataFrame, result: Table, at_least: int
) -> None:
    assert_drawn(draw(frame), frame, result, at_least=at_least)


def test_environments_are_drawn_by_mode() -> None:
    found = spec(charts.environments(GIVEN))
    assert fields(found) - calculated(found) - {"mode", "runs"} <= set(m.ENVIRONMENTS.names)
    assert marks(found) >= 3
    assert found["description"]
    assert found["usermeta"]["definition"].endswith(".")


@pytest.mark.parametrize(
    ("draw", "result"),
    [(charts.environments, m.ENVIRONMENTS), (charts.lorenz, m.LORENZ), (charts.per_scenario, m.PER_SCENARIO)],
)
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, result: Table) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def subtitle(chart: Any) -> str:
    return " ".join(spec(chart)["title"]["subtitle"])


def test_the_denominator_is_the_catalogue_or_said_to_be_what_was_seen() -> None:
    assert title(charts.environments(GIVEN)) == "2 of 3 environments are covered, with 1 to 2 trajectories each"
    assert "catalogue and seen" in subtitle(charts.environments(GIVEN))
    assert title(charts.environments(SEEN)) == "Environments seen: 2, with 1 to 2 trajectories each"
    assert "no catalogue was given" in subtitle(charts.environments(SEEN))


def test_of_one_environment_is_told_in_the_singular() -> None:
    assert title(charts.environments(SEEN.head(1))) == "Environments seen: 1, with 2 trajectories"
    assert title(charts.environments(GIVEN.head(1))) == "The one environment is covered, with 2 trajectories"


def test_scenarios_in_no_mode_are_told_only_with_a_catalogue() -> None:
    assert title(charts.per_scenario(PER_SCENARIO)) == "Scenarios run in both modes: 1 of 3; in none: 1 of 3"
    assert title(charts.per_scenario(SEEN_SCENARIOS)) == "Scenarios run in both modes: 1 of 2"
    assert "no catalogue was given" in subtitle(charts.per_scenario(SEEN_SCENARIOS))


def test_the_lorenz_title_tells_of_the_smaller_half() -> None:
    assert title(charts.lorenz(LORENZ)) == (
        "The smaller half of the environments holds 0 % of the trajectories and 0 % of the scenarios"
    )


def test_many_environments_lose_their_names_and_keep_their_bars() -> None:
    many = rows(m.ENVIRONMENTS, *[{"env_id": f"env_{i}", "trajectories": i, "conversations": i} for i in range(191)])
    found = spec(charts.environments(many.collect()))
    assert found["encoding"]["x"]["axis"]["labels"] is False
    assert marks(found) >= 190
