"""Tool usage, drawn: fields, marks, titles that say what the figure shows, and counts where few were offered a tool."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import tool_usage as charts
from analysis.measures import tool_usage as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, marks, spec, title
from tests.measures.frames import rows

HOSTILE = "</script><img src=x onerror=alert(1)>"


def used(name: str | None, calling: int, offering: int, env_id: str = "bank", **more: Any) -> dict[str, Any]:
    """A tool called once by each of some of the trajectories it was offered to."""
    rate = calling / offering if offering else None
    return {
        "env_id": env_id,
        "tool_name": name,
        "calls": max(calling, 1),
        "offering": offering,
        "calling": calling,
        "usage_rate": rate,
        "rate_low": rate and rate * 0.8,
        "rate_high": rate and min(rate * 1.2, 1),
        **more,
    }


BUSIEST = rows(
    measures.BUSIEST,
    used("get", 30, 40, calls=60),
    used(HOSTILE, 4, 40, calls=30, env_id="shop"),
    used("few", 3, 4, calls=3),
    used(None, 0, 0, calls=2),
    all_calls=100,
    all_tools=7,
).collect()
RATES = rows(
    measures.RATES,
    *({"band": band, "rate_from": max(band - 1, 0) / 10, "rate_to": band / 10, "tools": n} for band, n in
      enumerate([5, 3, *[2] * 8, 16])),
    all_tools=40,
    small_tools=6,
).collect()  # fmt: skip
MODES = rows(
    measures.MODES,
    used("get", 30, 40, traj_type="conversation", difference=0.5),
    used("get", 10, 40, traj_type="non_conversation", difference=0.5),
    used("set", 10, 40, traj_type="conversation", difference=0.0),
    used("set", 10, 40, traj_type="non_conversation", difference=0.0),
    compared_tools=9,
).collect()
BREADTH = rows(
    measures.BREADTH,
    {"traj_type": "conversation", "breadth_from": 0.3, "breadth_to": 0.35, "trajectories": 3, "trajectory_share": 0.75},
    {"traj_type": "conversation", "breadth_from": 0.5, "breadth_to": 0.55, "trajectories": 1, "trajectory_share": 0.25},
    mode_trajectories=4,
    median_breadth=0.34,
).collect()
CONCENTRATION = rows(
    measures.CONCENTRATION,
    {"env_id": "bank", "offered_tools": 30, "used_tools": 24, "unused_tools": 6, "gini": 0.5, "top_three_share": 0.6},
    {"env_id": "shop", "offered_tools": 10, "used_tools": 10, "gini": 0.2, "top_three_share": 0.4},
    {"env_id": "idle", "offered_tools": 10, "unused_tools": 10},
).collect()

DRAWN = [
    (charts.busiest, BUSIEST, measures.BUSIEST, 4),
    (charts.usage, BUSIEST, measures.BUSIEST, 6),  # two intervals with their points, two counts
    (charts.rates, RATES, measures.RATES, 11),
    (charts.modes, MODES, measures.MODES, 8),
    (charts.breadth, BREADTH, measures.BREADTH, 2),
    (charts.used_and_offered, CONCENTRATION, measures.CONCENTRATION, 5),
    (charts.concentration, CONCENTRATION, measures.CONCENTRATION, 2),
]
NAMES = [row[0].__name__ for row in DRAWN]


@pytest.mark.parametrize(("draw", "frame", "result", "least"), DRAWN, ids=NAMES)
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, frame: pl.DataFrame, result: Table, least: int) -> None:
    assert_drawn(draw(frame), frame, result, at_least=least)


@pytest.mark.parametrize(("draw", "frame", "result", "least"), DRAWN, ids=NAMES)
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, frame: pl.DataFrame, result: Table, least: int) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


# Bands come eleven at a time, modes in pairs.
SINGLE = [row for row in DRAWN if row[0] not in (charts.rates, charts.modes)]


@pytest.mark.parametrize(("draw", "frame", "result", "least"), SINGLE, ids=[row[0].__name__ for row in SINGLE])
def test_one_row_is_enough(draw: Any, frame: pl.DataFrame, result: Table, least: int) -> None:
    assert_drawn(draw(frame.head(1)), frame.head(1), result)


def test_the_busiest_tool_is_named_with_its_calls_and_the_share_of_those_shown() -> None:
    assert title(charts.busiest(BUSIEST)) == (
        "get is called most, 60 times; the 4 busiest of 7 tools take 95.0 % of the calls"
    )


def test_usage_is_told_over_the_trajectories_offered_and_small_ones_are_left_out_of_the_title() -> None:
    found = title(charts.usage(BUSIEST))
    assert found.startswith("Among the busiest tools, usage runs from 10.0 % (</script>")
    assert found.endswith("to 75.0 % (get) of the trajectories offered them")


def test_where_no_tool_was_offered_often_there_is_no_rate() -> None:
    few = BUSIEST.filter(pl.col("offering") < 20)
    assert title(charts.usage(few)) == "No tool was offered to 20 trajectories: usage is shown as counts"
    texts = charts.usage(few)
    assert marks(spec(texts)) == 2, "two counts, and neither point nor interval"


def test_the_environment_stands_beside_the_name_only_where_there_are_several() -> None:
    labels = [str(charts.usage(frame).to_dict()) for frame in (BUSIEST, BUSIEST.filter(pl.col("env_id") == "bank"))]
    assert [" · " in label for label in labels] == [True, False]


def test_bands_are_told_with_the_never_called_apart() -> None:
    assert title(charts.rates(RATES)) == (
        "20.0 % of the tools are called by at most a tenth of the trajectories offered them, 12.5 % by none"
    )
    assert "6 offered to fewer are left out" in " ".join(spec(charts.rates(RATES))["title"]["subtitle"])


def test_the_largest_difference_is_told_per_mode() -> None:
    assert (
        title(charts.modes(MODES))
        == "Usage differs most for get: 75.0 % in conversations, 25.0 % in runs without a user"
    )
    assert "2 of 9 tools compared are shown" in " ".join(spec(charts.modes(MODES))["title"]["subtitle"])


def test_unused_tools_are_told_of_all_that_are_shown() -> None:
    assert title(charts.used_and_offered(CONCENTRATION)) == (
        "32.0 % of the tools offered here are never called; 1 of 3 environments use all"
    )


def test_concentration_is_told_for_the_median_environment_that_calls_anything() -> None:
    assert title(charts.concentration(CONCENTRATION)) == (
        "In the median environment three tools take 50 % of the calls (Gini 0.35)"
    )
    idle = charts.concentration(CONCENTRATION.filter(pl.col("env_id") == "idle"))
    assert title(idle) == "No environment calls any tool"
