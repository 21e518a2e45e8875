"""Tool usage: calls, usage over the trajectories offered the tool, breadth, concentration, and tools nobody calls."""

from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import tool_usage
from analysis.schema import TOOL_CALLS, TOOLS, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled, times

SOLO = "non_conversation"

# bank offers a, b and c to three trajectories; shop offers a alone to one; t5 names no environment and no tools.
TRAJECTORIES_SEEN = rows(
    TRAJECTORIES,
    {"trajectory_id": "t1", "env_id": "bank", "tool_set": "abc", "tools_offered": 3, "tools_used": 2},
    {"trajectory_id": "t2", "env_id": "bank", "tool_set": "abc", "tools_offered": 3, "tools_used": 1},
    {"trajectory_id": "t3", "env_id": "bank", "tool_set": "abc", "tools_offered": 3, "traj_type": SOLO},
    {"trajectory_id": "t4", "env_id": "shop", "tool_set": "a", "tools_offered": 1, "tools_used": 1},
    {"trajectory_id": "t5", "env_id": None, "tool_set": "none"},
)
TOOLS_OFFERED = rows(
    TOOLS,
    *({"tool_set": "abc", "tool_name": name} for name in "abc"),
    {"tool_set": "a", "tool_name": "a"},
)
CALLS_SEEN = rows(
    TOOL_CALLS,
    {"trajectory_id": "t1", "env_id": "bank", "call": 1, "tool_name": "a", "is_offered": True},
    {"trajectory_id": "t1", "env_id": "bank", "call": 2, "tool_name": "a", "is_offered": True},
    {"trajectory_id": "t1", "env_id": "bank", "call": 3, "tool_name": "b", "is_offered": True},
    {"trajectory_id": "t2", "env_id": "bank", "call": 1, "tool_name": "a", "is_offered": True},
    {"trajectory_id": "t2", "env_id": "bank", "call": 2, "tool_name": "z", "is_offered": False},
    {"trajectory_id": "t3", "env_id": "bank", "call": 1, "tool_name": None, "is_offered": False, "traj_type": SOLO},
    {"trajectory_id": "t4", "env_id": "shop", "call": 1, "tool_name": "a", "is_offered": True},
)


def by_tool() -> pl.LazyFrame:
    """The tools of these. Made in each test: mutation testing runs the tests that call what was changed."""
    return tool_usage.by_tool(CALLS_SEEN, TRAJECTORIES_SEEN, TOOLS_OFFERED)


def many(env_id: str, *, offered: int, calling: dict[str, int]) -> list[dict[str, object]]:
    """Rows of the table of tools: each offered to so many trajectories, called once by some of them."""
    return [
        {
            "env_id": env_id,
            "tool_name": name,
            "calls": n,
            "offering": offered,
            "calling": n,
            "usage_rate": n / offered,
        }
        for name, n in calling.items()
    ]


def test_usage_rate_ignores_trajectories_that_were_not_offered_the_tool() -> None:
    found = by_tool().collect()
    assert found.select("env_id", "tool_name", "calls", "offering", "calling", "usage_rate").rows() == [
        ("bank", "a", 3, 3, 2, None),
        ("bank", None, 1, 0, 0, None),
        ("bank", "b", 1, 3, 1, None),
        ("bank", "z", 1, 0, 0, None),
        ("bank", "c", 0, 3, 0, None),
        ("shop", "a", 1, 1, 1, None),
    ]
    many = tool_usage.by_tool(times(CALLS_SEEN, 7), times(TRAJECTORIES_SEEN, 7), TOOLS_OFFERED).collect()
    assert many["usage_rate"].to_list() == [14 / 21, None, 7 / 21, None, 0, None]  # offered to 21, and to 7


def test_the_share_of_calls_is_over_all_calls_of_the_environment_unreadable_ones_included() -> None:
    found = by_tool().collect()
    assert found["call_share"].to_list() == [3 / 6, 1 / 6, 1 / 6, 1 / 6, 0, 1]
    assert found.group_by("env_id").agg(pl.col("call_share").sum())["call_share"].to_list() == pytest.approx([1, 1])
    assert found["env_calls"].to_list() == [6, 6, 6, 6, 6, 1]


def test_an_environment_without_any_call_has_no_shares_but_its_tools_stand_there() -> None:
    found = tool_usage.by_tool(CALLS_SEEN.clear(), TRAJECTORIES_SEEN, TOOLS_OFFERED).collect()
    assert found.select("env_id", "tool_name").rows() == [("bank", "a"), ("bank", "b"), ("bank", "c"), ("shop", "a")]
    assert found["call_share"].null_count() == 4
    assert found["calling"].to_list() == [0, 0, 0, 0]


