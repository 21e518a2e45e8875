"""Sequences on few calls: what follows what, how predictable it is, which runs recur, what comes before a change."""

import math
import random
from functools import partial
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import sequences as m
from analysis.measures.order import Unit
from analysis.schema import ENVIRONMENT_TOOLS
from tests.measures.calls import NO_CALLS, script
from tests.measures.frames import rows, shuffled

NO_CATALOGUE = ENVIRONMENT_TOOLS.empty().lazy()
CALLS = script("get_a:1+ set_a:1+", "get_a:1+ get_b:1+ set_a:1+", "get_a:1+")


def test_start_and_end_take_part_and_probabilities_sum_to_one() -> None:
    found = m.transitions(CALLS, NO_CATALOGUE, min_n=1).collect()
    assert found.select("before", "after", "transitions", "before_transitions", "all_transitions").rows() == [
        ("(start)", "get_a", 3, 3, 9),
        ("get_a", "(end)", 1, 3, 9),
        ("get_a", "get_b", 1, 3, 9),
        ("get_a", "set_a", 1, 3, 9),
        ("set_a", "(end)", 2, 2, 9),
        ("get_b", "set_a", 1, 1, 9),
    ]
    sums = found.group_by("before").agg(pl.col("probability").sum())
    assert sums["probability"].to_list() == pytest.approx([1] * 4)


def test_lift_compares_with_how_often_the_call_follows_anything() -> None:
    found = m.transitions(CALLS, NO_CATALOGUE, min_n=1).collect()
    lift = {(before, after): value for before, after, value in found.select("before", "after", "lift").iter_rows()}
    assert lift["get_b", "set_a"] == pytest.approx((1 / 1) / (2 / 9))
    assert lift["get_a", "(end)"] == pytest.approx((1 / 3) / (3 / 9))


def test_calls_below_the_support_are_left_out_and_still_counted_in_the_denominators() -> None:
    found = m.transitions(CALLS, NO_CATALOGUE, min_n=2).collect()
    assert set(found["before"]) | set(found["after"]) == {"(start)", "get_a", "set_a", "(end)"}
    row = found.filter((pl.col("before") == "get_a") & (pl.col("after") == "set_a")).row(0, named=True)
    assert (row["transitions"], row["before_transitions"], row["all_transitions"]) == (1, 3, 9)
    top = m.transitions(CALLS, NO_CATALOGUE, min_n=1, top=1).collect()
    assert set(top["before"]) == {"(start)", "get_a"}


def test_across_environments_a_sequence_is_made_of_verbs_or_kinds() -> None:
    verbs = m.transitions(CALLS, NO_CATALOGUE, unit="verb", min_n=1).collect()
    assert set(verbs["before"]) == {"(start)", "get", "set"}
    catalogue = rows(ENVIRONMENT_TOOLS, {"env_id": "bank", "tool_name": "get_b", "kind": "change"})
    kinds = m.transitions(CALLS, catalogue, unit="kind", min_n=1).collect()
    pairs = {(before, after): n for before, after, n in kinds.select("before", "after", "transitions").iter_rows()}
    assert pairs["query", "change"] == 2
    assert pairs["change", "change"] == 1


def test_support_and_length_are_twenty_where_nothing_else_is_said() -> None:
    many = script(*[" ".join(f"tool{n:02}:1+" for n in range(30))] * 20)
    found = m.transitions(many, NO_CATALOGUE).collect()
    assert {*found["before"], *found["after"]} == {"(start)", *(f"tool{n:02}" for n in range(20))}
    assert m.transitions(many.filter(pl.col("trajectory_id") != "t1"), NO_CATALOGUE).collect().is_empty()
    assert m.ngrams(many, NO_CATALOGUE).collect().height == 20
    assert m.ngrams(many.filter(pl.col("trajectory_id") != "t1"), NO_CATALOGUE).collect().is_empty()
    nineteen, twenty = script(" ".join(["get:1+"] * 18)), script(" ".join(["get:1+"] * 19))
    rates = [m.entropy(seen, NO_CATALOGUE).collect()["entropy_rate"][0] for seen in (nineteen, twenty)]
    assert rates[0] is None
    assert rates[1] is not None


