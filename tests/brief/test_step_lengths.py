"""Step lengths in brief."""

import polars as pl

from analysis.brief import Headline
from analysis.brief.step_lengths import in_brief
from analysis.measures.endings import EDGES
from analysis.measures.step_lengths import SUMMARY
from tests.measures.frames import TALK, WITHOUT, frame

LENGTHS = frame(
    SUMMARY,
    {
        "quantity": "steps", "traj_type": TALK, "trajectories": 90, "total": 1_000, "median": 12.5, "p95": 30.0,
        "maximum": 39, "edge_low": 5, "edge_high": 39, "at_edge_low": 1, "at_edge_high": 4, "outside_edges": 0,
    },
    {
        "quantity": "steps", "traj_type": WITHOUT, "trajectories": 10, "total": 200, "median": 20.0, "p95": 28.5,
        "maximum": 29, "edge_low": 3, "edge_high": 29, "at_edge_low": 1, "at_edge_high": 2, "outside_edges": 0,
    },
    {"quantity": "tool calls", "traj_type": TALK, "trajectories": 90, "total": 700, "median": 7.0},
    {"quantity": "tool calls", "traj_type": WITHOUT, "trajectories": 10, "total": 190, "median": 19.0},
    {"quantity": "user messages", "traj_type": TALK, "trajectories": 90, "median": 5.0, "maximum": 11},
    {"quantity": "user messages", "traj_type": WITHOUT, "trajectories": 10, "median": 1.0, "maximum": 1},
)  # fmt: skip


def test_headlines_say_how_long_trajectories_are_in_either_mode() -> None:
    both = "with user / without user"
    assert in_brief(LENGTHS) == [
        Headline("100", "trajectories", "90 with user, 10 without user"),
        Headline("12.5 / 20", "steps, median", f"a step is an assistant message; {both}"),
        Headline(
            "30 / –",
            "steps, 95th percentile",
            f"at most about one trajectory in twenty is longer; none of fewer than 20 trajectories; {both}",
        ),
        Headline("39 / 29", "steps, maximum", f"in the longest trajectory; {both}"),
        Headline("7 / 19", "tool calls per trajectory, median", f"including unreadable blocks; {both}"),
        Headline("0.74", "calls per step", "890 calls over 1,200 steps"),
        Headline("5", "user messages, median", "with user, n = 90; including the closing one; maximum 11"),
        Headline(
            "8.0 %",
            "trajectories at the edge of the publisher's filter",
            "2 with the fewest steps it kept, 6 with the most; 0 are outside",
            "Trajectories with exactly as many steps as the publisher kept at most: 6 of 100, and none longer; any "
            "that were longer are missing.",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(LENGTHS.clear())
    assert [n.value for n in numbers] == ["0", "– / –", "– / –", "– / –", "– / –", "–", "–"]
    assert not [n for n in numbers if n.attention]


def test_a_source_with_longer_trajectories_was_not_cut_at_the_edge() -> None:
    longer = LENGTHS.with_columns(outside_edges=pl.col("outside_edges") + 1)
    assert in_brief(longer)[-1].attention is None


def test_a_source_that_was_not_filtered_has_its_own_edge_or_none() -> None:
    other = LENGTHS.with_columns(edge_low=pl.lit(None, pl.UInt32))
    assert [number.label for number in in_brief(other)][-1] == "user messages, median"
    edge = {"traj_type": TALK, "edge": 30, "trajectories": 7, "below": 2, "mode_trajectories": 200, "rewarded": 7}
    own = in_brief(other, frame(EDGES, edge | {"solved": 0, "mean_reward": 0.0}))[-1]
    assert own == Headline(
        "3.5 %",
        "trajectories with exactly 30 steps, the most",
        "7 of 200 with user, and 2 with one of the three lengths below; 0 of 7 are solved",
        "Trajectories that stop at exactly 30 steps, past which none goes: 7 of 200 with user; 0 of 7 are solved. They "
        "look cut off.",
    )
    assert "solved" not in str(in_brief(other, frame(EDGES, edge | {"rewarded": 0}))[-1])
