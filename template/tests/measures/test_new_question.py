"""New question, on a few hand-built trajectories."""

import polars as pl
from polars.testing import assert_frame_equal

from analysis.measures import new_question as measures
from analysis.schema import TRAJECTORIES
from tests.measures.frames import rows, shuffled

TALK, SOLO = "conversation", "non_conversation"
SEEN = rows(
    TRAJECTORIES,
    {"trajectory_id": "a", "env_id": "shop", "traj_type": TALK, "tool_calls": 9},
    {"trajectory_id": "b", "env_id": "bank", "traj_type": SOLO, "tool_calls": 3},
    {"trajectory_id": "c", "env_id": "bank", "traj_type": SOLO, "tool_calls": 4},
    {"trajectory_id": "d", "env_id": "bank", "traj_type": TALK, "tool_calls": 0},
    {"trajectory_id": "e", "traj_type": TALK, "tool_calls": 99},
)
EXPECTED = pl.DataFrame(
    [("bank", TALK, 1, 0, 0 / 1), ("bank", SOLO, 2, 3 + 4, (3 + 4) / 2), ("shop", TALK, 1, 9, 9 / 1)],
    schema=measures.RESULT.schema,
    orient="row",
)


def test_calls_are_counted_per_environment_and_mode_the_busiest_environment_first() -> None:
    assert_frame_equal(measures.by_environment(SEEN).collect(), EXPECTED)


def test_only_the_environments_with_the_most_trajectories_are_kept() -> None:
    assert_frame_equal(measures.by_environment(SEEN, top=1).collect(), EXPECTED.head(2))


def test_the_order_of_rows_changes_nothing_and_no_rows_give_the_declared_columns() -> None:
    assert_frame_equal(measures.by_environment(shuffled(SEEN)).collect(), EXPECTED)
    assert_frame_equal(measures.by_environment(TRAJECTORIES.empty().lazy()).collect(), measures.RESULT.empty())
