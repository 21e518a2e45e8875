"""Repeats and loops on few calls."""

from functools import partial
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import calls as c
from analysis.measures import repeats as m
from analysis.schema import ENVIRONMENT_TOOLS
from tests.measures.calls import NO_CALLS, script
from tests.measures.frames import rows, shuffled

NO_CATALOGUE = ENVIRONMENT_TOOLS.empty().lazy()
CALLS = script("get:a+ get:a+ set:a+ get:a+ get:b+ set:a+ _:- _:-", "get:a+ list:a+ get:a-")


def loops_of(*trajectories: str) -> list[tuple[Any, ...]]:
    found = m.loops(script(*trajectories), NO_CATALOGUE).collect()
    return found.select("trajectory_id", "period", "turns", "first_call", "calls").rows()


def test_a_repeat_has_tool_and_arguments_of_an_earlier_call_of_its_own_trajectory() -> None:
    found = m.shares(CALLS, NO_CATALOGUE).collect().select("kind", "calls", "repeats")
    assert found.rows() == [("query", 4 + 3, 2 + 1), ("change", 2, 1)]


def test_a_repeat_is_idle_when_nothing_was_changed_since() -> None:
    # The second get:a comes at once, the third after a change; the repeated set:a follows no other change.
    found = m.shares(CALLS, NO_CATALOGUE).collect()
    assert found["idle_repeats"].to_list() == [1 + 1, 1]


def test_arguments_are_compared_with_their_keys_sorted_and_tools_told_apart() -> None:
    texts = pl.Series(['{"a":1,"b":2}', '{"b": 2, "a": 1}', '{"a":1,"b":2}'])
    found = m.shares(script("get:x+ get:x+ list:x+").with_columns(arguments=texts), NO_CATALOGUE).collect()
    assert found["repeats"].to_list() == [1]


def test_numbers_and_texts_are_not_the_same_argument() -> None:
    texts = pl.Series(['{"a":1}', '{"a":"1"}', '{"a":1.0}'])
    found = m.shares(script("get:x+ get:x+ get:x+").with_columns(arguments=texts), NO_CATALOGUE).collect()
    assert found["repeats"].to_list() == [0]


def test_the_catalogue_overrules_the_name_and_says_for_how_many_calls() -> None:
    catalogue = rows(
        ENVIRONMENT_TOOLS,
        {"env_id": "bank", "tool_name": "get", "kind": "change"},
        {"env_id": "bank", "tool_name": "set", "kind": "unknown"},
        {"env_id": "shop", "tool_name": "list", "kind": "change"},
    )
    found = m.shares(CALLS, catalogue).collect().select("kind", "calls", "catalogued_calls")
    assert found.rows() == [("query", 1, 0), ("change", 8, 6)]


@pytest.mark.parametrize(
    ("name", "verb", "kind"),
    [
        ("get_user", "get", "query"),
        ("getUser", "get", "query"),
        ("GetUser", "get", "query"),
        ("airline.list_flights", "list", "query"),
        ("_search", "search", "query"),
        ("HTTPFetch", "httpf", "change"),
        ("update_user", "update", "change"),
        ("getaway_plan", "getaway", "change"),
        ("查询", "查询", "change"),
        ("", "", "change"),
    ],
)
def test_a_tools_kind_is_guessed_from_the_first_word_of_its_name(name: str, verb: str, kind: str) -> None:
    named = pl.LazyFrame({"env_id": ["bank"], "tool_name": [name]})
    assert named.select(c.verb()).collect().item() == verb
    assert c.with_kind(named, NO_CATALOGUE).collect()["kind"].to_list() == [kind]


def test_an_unreadable_block_has_no_kind() -> None:
    assert c.with_kind(script("_:-"), NO_CATALOGUE).collect()["kind"].to_list() == ["unknown"]


def test_tools_are_listed_by_repeats() -> None:
    found = m.by_tool(CALLS, NO_CATALOGUE).collect().select("tool_name", "kind", "calls", "repeats")
    assert found.rows() == [("get", "query", 6, 3), ("set", "change", 2, 1)]
    assert m.by_tool(CALLS, NO_CATALOGUE, top=1).collect().height == 1


