"""Dialogue and termination, drawn: fields, marks, and titles that say what the figure shows."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import dialogue as charts
from analysis.measures import dialogue as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
from tests.measures.test_dialogue import CALLS_SEEN, MESSAGES_SEEN, TRAJECTORIES_SEEN

ENDS = measures.end_classes(TRAJECTORIES_SEEN).collect()
QUESTIONS = measures.questions_by_step(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
TURNS = measures.user_turns(TRAJECTORIES_SEEN).collect()
CALLS = measures.calls_per_user_turn(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
FIRST = measures.first_calls(CALLS_SEEN, TRAJECTORIES_SEEN).collect()
PAIRED = measures.paired_difference(TRAJECTORIES_SEEN, CALLS_SEEN).collect()

DRAWN = [
    (charts.end_classes, ENDS, measures.ENDS, 3),
    (charts.questions_by_step, QUESTIONS, measures.QUESTIONS, 4),
    (charts.user_turns, TURNS, measures.USER_TURNS, 2),
    (charts.calls_per_user_turn, CALLS, measures.CALLS_PER_TURN, 3),
    (charts.first_calls, FIRST, measures.FIRST_CALLS, 4),
    (charts.paired_difference, PAIRED, measures.PAIRED, 5),
]


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_drawn(draw(frame), frame, result, at_least=marks)


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def test_the_most_frequent_ending_is_named_per_mode() -> None:
    assert title(charts.end_classes(ENDS)) == (
        "Most records end with: stop marker (2 of 3) in conversations, completed marker (1 of 1) in runs without a user"
    )


def test_questions_are_told_over_all_messages_and_over_the_first() -> None:
    assert title(charts.questions_by_step(QUESTIONS)) == (
        "The agent asks in 3 of 8 of its messages, and in 2 of 3 of the first ones"
    )


def test_user_turns_and_calls_are_told_as_means() -> None:
    assert title(charts.user_turns(TURNS)) == f"A conversation has {(2 + 3 + 3) / 3:.2f} user messages in the mean"
    assert title(charts.calls_per_user_turn(CALLS)) == (
        f"A user turn costs {3 / 5:.2f} calls in the mean; 3 of 5 are answered without a call"
    )


def test_first_messages_that_call_are_told_per_mode() -> None:
    assert title(charts.first_calls(FIRST)) == (
        "The first message already calls a tool in 1 of 3 in conversations, 1 of 1 in runs without a user"
    )


def test_the_paired_difference_is_told_with_its_sign() -> None:
    assert title(charts.paired_difference(PAIRED)) == (
        "On the same scenario a conversation takes ±0.0 assistant messages and -1.0 calls"
    )
