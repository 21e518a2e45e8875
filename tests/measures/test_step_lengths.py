"""Step lengths: distributions, quantiles, the publisher's edges, environments and characters, on few records."""

from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import step_lengths
from analysis.schema import MESSAGES, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled

CONVERSATION, SOLO = "conversation", "non_conversation"


def runs(mode: str, env_id: str | None, *steps: int) -> list[dict[str, object]]:
    """One trajectory per number of steps, each with a call fewer than steps and a scenario of its own."""
    return [
        {
            "trajectory_id": f"{mode}-{env_id}-{place}",
            "task_id": f"{env_id}-{place}",
            "traj_type": mode,
            "env_id": env_id,
            "assistant_messages": n,
            "tool_calls": n - 1,
            "user_messages": 2,
        }
        for place, n in enumerate(steps)
    ]


TRAJECTORIES_SEEN = rows(
    TRAJECTORIES,
    *runs(CONVERSATION, "env_2", 5, 8, 39),
    *runs(CONVERSATION, "env_10", 4, 8),
    *runs(SOLO, "env_2", 3, 4, 29, 29, 30),
    *runs(SOLO, None, 6),
)
MESSAGES_SEEN = rows(
    MESSAGES,
    {"trajectory_id": "conversation-env_2-0", "message": 0, "role": "system", "content_chars": 100},
    {"trajectory_id": "conversation-env_2-0", "message": 1, "role": "user", "content_chars": 20},
    {"trajectory_id": "conversation-env_2-0", "message": 2, "role": "assistant", "reasoning_chars": 60},
    {"trajectory_id": "conversation-env_2-0", "message": 3, "role": "tool", "content_chars": 0},
    {"trajectory_id": "conversation-env_2-0", "message": 4, "role": "assistant", "content_chars": 12},
    {"trajectory_id": "conversation-env_2-0", "message": 5, "role": "tool", "content_chars": 8},
    {"trajectory_id": "non_conversation-env_2-0", "message": 0, "role": "user", "content_chars": 7},
    {"trajectory_id": "non_conversation-env_2-0", "message": 1, "role": "assistant", "reasoning_chars": 0},
)


def test_a_histogram_counts_each_value_over_its_mode_and_the_ecdf_ends_at_one() -> None:
    found = step_lengths.distribution(TRAJECTORIES_SEEN).collect()
    talks = found.filter((pl.col("quantity") == "steps") & (pl.col("traj_type") == CONVERSATION))
    assert talks.select("value", "value_to", "trajectories", "trajectory_share").rows() == [
        (4, 5, 1, 1 / 5),
        (5, 6, 1, 1 / 5),
        (8, 9, 2, 2 / 5),
        (39, 40, 1, 1 / 5),
    ]
    assert talks["cumulative_share"].to_list() == [1 / 5, 2 / 5, 4 / 5, 1]
    whole = found.group_by("quantity", "traj_type").agg(pl.col("trajectory_share").sum())
    assert whole["trajectory_share"].to_list() == pytest.approx([1] * 6)


def test_steps_calls_and_user_messages_are_counted_apart() -> None:
    found = step_lengths.distribution(TRAJECTORIES_SEEN).collect().filter(pl.col("traj_type") == SOLO)
    assert found.select("quantity", "value").rows() == [
        *[("steps", n) for n in (3, 4, 6, 29, 30)],
        *[("tool calls", n) for n in (2, 3, 5, 28, 29)],
        ("user messages", 2),
    ]


def test_values_up_to_eighty_stand_for_themselves_and_longer_ones_are_binned_alike_in_both_modes() -> None:
    short = step_lengths.distribution(rows(TRAJECTORIES, *runs(CONVERSATION, "e", 1, 79))).collect()
    assert (short["value_to"] - short["value"]).unique().to_list() == [1]
    long = rows(TRAJECTORIES, *runs(CONVERSATION, "e", 1, 2, 3, 160), *runs(SOLO, "e", 5))
    found = step_lengths.distribution(long).collect().filter(pl.col("quantity") == "steps")
    assert found.select("traj_type", "value", "value_to", "trajectories").rows() == [
        (CONVERSATION, 0, 3, 2),
        (CONVERSATION, 3, 6, 1),
        (CONVERSATION, 159, 162, 1),
        (SOLO, 3, 6, 1),
    ]


