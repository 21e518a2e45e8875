"""Recovery on few calls: what follows an error, how soon the tool is ok again, how long errors run."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import recovery as m
from tests.measures.calls import NO_CALLS, script
from tests.measures.frames import shuffled

CALLS = script(
    "get:a- get:a- set:a+ get:b+",  # both errors of get are recovered by the last call
    "set:a- get:a+",  # another tool's ok recovers nothing
    "get:a+ set:a-",  # nothing follows, and an ok before does not count
    "get:a+",
    "_:- get:a+",  # no tool was named
)


def test_an_error_is_recovered_by_a_later_ok_of_the_same_tool_in_the_same_trajectory() -> None:
    found = m.summary(CALLS).collect().row(0, named=True)
    assert (found["errors"], found["recovered"], found["unnamed_errors"]) == (4, 2, 1)
    # get's two errors before its ok are one episode, three calls long; set never is ok again, in either trajectory.
    assert (found["episodes"], found["recovered_episodes"], found["median_latency"]) == (3, 1, 3)
    assert found["identical_retries"] == 1
    assert found["recovered_rate"] is None


def test_the_next_call_is_told_by_what_it_changes() -> None:
    found = m.next_calls(CALLS).collect().select("response", "errors", "mode_errors", "recovered")
    assert found.rows() == [
        ("identical_retry", 1, 4, 1),
        ("other_tool", 2, 4, 1),
        ("no_further_call", 1, 4, 0),
    ]


def test_the_same_arguments_in_another_order_are_an_identical_retry() -> None:
    texts = ['{"a": 1, "b": [2]}', '{ "b":[2],"a":1 }', '{"a": 1, "b": [3]}']
    calls = script("get:x- get:y- get:z-").with_columns(arguments=pl.Series(texts))
    assert m.next_calls(calls).collect().select("response", "errors").rows() == [
        ("identical_retry", 1),
        ("same_tool", 1),
        ("no_further_call", 1),
    ]


def test_arguments_that_do_not_parse_are_compared_as_they_stand() -> None:
    calls = script("get:x- get:y- get:z-").with_columns(arguments=pl.Series(['{"a', '{"a', '{"b']))
    assert m.next_calls(calls).collect().select("response", "errors").rows()[0] == ("identical_retry", 1)


def test_absent_arguments_are_the_same_as_empty_ones() -> None:
    texts = [None, None, "{}", "", '{"id": 1}']
    calls = script("get:x- get:y- get:z- get:u- get:v-").with_columns(arguments=pl.Series(texts, dtype=pl.String))
    assert m.next_calls(calls).collect().select("response", "errors").rows()[:2] == [
        ("identical_retry", 3),
        ("same_tool", 1),
    ]


def test_calls_of_one_message_recover_and_retry_nothing() -> None:
    found = m.summary(script("get:a- &get:a+")).collect().row(0, named=True)
    assert (found["errors"], found["recovered"], found["identical_retries"]) == (1, 0, 0)
    assert m.next_calls(script("get:a- &get:a+")).collect()["response"].to_list() == ["no_further_call"]
    later = m.summary(script("get:a- &get:a+ set:b+ &get:a+")).collect().row(0, named=True)
    assert (later["recovered"], later["identical_retries"], later["median_latency"]) == (1, 1, 3)


def test_what_comes_next_is_any_call_of_the_next_message() -> None:
    found = m.next_calls(script("get:a- set:b+ &get:c+", "get:a- set:b+ &get:a-", "get:a- set:b+")).collect()
    assert dict(found.select("response", "errors").rows()) == {
        "identical_retry": 1,
        "same_tool": 1,
        "other_tool": 1,
        "no_further_call": 1,
    }


def test_a_trajectory_that_ends_says_only_how_long_no_ok_came() -> None:
    far = "get:a- " + "set:a+ " * 30 + "get:a+"
    seen = script("get:a- get:a+", "get:a- set:b+", "get:a- set:b+ get:b- get:a+", far)
    found = m.latencies(seen).collect()
    # Of four episodes one is recovered at once; one ends unknown after one call; of the two left one is recovered
    # after three calls, and one after 31, which only the counts tell.
    assert found.drop("cumulative_share").rows() == [
        ("conversation", 1, 1, 4, 4, 3),
        ("conversation", 3, 1, 2, 4, 3),
    ]
    # Not to the last bit: how Polars divides a column depends on the number of its threads.
    assert found["cumulative_share"].to_list() == pytest.approx([1 / 4, 1 - 3 / 4 * 1 / 2])
    assert m.summary(seen).collect()["median_latency"].to_list() == [3]


def test_half_that_is_never_recovered_has_no_median() -> None:
    found = m.summary(script("get:a- get:a+", "get:a- set:b+ set:b+", "get:a- set:b+ set:b+")).collect()
    assert found.select("episodes", "recovered_episodes", "median_latency").row(0) == (3, 1, None)


def test_an_ok_ends_an_episode_and_the_next_error_begins_one() -> None:
    found = m.summary(script("get:a- set:a- get:a- get:a+ get:b- &get:c+ get:a-")).collect()
    assert found.select("errors", "episodes", "recovered_episodes").row(0) == (5, 3, 1)


def test_the_longest_run_of_a_trajectory_counts_any_tool_and_ends_at_anything_but_an_error() -> None:
    seen = script("get:a- set:a- _:- get:a+ get:a-", "get:a- get:a? get:a-", "get:a+", "get:a- get:a-")
    assert m.runs(seen).collect().select("longest_run", "trajectories", "trajectory_share").rows() == [
        (0, 1, 1 / 4),
        (1, 1, 1 / 4),
        (2, 1, 1 / 4),
        (3, 1, 1 / 4),
    ]


def test_a_run_does_not_reach_into_the_next_trajectory() -> None:
    assert m.runs(script("get:a+ get:a-", "get:a- get:a+")).collect()["longest_run"].to_list() == [1]


def test_tools_are_listed_by_errors_unnamed_blocks_left_out() -> None:
    found = m.by_tool(CALLS).collect().select("tool_name", "errors", "recovered")
    assert found.rows() == [("get", 2, 2), ("set", 2, 0)]
    assert m.by_tool(CALLS, top=1).collect().height == 1


def test_of_equally_many_errors_environment_and_tool_decide() -> None:
    seen = pl.concat([script("set:a- get:a-", env_id="shop"), script("", "get:a- set:a- odd:a-", env_id="bank")])
    zoo = script("", "", "zoo:a- zoo:a-").with_columns(env_id=pl.lit(None, pl.String))
    found = m.by_tool(pl.concat([seen, zoo]))
    assert found.select("env_id", "tool_name", "errors").collect().rows() == [
        (None, "zoo", 2),
        ("bank", "get", 1),
        ("bank", "odd", 1),
        ("bank", "set", 1),
        ("shop", "get", 1),
        ("shop", "set", 1),
    ]
    nowhere = script("", "", "zoo:a-").with_columns(env_id=pl.lit(None, pl.String))
    assert m.by_tool(pl.concat([nowhere, seen])).collect()["env_id"].to_list()[-1] is None


def test_twenty_tools_are_listed_where_nothing_else_is_said() -> None:
    assert m.by_tool(script(" ".join(f"tool{n}:a-" for n in range(30)))).collect().height == 20


def test_each_mode_has_shares_of_its_own() -> None:
    solo = script(*[""] * 5, "get:a- get:b- get:a+", "get:a-", traj_type="non_conversation")
    both = pl.concat([solo, CALLS])
    assert m.summary(both).select("traj_type", "errors", "recovered").collect().rows() == [
        ("conversation", 4, 2),
        ("non_conversation", 3, 2),
    ]
    assert m.next_calls(both).select("traj_type", "response", "errors", "mode_errors").collect().rows() == [
        ("conversation", "identical_retry", 1, 4),
        ("conversation", "other_tool", 2, 4),
        ("conversation", "no_further_call", 1, 4),
        ("non_conversation", "same_tool", 2, 3),
        ("non_conversation", "no_further_call", 1, 3),
    ]
    late = m.latencies(both).collect()
    assert late.select("traj_type", "latency", "open", "mode_episodes", "mode_recovered").rows() == [
        ("conversation", 3, 1, 3, 1),
        ("non_conversation", 2, 1, 2, 1),
    ]
    # Those that are still open all end in an ok: no other was seen for so long.
    assert late["cumulative_share"].to_list() == [1, 1]
    assert m.runs(both).select("traj_type", "longest_run", "mode_trajectories").collect().rows() == [
        ("conversation", 0, 5),
        ("conversation", 1, 5),
        ("conversation", 2, 5),
        ("non_conversation", 1, 2),
        ("non_conversation", 2, 2),
    ]


def test_retries_and_responses_have_rates_and_intervals_of_their_own() -> None:
    seen = script(*["get:a- get:a+"] * 5, *["get:a- set:a+"] * 20)
    whole = m.summary(seen).collect().row(0, named=True)
    assert (whole["retry_rate"], whole["recovered_rate"]) == (5 / 25, 5 / 25)
    assert whole["retry_rate_low"] < 5 / 25 < whole["retry_rate_high"]
    found = m.next_calls(seen).collect()
    assert found.select("response", "response_rate", "recovered_rate").rows() == [
        ("identical_retry", 5 / 25, None),  # of five errors no rate
        ("other_tool", 20 / 25, 0),
    ]
    assert found["response_rate_low"][0] < 5 / 25 < found["response_rate_high"][0]


def test_calls_in_any_order_of_rows_follow_each_other_by_their_number() -> None:
    assert_frame_equal(m.runs(CALLS.reverse()).collect(), m.runs(CALLS).collect())
    assert_frame_equal(m.next_calls(CALLS.reverse()).collect(), m.next_calls(CALLS).collect())


def test_twenty_errors_make_a_rate() -> None:
    seen = script(*["get:a- get:a+"] * 15, *["get:a-"] * 5)
    assert m.by_tool(seen).collect()["recovered_rate"].to_list() == [15 / 20]
    found = m.summary(seen).collect().row(0, named=True)
    assert (found["recovered_rate"], found["retry_rate"]) == (15 / 20, 15 / 20)
    assert found["recovered_rate_low"] < 15 / 20 < found["recovered_rate_high"]


@pytest.mark.parametrize("measure", [m.summary, m.next_calls, m.latencies, m.runs, m.by_tool])
def test_the_order_of_rows_changes_nothing_and_no_rows_give_the_declared_columns(measure: object) -> None:
    assert callable(measure)
    assert_frame_equal(measure(shuffled(CALLS)).collect(), measure(CALLS).collect())
    assert measure(NO_CALLS).collect().is_empty()
    assert measure(NO_CALLS).collect_schema() == measure(CALLS).collect_schema()
