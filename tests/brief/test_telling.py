"""Transcripts in brief."""

from analysis.brief import Headline
from analysis.brief.telling import in_brief, reasons
from analysis.measures.telling import REASONS, TELLING
from tests.measures.frames import frame

SHOWN = frame(
    TELLING,
    {"trajectory_id": "a", "reason": REASONS[0], "errors": 9, "assistant_messages": 12, "repeated_calls": 1},
    {"trajectory_id": "b", "reason": REASONS[1], "errors": 2, "assistant_messages": 39, "repeated_calls": 6},
)


def test_headlines_say_how_far_the_farthest_go() -> None:
    assert in_brief(SHOWN, 3) == [
        Headline("2", "trajectories shown", "of 3: the most informative ones, and some at random"),
        Headline("9", "most failed calls in one trajectory", "of the selection"),
        Headline("39", "most steps in one trajectory", "assistant messages of the longest"),
        Headline("6", "most repeated calls in one trajectory", "calls with the same arguments as an earlier one"),
    ]
    assert [n.value for n in in_brief(SHOWN.clear(), 0)] == ["0", "–", "–", "–"]


def test_every_trajectory_has_its_reason_with_its_number() -> None:
    every = frame(TELLING, *[{"trajectory_id": r, "reason": r, "errors": 1, "repeated_calls": 2} for r in REASONS])
    assert reasons(every) == [
        "most errors: 1 failed call",
        "longest: 0 steps",
        "most repeated calls: 2 with the same arguments as before",
        "at random",
    ]
