"""Step lengths on four records: values one by one, the publisher's edges, environments, characters."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import step_lengths as m
from analysis.schema import TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled
from tests.measures.small import MESSAGES_SEEN, NO_MESSAGES, NO_TRAJECTORIES, SOLO, TALK, TRAJECTORIES_SEEN


def lengths(*steps: int, mode: str = SOLO) -> pl.LazyFrame:
    return rows(
        TRAJECTORIES,
        *[{"trajectory_id": str(i), "traj_type": mode, "assistant_messages": n} for i, n in enumerate(steps)],
    )


def test_values_are_counted_one_by_one_with_their_cumulative_share() -> None:
    found = m.distribution(TRAJECTORIES_SEEN, "steps").collect()
    assert found.select("traj_type", "value", "value_to", "trajectories", "mode_trajectories").rows() == [
        (TALK, 5, 6, 1, 1),
        (SOLO, 3, 4, 1, 3),
        (SOLO, 29, 30, 1, 3),
        (SOLO, 30, 31, 1, 3),
    ]
    assert found["cumulative_share"].to_list() == pytest.approx([1, 1 / 3, 2 / 3, 1])


def test_all_quantities_are_there_unless_one_is_named() -> None:
    every = m.distribution(TRAJECTORIES_SEEN).collect()
    assert every["quantity"].unique(maintain_order=True).to_list() == list(m.QUANTITIES.values())
    shares = every.group_by("quantity", "traj_type").agg(pl.col("trajectory_share").sum())["trajectory_share"]
    assert shares.to_list() == pytest.approx([1] * 6)
    assert_frame_equal(
        every.filter(pl.col("quantity") == "tool calls"), m.distribution(TRAJECTORIES_SEEN, "tool calls").collect()
    )


def test_long_distributions_are_binned_with_equal_widths() -> None:
    assert m.distribution(lengths(0, 79), "steps").collect()["value_to"].to_list() == [1, 80]
    found = m.distribution(lengths(0, 1, 2, 160), "steps").collect()  # 160 // 80 + 1 = 3 values a bin
    assert found.select("value", "value_to", "trajectories").rows() == [(0, 3, 3), (159, 162, 1)]


def test_the_mass_at_the_publishers_edges_is_counted_for_steps_alone() -> None:
    found = m.summary(lengths(2, 3, 3, 29, 30)).collect()
    steps = found.filter(pl.col("quantity") == "steps").row(0, named=True)
    assert (steps["edge_low"], steps["edge_high"]) == (3, 29)
    assert (steps["at_edge_low"], steps["at_edge_high"], steps["outside_edges"]) == (2, 1, 2)
    talk = m.summary(lengths(5, 39, mode=TALK)).collect().row(0, named=True)
    assert (talk["edge_low"], talk["edge_high"], talk["outside_edges"]) == (5, 39, 0)
    others = found.filter(pl.col("quantity") != "steps")
    assert others["edge_low"].null_count() == others["outside_edges"].null_count() == others.height == 2


def test_the_summary_interpolates_linearly() -> None:
    found = m.summary(lengths(0, 10, 20, 30)).collect().row(0, named=True)
    assert (found["trajectories"], found["total"], found["mean"]) == (4, 60, 15)
    assert [found[c] for c in ("minimum", "p25", "median", "p75", "p90", "p95", "p99", "maximum")] == pytest.approx(
        [0, 7.5, 15, 22.5, 27, 28.5, 29.7, 30]
    )


def test_runs_of_one_scenario_are_drawn_together() -> None:
    alone = m.summary(lengths(10, 20, 10, 20)).collect().row(0, named=True)
    frame = lengths(10, 20, 10, 20).with_columns(env_id=pl.lit("bank"), task_id=pl.lit("1"))
    together = m.summary(frame).collect().row(0, named=True)
    assert alone["mean_low"] < 15 < alone["mean_high"]
    assert together["mean_low"] is None, "one scenario leaves nothing to draw from"
    assert_frame_equal(m.summary(lengths(1, 9, 5)).collect(), m.summary(lengths(1, 9, 5)).collect())


def test_environments_are_sorted_by_their_median_and_both_ends_are_kept() -> None:
    frame = rows(
        TRAJECTORIES,
        *[
            {"trajectory_id": env_id, "env_id": env_id, "traj_type": SOLO, "assistant_messages": n}
            for env_id, n in [("env_1", 5), ("env_2", 9), ("env_10", 9), ("env_4", 1), ("env_5", 7)]
        ],
        {"trajectory_id": "x", "assistant_messages": 99},
    )
    found = m.by_environment(frame, top=3).collect()
    assert found.select("env_id", "environment_median", "environments").rows() == [
        ("env_2", 9, 5),
        ("env_10", 9, 5),
        ("env_4", 1, 5),
    ]
    assert m.by_environment(frame, top=99).collect().height == 5
    spread = m.by_environment(lengths(0, 10, 20).with_columns(env_id=pl.lit("e")), top=1).collect().row(0, named=True)
    assert [spread[c] for c in ("p10", "p25", "median", "p75", "p90")] == pytest.approx([2, 5, 10, 15, 18])


def test_characters_are_counted_by_kind_where_there_is_text() -> None:
    found = m.characters(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "kind", "texts", "total_chars").rows() == [
        (TALK, "system", 1, 100),
        (TALK, "user", 1, 20),
        (TALK, "assistant text", 1, 30),
        (TALK, "reasoning", 1, 50),
        (TALK, "result", 1, 0),  # an empty result is a text of length 0, a call without words is none
        (SOLO, "system", 1, 10),
    ]
    assert found["char_share"].to_list() == pytest.approx([100 / 200, 20 / 200, 30 / 200, 50 / 200, 0, 1])


MEASURES: list[tuple[Table, Any]] = [
    (m.DISTRIBUTION, lambda t, _m: m.distribution(t)),
    (m.SUMMARY, lambda t, _m: m.summary(t)),
    (m.BY_ENVIRONMENT, lambda t, _m: m.by_environment(t, top=5)),
    (m.CHARACTERS, lambda t, texts: m.characters(texts, t)),
]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_no_rows_give_the_declared_empty_frame(result: Table, measure: Any) -> None:
    assert_frame_equal(measure(NO_TRAJECTORIES, NO_MESSAGES).collect(), result.empty())


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_the_order_of_rows_changes_nothing(result: Table, measure: Any) -> None:
    straight = measure(TRAJECTORIES_SEEN, MESSAGES_SEEN).collect()
    assert straight.schema == result.schema
    assert_frame_equal(measure(shuffled(TRAJECTORIES_SEEN), shuffled(MESSAGES_SEEN)).collect(), straight)
