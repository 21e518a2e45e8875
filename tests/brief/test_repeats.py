"""Repeats in brief."""

from analysis.brief import Headline
from analysis.brief.repeats import in_brief
from analysis.measures.repeats import LOOPING, SHARES
from tests.measures.frames import TALK, WITHOUT, frame

REPEATS = frame(
    SHARES,
    {"traj_type": TALK, "kind": "query", "calls": 900, "repeats": 30, "idle_repeats": 20},
    {"traj_type": WITHOUT, "kind": "change", "calls": 300, "repeats": 6, "idle_repeats": 4},
)
LOOPS = frame(
    LOOPING,
    {"traj_type": TALK, "period": 0, "loops": 3, "trajectories": 3, "mode_trajectories": 100},
    {"traj_type": TALK, "period": 1, "loops": 3, "trajectories": 3, "mode_trajectories": 100},
    {"traj_type": WITHOUT, "period": 0, "loops": 0, "trajectories": 0, "mode_trajectories": 20},
)


def test_headlines_count_a_trajectory_that_loops_once() -> None:
    assert in_brief(REPEATS, LOOPS) == [
        Headline(
            "3.0 %",
            "calls that repeat an earlier one",
            "36 of 1,200 calls that name a tool; 24 with no changing call in between",
        ),
        Headline(
            "2.5 %",
            "trajectories that loop",
            "3 of 120 with a call repeat a block of calls three times or more",
            "Trajectories that make the same calls three times in a row or more: 3 of 120.",
        ),
    ]


def test_without_a_call_headlines_say_nought() -> None:
    nothing = in_brief(REPEATS.clear(), LOOPS.clear())
    assert [(n.value, n.attention) for n in nothing] == [("0 of 0", None), ("0 of 0", None)]
