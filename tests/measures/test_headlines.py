"""Headlines of call quality and of sequences: what the figures below them say, both modes together."""

from typing import Any

import polars as pl

from analysis.measures import arguments, grounding, headlines, outcomes, recovery, repeats, sequences
from analysis.schema import Table
from tests.measures.frames import rows, shuffled

TALK, SOLO = "conversation", "non_conversation"

CALL_RESULTS: dict[Table, list[dict[str, Any]]] = {
    arguments.CLASSES: [
        {"traj_type": TALK, "verdict": "valid", "calls": 1_000},
        {"traj_type": TALK, "verdict": "over_required", "calls": 40},
        {"traj_type": SOLO, "verdict": "valid", "calls": 200},
        {"traj_type": SOLO, "verdict": "wrong_type", "calls": 10},
        {"traj_type": SOLO, "verdict": "unchecked", "calls": 50},
    ],
    outcomes.MODES: [
        {"traj_type": TALK, "calls": 1_040, "errors": 90, "judged": 1_000},
        {"traj_type": SOLO, "calls": 260, "errors": 10, "judged": 250},
    ],
    recovery.SUMMARY: [
        {"traj_type": TALK, "errors": 90, "recovered": 60, "identical_retries": 9},
        {"traj_type": SOLO, "errors": 10, "recovered": 5, "identical_retries": 1},
    ],
    repeats.SHARES: [
        {"traj_type": TALK, "kind": "query", "calls": 900, "repeats": 30, "idle_repeats": 20},
        {"traj_type": SOLO, "kind": "change", "calls": 300, "repeats": 6, "idle_repeats": 4},
    ],
    repeats.LOOPING: [
        {"traj_type": TALK, "period": 0, "loops": 3, "trajectories": 3, "mode_trajectories": 100},
        {"traj_type": TALK, "period": 1, "loops": 3, "trajectories": 3, "mode_trajectories": 100},
        {"traj_type": SOLO, "period": 0, "loops": 0, "trajectories": 0, "mode_trajectories": 20},
    ],
}

FLOW_RESULTS: dict[Table, list[dict[str, Any]]] = {
    sequences.ENTROPY: [
        {"env_id": "bank", "effective_choices": 2.0},
        {"env_id": "shop", "effective_choices": 4.5},
        {"env_id": "zoo", "effective_choices": None},
    ],
    sequences.NGRAMS: [
        {"ngram": "get → set", "trajectories": 30, "all_trajectories": 120},
        {"ngram": "get → get", "trajectories": 20, "all_trajectories": 120},
    ],
    sequences.READS_FIRST: [
        {"traj_type": TALK, "changing_calls": 30, "after_read": 27},
        {"traj_type": SOLO, "changing_calls": 10, "after_read": 10},
    ],
    grounding.SOURCES: [
        {"traj_type": TALK, "source": "result", "values": 60},
        {"traj_type": TALK, "source": "none", "values": 5},
        {"traj_type": SOLO, "source": "user", "values": 30},
        {"traj_type": SOLO, "source": "agent", "values": 5},
    ],
    grounding.DISTANCES: [
        {"traj_type": TALK, "distance": 1, "values": 20},
        {"traj_type": TALK, "distance": 4, "values": 15},
        {"traj_type": SOLO, "distance": 2, "values": 25},
    ],
    grounding.CHAINS: [
        {"traj_type": TALK, "longest_chain": 1, "trajectories": 30},
        {"traj_type": TALK, "longest_chain": 3, "trajectories": 70},
        {"traj_type": SOLO, "longest_chain": 2, "trajectories": 20},
    ],
}


def frames(results: dict[Table, list[dict[str, Any]]]) -> list[pl.LazyFrame]:
    return [rows(table, *given) for table, given in results.items()]


def empty(results: dict[Table, list[dict[str, Any]]]) -> list[pl.LazyFrame]:
    return [table.empty().lazy() for table in results]


def read(found: pl.LazyFrame) -> dict[str, tuple[str, str]]:
    return {label: (value, meaning) for value, label, meaning in found.collect().iter_rows()}


