"""Diversity by hand: Hill numbers, unseen tools, parallel calls, depths and values of parameters."""

from math import exp, log
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import diversity as m
from analysis.schema import TOOL_CALLS, TOOLS, TRAJECTORIES, VALUES
from tests.measures.calls import script
from tests.measures.frames import rows, shuffled
from tests.measures.small import NO_CALLS, NO_TOOLS, NO_TRAJECTORIES


def of(found: pl.LazyFrame, unit: str) -> dict[str, Any]:
    return found.filter(pl.col("unit") == unit).collect().row(0, named=True)


def test_hill_numbers_weigh_the_common_more_with_each_order() -> None:
    found = of(m.hill(script("get+ get+ set+ put+ _+"), NO_TRAJECTORIES, NO_TOOLS), "tools")
    assert (found["uses"], found["hill_0"]) == (4, 3)
    assert found["hill_1"] == pytest.approx(exp(0.5 * log(2) + 0.5 * log(4)))
    assert found["hill_2"] == pytest.approx(1 / (1 / 4 + 2 / 16))
    assert (found["singletons"], found["doubletons"], found["offered"]) == (2, 1, None)
    assert found["coverage"] == pytest.approx(1 - 2 / 4)
    assert found["chao1"] == pytest.approx(3 + 3 / 4 * 2 * 1 / (2 * 2))


def test_tools_used_equally_often_are_as_many_at_every_order() -> None:
    found = of(m.hill(script("a+ b+ c+ a+ b+ c+"), NO_TRAJECTORIES, NO_TOOLS), "tools")
    assert (found["hill_0"], found["hill_1"], found["hill_2"]) == pytest.approx((3, 3, 3))
    assert (found["coverage"], found["chao1"]) == (1, 3)


def test_a_tool_of_two_environments_is_two_tools_and_one_verb() -> None:
    both = pl.concat([script("get_user+"), script("get_item+", env_id="shop")])
    found = m.hill(both, NO_TRAJECTORIES, NO_TOOLS)
    assert (of(found, "tools")["hill_0"], of(found, "verbs")["hill_0"]) == (2, 1)


def test_tools_on_offer_are_counted_per_environment() -> None:
    seen = rows(
        TRAJECTORIES,
        {"trajectory_id": "t1", "env_id": "bank", "tool_set": "S"},
        {"trajectory_id": "t2", "env_id": "shop", "tool_set": "S"},
    )
    offered = rows(TOOLS, {"tool_set": "S", "tool_name": "get"}, {"tool_set": "S", "tool_name": "set"})
    assert of(m.hill(script("get+"), seen, offered), "tools")["offered"] == 4


def test_calls_of_one_message_are_one_place_in_a_sequence() -> None:
    one_by_one = script("a+ b+ c+")
    found = m.hill(one_by_one, NO_TRAJECTORIES, NO_TOOLS)
    assert (of(found, "pairs of tools")["uses"], of(found, "triples of tools")["uses"]) == (2, 1)
    together = m.hill(script("a+ &b+ &c+"), NO_TRAJECTORIES, NO_TOOLS).collect()
    assert together["unit"].to_list() == ["tools", "verbs"]


def test_no_call_has_no_diversity() -> None:
    assert m.hill(NO_CALLS, NO_TRAJECTORIES, NO_TOOLS).collect().is_empty()
    assert m.parallel(NO_CALLS).collect().is_empty()
    assert m.parameters(NO_CALLS).collect().is_empty()
    assert m.depths(VALUES.empty().lazy(), NO_TRAJECTORIES).collect().is_empty()


def test_calls_made_beside_another_are_parallel() -> None:
    calls = script("a+ b+ c+ d+").with_columns(message=pl.Series([2, 2, 2, 6]))
    row = m.parallel(calls).collect().row(0, named=True)
    assert (row["call_messages"], row["parallel_messages"], row["calls"], row["parallel_calls"]) == (2, 1, 4, 3)
    assert (row["parallel_share"], row["most_calls"]) == (0.75, 3)


def test_depth_is_the_longest_chain_over_the_calls() -> None:
    seen = rows(
        TRAJECTORIES,
        {"trajectory_id": "a", "tool_calls": 4},
        {"trajectory_id": "b", "tool_calls": 4},
        {"trajectory_id": "c"},
    )
    values = rows(
        VALUES,
        {"trajectory_id": "a", "call": 2, "path": "/x", "chain": 2},
        {"trajectory_id": "a", "call": 3, "path": "/x", "chain": 3},
    )
    found = m.depths(values, seen).collect().row(0, named=True)
    assert (found["calls"], found["trajectories"], found["mean_depth"]) == (4, 2, 2)
    assert found["mean_depth_share"] == (3 / 4 + 1 / 4) / 2


def test_values_of_a_parameter_are_told_apart_as_json() -> None:
    texts = ['{"id": 1, "f": {"a": 1, "b": 2}}', '{"f": {"b": 2, "a": 1}, "id": 1}', '{"id": "1"}', "[1]", "{broken"]
    states = ["object"] * 3 + ["not_object", "unparsable"]
    calls = rows(
        TOOL_CALLS,
        *[
            {"trajectory_id": "t", "call": call, "tool_name": "get", "arguments": text, "arguments_state": state}
            for call, (text, state) in enumerate(zip(texts, states, strict=True))
        ],
    )
    found = m.parameters(calls)
    assert found.select("parameter", "uses", "values", "top_share").collect().rows() == [
        ("id", 3, 2, 2 / 3),
        ("f", 2, 1, 1.0),
    ]
    assert_frame_equal(m.parameters(shuffled(calls)).collect(), found.collect())
    assert m.parameters(calls, top=1).collect().height == 1