def test_of_equally_many_repeats_environment_and_tool_decide_and_the_nameless_come_last() -> None:
    twice = "set:a+ set:a+ get:a+ get:a+"
    nowhere = script("odd:a+ odd:a+").with_columns(env_id=pl.lit(None, pl.String), trajectory_id=pl.lit("t9"))
    shop = script("", twice, env_id="shop")
    found = m.by_tool(
        pl.concat([nowhere, shop, script(twice), script("", "", "last:a+ last:a+ last:a+")]), NO_CATALOGUE
    )
    assert found.select("env_id", "tool_name", "repeats").collect().rows() == [
        ("bank", "last", 2),
        ("bank", "get", 1),
        ("bank", "set", 1),
        ("shop", "get", 1),
        ("shop", "set", 1),
        (None, "odd", 1),
    ]


def test_twenty_tools_are_listed_where_nothing_else_is_said() -> None:
    many = script(" ".join(f"tool{n}:a+ tool{n}:a+" for n in range(30)))
    assert m.by_tool(many, NO_CATALOGUE).collect().height == 20


def test_twenty_calls_make_a_rate_of_repeats() -> None:
    seen = script("get:a+ " * 6 + " ".join(f"get:b{n}+" for n in range(14)))
    apart = script(*["get:a+ get:a+ get:b+ get:c+"] * 10)
    for measure in (m.shares, m.by_tool):
        row = measure(seen, NO_CATALOGUE).collect().row(0, named=True)
        assert (row["repeat_rate"], row["repeat_rate_low"]) == (5 / 20, None)
        several = measure(apart, NO_CATALOGUE).collect().row(0, named=True)
        assert several["repeat_rate_low"] < several["repeat_rate"] == 1 / 4 < several["repeat_rate_high"]


def test_calls_made_at_once_are_no_repeats_and_no_loop() -> None:
    at_once = script("get:a- &get:a+ &get:a+ &get:a+")
    assert m.shares(at_once, NO_CATALOGUE).collect()["repeats"].to_list() == [0]
    assert m.loops(at_once, NO_CATALOGUE).collect().is_empty()
    later = script("get:a+ set:b+ &get:a+ &get:a+ get:a+")
    assert m.shares(later, NO_CATALOGUE).collect()["repeats"].sum() == 3


def test_a_set_of_calls_made_again_and_again_is_a_loop_in_whatever_order() -> None:
    found = m.loops(script("get:a+ &set:b+ set:b+ &get:a+ get:a+ &set:b- end:c+"), NO_CATALOGUE).collect()
    assert found.select("period", "turns", "calls", "first_call", "errors").rows() == [(1, 3, 6, 1, 1)]
    assert m.loops(script("get:a+ &set:b+ get:a+ get:a+ &set:b+"), NO_CATALOGUE).collect().is_empty()


@pytest.mark.parametrize("texts", [("", "{}", ""), ('{"a":1,"b":2}', '{"b": 2, "a": 1}', '{"a": 1, "b": 2}')])
def test_the_same_arguments_written_otherwise_are_repeats_and_a_loop(texts: tuple[str, ...]) -> None:
    seen = script("list:x+ list:y+ list:z+").with_columns(arguments=pl.Series(texts))
    assert m.shares(seen, NO_CATALOGUE).collect()["repeats"].to_list() == [2]
    assert m.loops(seen, NO_CATALOGUE).collect().select("period", "turns").rows() == [(1, 3)]


def test_loops_as_long_as_each_other_come_by_trajectory_then_period_then_place() -> None:
    ones, twos = "get:a+ get:a+ get:a+ get:a+ get:a+ get:a+", "get:a+ get:b+ get:a+ get:b+ get:a+ get:b+"
    assert loops_of(f"set:x+ {twos} set:y+ {ones} set:z+ {twos}", ones) == [
        ("t1", 1, 6, 9, 6),
        ("t1", 2, 3, 2, 6),
        ("t1", 2, 3, 16, 6),
        ("t2", 1, 6, 1, 6),
    ]


def test_twenty_trajectories_make_a_rate_of_those_that_loop() -> None:
    seen = script(*["get:a+ get:a+ get:a+"] * 5, *["get:a+"] * 15)
    found = m.looping(m.loops(seen, NO_CATALOGUE), seen).collect()
    assert found.select("period", "looping_rate").rows() == [(0, 5 / 20), (1, 5 / 20)]
    assert found["looping_rate_low"][0] < 5 / 20 < found["looping_rate_high"][0]


