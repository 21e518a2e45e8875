"""Reasoning in brief."""

from analysis.brief import Headline
from analysis.brief.reasoning import in_brief
from analysis.measures.reasoning import SUMMARY
from tests.measures.frames import TALK, WITHOUT, frame

RESULTS = (
    frame(
        SUMMARY,
        {"traj_type": TALK, "assistant_messages": 900, "without_reasoning": 60, "p50_chars": 310.5, "max_chars": 4_000},
        {"traj_type": WITHOUT, "assistant_messages": 100, "without_reasoning": 0, "p50_chars": 200.0, "max_chars": 900},
    ),
)  # fmt: skip


def test_headlines_say_how_many_messages_have_reasoning_and_how_long_it_is() -> None:
    assert in_brief(*RESULTS) == [
        Headline(
            "94.0 %",
            "assistant messages with reasoning",
            "940 of 1,000",
            "Assistant messages without reasoning: 60 of 1,000. A model trained on them learns to leave it out.",
        ),
        Headline(
            "310.5 / 200",
            "characters of reasoning, median",
            "over the messages that have any; the longest has 4,000; with user / without user",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == ["0 of 0", "– / –"]


def test_a_source_without_any_reasoning_is_not_missing_some() -> None:
    silent = in_brief(frame(SUMMARY, {"traj_type": TALK, "assistant_messages": 50, "without_reasoning": 50}))
    assert [n.value for n in silent] == ["0 %", "– / –"]
    assert silent[1].meaning == "no message has any"
    assert not [n for n in silent if n.attention]
