"""Overview: headlines, rules of the contract, sound records, what steps counts, and why records were rejected."""

from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import overview
from analysis.records.rules import RULES
from analysis.schema import FINDINGS, REJECTED, TOOL_CALLS, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled, times

CONVERSATION, SOLO = "conversation", "non_conversation"
CONTRACT = [
    ("first", "The first message is first.", "Put it first."),
    ("second", "The second follows.", "Let it follow."),
    ("third", "All is well.", "Nothing to do."),
]


def run(name: str, mode: str, steps: int | None, counted: tuple[int, int, int], **more: object) -> dict[str, object]:
    """A trajectory that declares `steps` and really holds so many assistant messages, calls and results."""
    assistant, calls, results = counted
    return {
        "trajectory_id": name,
        "traj_type": mode,
        "steps": steps,
        "assistant_messages": assistant,
        "tool_calls": calls,
        "tool_messages": results,
        "dialect": "release",
        "env_id": "env_1",
        "task_id": name,
        **more,
    }


TRAJECTORIES_SEEN = rows(
    TRAJECTORIES,
    run("t1", CONVERSATION, 3, (3, 2, 2), end_class="stop_marker"),
    run("t2", CONVERSATION, 2, (4, 2, 2), end_class="stop_marker", task_id="t1"),
    run("t3", SOLO, 5, (5, 5, 4), end_class="completed_marker", env_id="env_2"),
    run("t4", SOLO, None, (7, 6, 6), end_class="completed_marker", task_id=None),
    run("t5", SOLO, 9, (1, 1, 1), end_class="dangling_call", dialect="fc", env_id=None),
)
CALLS_SEEN = rows(
    TOOL_CALLS,
    {"trajectory_id": "t1", "call": 1, "outcome": "ok"},
    {"trajectory_id": "t1", "call": 2, "outcome": "error"},
    {"trajectory_id": "t2", "call": 1, "outcome": "unknown"},
    {"trajectory_id": "t3", "call": 1, "outcome": "ok"},
)
FINDINGS_SEEN = rows(
    FINDINGS,
    {"trajectory_id": "t1", "rule": "second", "message": 1},
    {"trajectory_id": "t1", "rule": "second", "message": 3},
    {"trajectory_id": "t1", "rule": "first"},
    {"trajectory_id": "t3", "rule": "second"},
    {"trajectory_id": "t3", "rule": "unheard of"},
    {"trajectory_id": "elsewhere", "rule": "third"},
)
REJECTED_SEEN = rows(
    REJECTED,
    {"origin": "b.json@9", "reason": "torn"},
    {"origin": "a.json@7", "reason": "torn"},
    {"origin": "a.json@1", "reason": "not an object"},
)


def test_the_summary_counts_what_was_read_and_what_the_records_are() -> None:
    row = overview.summary(TRAJECTORIES_SEEN, CALLS_SEEN, FINDINGS_SEEN, REJECTED_SEEN).collect().row(0, named=True)
    assert row == {
        "kept": 5,
        "rejected": 3,
        "conversations": 2,
        "non_conversations": 3,
        "environments": 2,
        "scenarios": 3,  # t1 and t2 play the same, t4 names none
        "conversation_steps": 3.5,
        "non_conversation_steps": 5.0,
        "calls": 4,
        "errors": 1,
        "judged": 3,  # an unknown outcome says neither
        "unknown": 1,
        "sound": 3,
    }


def test_a_mode_that_is_absent_has_no_median() -> None:
    alone = TRAJECTORIES_SEEN.filter(pl.col("traj_type") == SOLO)
    row = overview.summary(alone, CALLS_SEEN, FINDINGS_SEEN, REJECTED_SEEN).collect()
    assert row.select("conversation_steps", "non_conversation_steps").rows() == [(None, 5.0)]