def test_environments_come_in_natural_order() -> None:
    sets = [{"trajectory_id": env, "env_id": env, "tool_set": "a"} for env in ("env_10", "env_2", "env_1")]
    found = tool_usage.by_tool(CALLS_SEEN.clear(), rows(TRAJECTORIES, *sets), TOOLS_OFFERED).collect()
    assert found["env_id"].to_list() == ["env_1", "env_2", "env_10"]


def test_the_interval_holds_the_rate_and_narrows_with_what_is_offered() -> None:
    some, more = (
        tool_usage.by_tool(times(CALLS_SEEN, n), times(TRAJECTORIES_SEEN, n), TOOLS_OFFERED)
        .collect()
        .row(0, named=True)
        for n in (7, 70)
    )
    assert some["usage_rate"] == more["usage_rate"] == 2 / 3
    assert some["usage_rate_low"] < more["usage_rate_low"] < 2 / 3 < more["usage_rate_high"] < some["usage_rate_high"]


def test_the_busiest_are_picked_over_all_environments_and_tools_never_called_are_left_out() -> None:
    found = tool_usage.busiest(by_tool(), top=2).collect()
    assert found.select("env_id", "tool_name", "calls", "all_calls", "all_tools").rows() == [
        ("bank", "a", 3, 7, 6),
        ("bank", None, 1, 7, 6),
    ]
    assert found["all_call_share"].to_list() == [3 / 7, 1 / 7]
    assert "c" not in tool_usage.busiest(by_tool(), top=99).collect()["tool_name"]


def test_tools_called_as_often_stand_in_natural_order_of_environments_and_then_by_name() -> None:
    tools = [many(env, offered=30, calling={"b": 2, "a": 2, "c": 5}) for env in ("env_10", "env_9")]
    found = tool_usage.busiest(rows(tool_usage.TOOLS, *tools[0], *tools[1]), top=9).collect()
    assert found.select("env_id", "tool_name").rows() == [
        ("env_9", "c"),
        ("env_10", "c"),
        ("env_9", "a"),
        ("env_9", "b"),
        ("env_10", "a"),
        ("env_10", "b"),
    ]
    assert found["all_call_share"].to_list() == pytest.approx([5 / 18] * 2 + [2 / 18] * 4)


def test_a_band_of_the_usage_rate_includes_its_upper_end_and_the_never_called_stand_apart() -> None:
    calling = {"never": 0, "one": 1, "ten": 3, "more": 4, "all": 30}
    found = tool_usage.rates(rows(tool_usage.TOOLS, *many("bank", offered=30, calling=calling))).collect()
    banded = {row["band"]: row["tools"] for row in found.iter_rows(named=True) if row["tools"]}
    assert banded == {0: 1, 1: 2, 2: 1, 10: 1}  # 3 of 30 is 10 %, and still the first band
    assert found["band"].to_list() == list(range(11))
    assert found["rate_from"].to_list() == pytest.approx([0, 0, *(n / 10 for n in range(1, 10))])
    assert found["rate_to"].to_list() == pytest.approx([n / 10 for n in range(11)])
    assert found["tool_share"].sum() == pytest.approx(1)


def test_a_tool_offered_to_fewer_than_twenty_is_counted_apart_and_not_banded() -> None:
    tools = [*many("bank", offered=19, calling={"a": 3}), *many("shop", offered=20, calling={"a": 3})]
    found = tool_usage.rates(rows(tool_usage.TOOLS, *tools)).collect()
    assert found.select("all_tools", "small_tools").unique().rows() == [(1, 1)]


def test_modes_are_compared_where_both_offered_the_tool_often_enough() -> None:
    sets = [
        {"trajectory_id": f"{mode}{n}", "env_id": "bank", "tool_set": "abc", "traj_type": mode}
        for mode in ("conversation", SOLO)
        for n in range(20)
    ]
    lone = [{"trajectory_id": f"s{n}", "env_id": "shop", "tool_set": "a"} for n in range(20)]
    called = [
        {
            "trajectory_id": f"{mode}{n}",
            "env_id": "bank",
            "tool_name": tool,
            "is_offered": True,
            "traj_type": mode,
            "call": c,
        }
        for mode, tool, count in (("conversation", "a", 5), (SOLO, "a", 15), (SOLO, "b", 1))
        for n in range(count)
        for c in ([1] if tool == "a" else [2])
    ]
    frames = (rows(TOOL_CALLS, *called), rows(TRAJECTORIES, *sets, *lone), TOOLS_OFFERED)
    found = tool_usage.modes(*frames, top=2).collect()
    assert found.select("tool_name", "traj_type", "calling", "usage_rate").rows() == [
        ("a", "conversation", 5, 5 / 20),
        ("a", SOLO, 15, 15 / 20),
        ("b", "conversation", 0, 0),
        ("b", SOLO, 1, 1 / 20),
    ]
    assert found["difference"].to_list() == pytest.approx([-0.5, -0.5, -0.05, -0.05])
    assert found["compared_tools"].unique().to_list() == [3]  # a, b, c of bank; shop ran in one mode only