def test_periods_stand_in_order_whatever_loops_come_first() -> None:
    seen = script("get:a+ get:a+ get:a+", "get:a+ get:b+ get:a+ get:b+ get:a+ get:b+")
    loops = m.loops(seen, NO_CATALOGUE).collect()
    assert sorted(loops["period"]) == [1, 2]
    for given in (loops, loops.reverse()):
        assert m.looping(given.lazy(), seen).collect()["period"].to_list() == [0, 1, 2]


def test_a_change_in_another_trajectory_leaves_a_repeat_idle() -> None:
    found = m.shares(script("set:a+", "get:a+ get:a+", "set:b+"), NO_CATALOGUE).collect()
    assert found.select("kind", "repeats", "idle_repeats").rows() == [("query", 1, 1), ("change", 0, 0)]
    between = m.shares(script("get:a+ set:x+ get:a+", "get:a+ set:x+ list:b+ get:a+ get:a+"), NO_CATALOGUE).collect()
    assert between["idle_repeats"].to_list() == [1, 0]


def test_three_in_a_row_are_a_loop_and_two_are_none() -> None:
    assert loops_of("get:a+ get:a+ get:a+") == [("t1", 1, 3, 1, 3)]
    assert loops_of("get:a+ get:a+") == []
    assert loops_of("get:a+ get:b+ get:a+") == []


def test_a_block_may_hold_up_to_four_calls() -> None:
    for period in (2, 3, 4):
        block = " ".join(f"get:{k}+" for k in range(period))
        assert loops_of(f"{block} {block} {block}") == [("t1", period, 3, 1, 3 * period)]
        assert loops_of(f"{block} {block}") == []
    block = " ".join(f"get:{k}+" for k in range(5))
    assert loops_of(" ".join([block] * 3)) == []


def test_a_loop_is_counted_at_its_shortest_period_with_the_unfinished_block_at_its_end() -> None:
    assert loops_of("get:a+ " * 12) == [("t1", 1, 12, 1, 12)]
    assert loops_of("set:x+ " + "get:a+ get:b+ " * 6 + "get:a+ set:x+") == [("t1", 2, 6, 2, 13)]


def test_loops_within_a_longer_loop_are_loops_of_their_own() -> None:
    found = loops_of("get:a+ get:a+ get:a+ get:b+ " * 3)
    assert found == [("t1", 4, 3, 1, 12), ("t1", 1, 3, 1, 3), ("t1", 1, 3, 5, 3), ("t1", 1, 3, 9, 3)]


def test_a_loop_does_not_reach_into_the_next_trajectory() -> None:
    assert loops_of("get:a+ get:a+", "get:a+ get:a+") == []


def test_unreadable_blocks_make_no_loop() -> None:
    assert loops_of("_:- _:- _:- _:-") == []


def test_a_loop_tells_its_errors_and_changes() -> None:
    found = m.loops(script("get:a+ set:a- add:a+ get:a+ set:a- add:a+ get:a- set:a- add:a+"), NO_CATALOGUE).collect()
    assert found.select("tool_name", "errors", "changing_calls").rows() == [("get", 4, 6)]


def test_looping_trajectories_are_counted_once_and_modes_without_a_loop_are_told_too() -> None:
    seen = pl.concat(
        [
            script("get:a+ get:a+ get:a+ set:a+ set:a+ set:a+", "get:a+"),
            script("", "", "get:a+", traj_type="non_conversation"),
        ]
    )
    found = m.looping(m.loops(seen, NO_CATALOGUE), seen).collect()
    assert found.select("traj_type", "period", "loops", "trajectories", "mode_trajectories").rows() == [
        ("conversation", 0, 2, 1, 2),
        ("conversation", 1, 2, 1, 2),
        ("non_conversation", 0, 0, 0, 1),
    ]


def looping(calls: pl.LazyFrame) -> pl.LazyFrame:
    return m.looping(m.loops(calls, NO_CATALOGUE), calls)


@pytest.mark.parametrize(
    "measure",
    [
        partial(m.shares, environment_tools=NO_CATALOGUE),
        partial(m.by_tool, environment_tools=NO_CATALOGUE),
        partial(m.loops, environment_tools=NO_CATALOGUE),
        looping,
    ],
)
def test_the_order_of_rows_changes_nothing_and_no_rows_give_the_declared_columns(measure: Any) -> None:
    seen = pl.concat([CALLS, script("", "", "get:a+ get:b- " * 4)])
    assert_frame_equal(measure(shuffled(seen)).collect(), measure(seen).collect())
    assert measure(NO_CALLS).collect().is_empty()
    assert measure(NO_CALLS).collect_schema() == measure(seen).collect_schema()
