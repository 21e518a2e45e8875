"""Sequences, drawn: fields, marks, and titles that say what the figure shows."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import sequences as charts
from analysis.measures import sequences as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, spec, title
from tests.measures.calls import script
from tests.measures.test_sequences import CALLS, NO_CATALOGUE

TRANSITIONS = measures.transitions(CALLS, NO_CATALOGUE, min_n=1).collect()
ENTROPY = measures.entropy(CALLS, NO_CATALOGUE, min_n=1).collect()
NGRAMS = measures.ngrams(CALLS, NO_CATALOGUE, min_n=1).collect()
READS = measures.reads_first(CALLS, NO_CATALOGUE).collect()

DRAWN = [
    (charts.transitions, TRANSITIONS, measures.TRANSITIONS, 6),
    (charts.entropy, ENTROPY, measures.ENTROPY, 1),
    (charts.ngrams, NGRAMS, measures.NGRAMS, 2),
    (charts.reads_first, READS, measures.READS_FIRST, 1),
]


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_drawn(draw(frame), frame, result, at_least=marks)


@pytest.mark.parametrize(("draw", "frame", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, frame: pl.DataFrame, result: Table, marks: int) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def test_the_strongest_pair_with_support_is_told_else_the_most_frequent() -> None:
    assert title(charts.transitions(TRANSITIONS)).startswith("“get_a” follows “(start)” in 3 of 3 of the cases")
    often = measures.transitions(script(*["get:1+ set:1+"] * 20, "get:1+ list:1+"), NO_CATALOGUE).collect()
    assert title(charts.transitions(often)).startswith("“set” follows “get” in")


def test_the_subtitle_says_how_many_transitions_are_left_out() -> None:
    few = measures.transitions(CALLS, NO_CATALOGUE, min_n=2).collect()
    assert spec(charts.transitions(few))["title"]["subtitle"] == [
        "n = 9 transitions, 7 of them between the 2 calls shown, start and end"
    ]


def test_a_run_and_what_comes_before_changes_are_told_as_shares() -> None:
    assert title(charts.ngrams(NGRAMS)) == f"“{NGRAMS['ngram'][0]}” occurs in 1 of 3 of the trajectories"
    assert title(charts.reads_first(READS)) == "Changing calls that come after a reading one: 2 of 2 in conversations"


def test_one_environment_is_told_alone_and_several_by_their_ends() -> None:
    assert title(charts.entropy(ENTROPY)).startswith("The next call is as uncertain as a choice among")
    two = measures.entropy(pl.concat([CALLS, script("", "", "", "get:1+", env_id="shop")]), NO_CATALOGUE, min_n=1)
    assert "(shop) to" in title(charts.entropy(two.collect()))
    none = measures.entropy(CALLS, NO_CATALOGUE, min_n=1_000).collect()
    assert title(charts.entropy(none)) == "No environment has 20 transitions: there is no entropy to show"
