"""Diversity in brief."""

from analysis.brief import Headline
from analysis.brief.diversity import in_brief
from analysis.measures.diversity import DEPTHS, HILL, PARALLEL
from tests.measures.frames import TALK, WITHOUT, frame

TOOLS = {
    "unit": "tools",
    "uses": 5647,
    "hill_0": 232.0,
    "hill_1": 155.16,
    "hill_2": 118.2,
    "singletons": 6,
    "doubletons": 8,
    "coverage": 0.999,
    "chao1": 233.67,
    "offered": 262,
}
PARALLELS = frame(
    PARALLEL,
    {"traj_type": TALK, "calls": 900, "parallel_calls": 90},
    {"traj_type": WITHOUT, "calls": 100, "parallel_calls": 10},
)
CHAINS = frame(
    DEPTHS,
    {"traj_type": TALK, "calls": 4, "trajectories": 30, "mean_depth": 2.0},
    {"traj_type": WITHOUT, "calls": 8, "trajectories": 10, "mean_depth": 3.0},
)


def test_headlines_tell_diversity_what_is_unseen_and_how_calls_hang_together() -> None:
    assert in_brief(frame(HILL, TOOLS), PARALLELS, CHAINS) == [
        Headline(
            "155.2",
            "tools, if all were used equally often",
            "232 of 262 on offer are used, in 5,647 calls; so many used equally often would be as diverse (Hill "
            "number of order 1)",
        ),
        Headline(
            "1.7",
            "more tools that more such data would show, at least",
            "Chao's lower bound, from 6 used once and 8 used twice; the next call is to a tool seen before with a "
            "chance of 99.9 % (Good and Turing)",
        ),
        Headline("10.0 %", "calls made at once with another", "100 of 1,000 calls stand beside another in one message"),
        Headline(
            f"{(30 * 2 + 10 * 3) / 40:.2f}",
            "calls in the longest chain, on average",
            "of 5 calls of a trajectory: each uses an id from the result of the one before; n = 40 trajectories",
        ),
    ]


def test_without_a_call_nothing_is_said_of_diversity() -> None:
    assert in_brief(HILL.empty(), PARALLELS.clear(), CHAINS.clear()) == []


def test_what_is_on_offer_is_left_out_where_it_is_unknown() -> None:
    first = in_brief(frame(HILL, {**TOOLS, "offered": None}), PARALLELS, CHAINS)[0]
    assert first.meaning.startswith("232 are used")
