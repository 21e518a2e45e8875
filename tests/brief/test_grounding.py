"""Grounding in brief."""

from analysis.brief import Headline
from analysis.brief.grounding import in_brief
from analysis.measures.grounding import BASELINE, CHAINS, DISTANCES, LONGEST_DISTANCE, SOURCES
from tests.measures.frames import TALK, WITHOUT, frame

RESULTS = (
    frame(
        SOURCES,
        {"traj_type": TALK, "source": "result", "values": 50},
        {"traj_type": TALK, "source": "none", "values": 5},
        {"traj_type": WITHOUT, "source": "result", "values": 10},
        {"traj_type": WITHOUT, "source": "user", "values": 30},
        {"traj_type": WITHOUT, "source": "agent", "values": 5},
    ),
    frame(
        DISTANCES,
        {"traj_type": TALK, "distance": 1, "values": 20},
        {"traj_type": TALK, "distance": 2, "values": 5},
        {"traj_type": TALK, "distance": 4, "values": 15},
        {"traj_type": WITHOUT, "distance": 2, "values": 20},
    ),
    frame(
        CHAINS,
        {"traj_type": TALK, "longest_chain": 1, "trajectories": 30},
        {"traj_type": TALK, "longest_chain": 3, "trajectories": 70},
        {"traj_type": WITHOUT, "longest_chain": 2, "trajectories": 20},
    ),
)  # fmt: skip


def test_headlines_say_where_ids_come_from_and_how_far_they_travel() -> None:
    assert in_brief(*RESULTS) == [
        Headline(
            "90.0 %",
            "ids in arguments that are grounded",
            "90 of 100 id-like values appear in an earlier text that is not the agent's own",
            "Ids in arguments that no earlier text contains, except the agent's own: 10 of 100.",
        ),
        Headline(
            "60.0 %",
            "ids in arguments that come from a result",
            "60 of 100 id-like values appear first in the result of a tool",
        ),
        Headline(
            "2", "calls from the nearest result to the use of its value, median", "over 60 values taken from results"
        ),
        Headline(
            "75.0 %", "trajectories that link calls", "90 of 120 with a call: one call uses what another returned"
        ),
    ]


def test_grounded_ids_stand_beside_those_swapped_in_from_other_trajectories() -> None:
    baseline = frame(BASELINE, {"traj_type": TALK, "swapped_values": 100, "swapped_ungrounded": 71})
    assert in_brief(*RESULTS, baseline)[0].meaning.endswith(
        "; of as many swapped in from other trajectories of the environment, 29.0 %"
    )


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == ["0 of 0", "0 of 0", "–", "0 of 0"]


def test_the_last_bar_of_distances_says_that_it_has_more() -> None:
    sources, _, chains = RESULTS
    far = frame(DISTANCES, {"traj_type": TALK, "distance": LONGEST_DISTANCE, "values": 9})
    assert in_brief(sources, far, chains)[2].value == "15 or more"
