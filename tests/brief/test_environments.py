"""Environments in brief."""

from analysis.brief import Headline
from analysis.brief.environments import in_brief
from analysis.measures.environments import CHECKS_PER_SCENARIO, PER_ENVIRONMENT
from tests.measures.frames import frame

EACH = frame(
    PER_ENVIRONMENT,
    {
        "env_id": "bank", "query_tools": 10, "change_tools": 8, "state_entities": 3, "state_categories": 20,
        "rules": 4, "scenarios": 40,
    },
    {
        "env_id": "zoo", "query_tools": 7, "change_tools": 0, "state_entities": 2, "state_categories": 11,
        "rules": 0, "scenarios": 0,
    },
    {
        "env_id": "shop", "query_tools": 9, "change_tools": 3, "state_entities": 1, "state_categories": 12,
        "rules": 1, "scenarios": 5,
    },
)  # fmt: skip
CHECKS = frame(CHECKS_PER_SCENARIO, *[{"checks": 2 + n, "all_scenarios": 30, "mean_checks": 4.0} for n in (0, 3)])


def test_headlines_say_what_the_environments_hold() -> None:
    assert in_brief(EACH, CHECKS) == [
        Headline("3", "environments", "in the sibling set given"),
        Headline("12", "tools per environment, median", "from 7 to 18; 37 in all"),
        Headline(
            "29.7 %",
            "tools that change the state",
            "11 of 37; the others read",
            "Environments in which no tool changes the state: 1 of 3.",
        ),
        Headline(
            "12",
            "state categories per environment, median",
            "attributes of an environment's entities; 6 entities in all",
        ),
        Headline("1", "rules per environment, median", "constraints of an environment; environments without any: 1"),
        Headline(
            "45",
            "scenarios",
            "in the sibling sets given; 1 environment without any",
            "Environments without a scenario in the sets given: 1 of 3.",
        ),
        Headline("4", "checks per scenario", "mean over 30 scenarios with checks"),
    ]
    assert in_brief(EACH.clear(), CHECKS.clear()) == []


def test_without_the_set_of_scenarios_none_are_said_to_be_missing() -> None:
    alone = frame(PER_ENVIRONMENT, {"env_id": "bank", "query_tools": 1, "change_tools": 1, "rules": 1})
    *_, scenarios, checks = in_brief(alone, CHECKS.clear())
    assert scenarios == Headline("–", "scenarios", "no sibling set of scenarios was given")
    assert checks.value == "–"
