"""What a replay comes to, counted by hand over small tables."""

from typing import Any

import polars as pl

from analysis.measures import replay as m
from analysis.schema import REPLAYED_CALLS, REPLAYED_CHECKS, REPLAYS, Table
from tests.builders import decode, step, trajectory


def rows(table: Table, *given: dict[str, Any]) -> pl.LazyFrame:
    """Rows of a table, 0, False or null where nothing is said."""
    empty = {c.name: None if c.nullable else False if c.dtype == pl.Boolean() else 0 for c in table}
    return pl.DataFrame([{**empty, **one} for one in given], schema=table.schema, orient="row").lazy()


STEPS = [step("look"), step("pay"), step("look")]
RECORDS = [
    trajectory("t1", env_id="bank", steps=STEPS),
    trajectory("t1", env_id="bank", traj_type="conversation", steps=STEPS),
    trajectory("t2", env_id="bank", steps=STEPS),
    trajectory("t2", env_id="bank", steps=STEPS),
    trajectory("t3", env_id="shop", steps=STEPS),
]
DATA = decode(*RECORDS)
TRAJECTORIES = DATA.trajectories.collect().lazy()
IDS = TRAJECTORIES.collect()["trajectory_id"].to_list()


def played(id_: str, state: str, **more: Any) -> dict[str, Any]:
    base = {"is_replayable": True, "calls": 3, "reproduced": 3, "changes": 1, "final_state_hash": state}
    return {"trajectory_id": id_, **base, **more}


SEEN = rows(
    REPLAYS,
    played(IDS[0], "a", changes_read_back=1, checks=2, checks_passed=2, reward=1.0, reward_recorded=1.0),
    played(IDS[1], "b", checks=2, checks_passed=1, reward=0.5, reward_recorded=1.0),
    played(IDS[2], "c", reproduced=1, differing=1, untold=1, first_difference=2),
    played(IDS[3], "c"),
    {"trajectory_id": IDS[4], "is_replayable": False, "reason": "it imports numpy", "calls": 3},
)


def call(id_: str, number: int, verdict: str = "reproduced", kind: str = "text", **more: Any) -> dict[str, Any]:
    name = "pay" if number == 2 else "look"
    return {"trajectory_id": id_, "call": number, "tool_name": name, "verdict": verdict, "kind": kind, **more}


CALLS = rows(
    REPLAYED_CALLS,
    *(call(id_, number) for id_ in (IDS[0], IDS[1], IDS[3]) for number in (1, 3)),
    *(call(id_, 2, changed=1, is_read_back=id_ == IDS[0]) for id_ in (IDS[0], IDS[1], IDS[3])),
    call(IDS[2], 1, "untold", "no result"),
    call(IDS[2], 2, "differing", "content", changed=1, made=2, replayed_result="other"),
    call(IDS[2], 3),
)
CHECKS = rows(
    REPLAYED_CHECKS,
    *({"trajectory_id": id_, "check": n, "item": f"Is it {n}?", "is_passed": not (id_ == IDS[1] and n == 2)}
      for id_ in IDS[:2] for n in (1, 2)),
    {"trajectory_id": IDS[2], "check": 1, "item": "Is it?", "is_passed": None, "reason": "sandbox"},
)  # fmt: skip


def test_the_summary_counts_what_was_played_and_what_came_of_it() -> None:
    (row,) = m.summary(SEEN).collect().to_dicts()
    assert row == {
        "trajectories": 5, "replayable": 4, "whole": 3, "all_calls": 15, "calls": 12, "reproduced": 10, "differing": 1,
        "untold": 1, "changes": 4, "changes_read_back": 1, "checked": 2, "all_passed": 1, "checks": 4,
        "checks_passed": 3, "checks_untold": 0, "rewarded": 2, "equal_rewards": 1,
    }  # fmt: skip
    assert m.summary(REPLAYS.empty().lazy()).collect().is_empty()


def test_what_could_not_be_played_has_its_reason() -> None:
    assert m.reasons(SEEN).collect().rows() == [("it imports numpy", 1)]


def test_differences_are_counted_by_environment_and_tool_and_listed() -> None:
    (bank,) = m.by_environment(CALLS, TRAJECTORIES).collect().to_dicts()
    counts = [bank[name] for name in ("env_id", "calls", "reproduced", "differing", "untold", "judged")]
    assert counts == ["bank", 12, 10, 1, 1, 11]
    assert bank["differing_rate"] is None, "fewer than 20 calls have no rate"
    assert m.by_tool(CALLS, TRAJECTORIES).collect().rows() == [("bank", "pay", 4, 3, 1, 0, f"{IDS[2]} call 2")]
    (listed,) = m.differences(CALLS, DATA.tool_calls).collect().to_dicts()
    assert (listed["trajectory_id"], listed["call"], listed["step"]) == (IDS[2], 2, 2)
    assert listed["replayed_result"] == "other"


def test_kinds_are_shares_of_the_calls_played() -> None:
    assert m.kinds(CALLS).collect().select("verdict", "kind", "calls", "all_calls").rows() == [
        ("reproduced", "text", 10, 12), ("differing", "content", 1, 12), ("untold", "no result", 1, 12),
    ]  # fmt: skip


def test_changes_are_told_by_tool_with_those_read_back() -> None:
    assert m.changes(CALLS, TRAJECTORIES).collect().rows() == [("bank", "pay", 4, 1, 2, 4, 0, 4)]


def test_checks_that_fail_name_the_first_trajectory_that_fails_them() -> None:
    (failing,) = m.checks(CHECKS, TRAJECTORIES).collect().to_dicts()
    assert (failing["check"], failing["asked"], failing["failed"], failing["first"]) == (2, 2, 1, IDS[1])


def test_agreement_is_told_mode_by_mode_and_for_both_together() -> None:
    assert m.agreement(SEEN, TRAJECTORIES).collect().rows() == [("non_conversation", 1, 1), ("both", 2, 1)]
