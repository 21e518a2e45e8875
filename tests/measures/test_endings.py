"""Edges and endings of a source: pile-ups, last calls, and their rewards."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import load
from analysis.measures import endings as m
from analysis.schema import TOOL_CALLS, TRAJECTORIES
from tests.measures.frames import rows, shuffled
from tests.measures.small import NO_CALLS, NO_TRAJECTORIES


def of_steps(*steps: int, **everywhere: Any) -> pl.LazyFrame:
    return rows(
        TRAJECTORIES,
        *[{"trajectory_id": str(i), "assistant_messages": n} for i, n in enumerate(steps)],
        **everywhere,
    )


def test_trajectories_that_pile_up_at_the_longest_length_are_an_edge() -> None:
    found = m.edges(of_steps(*[30] * 7, 29, 28, 27, 12, 12, total_reward=0.0)).collect().row(0, named=True)
    assert (found["edge"], found["trajectories"], found["below"], found["mode_trajectories"]) == (30, 7, 3, 12)
    assert (found["rewarded"], found["solved"], found["mean_reward"]) == (7, 0, None)


@pytest.mark.parametrize("steps", [[30] * 4, [30] * 5 + [29] * 5, [30] * 6 + [29, 28] * 3, range(40)])
def test_a_tail_that_runs_out_is_no_edge(steps: list[int]) -> None:
    assert m.edges(of_steps(*steps)).collect().is_empty()


def test_a_source_without_rewards_has_edges_and_endings_all_the_same() -> None:
    seen = of_steps(*[30] * 7, end_class="ends_on_result")
    assert m.edges(seen).collect()["mean_reward"].to_list() == [None]
    assert m.endings(seen, NO_CALLS).collect()["mean_reward"].to_list() == [None]
    assert m.edges(NO_TRAJECTORIES).collect().is_empty()
    assert m.endings(NO_TRAJECTORIES, NO_CALLS).collect().is_empty()


def test_an_ending_on_a_result_is_told_by_its_tool() -> None:
    seen = pl.concat(
        [
            of_steps(5, 6, end_class="ends_on_result", total_reward=1.0),
            of_steps(5, end_class="stop_marker", total_reward=0.5).with_columns(trajectory_id=pl.lit("2")),
        ]
    )
    calls = rows(
        TOOL_CALLS,
        *[
            {"trajectory_id": trajectory, "call": call, "tool_name": name}
            for trajectory in "012"
            for call, name in enumerate(("book", "transfer_to_human_agents"), start=1)
        ],
    )
    found = m.endings(shuffled(seen), shuffled(calls)).collect()
    assert found.select("end_class", "last_tool", "is_hand_over", "trajectories", "solved", "mean_reward").rows() == [
        ("ends_on_result", "transfer_to_human_agents", True, 2, 2, None),
        ("stop_marker", None, False, 1, 0, None),
    ]
    assert found["trajectory_share"].null_count() == 2


def test_tau_benchs_own_edge_and_ending_are_found(shared_data: Path) -> None:
    data = load(str(shared_data / "tau_bench_airline_gpt4o.json"))
    edge = m.edges(data.trajectories).collect().row(0, named=True)
    assert (edge["edge"], edge["trajectories"], edge["rewarded"], edge["solved"]) == (30, 7, 7, 0)
    found = m.endings(data.trajectories, data.tool_calls, top=1000).collect()
    on_result = found.filter(pl.col("end_class") == "ends_on_result")
    assert on_result["trajectories"].sum() == 51
    assert on_result["solved"].sum() / 51 == pytest.approx(0.686, abs=0.0005)
    handed_over = found.filter("is_hand_over")
    assert handed_over["trajectories"].to_list() == [48]
