"""Coverage in brief: how much of the catalogue is there, how evenly, and what was run more than once."""

from typing import Any

import polars as pl

from analysis.brief import Headline, only
from analysis.wording import count, decimal, rate


def in_brief(balance: pl.DataFrame, scenarios: pl.DataFrame) -> list[Headline]:
    """Say how much of the catalogue is there, how evenly, and what was run more than once.

    Args:
        balance: conforms to coverage.BALANCE.
        scenarios: conforms to coverage.SCENARIO_SUMMARY.

    Returns:
        Seven headlines, in reading order; without a catalogue they say so.
    """
    return _spread(only(balance.filter(grain="trajectories"))) + _scenarios(only(scenarios))


_NO_CATALOGUE = "no catalogue was given: how many are missing is unknown"


def _spread(of: dict[str, Any]) -> list[Headline]:
    environments, absent, total, tenth = (of[name] or 0 for name in ("environments", "absent", "total", "top_tenth"))
    return [
        Headline(
            count(of["seen"] or 0),
            "environments with a trajectory",
            f"of {count(environments)}, including those of the catalogue; {count(absent)} have none"
            if of["has_catalogue"]
            else _NO_CATALOGUE,
            f"Environments of the catalogue without any trajectory: {count(absent)} of {count(environments)}."
            if absent
            else None,
        ),
        Headline(
            decimal(of["median"]),
            "trajectories per environment, median",
            f"at least {count(of['minimum'] or 0)}, at most {count(of['maximum'] or 0)}; over "
            f"{count(total, 'trajectory')} with a named environment",
        ),
        Headline(
            decimal(of["effective_environments"]),
            "effective environments",
            f"as many equal environments would be as diverse as those there are: {count(environments)}",
        ),
        Headline(
            rate(tenth, total),
            "trajectories in the largest tenth of the environments",
            f"{count(tenth)} of {count(total)}, in {count(-(-environments // 10), 'environment')}",
        ),
    ]


def _scenarios(row: dict[str, Any]) -> list[Headline]:
    of = {name: value or 0 for name, value in row.items()}
    missing, unnamed = of["missing"], of["unnamed"]
    trajectories = of["trajectories"] + unnamed
    return [
        Headline(
            rate(of["present"], of["scenarios"]) if of["has_catalogue"] else count(of["seen"]),
            "scenarios run",
            f"{count(of['present'])} of {count(of['scenarios'])} in the catalogue, and {count(of['uncatalogued'])} "
            "that it does not list"
            if of["has_catalogue"]
            else _NO_CATALOGUE,
            f"Scenarios of the catalogue without a trajectory: {count(missing)} of {count(of['scenarios'])}."
            if missing
            else None,
        ),
        Headline(
            rate(of["paired"], of["seen"]),
            "scenarios run in both modes",
            f"{count(of['paired'])} of {count(of['seen'])} that were run",
        ),
        Headline(
            count(of["repeats"]),
            "further runs of the same scenario in the same mode",
            f"among {count(of['trajectories'], 'trajectory')} with a named scenario",
            f"Trajectories that name no scenario: {count(unnamed)} of {count(trajectories)}." if unnamed else None,
        ),
    ]
