"""The trajectories to read first are chosen by reasons that can be checked on them."""

import polars as pl
from polars.testing import assert_frame_equal

from analysis.measures.telling import TELLING, telling
from analysis.schema import TOOL_CALLS, TRAJECTORIES
from tests.builders import decode, step, trajectory
from tests.measures.calls import script
from tests.measures.frames import rows

GOOD = [step(tool="look", arguments={"n": number}) for number in range(9)]

DATA = decode(
    trajectory("errors", steps=[step(tool="pay", arguments={"n": n}, error="no funds") for n in range(3)]),
    trajectory("long", steps=GOOD),
    trajectory("repeats", steps=[step(tool="look"), step(tool="look"), step(tool="look")]),
    trajectory("plain", steps=[step(tool="look")]),
)


def chosen(each: int = 1, seed: int = 0) -> pl.DataFrame:
    return telling(DATA.trajectories, DATA.tool_calls, each=each, seed=seed).collect()


def test_each_reason_chooses_its_own() -> None:
    assert chosen()["reason"].to_list() == ["most errors", "longest", "most repeated calls", "at random"]
    assert chosen().select("errors", "assistant_messages", "repeated_calls").rows() == [
        (3, 3, 0),
        (0, 9, 0),
        (0, 3, 2),
        (0, 1, 0),
    ]


def quiet(name: str, calls: int) -> pl.LazyFrame:
    """A row of TRAJECTORIES: so many calls, each in a step of its own."""
    return rows(TRAJECTORIES, {"trajectory_id": name, "tool_calls": calls, "assistant_messages": calls})


def test_of_equals_the_first_ids_are_chosen_and_the_more_of_it_the_earlier() -> None:
    lengths = {"b": 3, "d": 4, "a": 3, "c": 3}
    found = telling(pl.concat(quiet(name, n) for name, n in lengths.items()), TOOL_CALLS.empty().lazy(), each=3)
    assert found.collect().filter(reason="longest")["trajectory_id"].to_list() == [*"dab"]


def test_two_are_chosen_for_each_reason_where_nothing_else_is_said() -> None:
    many = pl.concat([quiet(f"t{n}", 1) for n in range(9)])
    found = telling(many, TOOL_CALLS.empty().lazy()).collect()
    assert found["reason"].to_list() == ["longest"] * 2 + ["at random"] * 2


def test_the_choice_at_random_hangs_on_the_seed_and_on_no_order_of_the_ids() -> None:
    many = pl.concat([quiet(f"t{n:02}", 0) for n in range(40)])
    drawn = [telling(many, TOOL_CALLS.empty().lazy(), each=5, seed=seed).collect()["trajectory_id"] for seed in (0, 1)]
    assert drawn[0].to_list() != drawn[1].to_list()
    for ids in drawn:
        assert ids.to_list() != [f"t{n:02}" for n in range(5)]
    usual = telling(many, TOOL_CALLS.empty().lazy(), each=5).collect()["trajectory_id"]
    assert usual.to_list() == drawn[0].to_list()


def test_a_trajectory_without_calls_has_no_errors_and_no_repeats() -> None:
    found = telling(quiet("silent", 0), TOOL_CALLS.empty().lazy()).collect()
    assert found.select("reason", "errors", "repeated_calls").rows() == [("at random", 0, 0)]


def test_a_call_is_repeated_when_tool_and_arguments_are_the_same_and_a_tool_was_named() -> None:
    calls = script("get:a+ set:a+ get:b+ get:a+ _:+ _:+")
    found = telling(quiet("t1", 6), calls).collect()
    assert found["repeated_calls"].to_list() == [1]


def test_no_trajectory_is_chosen_twice() -> None:
    assert chosen(each=4)["trajectory_id"].is_unique().all()
    assert chosen(each=4).height == 4


def test_the_same_seed_chooses_the_same_and_the_order_of_rows_does_not_matter() -> None:
    again = telling(DATA.trajectories.reverse(), DATA.tool_calls.reverse(), each=1).collect()
    assert_frame_equal(chosen(), again)


def test_a_source_without_errors_has_no_trajectory_of_most_errors() -> None:
    quiet = decode(trajectory("plain", steps=[step(tool="look")]))
    reasons = telling(quiet.trajectories, quiet.tool_calls).collect()["reason"].to_list()
    assert reasons == ["longest"]


def test_an_empty_source_gives_the_declared_empty_frame() -> None:
    nothing = telling(TRAJECTORIES.empty().lazy(), TOOL_CALLS.empty().lazy()).collect()
    assert_frame_equal(nothing, TELLING.empty())