def test_support_counts_what_follows_a_call_and_the_support_itself_is_enough() -> None:
    found = m.transitions(CALLS, NO_CATALOGUE, min_n=3).collect()
    assert found.select("before", "after").rows() == [("(start)", "get_a"), ("get_a", "(end)")]


def test_calls_as_frequent_as_each_other_stand_in_the_alphabets_order() -> None:
    seen = script("b:1+ d:1+ c:1+ a:1+", "a:1+ c:1+ d:1+ b:1+")
    found = m.transitions(seen, NO_CATALOGUE, min_n=1).collect()
    assert found.select("before", "after").rows() == [
        *[("(start)", "a"), ("(start)", "b")],
        *[("a", "(end)"), ("a", "c")],
        *[("b", "(end)"), ("b", "d")],
        *[("c", "a"), ("c", "d")],
        *[("d", "b"), ("d", "c")],
    ]
    kept = m.transitions(seen, NO_CATALOGUE, min_n=1, top=3).collect()
    assert kept["before"].unique(maintain_order=True).to_list() == ["(start)", "a", "b", "c"]


def test_environments_as_predictable_as_each_other_stand_in_natural_order() -> None:
    seen = pl.concat(script("", *[""] * n, "get:1+ set:1+", env_id=env) for n, env in enumerate(["e10", "e9", "e2"]))
    assert m.entropy(seen, NO_CATALOGUE, min_n=1).collect()["env_id"].to_list() == ["e2", "e9", "e10"]


def test_an_environments_entropy_is_of_its_own_calls() -> None:
    # In one environment get follows get or ends; in the other get is followed by set: together they would mix.
    one = script("get:1+ get:1+", env_id="one")
    two = script("", "get:1+ set:1+", "get:1+ set:1+", env_id="two")
    found = m.entropy(pl.concat([one, two]), NO_CATALOGUE, min_n=1).collect()
    assert found.select("env_id", "transitions", "states").rows() == [("two", 6, 2), ("one", 3, 1)]
    assert found["entropy_rate"].to_list() == pytest.approx([0, 2 / 3])
    assert found["rarefied_to"].to_list() == [3, 3]
    # The next of `one` is get twice and the end once.
    flat = -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    # Of three drawn out of two of each of three, all differ 8 times in 20 and two are alike 12 times.
    assert found["entropy"].to_list() == pytest.approx([8 / 20 * math.log2(3) + 12 / 20 * flat, flat])


def test_runs_come_by_trajectories_then_by_length_then_by_name() -> None:
    seen = script(*["x:1+ y:1+"] * 3, *["a:1+ b:1+ c:1+"] * 2, *["p:1+ q:1+"] * 2)
    more = pl.concat([seen, script(*[""] * 9, *["k:1+ l:1+"] * 2)])
    found = m.ngrams(more, NO_CATALOGUE, min_n=2).collect()
    assert found.select("ngram", "trajectories").rows() == [
        ("x → y", 3),
        ("a → b → c", 2),
        ("k → l", 2),
        ("p → q", 2),
    ]


def test_twenty_trajectories_make_a_rate_of_those_that_hold_a_run() -> None:
    seen = script(*["a:1+ b:1+"] * 5, *["c:1+"] * 15)
    found = m.ngrams(seen, NO_CATALOGUE, min_n=5).collect().row(0, named=True)
    assert (found["all_trajectories"], found["trajectory_rate"]) == (20, 5 / 20)
    assert found["trajectory_rate_low"] < 5 / 20 < found["trajectory_rate_high"]


def test_runs_are_made_of_verbs_or_kinds_as_well() -> None:
    seen = script("get_a:1+ set_a:1+", "get_b:1+ set_b:1+")
    assert m.ngrams(seen, NO_CATALOGUE, min_n=2).collect().is_empty()
    expected: dict[Unit, str] = {"verb": "get → set", "kind": "query → change"}
    for unit, run in expected.items():
        assert m.ngrams(seen, NO_CATALOGUE, unit=unit, min_n=2).collect()["ngram"].to_list() == [run]
        assert m.entropy(seen, NO_CATALOGUE, unit=unit, min_n=1).collect()["states"].to_list() == [2]
    assert m.entropy(seen, NO_CATALOGUE, min_n=1).collect()["states"].to_list() == [4]


