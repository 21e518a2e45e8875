"""A choice is a value: what it takes, what it lets through, what it says."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.explore import facets
from analysis.explore.selection import COUNTED, NAMED, Selection
from tests.explore.people import HOSTILE, frame


@pytest.fixture(scope="module")
def runs() -> pl.DataFrame:
    return frame()


def rows(runs: pl.DataFrame, selection: Selection) -> list[int]:
    return [int(id_.split("-")[1]) for id_ in selection.rows(runs)["trajectory_id"]]


def test_a_run_knows_its_tools_and_its_failed_calls(runs: pl.DataFrame) -> None:
    assert runs["tools_called"].to_list() == [["look"], ["look", "pay"], ["pay"], [HOSTILE]]
    assert runs["errors"].to_list() == [0, 1, 2, 0]
    assert runs["assistant_messages"].to_list() == [2, 3, 4, 2]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, [0, 1, 2, 3]),
        ({"env_id": "bank"}, [0, 1]),
        ({"env_id": ["bank", "shop"]}, [0, 1, 2]),
        ({"env_id": HOSTILE}, [3]),
        ({"tools_called": "pay"}, [1, 2]),
        ({"tools_called": ["look", "pay"]}, [0, 1, 2]),
        ({"tools_called": "pay", "env_id": "bank"}, [1]),
        ({"traj_type": "conversation"}, [1]),
        ({"errors": (1, 2)}, [1, 2]),
        ({"errors": 2}, [2]),
        ({"assistant_messages": (2, 3), "tool_calls": (1, 1)}, [0, 3]),
        ({"env_id": "nowhere"}, []),
        ({"env_id": []}, [0, 1, 2, 3]),
        ({"words": "SHOP"}, [2]),
        ({"words": "pay"}, [1, 2]),
        ({"words": "bank-t2"}, [1]),
        ({"words": ".*"}, []),
        ({"words": "  "}, [0, 1, 2, 3]),
    ],
)
def test_facets_narrow_each_other_and_names_of_one_widen_it(
    runs: pl.DataFrame, chosen: dict[str, Any], expected: list[int]
) -> None:
    assert rows(runs, Selection.of(**chosen)) == expected


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({}, ""),
        ({"env_id": "bank", "errors": (1, 4)}, "environment bank, failed calls 1 to 4"),
        ({"tools_called": ["look", "pay"], "words": "refund"}, "calls look or pay, “refund”"),
        ({"assistant_messages": 3}, "steps 3"),
        ({"env_id": [f"e{n}" for n in range(7)]}, "environment e0 or e1 or e2 or e3 or 3 more"),
    ],
)
def test_a_choice_says_itself_in_words(chosen: dict[str, Any], sentence: str) -> None:
    assert Selection.of(**chosen).sentence() == sentence


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"env": "bank"}, "nothing is chosen by 'env'; nearest: env_id"),
        ({"errors": (4, 1)}, "the least, 4, is more than the most, 1"),
        ({"errors": "many"}, "a number, or the least and the most"),
        ({"errors": (1, 2, 3)}, "a number, or the least and the most"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(chosen: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Selection.of(**chosen)


def test_an_absent_environment_can_be_chosen(runs: pl.DataFrame) -> None:
    lost = runs.with_columns(env_id=pl.when(pl.col("env_id") != "bank").then("env_id"))
    assert rows(lost, Selection.of(env_id="–")) == [0, 1]
    assert ("–", 2, 2) in facets.names(lost, Selection(), "env_id").rows


def test_a_list_of_names_leaves_its_own_choice_open_and_keeps_what_is_chosen(runs: pl.DataFrame) -> None:
    chosen = Selection.of(env_id="bank", tools_called="pay")
    assert facets.names(runs, chosen, "env_id").rows == [("bank", 1, 2), ("shop", 1, 1)]
    assert facets.names(runs, chosen, "tools_called").rows == [("look", 2, 2), ("pay", 1, 2)]
    none = Selection.of(env_id="shop", traj_type="conversation")
    assert ("shop", 0, 1) in facets.names(runs, none, "env_id").rows


def test_a_long_list_shows_the_most_and_all_that_are_chosen(runs: pl.DataFrame) -> None:
    shown, found = facets.names(runs, Selection.of(env_id=["shop", HOSTILE]), "env_id", most=1)
    assert [name for name, *_ in shown] == ["bank", HOSTILE, "shop"]
    assert found == 3
    assert facets.names(runs, Selection(), "env_id", most=1).rows == [("bank", 2, 2)]


def test_bins_stand_side_by_side_and_hold_everybody(runs: pl.DataFrame) -> None:
    assert facets.bins(runs, Selection.of(env_id="bank"), "errors") == [(0, 1, 1, 2), (1, 2, 1, 1), (2, 3, 0, 1)]
    assert facets.bins(runs, Selection.of(errors=2), "errors") == facets.bins(runs, Selection(), "errors")
    assert facets.bins(runs.clear(), Selection(), "errors") == []


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=50))
def test_bins_are_few_whole_and_without_gaps(counts: list[int]) -> None:
    found = facets.bins(pl.DataFrame({"errors": counts}), Selection(), "errors")
    assert len(found) <= facets.MOST_BINS
    assert sum(total for *_, total in found) == sum(count for _, _, count, _ in found) == len(counts)
    assert [most for _, most, *_ in found[:-1]] == [least for least, *_ in found[1:]]
    assert found[0][0] == min(counts)
    assert found[-1][0] <= max(counts) < found[-1][1]


def test_what_figures_say_is_what_a_choice_would_leave(runs: pl.DataFrame) -> None:
    before = Selection.of(tools_called="pay")
    for column in NAMED:
        for name, count, total in facets.names(runs, before, column).rows:
            chosen: dict[str, Any] = {column: name}
            assert Selection.of(**{"tools_called": "pay"} | chosen).rows(runs).height == count
            assert Selection.of(**chosen).rows(runs).height == total
    for column in COUNTED:
        for least, most, count, _ in facets.bins(runs, before, column):
            span: dict[str, Any] = {"tools_called": "pay", column: (least, most - 1)}
            assert Selection.of(**span).rows(runs).height == count