def test_call_quality_pools_both_modes_and_names_every_denominator() -> None:
    assert read(headlines.call_quality(*frames(CALL_RESULTS))) == {
        "tool calls": ("1,300", "made by 120 trajectories, unreadable blocks included"),
        # 1,200 of 1,000 + 40 + 200 + 10; the 50 that nothing could check are left out
        "of calls fit their schema": (
            "96.0 %",
            "1,200 of 1,250 calls that can be held against one; 40 more leave out what the tool did without",
        ),
        "of calls fail": ("8.0 %", "100 of 1,250 calls whose result says ok or error; no measure of quality"),
        "of errors are recovered": ("65.0 %", "after 65 of 100 errors a later call of the same tool is ok"),
        "of errors are retried unchanged": ("10.0 %", "after 10 of 100 errors the next call is the same"),
        "of calls repeat an earlier one": (
            "3.0 %",
            "36 of 1,200 calls that name a tool; 24 with no changing call in between",
        ),
        # A trajectory that loops at one period counts once: the row of any period has it.
        "of trajectories loop": ("2.5 %", "3 of 120 with a call repeat a block of calls three times or more"),
    }


def test_sequences_pool_both_modes_and_leave_out_environments_without_an_entropy() -> None:
    assert read(headlines.sequences(*frames(FLOW_RESULTS))) == {
        "likely next calls": (
            "3.2",  # (2 + 4.5) / 2, to even
            "equally likely calls after the last, median over 2 environments with 20 transitions or more",
        ),
        "run that most trajectories share": ("get → set", "30 of 120 trajectories with a call hold it"),
        "of changing calls come after a reading one": ("92.5 %", "37 of 40 calls of tools that change the state"),
        "of ids in arguments are grounded": (
            "90.0 %",
            "90 of 100 id-like values stood in an earlier text that is not the agent's own",
        ),
        "of ids come from a result": (
            "60.0 %",
            "60 of 100 id-like values stood first in what a tool returned",
        ),
        # 20 values at 1, 25 at 2, 15 at 4: the middle of 60 is at 2.
        "calls from a result to the use of its value": ("2", "median over 60 values taken from results"),
        "of trajectories link calls": ("75.0 %", "90 of 120 with a call use in one what another returned"),
    }


def test_the_last_bar_of_distances_says_that_it_holds_more() -> None:
    far = rows(grounding.DISTANCES, {"traj_type": TALK, "distance": grounding.LONGEST_DISTANCE, "values": 9})
    given = {**dict(zip(FLOW_RESULTS, frames(FLOW_RESULTS), strict=True)), grounding.DISTANCES: far}
    assert read(headlines.sequences(*given.values()))["calls from a result to the use of its value"][0] == "15 or more"


def test_headlines_do_not_depend_on_the_order_of_rows() -> None:
    mixed = [shuffled(frame) for frame in frames(CALL_RESULTS)]
    assert read(headlines.call_quality(*mixed)) == read(headlines.call_quality(*frames(CALL_RESULTS)))


def test_without_a_call_the_headlines_say_nought_and_dash() -> None:
    calls = read(headlines.call_quality(*empty(CALL_RESULTS)))
    assert [value for value, _ in calls.values()] == ["0", *["0 of 0"] * 6]
    flow = read(headlines.sequences(*empty(FLOW_RESULTS)))
    assert [value for value, _ in flow.values()] == ["–", "–", "0 of 0", "0 of 0", "0 of 0", "–", "0 of 0"]
    assert flow["run that most trajectories share"][1] == "no run of calls is held by as many as asked for"


def test_a_rate_over_fewer_than_twenty_is_counts() -> None:
    few = rows(recovery.SUMMARY, {"traj_type": TALK, "errors": 19, "recovered": 7})
    given = {**dict(zip(CALL_RESULTS, frames(CALL_RESULTS), strict=True)), recovery.SUMMARY: few}
    assert read(headlines.call_quality(*given.values()))["of errors are recovered"][0] == "7 of 19"