def test_quantiles_are_linearly_interpolated_within_a_mode() -> None:
    found = step_lengths.summary(TRAJECTORIES_SEEN).collect().row(0, named=True)
    # 4, 5, 8, 8, 39
    assert (found["quantity"], found["traj_type"], found["trajectories"], found["total"]) == (
        "steps",
        CONVERSATION,
        5,
        64,
    )
    assert (found["mean"], found["minimum"], found["median"], found["maximum"]) == (64 / 5, 4, 8, 39)
    assert (found["p25"], found["p75"]) == (5, 8)
    assert found["p90"] == pytest.approx(8 + 0.6 * 31)
    assert found["p95"] == pytest.approx(8 + 0.8 * 31)
    assert found["p99"] == pytest.approx(8 + 0.96 * 31)
    assert (found["half_at_most"], found["nine_in_ten_at_most"]) == (8, 39)


def test_a_median_is_of_the_values_and_not_of_their_bins() -> None:
    seen = rows(TRAJECTORIES, *runs(CONVERSATION, "a", *[10] * 9, *[161] * 11))
    row = step_lengths.summary(seen).collect().row(0, named=True)
    assert (row["median"], row["half_at_most"], row["nine_in_ten_at_most"]) == (161, 161, 161)
    curve = step_lengths.cumulative(seen, "steps").collect()
    assert curve.select("value", "trajectories", "cumulative_share").rows() == [(10, 9, 9 / 20), (161, 11, 1)]


def test_a_curve_of_very_many_values_is_thinned_and_keeps_its_ends() -> None:
    seen = rows(TRAJECTORIES, *runs(CONVERSATION, "a", *range(1, 2001)))
    curve = step_lengths.cumulative(seen, "steps").collect()
    assert curve.height == step_lengths.MOST_VALUES
    assert curve["value"][0] == 1
    assert curve.select(pl.col("cumulative_share").max()).item() > 1 - 1 / 400


def test_the_mean_of_one_scenario_has_no_interval_however_often_it_was_run() -> None:
    same = TRAJECTORIES_SEEN.with_columns(task_id=pl.lit("one"), env_id=pl.lit("env"))
    found = step_lengths.summary(same).collect()
    assert found["mean_low"].null_count() == found.height == 6


def test_the_publishers_edges_are_3_to_29_and_5_to_39_and_concern_steps_alone() -> None:
    seen = TRAJECTORIES_SEEN.with_columns(env_id=pl.lit("env_2_sft"))
    found = step_lengths.summary(seen).collect()
    edges = ["edge_low", "edge_high", "at_edge_low", "at_edge_high", "outside_edges"]
    assert found.filter(pl.col("quantity") == "steps").select("traj_type", *edges).rows() == [
        (CONVERSATION, 5, 39, 1, 1, 1),  # 4 is outside
        (SOLO, 3, 29, 1, 2, 1),  # 30 is outside
    ]
    assert found.filter(pl.col("quantity") != "steps").select(edges).null_count().row(0) == (4,) * 5


@pytest.mark.parametrize("env_id", ["tau_bench_airline", "env_1", "env_1_rl", None])
def test_the_publishers_edges_are_nobody_elses(env_id: str | None) -> None:
    seen = TRAJECTORIES_SEEN.with_columns(env_id=pl.lit(env_id, pl.String))
    found = step_lengths.summary(seen).collect()
    edges = ["edge_low", "edge_high", "at_edge_low", "at_edge_high", "outside_edges"]
    assert found.select(edges).null_count().row(0) == (6,) * 5


