"""Dialogue in brief."""

from typing import Any

import pytest

from analysis.brief import Headline
from analysis.brief.dialogue import in_brief
from analysis.measures.dialogue import CALLS_PER_TURN, CLARIFICATION, ENDS, FIRST_CALLS, PAIRED, USER_TURNS
from tests.measures.frames import TALK, WITHOUT, frame

RESULTS = (
    frame(
        ENDS,
        {"traj_type": TALK, "end_class": "stop_marker", "trajectories": 70},
        {"traj_type": TALK, "end_class": "step_cap", "trajectories": 7},
        {"traj_type": TALK, "end_class": "dangling_call", "trajectories": 3},
        {"traj_type": WITHOUT, "end_class": "completed_marker", "trajectories": 15},
        {"traj_type": WITHOUT, "end_class": "text_without_marker", "trajectories": 5},
    ),
    frame(
        CLARIFICATION,
        {"conversations": 80, "asking_conversations": 60, "assistant_messages": 1_000, "questions": 150},
    ),
    frame(
        USER_TURNS,
        {"user_turns": 3, "trajectories": 50},
        {"user_turns": 9, "trajectories": 30},
    ),
    frame(
        CALLS_PER_TURN,
        {"calls": 0, "user_turns": 30, "all_user_turns": 240, "mean_calls": 1.875},
        {"calls": 2, "user_turns": 210, "all_user_turns": 240, "mean_calls": 1.875},
    ),
    frame(
        FIRST_CALLS,
        {"traj_type": TALK, "step": 0, "trajectories": 6},
        {"traj_type": TALK, "step": 1, "trajectories": 50},
        {"traj_type": TALK, "step": 2, "trajectories": 24},
        {"traj_type": WITHOUT, "step": 1, "trajectories": 20},
    ),
    frame(
        PAIRED,
        {
            "quantity": "assistant messages", "scenarios": 18, "difference": 7.56, "difference_low": 6.9,
            "difference_high": 8.04,
        },
        {"quantity": "tool calls", "scenarios": 18, "difference": 0.0},
    ),
)  # fmt: skip


def test_headlines_say_how_records_end_and_what_a_user_changes() -> None:
    assert in_brief(*RESULTS) == [
        Headline("100", "trajectories", "80 with user, 20 without user"),
        Headline(
            "85.0 %",
            "records that end with a marker",
            "85 of 100 say that they are done, have failed or stop; not a label of success",
            "Records that break off (on a call without a result, a result, an error, the step limit, or with "
            "nothing): 10 of 100.",
        ),
        Headline(
            "75.0 %",
            "conversations in which the agent asks a question",
            "60 of 80: an assistant message ends in a question and makes no call",
        ),
        Headline("15.0 %", "assistant messages that ask a question", "150 of 1,000 in conversations"),
        Headline(
            "3",
            "user messages of a conversation, median",
            "over 80 conversations, including the closing message; maximum 9",
        ),
        Headline("1.88", "calls per user turn, mean", "over 240 user turns with an answer"),
        Headline(
            "70.0 %",
            "trajectories that call a tool at once",
            "70 of 100 in the first assistant message; 6 never call a tool",
            "Trajectories without a call: 6 of 100.",
        ),
        Headline(
            "+7.6",
            "steps with user, minus steps without",
            "mean over 18 scenarios in both modes; 95 % interval 6.9 to 8",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == ["0", "0 of 0", "0 of 0", "0 of 0", "–", "–", "0 of 0", "–"]


@pytest.mark.parametrize(
    ("paired", "value", "meaning"),
    [
        ([], "–", "no scenario has trajectories in both modes"),
        ([{"scenarios": 1, "difference": -2.5}], "-2.5", "mean over 1 scenario in both modes; too few for an interval"),
    ],
)
def test_the_difference_of_the_modes_has_its_sign(paired: list[dict[str, Any]], value: str, meaning: str) -> None:
    steps = [{"quantity": "assistant messages", **row} for row in paired]
    assert in_brief(*RESULTS[:5], frame(PAIRED, *steps))[-1] == Headline(
        value, "steps with user, minus steps without", meaning
    )


def test_few_trajectories_without_a_call_need_no_attention() -> None:
    few = frame(FIRST_CALLS, {"step": 0, "trajectories": 4}, {"step": 1, "trajectories": 96})
    assert in_brief(*RESULTS[:4], few, RESULTS[5])[6].attention is None
