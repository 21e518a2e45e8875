"""Reasoning: missing thoughts, lengths and the trend, on a handful of messages."""

from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import reasoning
from analysis.schema import MESSAGES, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled, times

Measure = Callable[[pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]

TRAJECTORIES_SEEN = rows(
    TRAJECTORIES,
    {"trajectory_id": "talk", "traj_type": "conversation", "assistant_messages": 4},
    {"trajectory_id": "solo", "traj_type": "non_conversation", "assistant_messages": 2},
)
MESSAGES_SEEN = rows(
    MESSAGES,
    {"trajectory_id": "talk", "message": 0, "role": "system", "content_chars": 9},
    {"trajectory_id": "talk", "message": 2, "role": "assistant", "step": 1, "reasoning_chars": 100, "tool_calls": 1},
    {"trajectory_id": "talk", "message": 4, "role": "assistant", "step": 2, "tool_calls": 1},
    {"trajectory_id": "talk", "message": 6, "role": "assistant", "step": 3, "reasoning_chars": 0},
    {"trajectory_id": "talk", "message": 8, "role": "assistant", "step": 4, "reasoning_chars": 1000},
    {"trajectory_id": "solo", "message": 2, "role": "assistant", "step": 1, "reasoning_chars": 50, "tool_calls": 1},
    {"trajectory_id": "solo", "message": 4, "role": "assistant", "step": 2, "reasoning_chars": 150},
)


def test_a_thought_of_no_characters_is_missing_as_is_one_that_is_not_there() -> None:
    found = reasoning.summary(times(MESSAGES_SEEN, 10), times(TRAJECTORIES_SEEN, 10)).collect()
    assert found["without_reasoning"].to_list() == [20, 0]
    assert found["missing_rate"].to_list() == [2 / 4, 0 / 2]
    assert found["missing_rate_low"][0] < 2 / 4 < found["missing_rate_high"][0]


def test_thoughts_before_calls_are_shared_over_the_messages_that_call() -> None:
    found = reasoning.summary(times(MESSAGES_SEEN, 20), times(TRAJECTORIES_SEEN, 20)).collect()
    assert found["call_messages"].to_list() == [40, 20]
    assert found["thoughts_before_calls"].to_list() == [20, 20]
    assert found["thought_before_call_share"].to_list() == [1 / 2, 1 / 1]


def test_rates_over_fewer_than_twenty_messages_are_left_to_the_counts() -> None:
    found = reasoning.summary(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    assert found["assistant_messages"].to_list() == [4, 2]
    assert found["missing_rate"].to_list() == [None, None]
    assert found["thought_before_call_share"].to_list() == [None, None]


def test_lengths_are_taken_over_the_thoughts_there_are() -> None:
    found = reasoning.summary(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    assert found["mean_chars"].to_list() == [(100 + 1000) / 2, (50 + 150) / 2]
    assert found["p50_chars"].to_list() == [550, 100]
    assert found["p90_chars"].to_list() == pytest.approx([100 + 0.9 * 900, 50 + 0.9 * 100])
    assert found["max_chars"].to_list() == [1000, 150]


def test_a_mode_that_never_calls_has_no_share_of_thoughts_before_calls() -> None:
    silent = MESSAGES_SEEN.with_columns(tool_calls=pl.lit(0, pl.UInt32))
    found = reasoning.summary(silent, TRAJECTORIES_SEEN).collect()
    assert found["thought_before_call_share"].to_list() == [None, None]


@pytest.mark.parametrize("chars", [1, 9, 10, 11, 99, 100, 999, 1000, 1001, 31_622, 100_000])
def test_a_length_falls_into_the_bin_that_holds_it(chars: int) -> None:
    message = rows(MESSAGES, {"trajectory_id": "talk", "role": "assistant", "step": 1, "reasoning_chars": chars})
    found = reasoning.lengths(message, TRAJECTORIES_SEEN).collect()
    assert found.height == 1
    assert found["chars_from"][0] <= chars * (1 + 1e-9)
    assert chars < found["chars_to"][0]
    assert found["chars_to"][0] / found["chars_from"][0] == pytest.approx(10 ** (1 / reasoning.BINS_PER_DECADE))


def test_shares_of_the_bins_sum_to_one_per_mode() -> None:
    found = reasoning.lengths(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    sums = found.group_by("traj_type").agg(pl.col("thought_share").sum(), pl.col("thoughts").sum(), "mode_thoughts")
    assert sums["thought_share"].to_list() == [1, 1]
    assert all(n == of for n, ofs in sums.select("thoughts", "mode_thoughts").iter_rows() for of in ofs)


def long(trajectory: str, mode: str, *lengths: int | None) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """A trajectory whose thoughts are that long: its messages, and itself."""
    made = [
        {"trajectory_id": trajectory, "message": step, "role": "assistant", "step": step, "reasoning_chars": n}
        for step, n in enumerate(lengths, start=1)
    ]
    run = {"trajectory_id": trajectory, "traj_type": mode, "assistant_messages": len(lengths)}
    return rows(MESSAGES, *made), rows(TRAJECTORIES, run)


TALK = long("talk", "conversation", *[100] * 5, *[None] * 5, *[0] * 5, *[1000] * 5)
SOLO = long("solo", "non_conversation", *[50] * 5, *[150] * 5)
LONG = [pl.concat(both) for both in zip(TALK, SOLO, strict=True)]


def test_messages_stand_in_the_tenth_that_holds_their_midpoint() -> None:
    found = reasoning.positions(*TALK).collect()
    assert found["decile"].to_list() == list(range(12))
    assert found["p50_chars"].to_list() == [100, 100, 100, 100, *[None] * 4, 1000, 1000, 1000, 1000]
    assert found["missing_rate"].to_list() == [0, 0, 0, 1 / 2, 1, 1, 1, 1, 1 / 2, 0, 0, 0]


def test_a_trajectory_of_fewer_than_ten_messages_has_no_tenths() -> None:
    assert reasoning.positions(*long("talk", "conversation", *[100] * 9)).collect().is_empty()


def test_the_tenths_of_both_modes_stand_in_order_with_their_counts() -> None:
    found = reasoning.positions(*LONG).collect()
    assert found.select("traj_type", "decile", "assistant_messages").rows() == [
        *[("conversation", tenth, 1 if tenth in (0, 1, 10, 11) else 2) for tenth in range(12)],
        # Of ten messages the first and the last are all that their tenths hold.
        *[("non_conversation", tenth, 1) for tenth in (0, *range(2, 10), 11)],
    ]
    assert found["without_reasoning"].sum() == 10


def test_a_mode_without_reasoning_leaves_the_other_its_trend() -> None:
    solo = pl.col("trajectory_id") == "solo"
    half = LONG[0].with_columns(reasoning_chars=pl.when(solo).then("reasoning_chars"))
    assert set(reasoning.positions(half, LONG[1]).collect()["traj_type"]) == {"non_conversation"}


def test_bins_stand_in_order_and_end_where_the_next_begins() -> None:
    found = reasoning.lengths(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "thoughts", "thought_share", "mode_thoughts").rows() == [
        *[("conversation", 1, 1 / 2, 2)] * 2,
        *[("non_conversation", 1, 1 / 2, 2)] * 2,
    ]
    assert found["chars_from"].to_list() == pytest.approx([100, 1000, 10**1.6, 10**2.1])
    assert found["chars_to"].to_list() == pytest.approx([10**2.1, 10**3.1, 10**1.7, 10**2.2])


def test_the_99th_percentile_is_interpolated_and_rates_have_intervals() -> None:
    found = reasoning.summary(times(MESSAGES_SEEN, 20), times(TRAJECTORIES_SEEN, 20)).collect()
    assert found["traj_type"].to_list() == ["conversation", "non_conversation"]
    row = found.row(0, named=True)
    assert row["thought_before_call_share_low"] < 1 / 2 < row["thought_before_call_share_high"]
    once = reasoning.summary(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    assert once["p99_chars"].to_list() == pytest.approx([100 + 0.99 * 900, 50 + 0.99 * 100])


def test_quartiles_of_a_tenth_are_interpolated() -> None:
    talks = [long(f"talk{n}", "conversation", *[n] * 10) for n in (100, 200, 300, 400)]
    messages, runs = (pl.concat(frames) for frames in zip(*talks, strict=True))
    found = reasoning.positions(messages, runs).collect().row(0, named=True)
    assert (found["p25_chars"], found["p50_chars"], found["p75_chars"]) == (175, 250, 325)


def test_a_mode_without_any_reasoning_has_no_trend() -> None:
    mute = MESSAGES_SEEN.with_columns(reasoning_chars=pl.lit(None, pl.UInt32))
    assert reasoning.positions(mute, TRAJECTORIES_SEEN).collect().is_empty()
    assert reasoning.lengths(mute, TRAJECTORIES_SEEN).collect().is_empty()


@pytest.mark.parametrize("measure", [reasoning.summary, reasoning.lengths, reasoning.positions])
def test_order_of_the_rows_is_irrelevant(measure: Measure) -> None:
    assert_frame_equal(
        measure(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect(),
        measure(shuffled(MESSAGES_SEEN), shuffled(TRAJECTORIES_SEEN)).collect(),
    )


@pytest.mark.parametrize(
    ("measure", "result"),
    [
        (reasoning.summary, reasoning.SUMMARY),
        (reasoning.lengths, reasoning.LENGTHS),
        (reasoning.positions, reasoning.POSITIONS),
    ],
)
def test_nothing_gives_the_declared_empty_frame(measure: Measure, result: Table) -> None:
    found = measure(MESSAGES.empty().lazy(), TRAJECTORIES.empty().lazy()).collect()
    assert_frame_equal(found, result.empty())