def test_twenty_changes_make_rates_of_what_comes_before_them_for_each_mode() -> None:
    talk = script(*["get:1+ set:1+ set:1+"] * 5, *["set:1+"] * 10)
    solo = script(*[""] * 15, "get:1+ set:1+", traj_type="non_conversation")
    found = m.reads_first(pl.concat([solo, talk]), NO_CATALOGUE).collect()
    assert found.select("traj_type", "after_read_rate", "directly_after_rate").rows() == [
        ("conversation", 10 / 20, 5 / 20),
        ("non_conversation", None, None),
    ]
    row = found.row(0, named=True)
    assert row["after_read_rate_low"] < 10 / 20 < row["after_read_rate_high"]
    assert row["directly_after_rate_low"] < 5 / 20 < row["directly_after_rate_high"]
    catalogue = rows(ENVIRONMENT_TOOLS, {"env_id": "bank", "tool_name": "set", "kind": "change"})
    assert m.reads_first(talk, catalogue).collect()["catalogued_calls"].to_list() == [20]


def test_an_unreadable_block_holds_its_place_in_the_sequence() -> None:
    found = m.transitions(script("get:1+ _:- set:1+"), NO_CATALOGUE, min_n=1).collect()
    pairs = set(found.select("before", "after").rows())
    assert ("get", "(unreadable)") in pairs
    assert ("get", "set") not in pairs


def test_a_sequence_without_choice_has_no_entropy_and_an_even_choice_of_two_has_one_bit() -> None:
    always = script("get:1+ set:1+", "get:1+ set:1+", env_id="always")
    # After get: set or the end, evenly; after the start and set there is no choice.
    even = script("", "", "get:1+ set:1+", "get:1+", env_id="even")
    found = m.entropy(pl.concat([always, even]), NO_CATALOGUE, min_n=1).collect()
    assert found.select("env_id", "transitions", "states").rows() == [("always", 6, 2), ("even", 5, 2)]
    assert found["entropy_rate"].to_list() == pytest.approx([0, 2 / 5 * 1])
    assert found["effective_choices"].to_list() == pytest.approx([1, 2 ** (2 / 5)])
    # Knowing nothing, the next of `always` is get, set or the end, evenly: of five drawn, two, two and one.
    two_two_one = -(2 * 2 / 5 * math.log2(2 / 5) + 1 / 5 * math.log2(1 / 5))
    assert found["entropy"][0] == pytest.approx(two_two_one)


def test_more_of_the_same_makes_no_environment_less_predictable() -> None:
    draw = random.Random(4)

    def played(runs: int, env_id: str, first: int) -> pl.LazyFrame:
        made = [""] * first + [" ".join(f"tool{draw.randint(1, 8)}:a+" for _ in range(12)) for _ in range(runs)]
        return script(*made, env_id=env_id)

    found = m.entropy(pl.concat([played(8, "small", 0), played(200, "large", 8)]), NO_CATALOGUE).collect()
    small, large = found.sort("transitions")["entropy_rate"].to_list()
    seen = found.sort("transitions")["seen_entropy_rate"].to_list()
    assert abs(small - large) < 0.1 < seen[1] - seen[0]


def test_a_tool_of_one_environment_follows_its_neighbours_no_more_than_there() -> None:
    one = script(*["block:1+ block:1+ get:1+ get:1+"] * 10, env_id="one")
    other = script(*[""] * 10, *["put:1+ put:2+ put:3+"] * 90, env_id="other")
    found = m.transitions(pl.concat([one, other]), NO_CATALOGUE).collect()
    block = found.filter((pl.col("before") == "block") & (pl.col("after") == "block"))
    # Of 50 transitions in its environment 20 come after block and 20 lead to it: 8 expected, 10 seen.
    assert block["lift"].to_list() == pytest.approx([10 / 8])


def test_calls_made_at_once_are_one_place_in_a_sequence() -> None:
    found = m.transitions(script(*["get:a+ set:b+ &add:c+ end:d+"] * 20), NO_CATALOGUE).collect()
    assert found.select("before", "after").rows() == [
        ("(start)", "get"),
        ("add + set", "end"),
        ("end", "(end)"),
        ("get", "add + set"),
    ]
    runs = m.ngrams(script(*["get:a+ set:b+ &add:c+"] * 20), NO_CATALOGUE).collect()
    assert runs["ngram"].to_list() == ["get → add + set"]


