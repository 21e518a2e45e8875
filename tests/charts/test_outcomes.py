"""Outcomes, drawn: fields, marks, and titles that say what the figure shows."""

import polars as pl

from analysis.charts import outcomes as charts
from analysis.measures import outcomes as measures
from tests.charts.drawn import subtitle, title
from tests.measures.calls import script

CALLS = pl.concat(
    [
        script("get:a- " * 5 + "get:a+ " * 15, "set:b- get:a?"),
        script("", "", "get:a+ " * 20, env_id="shop"),
    ]
)
MODES = measures.by_mode(CALLS).collect()
RULES = measures.by_rule(CALLS).collect()
ENVIRONMENTS = measures.by_environment(CALLS).collect()
TOOLS = measures.by_tool(CALLS).collect()
POSITIONS = measures.by_position(CALLS).collect()
TEMPLATES = measures.templates(CALLS).collect()

SAMPLES = {
    charts.by_mode: (MODES, 2),
    charts.by_rule: (RULES, 2),
    charts.by_environment: (ENVIRONMENTS, 4),
    charts.by_tool: (TOOLS, 3),
    charts.by_position: (POSITIONS, 1),
    charts.templates: (TEMPLATES, 1),
}


def test_the_error_rate_is_told_over_what_could_be_judged() -> None:
    assert title(charts.by_mode(MODES)) == f"Calls that end in an error: {100 * 6 / 41:.1f} % with user"
    assert subtitle(charts.by_mode(MODES)).endswith("unknown outcomes, of all calls: 2.4 % with user")


def test_environments_are_told_from_lowest_to_highest() -> None:
    assert title(charts.by_environment(ENVIRONMENTS)) == (f"Error rate by environment: 0 % to {100 * 6 / 21:.1f} %")
    one = ENVIRONMENTS.filter(pl.col("env_id") == "bank")
    assert title(charts.by_environment(one)).endswith("in the only environment: 28.6 %")
    few = measures.by_environment(pl.concat([script("get:a-"), script("get:a-", env_id="b")])).collect()
    assert title(charts.by_environment(few)) == "No environment has 20 known outcomes: errors are shown as counts"


def test_titles_say_what_the_figures_show() -> None:
    assert title(charts.by_tool(TOOLS)) == f"{TOOLS['errors'].sum()} errors in the tools shown, 5 of them of get"
    assert title(charts.templates(TEMPLATES)) == "One message makes up 6 of 6 errors"
    assert title(charts.by_position(POSITIONS)).startswith("No tenth of the trajectories has 20 known outcomes")
    unknown = measures.by_rule(script("get:a?").with_columns(outcome_rule=pl.lit("none"))).collect()
    assert title(charts.by_rule(unknown)) == "No rule applies to 1 of 1 call: the outcome is unknown"
