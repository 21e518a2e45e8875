"""Sequences in brief."""

from analysis.brief import Headline
from analysis.brief.sequences import in_brief
from analysis.measures.sequences import ENTROPY, NGRAMS, READS_FIRST
from tests.measures.frames import TALK, WITHOUT, frame

RESULTS = (
    frame(
        ENTROPY,
        {"env_id": "bank", "effective_choices": 2.0, "rarefied_to": 164},
        {"env_id": "shop", "effective_choices": 4.5},
        {"env_id": "zoo", "effective_choices": None},
    ),
    frame(
        NGRAMS,
        {"ngram": "get → set", "trajectories": 30, "all_trajectories": 120},
        {"ngram": "get → get", "trajectories": 20, "all_trajectories": 120},
    ),
    frame(
        READS_FIRST,
        {"traj_type": TALK, "changing_calls": 30, "after_read": 27},
        {"traj_type": WITHOUT, "changing_calls": 10, "after_read": 10},
    ),
)  # fmt: skip


def test_headlines_say_how_predictable_calls_are_and_what_they_share() -> None:
    assert in_brief(*RESULTS) == [
        Headline(
            "3.2",
            "equally likely next calls, median",
            "given the last call; over 2 environments with 20 or more transitions, each cut down to 164",
        ),
        Headline(
            "25.0 %",
            "trajectories that share a sequence of calls, at most",
            "get → set: 30 of 120 with a call; of sequences that are not part of a longer one none is in more",
        ),
        Headline(
            "92.5 %", "changing calls that come after a reading call", "37 of 40 calls to tools that change the state"
        ),
    ]


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == ["–", "–", "0 of 0"]


def test_without_a_common_sequence_the_headline_says_so() -> None:
    shared = in_brief(*(result.clear() for result in RESULTS))[1]
    assert shared.meaning == "no sequence of calls occurs in as many trajectories as required"
