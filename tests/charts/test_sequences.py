"""Sequences, drawn."""

import polars as pl

from analysis.charts import sequences as charts
from analysis.measures import sequences as measures
from tests.charts.drawn import spec, title
from tests.measures.calls import script
from tests.measures.test_sequences import CALLS, NO_CATALOGUE

NGRAMS = measures.ngrams(CALLS, NO_CATALOGUE, min_n=1).collect()
ENTROPY = measures.entropy(CALLS, NO_CATALOGUE, min_n=1).collect()
SAMPLES = {
    charts.transitions: (measures.transitions(CALLS, NO_CATALOGUE, min_n=1).collect(), 6),
    charts.entropy: (ENTROPY, 1),
    charts.ngrams: (NGRAMS, 2),
    charts.reads_first: (measures.reads_first(CALLS, NO_CATALOGUE).collect(), 1),
}


def test_titles_say_what_follows_what_and_how_predictably() -> None:
    assert [title(chart(frame)) for chart, (frame, _) in SAMPLES.items()] == [
        "“get_a” follows “(start)” in 3 of 3 cases, 3 times as often as after any call of the same environment",
        "The next call is as uncertain as 1.4 equally likely choices among 3",
        f"“{NGRAMS['ngram'][0]}” occurs in 1 of 3 trajectories",
        "Changing calls that come after a reading call: 2 of 2 with user",
    ]


def test_the_strongest_pair_with_support_is_named_before_the_most_frequent() -> None:
    often = measures.transitions(script(*["get:1+ set:1+"] * 20, "get:1+ list:1+"), NO_CATALOGUE).collect()
    assert title(charts.transitions(often)).startswith("“set” follows “get” in")


def test_the_subtitle_says_how_many_transitions_are_left_out() -> None:
    few = measures.transitions(CALLS, NO_CATALOGUE, min_n=2).collect()
    assert spec(charts.transitions(few))["title"]["subtitle"] == [
        "n = 9 transitions; 7 are between the 2 calls shown, with start and end"
    ]


def test_of_several_environments_the_span_is_told() -> None:
    two = measures.entropy(pl.concat([CALLS, script("", "", "", "get:1+", env_id="shop")]), NO_CATALOGUE, min_n=1)
    assert title(charts.entropy(two.collect())) == "The next call is as uncertain as 1 to 1.1 equally likely choices"
    none = measures.entropy(CALLS, NO_CATALOGUE, min_n=1_000).collect()
    assert title(charts.entropy(none)) == "No environment has 20 transitions: there is no entropy to show"