def test_quantities_and_modes_stand_in_their_order_each_with_its_own_numbers() -> None:
    found = step_lengths.summary(TRAJECTORIES_SEEN).collect()
    assert found.select("quantity", "traj_type", "trajectories", "total", "minimum", "maximum").rows() == [
        ("steps", CONVERSATION, 5, 64, 4, 39),
        ("steps", SOLO, 6, 101, 3, 30),
        ("tool calls", CONVERSATION, 5, 59, 3, 38),
        ("tool calls", SOLO, 6, 95, 2, 29),
        ("user messages", CONVERSATION, 5, 10, 2, 2),
        ("user messages", SOLO, 6, 12, 2, 2),
    ]


def test_the_mean_has_an_interval_over_scenarios_from_ten_on_with_seed_0_unless_another_is_asked_for() -> None:
    lengths = [(n, 3 + n * n) for n in range(12) for _ in range(1 + n % 3)]
    made = [{**run, "task_id": str(n)} for n, length in lengths for run in runs(CONVERSATION, f"e{n}", length)]
    seen = rows(TRAJECTORIES, *({**run, "trajectory_id": str(i)} for i, run in enumerate(made)))
    usual, same, other = (step_lengths.summary(seen, **seed).collect() for seed in ({}, {"seed": 0}, {"seed": 5}))
    assert_frame_equal(usual, same)
    assert usual["mean_high"].to_list() != other["mean_high"].to_list()
    row = usual.row(0, named=True)
    assert row["mean_low"] < row["mean"] < row["mean_high"]
    few = step_lengths.summary(seen.filter(pl.col("task_id").cast(pl.Int32) < 9)).collect()
    assert few["mean_low"].null_count() == few.height


def test_one_step_below_and_above_the_edges_is_outside_and_the_edges_are_not() -> None:
    seen = rows(
        TRAJECTORIES,
        *runs(CONVERSATION, "env_1_sft", 4, 5, 5, 6, 38, 39, 39, 39, 40, 41),
        *runs(SOLO, "env_1_sft", 2, 3, 29, 30),
    )
    found = step_lengths.summary(seen).collect().filter(pl.col("quantity") == "steps")
    assert found.select("at_edge_low", "at_edge_high", "outside_edges").rows() == [(2, 3, 3), (1, 1, 2)]


def test_environments_are_sorted_by_the_median_over_both_modes_and_the_nameless_are_left_out() -> None:
    found = step_lengths.by_environment(TRAJECTORIES_SEEN, top=20).collect()
    assert found.select("env_id", "traj_type", "trajectories", "environment_median", "environments").rows() == [
        ("env_2", CONVERSATION, 3, 18.5, 2),  # 3 4 5 8 | 29 29 30 39
        ("env_2", SOLO, 5, 18.5, 2),
        ("env_10", CONVERSATION, 2, 6, 2),
    ]
    assert found["median"].to_list() == [8, 29, 6]
    assert found["p25"].to_list() == [6.5, 4, 5]
    assert found["p75"].to_list() == [23.5, 29, 7]
    assert found["p10"].to_list() == pytest.approx([5 + 0.2 * 3, 3 + 0.4, 4.4])
    assert found["p90"].to_list() == pytest.approx([8 + 0.8 * 31, 29 + 0.6, 7.6])


@pytest.mark.parametrize(
    ("top", "shown"),
    [(1, ["e5"]), (2, ["e5", "e1"]), (3, ["e5", "e4", "e1"]), (5, ["e5", "e4", "e3", "e2", "e1"])],
)
def test_of_many_environments_the_longest_and_the_shortest_are_shown(top: int, shown: list[str]) -> None:
    many = rows(TRAJECTORIES, *(run for n in range(1, 6) for run in runs(SOLO, f"e{n}", n)))
    found = step_lengths.by_environment(many, top=top).collect()
    assert found["env_id"].to_list() == shown
    assert found["environments"].unique().to_list() == [5]