def test_a_source_of_which_all_is_rejected_still_has_its_summary() -> None:
    row = overview.summary(TRAJECTORIES_SEEN.clear(), CALLS_SEEN.clear(), FINDINGS_SEEN.clear(), REJECTED_SEEN)
    assert row.collect().select("kept", "rejected", "judged").rows() == [(0, 3, 0)]


def test_rules_count_records_once_and_findings_each() -> None:
    found = overview.rules(TRAJECTORIES_SEEN, FINDINGS_SEEN, CONTRACT).collect()
    assert found.select("rule", "records_breaking", "findings", "record_share").rows() == [
        ("second", 2, 3, None),
        ("first", 1, 1, None),
        ("unheard of", 1, 1, None),
        ("third", 0, 0, None),  # only a trajectory that is not selected breaks it
    ]
    many = overview.rules(times(TRAJECTORIES_SEEN, 4), times(FINDINGS_SEEN, 4), CONTRACT).collect()
    assert many["record_share"].to_list() == [2 / 5, 1 / 5, 1 / 5, 0]
    assert found.row(0, named=True)["remedy"] == "Let it follow."
    assert found.row(2, named=True)["sentence"] == ""


def test_records_without_a_finding_are_counted_per_mode() -> None:
    few = overview.sound(TRAJECTORIES_SEEN, FINDINGS_SEEN).collect()
    columns = ["traj_type", "sound_records", "records", "sound_share"]
    assert few.select(columns).rows() == [(CONVERSATION, 1, 2, None), (SOLO, 2, 3, None)]
    found = overview.sound(times(TRAJECTORIES_SEEN, 10), times(FINDINGS_SEEN, 10)).collect()
    assert found.select(columns).rows() == [(CONVERSATION, 10, 20, 1 / 2), (SOLO, 20, 30, 2 / 3)]
    assert (found["sound_share_low"] < found["sound_share"]).all()
    assert (found["sound_share"] < found["sound_share_high"]).all()


def test_steps_are_compared_with_three_counts_in_records_that_declare_them() -> None:
    found = overview.steps_candidates(times(TRAJECTORIES_SEEN, 10)).collect()
    assert found.select("traj_type", "candidate", "matches", "declared", "match_rate").rows() == [
        (CONVERSATION, "assistant messages", 10, 20, 1 / 2),
        (CONVERSATION, "tool calls", 10, 20, 1 / 2),
        (CONVERSATION, "tool messages", 10, 20, 1 / 2),
        (SOLO, "assistant messages", 10, 20, 1 / 2),  # t4 declares none
        (SOLO, "tool calls", 10, 20, 1 / 2),
        (SOLO, "tool messages", 0, 20, 0),
    ]
    assert (found["match_rate_low"] <= found["match_rate"]).all()
    assert (found["match_rate"] <= found["match_rate_high"]).all()
    assert (found["match_rate_low"] < found["match_rate_high"]).all()
    few = overview.steps_candidates(TRAJECTORIES_SEEN).collect()
    assert few["matches"].to_list() == [1, 1, 1, 1, 1, 0]
    assert few["match_rate"].null_count() == few["match_rate_low"].null_count() == 6


