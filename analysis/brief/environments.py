"""Environments in brief: how much they hold, and how much of it changes their state."""

import polars as pl

from analysis.brief import Headline, sums
from analysis.wording import ABSENT, count, decimal, rate


def in_brief(each: pl.DataFrame, checks: pl.DataFrame) -> list[Headline]:
    """Say how much the environments hold, and how much of it changes their state.

    Args:
        each: conforms to environments.PER_ENVIRONMENT.
        checks: conforms to environments.CHECKS_PER_SCENARIO.

    Returns:
        Seven headlines, in reading order; none without an environment.
    """
    if each.is_empty():
        return []
    n = each.height
    tools = (each["query_tools"] + each["change_tools"]).sort()
    all_tools, (change,) = int(tools.sum()), sums(each, "change_tools")
    fixed, without_rules = each.filter(change_tools=0).height, each.filter(rules=0).height
    return [
        Headline(count(n), "environments", "in the sibling set given"),
        Headline(
            decimal(tools.median()),  # type: ignore[arg-type]
            "tools per environment, median",
            f"from {count(tools[0])} to {count(tools[-1])}; {count(all_tools)} in all",
        ),
        Headline(
            rate(change, all_tools),
            "tools that change the state",
            f"{count(change)} of {count(all_tools)}; the others read",
            f"Environments in which no tool changes the state: {count(fixed)} of {count(n)}." if fixed else None,
        ),
        Headline(
            decimal(each["state_categories"].median()),  # type: ignore[arg-type]
            "state categories per environment, median",
            f"attributes of an environment's entities; {count(each['state_entities'].sum(), 'entity')} in all",
        ),
        Headline(
            decimal(each["rules"].median()),  # type: ignore[arg-type]
            "rules per environment, median",
            f"constraints of an environment; environments without any: {count(without_rules)}",
        ),
        _scenarios(each),
        Headline(
            decimal(checks["mean_checks"].first()),  # type: ignore[arg-type]
            "checks per scenario",
            f"mean over {count(checks['all_scenarios'].first() or 0, 'scenario')} with checks",  # type: ignore[arg-type]
        ),
    ]


def _scenarios(each: pl.DataFrame) -> Headline:
    known, bare = each["scenarios"].drop_nulls(), each.filter(scenarios=0).height
    if known.is_empty():
        return Headline(ABSENT, "scenarios", "no sibling set of scenarios was given")
    return Headline(
        count(known.sum()),
        "scenarios",
        f"in the sibling sets given; {count(bare, 'environment')} without any",
        f"Environments without a scenario in the sets given: {count(bare)} of {count(each.height)}." if bare else None,
    )
