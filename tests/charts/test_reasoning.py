"""Reasoning, drawn: fields, marks, and titles that say what the figure shows."""

from analysis.charts import reasoning as charts
from analysis.measures import reasoning as measures
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
from tests.measures.frames import times
from tests.measures.test_reasoning import MESSAGES_SEEN, TRAJECTORIES_SEEN

SUMMARY = measures.summary(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
LENGTHS = measures.lengths(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
POSITIONS = measures.positions(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()


def test_every_chart_is_drawn_from_its_own_columns() -> None:
    many = measures.summary(times(MESSAGES_SEEN, 10), times(TRAJECTORIES_SEEN, 10)).collect()
    assert_drawn(charts.missing(many), many, measures.SUMMARY, at_least=4)
    assert_drawn(charts.lengths(LENGTHS), LENGTHS, measures.LENGTHS, at_least=4)
    assert_drawn(charts.positions(POSITIONS), POSITIONS, measures.POSITIONS, at_least=4)


def test_few_messages_are_told_as_counts() -> None:
    assert_drawn(charts.missing(SUMMARY), SUMMARY, measures.SUMMARY, at_least=2)
    assert title(charts.missing(SUMMARY)) == (
        "No reasoning in assistant messages: 2 of 4 in conversations, 0 of 2 in runs without a user"
    )


def test_a_source_where_all_messages_reason_is_told_so() -> None:
    full = SUMMARY.with_columns(without_reasoning=0 * SUMMARY["without_reasoning"])
    assert title(charts.missing(full)) == "Every assistant message reasons"


def test_the_trend_is_told_from_the_first_tenth_to_the_last() -> None:
    assert "from 100 to 1,000 characters in conversations" in title(charts.positions(POSITIONS))


def test_what_is_missing_is_said_in_place_of_a_chart() -> None:
    assert_says_what_is_missing(charts.missing(measures.SUMMARY.empty()), measures.SUMMARY)
    assert_says_what_is_missing(charts.lengths(measures.LENGTHS.empty()), measures.LENGTHS)
    assert_says_what_is_missing(charts.positions(measures.POSITIONS.empty()), measures.POSITIONS)
