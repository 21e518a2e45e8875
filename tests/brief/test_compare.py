"""Compare in brief."""

import pytest

from analysis.brief import Headline
from analysis.brief.compare import in_brief
from analysis.measures.compare import HEADLINES, PAIRED
from analysis.measures.sides import COUNTS, MEMBERSHIP
from tests.measures.frames import frame

RESULTS = (
    frame(
        COUNTS,
        {"counted": "trajectories", "left": 210, "right": 1_200, "shared": None},
        {"counted": "scenarios", "left": 210, "right": 400, "shared": 190},
        {"counted": "environments", "left": 14, "right": 15, "shared": 14},
        {"counted": "tools offered", "left": 262, "right": 270, "shared": 260},
    ),
    frame(
        HEADLINES,
        {
            "quantity": "steps per trajectory", "left": 22.0, "right": 14.44, "difference": 7.56,
            "difference_low": 6.9, "difference_high": 8.3, "is_different": True,
        },
        {
            "quantity": "error rate of calls", "left": 0.125, "right": 0.119, "difference": 0.006,
            "difference_low": -0.01, "difference_high": 0.02, "left_events": 312.5, "left_trials": 2_500.0,
            "right_events": 1_071.0, "right_trials": 9_000.0,
        },
        {"quantity": "unknown share of calls", "left": 0.25, "right": 0.0, "difference": 0.25, "difference_low": 0.2,
         "difference_high": 0.3},
        {"quantity": "calls per step", "left": 1.0, "right": 2.0, "difference": -1.0, "is_different": True},
        {"quantity": "breadth: tools used / offered", "left": 1.0, "right": 2.0, "difference": -1.0},
        compared=4, by_chance=0.2,
    ),
    frame(
        PAIRED,
        {"quantity": "steps per trajectory"},
        {"quantity": "tool calls per trajectory"},
        compared=25, by_chance=1.25,
    ),
    frame(
        MEMBERSHIP,
        {"kind": "environment", "change": "gained", "env_id": "shop"},
        {"kind": "environment", "change": "lost", "env_id": "zoo"},
        {"kind": "tool", "change": "gained", "env_id": "bank", "tool_name": "a"},
        {"kind": "tool", "change": "gained", "env_id": "bank", "tool_name": "b"},
        {"kind": "tool", "change": "lost", "env_id": "bank", "tool_name": "c"},
        {"kind": "tool", "change": "lost", "env_id": "bank", "tool_name": "d"},
        {"kind": "tool", "change": "lost", "env_id": "bank", "tool_name": "e"},
    ),
)  # fmt: skip


def test_headlines_say_what_each_side_holds_and_where_they_differ() -> None:
    assert in_brief(*RESULTS) == [
        Headline("210 / 1,200", "trajectories", "left: left; right: right"),
        Headline("190", "scenarios on both sides", "of 210 on the left and 400 on the right"),
        Headline("22 / 14.4", "steps, mean", "left / right; difference +7.6, 95 % interval 6.9 to 8.3"),
        Headline(
            "12.5 % / 11.9 %",
            "calls that fail",
            "of 2,500 calls on the left and 9,000 on the right whose result says ok or error; not a measure of quality",
            "Calls whose result says neither ok nor error: 25.0 % on the left, 0 % on the right. Error rates "
            "leave them out.",
        ),
        Headline(
            "2 of 4",
            "numbers that differ",
            "2 of 4 numbers compared differ more than chance would make any; over the scenarios of both sides together",
        ),
        Headline(
            "0 %",
            "numbers that differ on the same scenarios",
            "Of 25 numbers compared, none differs more than chance would make it (about 1 would seem to); a scenario "
            "counts once",
        ),
        Headline(
            "260",
            "tools offered on both sides",
            "2 more on the left only and 3 on the right only, in environments that both have",
            "Environments that only one side has: 2.",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == ["0 / 0", "0", "– / –", "– / –", "–", "–", "0"]
    assert numbers[4].meaning.startswith("Too few scenarios to say whether any number differs")


def test_a_rate_over_few_calls_is_a_count() -> None:
    few = frame(
        HEADLINES,
        {
            "quantity": "error rate of calls", "left": None, "right": 0.1, "left_events": 1.0, "left_trials": 3.0,
            "right_events": 9.0, "right_trials": 90.0,
        },
    )  # fmt: skip
    assert in_brief(RESULTS[0], few, *RESULTS[2:])[3].value == "1 of 3 / 10.0 %"


def test_sides_have_their_names_whatever_these_are() -> None:
    assert in_brief(*RESULTS, names=("{} <b>", "runs/*.jsonl"))[0].meaning == "left: {} <b>; right: runs/*.jsonl"


@pytest.mark.parametrize(
    ("left", "right", "shared", "attention"),
    [
        (5, 0, 0, ["One side has no trajectory (5 on the left, 0 on the right): there is nothing to compare."]),
        (5, 7, 0, ["No scenario is on both sides (5 on the left, 7 on the right): their tasks differ."]),
        (5, 7, 1, []),
        (0, 0, 0, []),
    ],
)
def test_sides_that_share_nothing_need_attention(left: int, right: int, shared: int, attention: list[str]) -> None:
    counts = frame(
        COUNTS,
        {"counted": "trajectories", "left": left, "right": right, "shared": None},
        {"counted": "scenarios", "left": left, "right": right, "shared": shared},
    )
    numbers = in_brief(counts, *(result.clear() for result in RESULTS[1:]))
    assert [n.attention for n in numbers if n.attention] == attention
    assert numbers[2].meaning == "left / right; one side has none"
    assert numbers[3].meaning == "left / right; one side has no call whose result says ok or error"
