"""Argument validity on few calls."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import arguments as m
from analysis.schema import TOOL_CALLS
from tests.measures.calls import NO_CALLS
from tests.measures.frames import rows, shuffled

TALK, SOLO = "conversation", "non_conversation"


def call(number: int, found: str, outcome: str = "ok", tool: str | None = "get", mode: str = TALK) -> dict[str, object]:
    return {
        "trajectory_id": mode,
        "traj_type": mode,
        "call": number,
        "tool_name": tool,
        "arguments_class": found,
        "outcome": outcome,
    }


CALLS = rows(
    TOOL_CALLS,
    call(1, "valid"),
    call(2, "missing_required"),
    call(3, "missing_required", "error"),
    call(4, "missing_required", "unknown"),
    call(5, "unparsable", "error", None),
    call(6, "unchecked", tool="odd"),
    call(7, "enum", "error", "set"),
    call(1, "valid", "error", mode=SOLO),
    env_id="bank",
)


def test_a_missing_argument_that_the_tool_did_not_need_is_the_schemas_fault() -> None:
    found = m.classes(CALLS).filter(pl.col("traj_type") == TALK).collect()
    assert dict(found.select("verdict", "calls").iter_rows()) == {
        "valid": 1,
        "over_required": 1,
        "missing_required": 2,
        "unparsable": 1,
        "unchecked": 1,
        "enum": 1,
    }


def test_every_call_of_the_mode_is_in_the_denominator_unreadable_blocks_too() -> None:
    found = m.classes(CALLS).collect()
    assert dict(found.select("traj_type", "mode_calls").unique().iter_rows()) == {TALK: 7, SOLO: 1}
    assert found.group_by("traj_type").agg(pl.col("calls").sum() == pl.col("mode_calls").first())["calls"].all()


def test_a_rate_over_fewer_than_20_calls_is_left_out_and_over_20_is_told_with_its_interval() -> None:
    assert m.classes(CALLS).collect()["class_rate"].null_count() == 7
    many = rows(TOOL_CALLS, *(call(n, "valid" if n > 5 else "enum") for n in range(1, 21)))
    found = m.classes(many).collect().row(1, named=True)
    assert (found["verdict"], found["class_rate"]) == ("enum", 5 / 20)
    assert (found["class_rate_low"], found["class_rate_clusters"]) == (None, 1), "one trajectory has no interval"
    # A call a trajectory: Wilson's interval of 5 of 20, widened by Student's t and by little else.
    apart = m.classes(many.with_columns(trajectory_id=pl.col("call").cast(pl.String))).collect().row(1, named=True)
    assert (apart["class_rate_low"], apart["class_rate_high"]) == pytest.approx((0.1036, 0.4900), abs=1e-3)
    assert apart["class_rate_clusters"] == 20, "those without a call of the class are trials as well"


def test_verdicts_stand_in_their_own_order_not_the_alphabets() -> None:
    found = m.classes(CALLS).filter(pl.col("traj_type") == TALK).collect()["verdict"].cast(pl.String).to_list()
    assert found == ["valid", "over_required", "unparsable", "missing_required", "enum", "unchecked"]


def test_breaches_count_per_tool_and_leave_out_valid_and_unchecked_calls() -> None:
    found = m.breaches(CALLS).collect()
    assert found.select("tool_name", "verdict", "calls", "tool_breaches", "tool_calls", "breach_share").rows() == [
        ("get", "over_required", 1, 3, 5, None),
        ("get", "missing_required", 2, 3, 5, None),
        ("set", "enum", 1, 1, 1, None),
        (None, "unparsable", 1, 1, 1, None),
    ]


def test_top_counts_tools_not_rows() -> None:
    assert m.breaches(CALLS, top=1).collect()["tool_name"].to_list() == ["get", "get"]
    assert m.breaches(CALLS, top=2).collect()["tool_name"].to_list() == ["get", "get", "set"]


def test_of_equally_many_breaches_environment_and_tool_decide_the_nameless_come_last() -> None:
    seen = [("shop", "a"), ("bank", "b"), ("bank", None), ("bank", "a"), (None, "a")]
    calls = [{**call(n, "enum", tool=tool), "env_id": env} for n, (env, tool) in enumerate(seen)]
    found = m.breaches(rows(TOOL_CALLS, *calls, {**call(9, "enum", tool="b"), "env_id": "shop"}))
    assert found.select("env_id", "tool_name").collect().rows() == [
        ("bank", "a"),
        ("bank", "b"),
        ("bank", None),
        ("shop", "a"),
        ("shop", "b"),
        (None, "a"),
    ]


def test_twenty_tools_are_listed_where_nothing_else_is_said() -> None:
    seen = rows(TOOL_CALLS, *(call(n, "enum", tool=f"tool{n}") for n in range(30)))
    assert m.breaches(seen).collect().height == 20


def test_a_tools_breaches_are_those_of_its_environment() -> None:
    seen = rows(TOOL_CALLS, *({**call(n, "enum"), "env_id": env} for n, env in enumerate(["bank", "bank", "shop"])))
    found = m.breaches(seen).collect()
    assert found.select("env_id", "tool_breaches", "tool_calls").rows() == [("bank", 2, 2), ("shop", 1, 1)]


def test_forms_sum_to_one() -> None:
    seen = rows(
        TOOL_CALLS,
        {"call": 1, "arguments_form": "string", "arguments_state": "object"},
        {"call": 2, "arguments_form": "string", "arguments_state": "empty"},
        {"call": 3, "arguments_form": "string", "arguments_state": "object"},
        {"call": 4, "arguments_form": "object", "arguments_state": "object"},
    )
    assert m.forms(seen).collect().rows() == [
        ("string", "object", 2, None),  # of four calls there is no rate
        ("string", "empty", 1, None),
        ("object", "object", 1, None),
    ]
    assert m.forms(pl.concat([seen] * 5)).collect()["call_share"].to_list() == [2 / 4, 1 / 4, 1 / 4]


@pytest.mark.parametrize("measure", [m.classes, m.breaches, m.forms])
def test_the_order_of_rows_changes_nothing_and_no_rows_give_the_declared_columns(measure: object) -> None:
    assert callable(measure)
    assert_frame_equal(measure(shuffled(CALLS)).collect(), measure(CALLS).collect())
    assert measure(NO_CALLS).collect().is_empty()
    assert measure(NO_CALLS).collect_schema() == measure(CALLS).collect_schema()