def test_runs_of_one_scenario_are_taken_together_where_steps_are_compared() -> None:
    trials = [run(f"t{n}", "conversation", 3, (3, 2, 2), env_id="bank", task_id=str(n // 2)) for n in range(40)]
    found = overview.steps_candidates(rows(TRAJECTORIES, *trials)).collect()
    assert found["match_rate_clusters"].unique().to_list() == [20]


def test_steps_that_no_record_can_match_are_no_match() -> None:
    negative = rows(TRAJECTORIES, run("t1", SOLO, -1, (4294967295, 1, 1)))
    assert overview.steps_candidates(negative).collect()["matches"].to_list() == [0, 0, 0]


def test_records_are_composed_of_modes_dialects_and_endings() -> None:
    found = overview.composition(TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "dialect", "end_class", "records", "record_share").rows() == [
        (CONVERSATION, "release", "stop_marker", 2, 2 / 5),
        (SOLO, "fc", "dangling_call", 1, 1 / 5),
        (SOLO, "release", "completed_marker", 2, 2 / 5),
    ]
    assert found["all_records"].unique().to_list() == [5]


def test_reasons_of_rejection_name_the_first_place() -> None:
    assert overview.reasons(REJECTED_SEEN).collect().rows() == [
        ("torn", 2, "a.json@7"),
        ("not an object", 1, "a.json@1"),
    ]
    assert overview.reasons(REJECTED_SEEN, top=1).collect().height == 1


def test_files_that_were_not_read_are_named_with_their_fate() -> None:
    manifest = {
        "skipped": [{"name": "old.arrow", "reason": "a form of data that is not read (.arrow)"}],
        "damage": [{"origin": "gone.jsonl", "reason": "a link that leads nowhere, or no file"}],
    }
    assert overview.passed_over(manifest).collect().rows() == [
        ("old.arrow", "no data", "a form of data that is not read (.arrow)"),
        ("gone.jsonl", "lost", "a link that leads nowhere, or no file"),
    ]
    assert overview.passed_over({}).collect().rows() == []


def test_reasons_as_frequent_stand_in_the_alphabets_order_fifty_at_most_where_nothing_else_is_said() -> None:
    many = rows(REJECTED, *({"origin": f"{n}", "reason": f"reason {n:02}"} for n in range(60, 0, -1)))
    assert overview.reasons(many).collect()["reason"].to_list() == [f"reason {n:02}" for n in range(1, 51)]


def test_rules_broken_by_as_many_records_come_by_their_findings_then_by_name() -> None:
    broken = [("t1", "c"), ("t1", "c"), ("t2", "b"), ("t1", "a"), ("t1", "d"), ("t2", "d")]
    findings = rows(FINDINGS, *({"trajectory_id": t, "rule": rule, "message": n} for n, (t, rule) in enumerate(broken)))
    found = overview.rules(TRAJECTORIES_SEEN, findings, []).collect()
    assert found.select("rule", "records_breaking", "findings").rows() == [
        ("d", 2, 2),
        ("c", 1, 2),
        ("a", 1, 1),
        ("b", 1, 1),
    ]
    assert found.select("sentence", "remedy").unique().rows() == [("", "")]


def test_every_rule_of_the_project_is_listed_with_its_sentence() -> None:
    found = overview.rules(TRAJECTORIES_SEEN, FINDINGS_SEEN.clear(), RULES).collect()
    assert set(found["rule"]) == {rule.id for rule in RULES}
    assert all(found["sentence"].str.len_chars() > 0)
    assert found["findings"].sum() == 0


Measure = Callable[[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]
MEASURES: list[tuple[Table, Measure]] = [
    (overview.SUMMARY, overview.summary),
    (overview.RULES, lambda t, c, f, r: overview.rules(t, f, CONTRACT)),
    (overview.SOUND, lambda t, c, f, r: overview.sound(t, f)),
    (overview.STEPS, lambda t, c, f, r: overview.steps_candidates(t)),
    (overview.COMPOSITION, lambda t, c, f, r: overview.composition(t)),
    (overview.REASONS, lambda t, c, f, r: overview.reasons(r)),
]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[result.name for result, _ in MEASURES])
def test_input_order_is_irrelevant(result: Table, measure: Measure) -> None:
    frames = (TRAJECTORIES_SEEN, CALLS_SEEN, FINDINGS_SEEN, REJECTED_SEEN)
    expected = measure(*frames).collect()
    assert expected.schema == result.schema
    assert_frame_equal(measure(*map(shuffled, frames)).collect(), expected)


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[result.name for result, _ in MEASURES])
def test_nothing_in_gives_the_declared_empty_frame(result: Table, measure: Measure) -> None:
    empty = [table.empty().lazy() for table in (TRAJECTORIES, TOOL_CALLS, FINDINGS, REJECTED)]
    assert_frame_equal(measure(*empty).collect(), result.empty())