def test_differences_as_large_stand_in_natural_order_and_nineteen_are_too_few_to_compare() -> None:
    def sides(
        env_id: str, tool: str, of: int, **calling: int
    ) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
        runs: list[dict[str, object]] = []
        called: list[dict[str, object]] = []
        for mode, count in calling.items():
            for n in range(of):
                run: dict[str, object] = {
                    "trajectory_id": f"{env_id}{tool}{mode}{n}",
                    "env_id": env_id,
                    "traj_type": mode,
                }
                runs.append({**run, "tool_set": tool})
                if n < count:
                    called.append({**run, "call": 1, "tool_name": tool, "is_offered": True})
        return runs, called

    made = [
        sides("env_10", "a", 20, conversation=5, non_conversation=10),
        sides("env_9", "b", 20, conversation=10, non_conversation=5),
        sides("env_9", "a", 20, conversation=5, non_conversation=10),
        sides("env_1", "a", 19, conversation=0, non_conversation=19),
        sides("env_1", "b", 20, conversation=20, non_conversation=0),
    ]
    frames = (
        rows(TOOL_CALLS, *(call for _, called in made for call in called)),
        rows(TRAJECTORIES, *(run for runs, _ in made for run in runs)),
        rows(TOOLS, *({"tool_set": name, "tool_name": name} for name in "ab")),
    )
    found = tool_usage.modes(*frames, top=9).collect()
    assert found.select("env_id", "tool_name", "difference").rows()[::2] == [
        ("env_1", "b", 1),
        ("env_9", "a", -0.25),
        ("env_9", "b", 0.25),
        ("env_10", "a", -0.25),
    ]
    assert found["traj_type"].to_list() == ["conversation", SOLO] * 4
    assert found["compared_tools"].unique().to_list() == [4]
    assert found["usage_rate_low"][2] < 5 / 20 < found["usage_rate_high"][2]
    assert tool_usage.modes(*frames, top=1).collect()["env_id"].to_list() == ["env_1"] * 2


def test_breadth_falls_into_bands_of_a_twentieth_and_all_tools_into_the_last() -> None:
    used = {"none": 0, "one": 1, "two": 2, "nearly": 19, "all": 20, "as many": 20}
    seen = rows(TRAJECTORIES, *({"trajectory_id": t, "tools_offered": 20, "tools_used": n} for t, n in used.items()))
    found = tool_usage.breadth(seen).collect()
    assert found["trajectories"].to_list() == [1, 1, 1, 3]
    assert found["breadth_from"].to_list() == pytest.approx([0, 1 / 20, 2 / 20, 19 / 20])
    assert found["breadth_to"].to_list() == pytest.approx([1 / 20, 2 / 20, 3 / 20, 1])
    assert found["median_breadth"].to_list() == pytest.approx([10.5 / 20] * 4)


def test_breadth_is_over_the_offered_tools_and_no_offer_has_none() -> None:
    found = tool_usage.breadth(TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "trajectories", "mode_trajectories", "trajectory_share").rows() == [
        *[("conversation", 1, 3, 1 / 3)] * 3,
        (SOLO, 1, 1, 1),
    ]
    assert found["breadth_from"].to_list() == pytest.approx([0.3, 0.65, 0.95, 0])  # 1 of 3, 2 of 3, 1 of 1, none
    assert found["breadth_to"].to_list() == pytest.approx([0.35, 0.7, 1, 0.05])
    assert found["median_breadth"].to_list() == [2 / 3] * 3 + [0]


def test_concentration_counts_the_unused_tools_of_an_environment() -> None:
    found = tool_usage.concentration(by_tool(), TRAJECTORIES_SEEN).collect()
    assert found.select("env_id", "trajectories", "offered_tools", "used_tools", "unused_tools", "calls").rows() == [
        ("bank", 3, 3, 2, 1, 4),
        ("shop", 1, 1, 1, 0, 1),
    ]
    assert found["unused_share"].to_list() == [1 / 3, 0]
    # calls 0, 1, 3: the mean difference of all pairs, (1 + 3 + 2) * 2 / 9, over twice the mean, 8 / 3
    assert found["gini"].to_list() == pytest.approx([(12 / 9) / (8 / 3), 0])
    assert found["top_three_share"].to_list() == [1, 1]
    assert found["evenness"].to_list() == pytest.approx([0.5118595, None], nan_ok=True)
    assert found["effective_tools"].to_list() == pytest.approx([1.7547654, 1])