def test_a_write_beside_a_read_does_not_come_after_it() -> None:
    beside = m.reads_first(script("get_item:a+ &update_item:b+"), NO_CATALOGUE).collect().row(0, named=True)
    assert (beside["changing_calls"], beside["after_read"], beside["directly_after_read"]) == (1, 0, 0)
    after = (
        m.reads_first(script("get_item:a+ &list_items:b+ update_item:b+"), NO_CATALOGUE).collect().row(0, named=True)
    )
    assert (after["after_read"], after["directly_after_read"]) == (1, 1)


def test_environments_with_few_transitions_get_no_entropy_and_stand_last() -> None:
    seen = pl.concat([script("get:1+", env_id="a"), script("", "get:1+ set:1+ get:1+ set:1+", env_id="b")])
    found = m.entropy(seen, NO_CATALOGUE, min_n=4).collect()
    assert found["env_id"].to_list() == ["b", "a"]
    assert found["entropy_rate"].is_null().to_list() == [False, True]


def test_an_environment_without_a_name_is_one_too() -> None:
    found = m.entropy(script("get:1+ set:1+").with_columns(env_id=pl.lit(None, pl.String)), NO_CATALOGUE, min_n=1)
    assert found.collect().select("env_id", "transitions").rows() == [(None, 3)]
    assert found.collect()["entropy"].null_count() == 0


def test_runs_count_trajectories_not_occurrences_and_only_the_maximal_ones() -> None:
    seen = script("a:1+ b:1+ c:1+", "a:1+ b:1+ c:1+ x:1+ a:1+ b:1+", "a:1+ b:1+ y:1+", "z:1+")
    found = m.ngrams(seen, NO_CATALOGUE, min_n=2).collect()
    assert found.select("ngram", "length", "trajectories", "occurrences", "all_trajectories").rows() == [
        ("a → b → c", 3, 2, 2, 4)
    ]
    rarer = m.ngrams(seen, NO_CATALOGUE, min_n=3).collect()
    assert rarer.select("ngram", "trajectories", "occurrences").rows() == [("a → b", 3, 4)]


def test_runs_hold_at_most_four_calls_of_one_trajectory() -> None:
    seen = script("a:1+ b:1+ c:1+ d:1+ e:1+", "a:1+ b:1+ c:1+ d:1+ e:1+")
    found = m.ngrams(seen, NO_CATALOGUE, min_n=2).collect()
    assert found["ngram"].to_list() == ["a → b → c → d", "b → c → d → e"]
    assert m.ngrams(script("a:1+", "b:1+", "a:1+", "b:1+"), NO_CATALOGUE, min_n=1).collect().is_empty()
    assert m.ngrams(seen, NO_CATALOGUE, min_n=2, top=1).collect().height == 1


def test_a_change_comes_after_a_read_anywhere_before_or_right_before() -> None:
    seen = script("set:1+ get:1+ set:1+ set:1+ _:- set:1+", "set:1+")
    found = m.reads_first(seen, NO_CATALOGUE).collect().row(0, named=True)
    assert (found["changing_calls"], found["after_read"], found["directly_after_read"]) == (5, 3, 1)
    assert found["catalogued_calls"] == 0


def test_a_read_in_another_trajectory_does_not_count() -> None:
    found = m.reads_first(script("get:1+", "set:1+"), NO_CATALOGUE).collect().row(0, named=True)
    assert (found["after_read"], found["directly_after_read"]) == (0, 0)


@pytest.mark.parametrize(
    "measure",
    [
        *(partial(m.transitions, unit=unit, min_n=1) for unit in ("tool_name", "verb", "kind")),
        *(partial(m.ngrams, unit=unit, min_n=1) for unit in ("tool_name", "verb", "kind")),
        partial(m.entropy, min_n=1),
        m.reads_first,
    ],
)
def test_the_order_of_rows_changes_nothing_and_no_rows_give_the_declared_columns(measure: Any) -> None:
    assert_frame_equal(measure(shuffled(CALLS), NO_CATALOGUE).collect(), measure(CALLS, NO_CATALOGUE).collect())
    assert measure(NO_CALLS, NO_CATALOGUE).collect().is_empty()
    assert measure(NO_CALLS, NO_CATALOGUE).collect_schema() == measure(CALLS, NO_CATALOGUE).collect_schema()
