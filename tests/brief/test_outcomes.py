"""Outcomes in brief."""

import pytest

from analysis.brief import Headline
from analysis.brief.outcomes import in_brief
from analysis.measures.outcomes import MODES
from tests.measures.frames import TALK, WITHOUT, frame

BY_MODE = frame(
    MODES,
    {"traj_type": TALK, "calls": 1_040, "errors": 90, "judged": 1_000, "unknown": 40},
    {"traj_type": WITHOUT, "calls": 260, "errors": 10, "judged": 250, "unknown": 10},
)


def test_headlines_pool_both_modes() -> None:
    assert in_brief(BY_MODE) == [
        Headline("1,300", "tool calls", "including unreadable blocks; the results of 50 say neither ok nor error"),
        Headline(
            "8.0 %", "calls that fail", "100 of 1,250 calls whose result says ok or error; not a measure of quality"
        ),
    ]


def test_without_a_call_headlines_say_nought() -> None:
    assert [(n.value, n.attention) for n in in_brief(BY_MODE.clear())] == [("0", None), ("0 of 0", None)]


@pytest.mark.parametrize(
    ("unknown", "attention"),
    [(19, None), (20, "Calls whose result says neither ok nor error: 20 of 100; error rates leave them out.")],
)
def test_unknown_results_need_attention_from_a_fifth_of_the_calls_on(unknown: int, attention: str | None) -> None:
    by_mode = frame(MODES, {"traj_type": TALK, "calls": 100, "unknown": unknown})
    assert in_brief(by_mode)[0].attention == attention
