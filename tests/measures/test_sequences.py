"""Sequences on few calls: what follows what, how predictable it is, which runs recur, what comes before a change."""

from functools import partial
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import sequences as m
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
    # Knowing nothing, the next of `always` is one of get, set and the end, evenly.
    assert found["entropy"][0] == pytest.approx(1.584963, abs=1e-6)


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
