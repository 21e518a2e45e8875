"""The trajectories to read first are chosen by reasons that can be checked on them."""

import polars as pl
from polars.testing import assert_frame_equal

from analysis.measures.telling import TELLING, telling
from analysis.schema import TOOL_CALLS, TRAJECTORIES
from tests.builders import decode, step, trajectory

GOOD = [step(tool="look", arguments={"n": number}) for number in range(9)]

DATA = decode(
    trajectory("errors", steps=[step(tool="pay", arguments={"n": n}, error="no funds") for n in range(3)]),
    trajectory("long", steps=GOOD),
    trajectory("repeats", steps=[step(tool="look"), step(tool="look"), step(tool="look")]),
    trajectory("plain", steps=[step(tool="look")]),
)


def chosen(each: int = 1, seed: int = 0) -> pl.DataFrame:
    return telling(DATA.trajectories, DATA.tool_calls, each=each, seed=seed).collect()


def test_each_reason_chooses_its_own_and_says_its_number() -> None:
    assert chosen()["reason"].to_list() == [
        "most errors: 3 of its calls failed",
        "longest: 9 steps",
        "most repeated calls: 2 made again with the same arguments",
        "at random",
    ]
    assert chosen().select("errors", "assistant_messages", "repeated_calls").rows() == [
        (3, 3, 0),
        (0, 9, 0),
        (0, 3, 2),
        (0, 1, 0),
    ]


def test_no_trajectory_is_chosen_twice() -> None:
    assert chosen(each=4)["trajectory_id"].is_unique().all()
    assert chosen(each=4).height == 4


def test_the_same_seed_chooses_the_same_and_the_order_of_rows_does_not_matter() -> None:
    again = telling(DATA.trajectories.reverse(), DATA.tool_calls.reverse(), each=1).collect()
    assert_frame_equal(chosen(), again)


def test_a_source_without_errors_has_no_trajectory_of_most_errors() -> None:
    quiet = decode(trajectory("plain", steps=[step(tool="look")]))
    reasons = telling(quiet.trajectories, quiet.tool_calls).collect()["reason"].to_list()
    assert reasons == ["longest: 1 steps"]


def test_an_empty_source_gives_the_declared_empty_frame() -> None:
    nothing = telling(TRAJECTORIES.empty().lazy(), TOOL_CALLS.empty().lazy()).collect()
    assert_frame_equal(nothing, TELLING.empty())
