"""New question in brief."""

from analysis.brief import Headline
from analysis.brief.new_question import in_brief
from tests.measures.test_new_question import EXPECTED


def test_the_headline_says_how_many_calls_a_trajectory_makes() -> None:
    # (0 + 7 + 9) / (1 + 2 + 1)
    assert in_brief(EXPECTED) == [
        Headline("4", "calls per trajectory, mean", "16 calls in 4 trajectories of the environments shown")
    ]


def test_without_a_record_the_headline_is_a_dash() -> None:
    assert [number.value for number in in_brief(EXPECTED.clear())] == ["–"]
