"""Tool usage, drawn: fields, marks, titles, counts in place of rates over few."""

import polars as pl
import pytest

from analysis.charts import tool_usage as charts
from analysis.measures import tool_usage as m
from tests.charts.drawn import marks, spec, title
from tests.measures.frames import rows
from tests.measures.small import CALLS_SEEN, SOLO, TALK, TOOLS_SEEN, TRAJECTORIES_SEEN

BY_TOOL = m.by_tool(CALLS_SEEN, TRAJECTORIES_SEEN, TOOLS_SEEN)
BUSIEST = m.busiest(BY_TOOL, top=5).collect()
CONCENTRATION = m.concentration(BY_TOOL, TRAJECTORIES_SEEN).collect()
BREADTH = m.breadth(TRAJECTORIES_SEEN).collect()
RATES = m.rates(
    rows(m.TOOLS, *[{"tool_name": str(i), "calling": c, "offering": 40} for i, c in enumerate([0, 2, 40])])
).collect()
MODES = rows(
    m.MODES,
    *[
        {"env_id": "bank", "tool_name": "set", "traj_type": mode, "offering": 40, "calling": calling,
         "usage_rate": calling / 40, "usage_rate_low": 0.1, "usage_rate_high": 0.9, "difference": 0.5,
         "compared_tools": 7}
        for mode, calling in [(TALK, 30), (SOLO, 10)]
    ],
).collect()  # fmt: skip

SAMPLES = {
    charts.busiest: (BUSIEST, 5),
    charts.usage: (BUSIEST, 5),
    charts.rates: (RATES, 3),
    charts.modes: (MODES, 4),
    charts.breadth: (BREADTH, 3),
    charts.used_and_offered: (CONCENTRATION, 4),
    charts.concentration: (CONCENTRATION, 2),
}


def test_titles_say_what_the_figures_show() -> None:
    assert title(charts.busiest(BUSIEST)) == "get is called most, 3 times; the 5 busiest of 6 tools take 7 of 7 calls"
    assert title(charts.usage(BUSIEST)) == "No tool was offered to 20 trajectories: usage is shown as counts"
    assert title(charts.rates(RATES)) == (
        "2 of 3 tools are called by at most a tenth of the trajectories offered them, 1 of 3 by none"
    )
    assert title(charts.modes(MODES)) == "Usage with and without user, for 1 of 7 tools compared"
    assert title(charts.used_and_offered(CONCENTRATION)) == (
        "1 of 4 tools offered here are never called; 1 of 2 environments use all"
    )
    assert title(charts.concentration(CONCENTRATION)).startswith("No environment has 20 calls")
    assert "100 % of the calls" in title(charts.concentration(CONCENTRATION.with_columns(calls=pl.lit(50, pl.UInt32))))


def test_of_one_environment_is_told_in_the_singular() -> None:
    one = CONCENTRATION.head(1).with_columns(calls=pl.lit(50, pl.UInt32))
    assert title(charts.used_and_offered(one)).endswith("tools offered here are never called")
    assert " ".join(spec(charts.used_and_offered(one))["title"]["subtitle"]).endswith("offered, 1 environment shown")
    assert "n = 1 environment with 20 calls" in " ".join(spec(charts.concentration(one))["title"]["subtitle"])
    assert title(charts.concentration(one)).startswith("In the one environment three tools take")


def test_usage_offered_to_many_is_told_from_least_to_most() -> None:
    many = BUSIEST.with_columns(
        pl.lit(50, pl.UInt32).alias("offering"), pl.Series("calling", [50, 20, 10, 5, 30], pl.UInt32)
    )
    many = many.with_columns(usage_rate=pl.col("calling") / 50)
    words = title(charts.usage(many))
    assert words == "Usage of the busiest tools: 10.0 % to 100 % of the trajectories offered them"


def test_a_rate_over_few_is_shown_as_counts() -> None:
    few = charts.usage(BUSIEST)
    assert "offering < 20" in str(spec(few))
    # Five texts, no point and no interval.
    assert marks(spec(few)) == 5


def test_a_tool_is_named_with_its_environment_only_where_there_are_several() -> None:
    assert "env_id" in str(spec(charts.busiest(BUSIEST))["transform"])
    alone = BUSIEST.filter(pl.col("env_id") == "bank")
    assert "env_id" not in str(spec(charts.busiest(alone))["transform"])


@pytest.mark.parametrize("name", ["</script><img src=x onerror=alert(1)>", "a.b[c]:'d'", "x" * 500, "\u202eevil"])
def test_hostile_names_stay_text_and_are_drawn(name: str) -> None:
    hostile = BUSIEST.with_columns(pl.lit(name).alias("tool_name"), pl.lit(name).alias("env_id"))
    for draw in (charts.busiest, charts.usage):
        assert marks(spec(draw(hostile.head(1)))) >= 1