def test_environments_with_equal_medians_stand_in_natural_order() -> None:
    many = rows(TRAJECTORIES, *(run for env in ("e10", "e9", "e1") for run in runs(SOLO, env, 5)))
    assert step_lengths.by_environment(many, top=3).collect()["env_id"].to_list() == ["e1", "e9", "e10"]
    assert step_lengths.by_environment(many, top=2).collect()["env_id"].to_list() == ["e1", "e10"]


def test_characters_count_texts_by_kind_and_a_message_without_text_is_none() -> None:
    found = step_lengths.characters(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "kind", "texts", "total_chars", "mean_chars", "median", "maximum").rows() == [
        (CONVERSATION, "system", 1, 100, 100, 100, 100),
        (CONVERSATION, "user", 1, 20, 20, 20, 20),
        (CONVERSATION, "assistant text", 1, 12, 12, 12, 12),
        (CONVERSATION, "reasoning", 1, 60, 60, 60, 60),
        (CONVERSATION, "result", 2, 8, 4, 4, 8),  # an empty result is a text of length 0
        (SOLO, "user", 1, 7, 7, 7, 7),  # a thought of no characters is none
    ]
    assert found["char_share"].to_list() == pytest.approx([100 / 200, 20 / 200, 12 / 200, 60 / 200, 8 / 200, 1])
    result = found.row(4, named=True)
    assert (result["p25"], result["p75"]) == (2, 6)
    assert (result["p90"], result["p99"]) == pytest.approx((7.2, 7.92))


def test_texts_of_one_length_count_as_often_as_they_occur() -> None:
    made = [
        {"trajectory_id": "conversation-env_2-0", "message": n, "role": "user", "content_chars": c}
        for n, c in enumerate((2, 2, 2, 10))
    ]
    found = step_lengths.characters(rows(MESSAGES, *made), TRAJECTORIES_SEEN).collect().row(0, named=True)
    assert (found["texts"], found["total_chars"], found["mean_chars"], found["char_share"]) == (4, 16, 4, 1)
    assert (found["p25"], found["median"], found["p75"], found["maximum"]) == (2, 2, 4, 10)
    assert (found["p90"], found["p99"]) == pytest.approx((2 + 0.7 * 8, 2 + 0.97 * 8))


def test_a_mode_without_a_single_character_has_no_shares() -> None:
    silent = rows(MESSAGES, {"trajectory_id": "conversation-env_2-0", "role": "tool"})
    assert step_lengths.characters(silent, TRAJECTORIES_SEEN).collect().is_empty()


def test_one_quantity_is_what_all_quantities_hold_of_it() -> None:
    every = step_lengths.distribution(TRAJECTORIES_SEEN).collect()
    assert every["quantity"].unique(maintain_order=True).to_list() == list(step_lengths.QUANTITIES.values())
    calls = step_lengths.distribution(TRAJECTORIES_SEEN, "tool calls").collect()
    assert_frame_equal(every.filter(pl.col("quantity") == "tool calls"), calls)


Measure = Callable[[pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]
MEASURES: list[tuple[Table, Measure]] = [
    (step_lengths.DISTRIBUTION, lambda t, m: step_lengths.distribution(t)),
    (step_lengths.SUMMARY, lambda t, m: step_lengths.summary(t)),
    (step_lengths.BY_ENVIRONMENT, lambda t, m: step_lengths.by_environment(t, top=20)),
    (step_lengths.CHARACTERS, lambda t, m: step_lengths.characters(m, t)),
]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[result.name for result, _ in MEASURES])
def test_input_order_is_irrelevant(result: Table, measure: Measure) -> None:
    expected = measure(TRAJECTORIES_SEEN, MESSAGES_SEEN).collect()
    assert expected.schema == result.schema
    assert_frame_equal(measure(shuffled(TRAJECTORIES_SEEN), shuffled(MESSAGES_SEEN)).collect(), expected)


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[result.name for result, _ in MEASURES])
def test_nothing_in_gives_the_declared_empty_frame(result: Table, measure: Measure) -> None:
    empty = measure(TRAJECTORIES.empty().lazy(), MESSAGES.empty().lazy())
    assert_frame_equal(empty.collect(), result.empty())
