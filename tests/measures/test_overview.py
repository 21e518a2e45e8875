"""Overview on four records: headlines, rules, sound records, what `steps` counts, rejections."""

from typing import Any

import pytest
from polars.testing import assert_frame_equal

from analysis.measures import overview as m
from analysis.records.rules import RULES
from analysis.schema import TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled, times
from tests.measures.small import (
    CALLS_SEEN,
    FINDINGS_SEEN,
    NO_CALLS,
    NO_FINDINGS,
    NO_REJECTED,
    NO_TRAJECTORIES,
    REJECTED_SEEN,
    SOLO,
    TALK,
    TRAJECTORIES_SEEN,
)

CONTRACT = [("steps_mismatch", "steps are messages", "count"), ("alternation", "turns alternate", "look")]


def numbers(*frames: Any) -> dict[str, tuple[str, str]]:
    found = m.headlines(*frames).collect()
    return {label: (value, meaning) for value, label, meaning in found.iter_rows()}


def test_headlines_carry_their_denominators() -> None:
    found = numbers(TRAJECTORIES_SEEN, CALLS_SEEN, FINDINGS_SEEN, REJECTED_SEEN)
    assert list(found) == [
        "records kept",
        "environments",
        "scenarios",
        "conversations",
        "steps, median",
        "tool calls",
        "of calls fail",
        "records without a finding",
    ]
    assert found["records kept"] == ("4", "of 7 read; 3 rejected")
    assert found["environments"][0] == "2"
    assert found["scenarios"][0] == "2"
    assert found["conversations"] == ("1", "with a simulated user; the other 3 run without")
    assert found["steps, median"][0] == "5 / 29"
    assert found["tool calls"][0] == "7"
    assert found["of calls fail"] == (
        "2 of 6",
        "2 of 6 calls whose result says ok or error; descriptive, no measure of quality",
    )
    assert found["records without a finding"] == ("2 of 4", "2 of 4 records kept break no rule of the contract")


def test_headlines_show_a_rate_from_twenty_on_and_thousands_apart() -> None:
    many = (times(TRAJECTORIES_SEEN, 1_500), times(CALLS_SEEN, 1_500), times(FINDINGS_SEEN, 1_500), NO_REJECTED)
    found = numbers(*many)
    assert found["records kept"] == ("6,000", "of 6,000 read; 0 rejected")
    assert found["of calls fail"][0] == "33.3 %"
    assert found["records without a finding"][0] == "50.0 %"


def test_a_mode_without_records_has_no_median() -> None:
    alone = rows(TRAJECTORIES, {"trajectory_id": "a", "traj_type": SOLO, "assistant_messages": 4})
    assert numbers(alone, NO_CALLS, NO_FINDINGS, NO_REJECTED)["steps, median"][0] == "– / 4"


def test_a_rule_nobody_breaks_is_a_row_of_zeros_and_findings_of_other_trajectories_are_left_out() -> None:
    found = m.rules(TRAJECTORIES_SEEN, FINDINGS_SEEN, CONTRACT).collect()
    assert found.select("rule", "records_breaking", "findings", "records").rows() == [
        ("no_environment", 1, 1, 4),
        ("steps_mismatch", 1, 1, 4),
        ("unreadable_call", 1, 1, 4),
        ("alternation", 0, 0, 4),
    ]
    assert found["record_share"].to_list() == [1 / 4, 1 / 4, 1 / 4, 0]


def test_every_rule_of_the_project_is_listed() -> None:
    found = m.rules(TRAJECTORIES_SEEN, FINDINGS_SEEN, RULES).collect()
    assert set(found["rule"]) == {rule.id for rule in RULES}
    assert all(found["sentence"].str.len_chars() > 0)


def test_a_record_with_two_findings_is_broken_once() -> None:
    found = m.sound(TRAJECTORIES_SEEN, FINDINGS_SEEN).collect()
    assert found.select("traj_type", "sound_records", "records").rows() == [(TALK, 1, 1), (SOLO, 1, 3)]
    assert found["sound_share"].to_list() == pytest.approx([1, 1 / 3])
    assert all(found["share_low"] < found["sound_share"])


def test_steps_are_held_against_three_candidates_where_declared() -> None:
    found = m.steps_candidates(TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "candidate", "matches", "declared").rows() == [
        (TALK, "assistant messages", 1, 1),
        (TALK, "tool calls", 0, 1),
        (TALK, "tool messages", 0, 1),
        (SOLO, "assistant messages", 1, 2),  # c; b declares 2 and has 3
        (SOLO, "tool calls", 1, 2),  # b
        (SOLO, "tool messages", 1, 2),
    ]


def test_composition_sums_to_one() -> None:
    found = m.composition(TRAJECTORIES_SEEN).collect()
    assert found.rows() == [
        (TALK, "release", "stop_marker", 1, 4, 1 / 4),
        (SOLO, "release", "completed_marker", 3, 4, 3 / 4),
    ]


def test_rejections_are_grouped_by_reason() -> None:
    assert m.reasons(REJECTED_SEEN).collect().rows() == [
        ("messages: cut off", 2, "x.json@100"),
        ("not an object", 1, "x.json@500"),
    ]
    assert m.reasons(REJECTED_SEEN, top=1).collect().height == 1


MEASURES: list[tuple[Table, Any]] = [
    (m.HEADLINES, m.headlines),
    (m.RULES, lambda t, _c, f, _r: m.rules(t, f, CONTRACT)),
    (m.SOUND, lambda t, _c, f, _r: m.sound(t, f)),
    (m.STEPS, lambda t, _c, _f, _r: m.steps_candidates(t)),
    (m.COMPOSITION, lambda t, _c, _f, _r: m.composition(t)),
    (m.REASONS, lambda _t, _c, _f, r: m.reasons(r)),
]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_no_rows_give_the_declared_empty_frame(result: Table, measure: Any) -> None:
    assert_frame_equal(measure(NO_TRAJECTORIES, NO_CALLS, NO_FINDINGS, NO_REJECTED).collect(), result.empty())


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_the_order_of_rows_changes_nothing(result: Table, measure: Any) -> None:
    frames = (TRAJECTORIES_SEEN, CALLS_SEEN, FINDINGS_SEEN, REJECTED_SEEN)
    straight = measure(*frames).collect()
    assert straight.schema == result.schema
    assert_frame_equal(measure(*map(shuffled, frames)).collect(), straight)
