"""Coverage, drawn: with a catalogue its absent environments stand there, without one the denominator says so."""

from analysis.charts import coverage as charts
from analysis.measures import coverage as m
from tests.charts.drawn import marks, spec, subtitle, title
from tests.measures.frames import frame
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

SAMPLES = {
    charts.environments: (GIVEN, 3),
    charts.lorenz: (LORENZ, 2),
    charts.per_scenario: (PER_SCENARIO, 3),
}


def test_the_denominator_is_the_catalogue_or_said_to_be_what_was_seen() -> None:
    assert title(charts.environments(GIVEN)) == "2 of 3 environments are covered, with 1 to 2 trajectories each"
    assert "those of the catalogue and those seen" in subtitle(charts.environments(GIVEN))
    assert title(charts.environments(SEEN)) == "2 environments, with 1 to 2 trajectories each"
    assert "no catalogue was given" in subtitle(charts.environments(SEEN))


def test_a_single_environment_is_named_in_the_singular() -> None:
    assert title(charts.environments(SEEN.head(1))) == "1 environment, with 2 trajectories"
    assert title(charts.environments(GIVEN.head(1))) == "The only environment is covered, with 2 trajectories"


def test_scenarios_that_were_not_run_are_told_only_with_a_catalogue() -> None:
    assert title(charts.per_scenario(PER_SCENARIO)) == "Scenarios run in both modes: 1 of 3; not run at all: 1 of 3"
    assert title(charts.per_scenario(SEEN_SCENARIOS)) == "Scenarios run in both modes: 1 of 2"
    assert "no catalogue was given" in subtitle(charts.per_scenario(SEEN_SCENARIOS))


def test_the_lorenz_title_tells_of_the_smaller_half() -> None:
    assert title(charts.lorenz(LORENZ)) == (
        "The smaller half of the environments holds 0 of 3 trajectories and 0 of 2 scenarios"
    )


def test_many_environments_lose_their_names_and_keep_their_bars() -> None:
    many = frame(m.ENVIRONMENTS, *[{"env_id": f"env_{i}", "trajectories": i, "conversations": i} for i in range(191)])
    drawn = spec(charts.environments(many))
    assert drawn["encoding"]["x"]["axis"]["labels"] is False
    assert marks(drawn) >= 190
