"""Coverage in brief."""

from analysis.brief import Headline
from analysis.brief.coverage import in_brief
from analysis.measures.coverage import BALANCE, SCENARIO_SUMMARY
from tests.measures.frames import frame

SPREAD = frame(
    BALANCE,
    {
        "grain": "trajectories", "has_catalogue": True, "environments": 30, "seen": 25, "absent": 5, "total": 1_200,
        "minimum": 0, "median": 38.5, "maximum": 90, "effective_environments": 20.04, "top_tenth": 240,
    },
    {"grain": "scenarios", "has_catalogue": True, "environments": 30, "seen": 25, "total": 600, "median": 20.0},
)  # fmt: skip
SCENARIOS = frame(
    SCENARIO_SUMMARY,
    {
        "has_catalogue": True, "scenarios": 800, "present": 600, "missing": 200, "uncatalogued": 0, "seen": 600,
        "paired": 540, "repeats": 7, "trajectories": 1_190, "unnamed": 10,
    },
)  # fmt: skip


def test_headlines_say_what_of_the_catalogue_is_there_and_how_evenly() -> None:
    assert in_brief(SPREAD, SCENARIOS) == [
        Headline(
            "25",
            "environments with a trajectory",
            "of 30, including those of the catalogue; 5 have none",
            "Environments of the catalogue without any trajectory: 5 of 30.",
        ),
        Headline(
            "38.5",
            "trajectories per environment, median",
            "at least 0, at most 90; over 1,200 trajectories with a named environment",
        ),
        Headline(
            "20", "effective environments", "as many equal environments would be as diverse as those there are: 30"
        ),
        Headline("20.0 %", "trajectories in the largest tenth of the environments", "240 of 1,200, in 3 environments"),
        Headline(
            "75.0 %",
            "scenarios run",
            "600 of 800 in the catalogue, and 0 that it does not list",
            "Scenarios of the catalogue without a trajectory: 200 of 800.",
        ),
        Headline("90.0 %", "scenarios run in both modes", "540 of 600 that were run"),
        Headline(
            "7",
            "further runs of the same scenario in the same mode",
            "among 1,190 trajectories with a named scenario",
            "Trajectories that name no scenario: 10 of 1,200.",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_need_no_attention() -> None:
    numbers = in_brief(SPREAD.clear(), SCENARIOS.clear())
    assert [n.value for n in numbers] == ["0", "–", "–", "0 of 0", "0", "0 of 0", "0"]
    assert not [n for n in numbers if n.attention]


def test_without_a_catalogue_what_is_missing_is_not_known() -> None:
    balance = frame(BALANCE, {"grain": "trajectories", "environments": 3, "seen": 3, "total": 30, "median": 10.0})
    scenarios = frame(SCENARIO_SUMMARY, {"scenarios": 12, "present": 12, "seen": 12, "trajectories": 30})
    numbers = in_brief(balance, scenarios)
    unknown = "no catalogue was given: how many are missing is unknown"
    assert numbers[0] == Headline("3", "environments with a trajectory", unknown)
    assert numbers[4] == Headline("12", "scenarios run", unknown)
