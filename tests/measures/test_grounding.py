"""Grounding on few values."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import grounding as m
from analysis.schema import SWAPPED_VALUES, TRAJECTORIES, VALUES
from tests.measures.frames import rows, shuffled

NO_VALUES = VALUES.empty().lazy()


def value(
    call: int, source: str, *, argument: str = "user_id", distance: int | None = None, chain: int = 1, t: str = "t1"
) -> dict[str, Any]:
    return {
        "trajectory_id": t,
        "call": call,
        "argument": argument,
        "path": f"/{argument}",
        "source": source,
        "distance": distance,
        "nearest_distance": distance,
        "chain": chain,
    }


SEEN = rows(
    VALUES,
    value(1, "user"),
    value(2, "result", distance=1, chain=2),
    value(3, "result", distance=30, chain=3),
    value(4, "none", argument="order_id"),
    value(5, "agent", argument="order_id"),
    value(6, "task", argument="order_id"),
    value(7, "echo", argument="order_id", distance=2, chain=2),
    value(1, "result", chain=2, t="t2"),
)
RUNS = rows(
    TRAJECTORIES,
    {"trajectory_id": "t1", "tool_calls": 7},
    {"trajectory_id": "t2", "tool_calls": 1},
    {"trajectory_id": "t3", "tool_calls": 2},
    {"trajectory_id": "t4", "tool_calls": 0},
)


def test_places_are_counted_in_their_order_and_sum_to_the_mode() -> None:
    found = m.sources(SEEN).collect()
    assert found.select("source", "values").rows() == [
        ("result", 3),
        ("user", 1),
        ("task", 1),
        ("echo", 1),
        ("agent", 1),
        ("none", 1),
    ]
    assert found["mode_values"].unique().to_list() == [8]


def test_only_what_no_text_but_the_agents_own_holds_is_ungrounded() -> None:
    found = m.by_argument(SEEN).collect()
    assert found.select("argument", "values", "ungrounded").rows() == [("order_id", 4, 2), ("user_id", 4, 0)]
    assert found["ungrounded_rate"].null_count() == 2
    assert m.by_argument(SEEN, top=1).collect().height == 1


def test_arguments_come_by_what_is_ungrounded_then_by_their_values_then_by_name() -> None:
    made = [("c", "none"), ("d", "user"), ("b", "user"), ("a", "user"), ("d", "user"), ("e", "none"), ("e", "user")]
    seen = rows(VALUES, *(value(n, source, argument=name) for n, (name, source) in enumerate(made)))
    assert m.by_argument(seen).collect()["argument"].to_list() == ["e", "c", "d", "a", "b"]


def test_twenty_arguments_and_twenty_examples_are_listed_where_nothing_else_is_said() -> None:
    seen = rows(VALUES, *(value(n, "none", argument=f"a{n}") for n in range(30)))
    assert m.by_argument(seen).collect().height == m.examples(seen).collect().height == 20


def test_examples_come_by_trajectory_then_call_then_path() -> None:
    made = [("t2", 1, "a"), ("t1", 2, "a"), ("t1", 1, "b"), ("t1", 1, "a")]
    seen = rows(VALUES, *(value(call, "none", argument=name, t=t) for t, call, name in made))
    assert m.examples(seen).select("trajectory_id", "call", "path").collect().rows() == [
        ("t1", 1, "/a"),
        ("t1", 1, "/b"),
        ("t1", 2, "/a"),
        ("t2", 1, "/a"),
    ]


def test_each_mode_has_shares_of_its_own() -> None:
    solo = rows(VALUES, value(1, "result", distance=4, t="s"), traj_type="non_conversation")
    both = pl.concat([solo, SEEN])
    assert m.distances(both).select("traj_type", "distance", "value_share").collect().rows() == [
        ("conversation", 1, 1 / 2),
        ("conversation", m.LONGEST_DISTANCE, 1 / 2),
        ("non_conversation", 4, 1),
    ]
    assert m.sources(both).select("mode_values").collect()["mode_values"].to_list() == [8] * 6 + [1]
    runs = pl.concat([RUNS, rows(TRAJECTORIES, {"trajectory_id": "s", "tool_calls": 1}, traj_type="non_conversation")])
    assert m.chains(both, runs).select("traj_type", "mode_trajectories", "trajectory_share").collect().rows() == [
        *[("conversation", 3, 1 / 3)] * 3,
        ("non_conversation", 1, 1),
    ]


def test_twenty_values_make_a_rate() -> None:
    seen = rows(VALUES, *(value(n, "none" if n <= 4 else "user") for n in range(1, 21)))
    assert m.by_argument(seen).collect()["ungrounded_rate"].to_list() == [4 / 20]
    assert m.sources(seen).collect().select("source", "source_rate").rows() == [("user", 16 / 20), ("none", 4 / 20)]


def test_distances_are_from_the_nearest_result_that_holds_a_value() -> None:
    found = m.distances(SEEN).collect()
    assert found.select("distance", "values", "value_share").rows() == [(1, 1, 1 / 2), (m.LONGEST_DISTANCE, 1, 1 / 2)]


def test_a_trajectory_without_a_link_has_a_chain_of_one_and_one_without_calls_has_none() -> None:
    found = m.chains(SEEN, RUNS).collect()
    assert found.select("longest_chain", "trajectories", "mode_trajectories").rows() == [
        (1, 1, 3),
        (2, 1, 3),
        (3, 1, 3),
    ]
    assert found["trajectory_share"].sum() == pytest.approx(1)


def test_examples_are_the_ungrounded_values_in_order() -> None:
    assert m.examples(SEEN).collect().select("call", "source").rows() == [(4, "none"), (5, "agent")]
    assert m.examples(SEEN, top=1).collect()["call"].to_list() == [4]


def chains(values: pl.LazyFrame) -> pl.LazyFrame:
    return m.chains(values, RUNS.join(values, on="trajectory_id", how="semi"))


@pytest.mark.parametrize("measure", [m.sources, m.by_argument, m.distances, m.examples, chains])
def test_the_order_of_rows_changes_nothing_and_no_rows_give_the_declared_columns(measure: Any) -> None:
    assert_frame_equal(measure(shuffled(SEEN)).collect(), measure(SEEN).collect())
    assert measure(NO_VALUES).collect().is_empty()
    assert measure(NO_VALUES).collect_schema() == measure(SEEN).collect_schema()


def test_ungrounded_values_stand_beside_those_swapped_in_from_other_runs() -> None:
    own = rows(VALUES, *({**value(n, "none" if n == 1 else "result"), "trajectory_id": f"t{n}"} for n in range(1, 21)))
    swapped = rows(
        SWAPPED_VALUES,
        *(
            {"trajectory_id": f"t{n}", "call": n, "path": "/user_id", "source": "none" if n < 14 else "result"}
            for n in range(1, 21)
        ),
    )
    row = m.baseline(own, swapped).collect().row(0, named=True)
    assert (row["ungrounded_rate"], row["swapped_rate"]) == (1 / 20, 13 / 20)
    assert row["ungrounded_rate_high"] < row["swapped_rate_low"]
    alone = m.baseline(own, SWAPPED_VALUES.empty().lazy()).collect().row(0, named=True)
    assert (alone["swapped_values"], alone["swapped_rate"]) == (0, None)


def test_a_pool_holds_the_values_of_an_argument_with_the_runs_that_use_them() -> None:
    made = [("t1", "u1"), ("t1", "u1"), ("t2", "u1"), ("t2", "u2")]
    seen = rows(
        VALUES,
        *({**value(n, "result"), "trajectory_id": t, "value": v, "env_id": "bank"} for n, (t, v) in enumerate(made)),
    )
    assert m.pool(seen) == {("bank", "user_id"): (("u1", 2), ("u2", 1))}
    assert m.pool(seen, most=1) == {("bank", "user_id"): (("u1", 2),)}