def test_an_environment_that_calls_nothing_has_no_concentration() -> None:
    tools = rows(tool_usage.TOOLS, *many("bank", offered=20, calling={"a": 0, "b": 0}))
    found = tool_usage.concentration(tools, TRAJECTORIES_SEEN).collect().row(0, named=True)
    assert (found["unused_share"], found["gini"], found["top_three_share"], found["evenness"]) == (1, None, None, None)


def test_the_three_most_called_tools_share_their_calls_over_all() -> None:
    tools = rows(tool_usage.TOOLS, *many("bank", offered=99, calling={"a": 10, "b": 20, "c": 30, "d": 40}))
    found = tool_usage.concentration(tools, TRAJECTORIES_SEEN).collect()
    assert found["top_three_share"].to_list() == [90 / 100]


def test_environments_with_most_unused_tools_come_first_and_else_in_natural_order() -> None:
    tools = [
        *many("env_10", offered=20, calling={"a": 1, "b": 0}),
        *many("env_9", offered=20, calling={"a": 1, "b": 0}),
        *many("env_2", offered=20, calling={"a": 0, "b": 0, "c": 1}),
        *many("env_1", offered=20, calling={"a": 1}),
    ]
    found = tool_usage.concentration(rows(tool_usage.TOOLS, *tools), TRAJECTORIES_SEEN).collect()
    assert found["env_id"].to_list() == ["env_2", "env_9", "env_10", "env_1"]
    more = [*many("env_9_b", offered=20, calling={"b": 0}), *many("env_9_b", offered=30, calling={"z": 0}), *tools]
    unused = tool_usage.unused(rows(tool_usage.TOOLS, *more[::-1])).collect()
    assert unused.rows() == [
        *[("env_2", "a", 20), ("env_2", "b", 20)],
        *[("env_9", "b", 20), ("env_9_b", "z", 30), ("env_9_b", "b", 20), ("env_10", "b", 20)],
    ]


def test_over_all_environments_the_same_name_is_two_tools_and_calls_of_none_are_counted_apart() -> None:
    found = tool_usage.across(by_tool()).collect().row(0, named=True)
    assert (found["environments"], found["offered_tools"], found["distinct_names"]) == (2, 4, 3)
    assert (found["used_tools"], found["unused_tools"]) == (3, 1)
    assert (found["calls"], found["undeclared_calls"]) == (5, 2)
    assert (found["top_tenth_calls"], found["top_tenth_share"]) == (3, None)  # of four tools the tenth is one


def test_unused_tools_are_listed_and_a_name_never_offered_is_not_among_them() -> None:
    assert tool_usage.unused(by_tool()).collect().rows() == [("bank", "c", 3)]


MEASURES: list[tuple[Table, Callable[[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]]] = [
    (tool_usage.TOOLS, tool_usage.by_tool),
    (tool_usage.BUSIEST, lambda c, t, o: tool_usage.busiest(tool_usage.by_tool(c, t, o), top=20)),
    (tool_usage.RATES, lambda c, t, o: tool_usage.rates(tool_usage.by_tool(c, t, o))),
    (tool_usage.MODES, lambda c, t, o: tool_usage.modes(c, t, o, top=20)),
    (tool_usage.BREADTH, lambda c, t, o: tool_usage.breadth(t)),
    (tool_usage.CONCENTRATION, lambda c, t, o: tool_usage.concentration(tool_usage.by_tool(c, t, o), t)),
    (tool_usage.ACROSS, lambda c, t, o: tool_usage.across(tool_usage.by_tool(c, t, o))),
    (tool_usage.UNUSED, lambda c, t, o: tool_usage.unused(tool_usage.by_tool(c, t, o))),
]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[result.name for result, _ in MEASURES])
def test_input_order_is_irrelevant(
    result: Table, measure: Callable[[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]
) -> None:
    frames = (CALLS_SEEN, TRAJECTORIES_SEEN, TOOLS_OFFERED)
    expected = measure(*frames).collect()
    assert expected.schema == result.schema
    assert_frame_equal(measure(*map(shuffled, frames)).collect(), expected)


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[result.name for result, _ in MEASURES])
def test_nothing_in_gives_the_declared_empty_frame(
    result: Table, measure: Callable[[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]
) -> None:
    empty = [table.empty().lazy() for table in (TOOL_CALLS, TRAJECTORIES, TOOLS)]
    assert_frame_equal(measure(*empty).collect(), result.empty())
