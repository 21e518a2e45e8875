"""Recovery in brief."""

from analysis.brief import Headline
from analysis.brief.recovery import in_brief
from analysis.measures.recovery import SUMMARY
from tests.measures.frames import TALK, WITHOUT, frame


def test_headlines_pool_both_modes() -> None:
    summary = frame(
        SUMMARY,
        {"traj_type": TALK, "errors": 90, "recovered": 60, "identical_retries": 9},
        {"traj_type": WITHOUT, "errors": 10, "recovered": 5, "identical_retries": 1},
    )
    assert in_brief(summary) == [
        Headline("65.0 %", "errors that are recovered", "after 65 of 100 errors a later call of the same tool is ok"),
        Headline(
            "10.0 %",
            "errors after which the call is tried again unchanged",
            "after 10 of 100 errors the next call is the same",
        ),
    ]
    assert [n.value for n in in_brief(summary.clear())] == ["0 of 0", "0 of 0"]


def test_a_rate_over_fewer_than_twenty_is_counts() -> None:
    assert in_brief(frame(SUMMARY, {"traj_type": TALK, "errors": 19, "recovered": 7}))[0].value == "7 of 19"
