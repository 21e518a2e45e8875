"""Outcomes on few calls: rates, rules, places, and messages with ids and numbers folded."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import outcomes as m
from analysis.schema import TOOL_CALLS, TRAJECTORIES
from tests.measures.calls import NO_CALLS, script
from tests.measures.frames import rows, shuffled

CALLS = script("get:a+ get:b- set:a- list:a? get:c+", "get:a+ set:b-")


def test_unknown_results_stand_apart_from_the_rate() -> None:
    found = m.by_mode(CALLS).collect().row(0, named=True)
    assert (found["calls"], found["errors"], found["judged"], found["unknown"]) == (7, 3, 6, 1)
    assert found["unknown_share"] == 1 / 7
    assert found["error_rate"] is None


def test_twenty_judged_results_make_a_rate() -> None:
    found = m.by_mode(script("get:a- " * 4 + "get:a+ " * 16 + "get:a? " * 5)).collect().row(0, named=True)
    assert found["error_rate"] == 4 / 20
    assert (found["error_rate_low"], found["error_rate_clusters"]) == (None, 1), "one trajectory has no interval"
    several = m.by_mode(script(*["get:a- get:a+ get:a+ get:a+ get:a+"] * 10)).collect().row(0, named=True)
    assert several["error_rate_low"] < 1 / 5 < several["error_rate_high"]
    assert m.by_mode(script("get:a- " * 19 + "get:a?")).collect()["error_rate"].to_list() == [None]


def test_rules_are_ordered_by_strength_and_the_rate_leaves_out_the_weaker_ones() -> None:
    made = [
        ("none", "unknown"),
        ("structured", "ok"),
        ("structured", "ok"),
        ("success_key", "error"),
        ("success_key", "ok"),
        ("error_text", "error"),
    ]
    seen = rows(TOOL_CALLS, *({"call": k, "outcome_rule": r, "outcome": o} for k, (r, o) in enumerate(made)))
    found = m.by_rule(seen).collect()
    assert found.select("outcome_rule", "ok", "errors", "unknown", "cumulative_error_rate").rows() == [
        ("success_key", 1, 1, 0, 1 / 2),
        ("error_text", 0, 1, 0, 2 / 3),
        ("structured", 2, 0, 0, 2 / 5),
        ("none", 0, 0, 1, 2 / 5),
    ]
    assert found["call_share"].sum() == pytest.approx(1)


def test_a_rule_that_judges_nothing_gives_no_rate() -> None:
    seen = rows(TOOL_CALLS, {"outcome_rule": "none", "outcome": "unknown"})
    assert m.by_rule(seen).collect()["cumulative_error_rate"].to_list() == [None]


def test_environments_stand_in_natural_order() -> None:
    seen = pl.concat([script("get:a-", env_id="env_10"), script("get:a+ get:b-", env_id="env_2")])
    found = m.by_environment(seen).collect()
    assert found.select("env_id", "calls", "errors").rows() == [("env_2", 2, 1), ("env_10", 1, 1)]


def test_tools_without_an_error_are_not_listed_and_top_keeps_the_first() -> None:
    found = m.by_tool(CALLS).collect().select("tool_name", "calls", "errors", "judged")
    assert found.rows() == [("set", 2, 2, 2), ("get", 4, 1, 4)]
    assert m.by_tool(CALLS, top=1).collect()["tool_name"].to_list() == ["set"]


def test_of_equally_many_errors_environment_and_tool_decide_and_the_nameless_come_last() -> None:
    calls = [script("set:a- get:a- _:-", env_id="shop"), script("set:a- get:a-", env_id="bank")]
    nowhere = script("get:a-").with_columns(env_id=pl.lit(None, pl.String))
    found = m.by_tool(pl.concat([nowhere, *calls])).collect()
    assert found.select("env_id", "tool_name").rows() == [
        ("bank", "get"),
        ("bank", "set"),
        ("shop", "get"),
        ("shop", "set"),
        ("shop", None),
        (None, "get"),
    ]


def test_twenty_tools_and_twenty_templates_are_listed_where_nothing_else_is_said() -> None:
    many = script(" ".join(f"tool{n}:a-" for n in range(30)))
    assert m.by_tool(many).collect().height == 20
    texts = pl.Series([chr(ord("a") + n % 26) * (1 + n // 26) for n in range(30)])
    assert m.templates(many.with_columns(error=texts)).collect().height == 20


def test_a_template_tells_where_it_occurs_and_equals_stand_in_the_alphabets_order() -> None:
    calls = [
        script("get:a- set:a-", env_id="shop"),
        script("get:a-", env_id="bank"),
        script("", "get:a-", env_id="bank").with_columns(error=pl.lit("full")),
        script("", "get:a-", env_id="bank").with_columns(error=pl.lit("closed")),
    ]
    found = m.templates(pl.concat(calls)).collect()
    assert found.select("template", "errors", "trajectories", "tools", "environments").rows() == [
        ("refused", 3, 1, 3, 2),  # get of the shop and get of the bank are two tools
        ("closed", 1, 1, 1, 1),
        ("full", 1, 1, 1, 1),
    ]


def test_a_long_message_is_cut_to_two_hundred_characters() -> None:
    assert pl.DataFrame({"error": ["  " + "a" * 300]}).select(m.template()).item() == "a" * 200


def test_shares_are_of_the_environments_own_calls() -> None:
    found = m.by_environment(pl.concat([script("get:a? get:a+", env_id="a"), script("get:a?", env_id="b")])).collect()
    assert found["unknown_share"].to_list() == [1 / 2, 1]


def test_a_place_is_the_tenth_of_the_trajectorys_own_calls() -> None:
    two, twenty = script("get:a+ get:a-"), script("", "get:a- " + "get:a+ " * 19)
    found = m.by_position(pl.concat([two, twenty])).collect()
    assert found["tenth"].to_list() == list(range(1, 11))
    # Two calls have no tenths; of twenty, two stand in each.
    assert found["calls"].to_list() == [2] * 10
    assert found["errors"].to_list() == [1] + [0] * 9


def test_a_call_stands_where_its_midpoint_does() -> None:
    fifteen = m.by_position(script("get:a+ " * 15)).collect()
    # 1/30, 3/30 = a tenth, 5/30, …: the second call stands in the second tenth, and the last tenth holds the last two.
    assert fifteen["calls"].to_list() == [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]


def test_a_call_numbered_beyond_the_calls_there_are_stands_in_the_last_tenth() -> None:
    some = script("get:a+ " * 23 + "get:a-").filter(pl.col("call") > 14)
    found = m.by_position(some).select("tenth", "calls", "errors").collect().rows()
    assert found == [(10, 10, 1)]


def test_runs_of_one_scenario_widen_the_interval_of_an_error_rate() -> None:
    runs = ["get:a- " * 5] * 20 + ["get:a+ " * 5] * 60
    alone = m.by_mode(script(*runs)).collect().row(0, named=True)
    played = [{"trajectory_id": f"t{n}", "env_id": "bank", "task_id": str((n - 1) // 4)} for n in range(1, 81)]
    together = m.by_mode(script(*runs), rows(TRAJECTORIES, *played)).collect().row(0, named=True)
    assert (alone["error_rate_clusters"], together["error_rate_clusters"]) == (80, 20)
    assert alone["error_rate"] == together["error_rate"] == 1 / 4
    assert together["error_rate_deff"] == pytest.approx(4 * alone["error_rate_deff"], rel=0.15)
    assert together["error_rate_low"] < alone["error_rate_low"]


@pytest.mark.parametrize(
    ("error", "template"),
    [
        ("User u_17 not found", "User <id> not found"),
        ("flight HAT030 not available on 2024-05-21", "flight <id> not available on <time>"),
        ("expected 2024-05-21T10:00:00Z, not 10:30", "expected <time>, not <time>"),
        ("payment is 327.50 but total is 1,200", "payment is <n> but total is <n>"),
        ("balance -5 of 7", "balance <n> of <n>"),
        ("no 3f2504e0-4f89-41d3-9a0c-0305e82c3301 here", "no <id> here"),
        ("<Room object at 0x7f3a>", "<Room object at <id>>"),
        ("missing: ['u_1', 'u_2', 'u_3']", "missing: ['<id>', …]"),
        ("3rd try,\n  again", "<id> try, again"),
        ("user_id is required", "user_id is required"),
    ],
)
def test_ids_numbers_and_times_are_folded_and_words_are_kept(error: str, template: str) -> None:
    assert pl.DataFrame({"error": [error]}).select(m.template()).item() == template


def test_messages_that_differ_in_their_ids_are_one_template() -> None:
    errors = ["no user u_2", "no user u_1", "no user u_1", None, "refused"]
    seen = rows(
        TOOL_CALLS,
        *(
            {"trajectory_id": f"t{k // 2}", "call": k, "tool_name": f"tool{k % 2}", "outcome": "error", "error": error}
            for k, error in enumerate(errors)
        ),
        {"trajectory_id": "t9", "call": 1, "outcome": "ok", "error": None},
    )
    found = m.templates(seen).collect()
    assert found.select("template", "errors", "all_errors", "trajectories", "tools", "example").rows() == [
        ("no user <id>", 3, 5, 2, 2, "no user u_1"),
        (m.NO_TEXT, 1, 5, 1, 1, m.NO_TEXT),
        ("refused", 1, 5, 1, 1, "refused"),
    ]
    assert found["error_share"].sum() == pytest.approx(1)
    assert m.templates(seen, top=1).collect()["error_share"].to_list() == pytest.approx([3 / 5])


@pytest.mark.parametrize("measure", [m.by_mode, m.by_rule, m.by_environment, m.by_tool, m.by_position, m.templates])
def test_the_order_of_rows_changes_nothing_and_no_rows_give_the_declared_columns(measure: object) -> None:
    assert callable(measure)
    assert_frame_equal(measure(shuffled(CALLS)).collect(), measure(CALLS).collect())
    assert measure(NO_CALLS).collect().is_empty()
    assert measure(NO_CALLS).collect_schema() == measure(CALLS).collect_schema()
