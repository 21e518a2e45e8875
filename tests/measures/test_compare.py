"""Compare: two sides of a few records, and the draw of scenarios behind the intervals."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import compare as m
from analysis.measures import comparisons, intervals, sides, tool_usage
from analysis.schema import TOOL_CALLS, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled
from tests.measures.small import CALLS_SEEN, NO_CALLS, NO_TRAJECTORIES, TOOLS_SEEN, TRAJECTORIES_SEEN


def side(*runs: tuple[str | None, int, int], **more: Any) -> pl.LazyFrame:
    """Trajectories as (scenario, steps, calls)."""
    return rows(
        TRAJECTORIES,
        *[
            {
                "trajectory_id": str(i),
                "env_id": "bank",
                "task_id": task,
                "assistant_messages": steps,
                "tool_calls": calls,
            }
            for i, (task, steps, calls) in enumerate(runs)
        ],
        **more,
    )


def calls(*outcomes: tuple[str, str]) -> pl.LazyFrame:
    return rows(TOOL_CALLS, *[{"trajectory_id": t, "call": i, "outcome": o} for i, (t, o) in enumerate(outcomes)])


# Scenario 1 runs twice on the left; scenario 3 is only on the right.
LEFT = side(("1", 4, 2), ("1", 6, 2), ("2", 8, 5))
RIGHT = side(("1", 4, 4), ("2", 6, 3), ("3", 2, 1))
LEFT_CALLS = calls(("0", "ok"), ("0", "error"), ("2", "unknown"))
RIGHT_CALLS = calls(("0", "ok"), ("1", "ok"), ("2", "error"), ("2", "ok"))
TOOLS = tool_usage.by_tool(CALLS_SEEN, TRAJECTORIES_SEEN, TOOLS_SEEN)
NO_USE = tool_usage.TOOLS.empty().lazy()


def of(frame: pl.LazyFrame, quantity: str) -> dict[str, Any]:
    return frame.filter(pl.col("quantity") == quantity).collect().row(0, named=True)


def test_headlines_are_sums_over_sums_on_either_side() -> None:
    found = m.headlines(LEFT, RIGHT, LEFT_CALLS, RIGHT_CALLS)
    steps = of(found, "steps per trajectory")
    assert (steps["left"], steps["right"]) == (18 / 3, 12 / 3)
    assert steps["difference"] == pytest.approx(18 / 3 - 12 / 3)
    assert steps["relative_difference"] is None, "three scenarios cannot say that the right is clearly above 0"
    assert (steps["left_trials"], steps["right_trials"], steps["scenarios"]) == (3, 3, 3)
    assert of(found, "calls per step")["left"] == pytest.approx(9 / 18), "not the mean of 2/4, 2/6 and 5/8"
    errors = of(found, "error rate of calls")
    assert (errors["left_events"], errors["right_events"]) == (1, 1)
    assert (errors["left_trials"], errors["right_trials"]) == (2, 4), "unknown outcomes are not tried"
    assert of(found, "unknown share of calls")["left_events"] == 1


def test_a_rate_over_fewer_than_20_is_a_count() -> None:
    found = m.headlines(LEFT, RIGHT, LEFT_CALLS, RIGHT_CALLS).collect()
    few = found.filter(pl.col("left_trials").lt(20) & pl.col("quantity").cast(pl.String).is_in(m._NONE_OVER_FEW))
    assert few.height >= 4
    assert few.select("left", "difference", "relative_difference").null_count().row(0) == (few.height,) * 3
    assert set(few["p_value"]) == {1.0}
    rewarded = side(*[("1", 4, 4)] * 2, total_reward=0.0)
    reward = of(m.headlines(rewarded, rewarded, NO_CALLS, NO_CALLS), "reward per trajectory that has one")
    assert (reward["left"], reward["left_trials"]) == (None, 2), "no mean reward of 0.00 over two"


def test_every_quantity_is_its_events_over_its_trials() -> None:
    first = {
        "trajectory_id": "1", "env_id": "bank", "task_id": "x", "assistant_messages": 10, "tool_calls": 6,
        "user_messages": 3, "tools_offered": 8, "tools_used": 4, "total_reward": 0.5, "reasoning_messages": 7,
        "end_class": "stop_marker",
    }  # fmt: skip
    second = {
        "trajectory_id": "2", "env_id": "bank", "task_id": "y", "assistant_messages": 20, "tool_calls": 4,
        "user_messages": 2, "tools_offered": 12, "tools_used": 1, "reasoning_messages": 5, "end_class": "dangling_call",
    }  # fmt: skip
    third = first | {"trajectory_id": "3", "task_id": "z", "end_class": "completed_marker", "tool_calls": 0}
    made = [("1", "ok"), ("1", "error"), ("1", "unknown"), ("2", "ok"), ("2", "ok")]
    seen, judged = rows(TRAJECTORIES, first, second, third), calls(*made)
    found = m.headlines(seen, seen, judged, judged).collect()
    ratios = found.select("quantity", pl.col("left_events") / pl.col("left_trials"))
    assert dict(ratios.iter_rows()) == pytest.approx(
        {
            "steps per trajectory": 40 / 3,
            "tool calls per trajectory": 10 / 3,
            "user messages per trajectory": 8 / 3,
            "tools offered per trajectory": 28 / 3,
            "distinct tools used per trajectory": 9 / 3,
            "reward per trajectory that has one": 1 / 2,
            "breadth: tools used / offered": 9 / 28,
            "calls per step": 10 / 40,
            "error rate of calls": 1 / 4,
            "unknown share of calls": 1 / 10,
            "share of steps with reasoning": 19 / 40,
            "share that closes with its marker": 2 / 3,
        }
    )
    assert found["quantity"].to_list() == list(found["quantity"].dtype.categories)  # type: ignore[attr-defined]
    assert found["right"].to_list() == found["left"].to_list()


# Forty scenarios, either side with an effort of its own on each.
MANY_LEFT = side(*((str(n), 10 + n % 7, 5 + n % 5) for n in range(40)))
MANY_RIGHT = side(*((str(n), 8 + n % 9, 5 + n % 3) for n in range(40)))


def test_a_relative_difference_draws_both_sides() -> None:
    there = of(m.headlines(MANY_LEFT, MANY_RIGHT, NO_CALLS, NO_CALLS), "steps per trajectory")
    back = of(m.headlines(MANY_RIGHT, MANY_LEFT, NO_CALLS, NO_CALLS), "steps per trajectory")
    assert there["difference_low"] < there["difference"] < there["difference_high"]
    assert there["relative_difference"] == pytest.approx(there["left"] / there["right"] - 1)
    assert (1 + there["relative_low"]) * (1 + back["relative_high"]) == pytest.approx(1, abs=0.01)
    assert (1 + there["relative_high"]) * (1 + back["relative_low"]) == pytest.approx(1, abs=0.01)
    paired = of(m.paired(MANY_LEFT, MANY_RIGHT, NO_CALLS, NO_CALLS), "steps per trajectory")
    assert paired["relative_low"] < paired["left"] / paired["right"] - 1 < paired["relative_high"]


def test_a_negative_right_side_has_no_relative_difference() -> None:
    right = MANY_RIGHT.with_columns(total_reward=pl.lit(-2.0) - pl.col("tool_calls") / 10)
    left = MANY_LEFT.with_columns(total_reward=pl.lit(1.0))
    found = of(m.headlines(left, right, NO_CALLS, NO_CALLS), "reward per trajectory that has one")
    assert found["difference_low"] > 0
    assert (found["relative_difference"], found["relative_low"], found["relative_high"]) == (None, None, None)


@pytest.mark.parametrize("few", [1, 2, 3, 9])
def test_few_scenarios_on_a_side_differ_from_nothing(few: int) -> None:
    one = side(*[(f"left{n}", 30 + n, 5) for n in range(few)])
    found = m.headlines(one, MANY_RIGHT, NO_CALLS, NO_CALLS).collect()
    assert found["difference_low"].null_count() == found.height
    assert not found["is_different"].any()
    assert found["compared"].to_list() == [0] * found.height
    assert of(found.lazy(), "steps per trajectory")["left_scenarios"] == few


def test_only_what_chance_would_hardly_make_of_all_compared_differs() -> None:
    found = m.headlines(MANY_LEFT, MANY_RIGHT.with_columns(assistant_messages=40), NO_CALLS, NO_CALLS).collect()
    assert of(found.lazy(), "steps per trajectory")["is_different"]
    assert not of(found.lazy(), "tools offered per trajectory")["is_different"]
    n = found["compared"][0]
    assert found["by_chance"].to_list() == pytest.approx([0.05 * n] * found.height)
    expected = comparisons.holm(found.filter(pl.col("difference_low").is_not_null())["p_value"].to_list(), 0.05 / 3)
    assert found.filter(pl.col("difference_low").is_not_null())["is_different"].to_list() == expected


def test_a_single_scenario_has_no_interval_of_any_kind() -> None:
    found = of(m.headlines(side(("1", 4, 2)), side(("1", 5, 2)), NO_CALLS, NO_CALLS), "steps per trajectory")
    assert (found["difference"], found["scenarios"]) == (-1, 1)
    assert {found[end] for end in ("difference_low", "difference_high", "relative_low", "relative_high")} == {None}
    assert found["relative_difference"] is None


def test_the_intervals_hang_on_the_seed_which_is_0_where_nothing_else_is_said() -> None:
    left = side(*((str(n), n * n * n, n) for n in range(1, 40)))
    right = side(*((str(n), n, 2 * n) for n in range(1, 40)))
    for measure in (m.headlines, m.paired):
        usual, same, other = (
            measure(left, right, NO_CALLS, NO_CALLS, **seed) for seed in ({}, {"seed": 0}, {"seed": 1})
        )
        assert_frame_equal(usual.collect(), same.collect())
        assert (
            of(usual, "steps per trajectory")["difference_high"] != of(other, "steps per trajectory")["difference_high"]
        )


def test_a_number_neither_side_or_only_one_can_have_is_left_out() -> None:
    found = m.headlines(LEFT, side(("1", 4, 4), total_reward=1.0), LEFT_CALLS, NO_CALLS).collect()
    assert "reward per trajectory that has one" not in found["quantity"]
    assert "error rate of calls" not in found["quantity"]
    half, whole = (side(*[("1", 4, 4)] * 20, total_reward=reward) for reward in (0.5, 1.0))
    rewarded = m.headlines(half, whole, NO_CALLS, NO_CALLS)
    assert of(rewarded, "reward per trajectory that has one")["difference"] == -0.5


def test_nothing_on_the_right_has_no_relative_difference() -> None:
    found = of(m.headlines(LEFT, side(("1", 4, 0), ("2", 4, 0)), NO_CALLS, NO_CALLS), "tool calls per trajectory")
    assert (found["difference"], found["relative_difference"], found["relative_low"]) == (3, None, None)


def test_paired_counts_each_shared_scenario_once() -> None:
    found = of(m.paired(LEFT, RIGHT, LEFT_CALLS, RIGHT_CALLS), "steps per trajectory")
    # Scenario 1: mean of 4 and 6 against 4; scenario 2: 8 against 6; scenario 3 has no left.
    assert (found["left"], found["right"]) == ((5 + 8) / 2, (4 + 6) / 2)
    assert found["difference"] == pytest.approx((1 + 2) / 2)
    assert (found["scenarios"], found["left_higher"], found["right_higher"]) == (2, 2, 0)
    assert (found["difference_low"], found["is_different"]) == (None, False)
    calls_made = of(m.paired(LEFT, RIGHT, LEFT_CALLS, RIGHT_CALLS), "tool calls per trajectory")
    assert (calls_made["left_higher"], calls_made["right_higher"]) == (1, 1)


def test_a_single_shared_scenario_has_a_difference_and_no_interval() -> None:
    found = of(m.paired(side(("1", 4, 2)), side(("1", 5, 2), ("2", 9, 2)), NO_CALLS, NO_CALLS), "steps per trajectory")
    assert (found["difference"], found["difference_low"], found["difference_high"]) == (-1, None, None)


def test_trajectories_without_a_scenario_are_not_taken_for_each_other() -> None:
    unnamed = side((None, 4, 2), (None, 5, 2))
    assert m.paired(unnamed, unnamed, NO_CALLS, NO_CALLS).collect().is_empty()
    assert of(m.headlines(unnamed, unnamed, NO_CALLS, NO_CALLS), "steps per trajectory")["scenarios"] == 4


def test_the_interval_of_two_alike_sides_on_the_same_scenarios_is_nothing() -> None:
    found = of(m.headlines(MANY_LEFT, MANY_LEFT, NO_CALLS, NO_CALLS), "steps per trajectory")
    assert (found["difference"], found["difference_low"], found["difference_high"]) == (0, 0, 0)
    assert (found["p_value"], found["is_different"]) == (1, False)


def test_counts_say_what_both_sides_share() -> None:
    found = sides.counts(LEFT, RIGHT, TOOLS, TOOLS.filter(pl.col("env_id") == "bank")).collect()
    assert found.rows() == [
        ("trajectories", 3, 3, None),
        ("scenarios", 2, 3, 2),
        ("environments", 1, 1, 1),
        ("tools offered", 4, 3, 3),
    ]


def test_distributions_share_their_bins_and_sum_to_one_a_side() -> None:
    found = m.distributions(LEFT, RIGHT).collect()
    assert found.select("side", "value", "value_to", "trajectories", "side_trajectories").rows() == [
        ("left", 4, 5, 1, 3),
        ("left", 6, 7, 1, 3),
        ("left", 8, 9, 1, 3),
        ("right", 2, 3, 1, 3),
        ("right", 4, 5, 1, 3),
        ("right", 6, 7, 1, 3),
    ]
    assert found.select("side", "median", "p90").unique().sort("side").rows() == [("left", 6, 8), ("right", 4, 6)]
    assert found.filter(side="right")["cumulative_share"].to_list() == pytest.approx([1 / 3, 2 / 3, 1])
    wide = m.distributions(side(("1", 400, 1)), RIGHT).collect()
    assert wide.filter(side="right").select("value", "value_to").rows() == [(0, 6), (6, 12)]
    assert m.distributions(LEFT, RIGHT, "tool_calls").collect().filter(side="left")["value"].to_list() == [2, 5]


def test_a_median_is_of_the_values_and_not_of_their_bins() -> None:
    found = m.distributions(side(*[("1", 10, 1)] * 9, *[("1", 161, 1)] * 11), RIGHT).collect()
    assert found.filter(side="left").select("value", "value_to", "median", "p90").rows() == [
        (9, 12, 161, 161),
        (159, 162, 161, 161),
    ]


def test_what_only_one_side_has_is_gained_or_lost() -> None:
    right = TRAJECTORIES_SEEN.filter(pl.col("env_id") == "bank")
    right_tools = TOOLS.filter((pl.col("env_id") == "bank") & (pl.col("tool_name") != "never"))
    gained = sides.membership(TRAJECTORIES_SEEN, right, TOOLS, right_tools).collect()
    # The shop's own tool is not listed beside the shop.
    assert gained.rows() == [("environment", "gained", "shop", None, 1), ("tool", "gained", "bank", "never", 2)]
    lost = sides.membership(right, TRAJECTORIES_SEEN, right_tools, TOOLS).collect()
    assert lost["change"].to_list() == ["lost", "lost"]


def test_members_are_listed_environments_first_in_natural_order() -> None:
    def there(*names: str) -> pl.LazyFrame:
        return rows(TRAJECTORIES, *({"trajectory_id": f"{name}{n}", "env_id": name} for name in names for n in (1, 2)))

    def offered(*tools: tuple[str | None, str, int]) -> pl.LazyFrame:
        return rows(tool_usage.TOOLS, *({"env_id": e, "tool_name": t, "offering": n} for e, t, n in tools))

    left_tools = offered(("e1", "b", 3), ("e1", "a", 4), ("e10", "own", 2), (None, "odd", 1), ("e1", "unlisted", 0))
    right_tools = offered(("e1", "z", 5), ("e2", "y", 1), (None, "odd", 1))
    found = sides.membership(there("e1", "e10", "e9"), there("e1", "e2"), left_tools, right_tools).collect()
    assert found.rows() == [
        ("environment", "gained", "e9", None, 2),
        ("environment", "gained", "e10", None, 2),
        ("environment", "lost", "e2", None, 2),
        ("tool", "gained", "e1", "a", 4),
        ("tool", "gained", "e1", "b", 3),
        ("tool", "lost", "e1", "z", 5),
    ]


def test_what_names_no_environment_or_scenario_is_counted_as_a_trajectory_alone() -> None:
    nameless = rows(TRAJECTORIES, {"trajectory_id": "1"}, {"trajectory_id": "2", "env_id": "bank", "task_id": "x"})
    found = sides.counts(nameless, LEFT, NO_USE, TOOLS).collect()
    assert found.rows() == [
        ("trajectories", 2, 3, None),
        ("scenarios", 1, 2, 0),
        ("environments", 1, 1, 1),
        ("tools offered", 0, 4, 0),
    ]


def test_one_task_id_in_two_environments_is_two_scenarios() -> None:
    both = rows(TRAJECTORIES, *({"trajectory_id": env, "env_id": env, "task_id": "1"} for env in ("bank", "shop")))
    found = sides.counts(both, both.filter(pl.col("env_id") == "shop"), NO_USE, NO_USE).collect()
    assert found.filter(counted="scenarios").rows() == [("scenarios", 2, 1, 1)]


def test_shares_and_bins_of_a_distribution_are_counted_on_their_own_side() -> None:
    found = m.distributions(side(("1", 4, 1), ("2", 4, 1), ("3", 9, 1)), side(("1", 80, 1))).collect()
    assert found.select("side", "value", "value_to", "trajectories").rows() == [
        ("left", 4, 6, 2),
        ("left", 8, 10, 1),
        ("right", 80, 82, 1),
    ]
    assert found["trajectory_share"].to_list() == pytest.approx([2 / 3, 1 / 3, 1])
    assert found["cumulative_share"].to_list() == pytest.approx([2 / 3, 1, 1])
    assert m.distributions(side(("1", 79, 1)), side(("1", 4, 1))).collect()["value_to"].to_list() == [80, 5]


def usage(*tools: tuple[str, str, int, int]) -> pl.LazyFrame:
    """Tools as (environment, tool, calling, offering), a trajectory a scenario."""
    made = []
    for env_id, name, calling, offering in tools:
        runs = pl.DataFrame({"calling": [1] * calling + [0] * (offering - calling), "one": 1})
        rate = runs.select(**intervals.clustered_rate(pl.col("calling"), pl.col("one"), "usage_rate")).row(
            0, named=True
        )
        made.append({"env_id": env_id, "tool_name": name, "calling": calling, "offering": offering} | rate)
    return rows(tool_usage.TOOLS, *made)


def test_tools_that_differ_as_much_stand_in_natural_order_with_intervals_of_their_own() -> None:
    def used(calling: int, offering: int) -> pl.LazyFrame:
        names = [("e10", "a"), ("e9", "b"), ("e9", "a")]
        return usage(*[(e, t, calling, offering) for e, t in names], ("e1", "x", 20, 20))

    found = m.tools(used(5, 20), used(30, 40), top=9).collect()
    assert found.select("env_id", "tool_name").rows() == [("e9", "a"), ("e9", "b"), ("e10", "a"), ("e1", "x")]
    assert found.select("left_offering", "right_offering", "compared_tools", "different_tools").rows()[0] == (
        *(20, 40, 4, 3),
    )
    row = found.row(0, named=True)
    assert row["difference"] == 5 / 20 - 30 / 40
    assert row["left_low"] < 5 / 20 < row["left_high"] < row["right_low"] < 30 / 40 < row["right_high"]
    assert row["difference_low"] < -0.5 < row["difference_high"] < 0
    assert found["is_different"].to_list() == [True, True, True, False]


def test_the_largest_of_many_small_differences_is_chance() -> None:
    left = usage(*[("bank", f"tool{n:02}", 10 + n % 7, 30) for n in range(61)])
    right = usage(*[("bank", f"tool{n:02}", 10 + n % 5, 30) for n in range(61)])
    found = m.tools(left, right, top=3).collect()
    assert found["different_tools"].to_list() == [0, 0, 0]
    assert found["compared"].to_list() == [61, 61, 61]
    assert found["by_chance"][0] == pytest.approx(61 * 0.05)


def test_tools_are_compared_by_usage_where_offered_often_enough() -> None:
    left = [("get", 10, 20), ("set", 20, 40), ("rare", 1, 19), ("gone", 5, 20)]
    right = [("get", 4, 20), ("set", 10, 20), ("rare", 9, 20)]
    sides = [usage(*[("bank", *tool) for tool in tools]) for tools in (left, right)]
    found = m.tools(*sides, top=5).collect()
    assert found.select("tool_name", "left_rate", "right_rate", "compared_tools").rows() == [
        ("get", 10 / 20, 4 / 20, 2),
        ("set", 20 / 40, 10 / 20, 2),
    ]
    assert found["difference"].to_list() == pytest.approx([6 / 20, 0])
    assert m.tools(*sides, top=1).collect()["tool_name"].to_list() == ["get"]


MEASURES: list[tuple[Table, Any]] = [
    (m.HEADLINES, m.headlines),
    (m.PAIRED, m.paired),
    (m.DISTRIBUTIONS, lambda one, other, _a, _b: m.distributions(one, other)),
]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_no_rows_give_the_declared_empty_frame(result: Table, measure: Any) -> None:
    assert_frame_equal(measure(NO_TRAJECTORIES, NO_TRAJECTORIES, NO_CALLS, NO_CALLS).collect(), result.empty())


def test_no_tools_give_the_declared_empty_frames() -> None:
    assert_frame_equal(m.tools(NO_USE, NO_USE, top=3).collect(), m.TOOLS.empty())
    nothing = sides.membership(NO_TRAJECTORIES, NO_TRAJECTORIES, NO_USE, NO_USE).collect()
    assert_frame_equal(nothing, sides.MEMBERSHIP.empty())
    assert sides.counts(NO_TRAJECTORIES, NO_TRAJECTORIES, NO_USE, NO_USE).collect()["left"].sum() == 0


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_the_order_of_rows_changes_nothing(result: Table, measure: Any) -> None:
    frames = (LEFT, RIGHT, LEFT_CALLS, RIGHT_CALLS)
    straight = measure(*frames).collect()
    assert straight.schema == result.schema
    assert_frame_equal(measure(*map(shuffled, frames)).collect(), straight)
