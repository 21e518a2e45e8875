"""Tool usage on four records: who was offered what, who called it, and how it is spread."""

from functools import partial
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import tool_usage as m
from analysis.schema import TOOL_CALLS, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled
from tests.measures.small import (
    CALLS_SEEN,
    NO_CALLS,
    NO_TOOLS,
    NO_TRAJECTORIES,
    SOLO,
    TALK,
    TOOLS_SEEN,
    TRAJECTORIES_SEEN,
)

BY_TOOL = m.by_tool(CALLS_SEEN, TRAJECTORIES_SEEN, TOOLS_SEEN)


def offered(*counts: tuple[int, int]) -> pl.LazyFrame:
    """Tools as (calling, offering)."""
    return rows(
        m.TOOLS, *[{"tool_name": f"t{i}", "calling": c, "offering": o, "calls": c} for i, (c, o) in enumerate(counts)]
    )


def test_usage_is_counted_over_the_trajectories_offered_the_tool() -> None:
    found = BY_TOOL.collect().select("env_id", "tool_name", "calls", "env_calls", "offering", "calling", "usage_rate")
    assert found.rows() == [
        (None, "odd", 1, 1, 0, 0, None),
        ("bank", "get", 3, 5, 2, 2, 2 / 2),
        ("bank", None, 1, 5, 0, 0, None),
        ("bank", "set", 1, 5, 2, 1, 1 / 2),
        ("bank", "never", 0, 5, 2, 0, 0 / 2),
        ("shop", "get", 1, 1, 1, 1, 1 / 1),
    ]


def test_call_shares_sum_to_one_in_every_environment() -> None:
    sums = BY_TOOL.group_by("env_id").agg(pl.col("call_share").sum()).collect()["call_share"].to_list()
    assert sums == pytest.approx([1, 1, 1])


def test_a_call_where_the_tool_was_not_offered_counts_as_a_call_and_not_as_usage() -> None:
    found = BY_TOOL.filter(pl.col("tool_name") == "odd").collect().row(0, named=True)
    assert (found["calls"], found["calling"], found["rate_low"]) == (1, 0, None)


def test_busiest_leaves_out_what_is_never_called_and_keeps_the_totals() -> None:
    found = m.busiest(BY_TOOL, top=2).collect()
    assert found.select("env_id", "tool_name", "calls", "all_calls", "all_tools").rows() == [
        ("bank", "get", 3, 7, 6),
        (None, "odd", 1, 7, 6),
    ]
    assert found["all_call_share"].to_list() == pytest.approx([3 / 7, 1 / 7])
    assert m.busiest(BY_TOOL, top=99).collect()["calls"].sum() == 7


def test_bands_of_usage_hold_their_upper_end_and_keep_the_never_called_apart() -> None:
    # 3 of 30 is exactly 10 %: still the first band, however the quotient is rounded.
    found = m.rates(offered((0, 20), (3, 30), (4, 30), (30, 30), (5, 19))).collect()
    assert dict(found.filter(pl.col("tools") > 0).select("band", "tools").iter_rows()) == {0: 1, 1: 1, 2: 1, 10: 1}
    assert found.height == 11
    assert found["all_tools"].unique().to_list() == [4]
    assert found["small_tools"].unique().to_list() == [1]
    assert found["tool_share"].sum() == pytest.approx(1)
    assert found.select("rate_from", "rate_to").rows()[:3] == [(0, 0), (0, 0.1), (0.1, 0.2)]


def test_modes_compare_only_tools_offered_often_enough_in_both() -> None:
    twenty = rows(
        TRAJECTORIES,
        *[
            {"trajectory_id": f"{mode}{i}", "env_id": "bank", "traj_type": mode, "tool_set": "S" if i < 20 else "R"}
            for mode in (TALK, SOLO)
            for i in range(20 + (mode == TALK))
        ],
    )
    calls = rows(
        TOOL_CALLS,
        *[
            {"trajectory_id": f"{TALK}{i}", "env_id": "bank", "traj_type": TALK, "call": 1, "tool_name": "set",
             "is_offered": True}
            for i in range(5)
        ],
    )  # fmt: skip
    found = m.modes(calls, twenty, TOOLS_SEEN, top=1).collect()
    assert found.select("tool_name", "traj_type", "offering", "calling").rows() == [
        ("set", TALK, 20, 5),
        ("set", SOLO, 20, 0),
    ]
    assert found["difference"].to_list() == pytest.approx([5 / 20, 5 / 20])
    assert found["compared_tools"].to_list() == [3, 3]


def test_breadth_is_banded_by_whole_numbers_and_skips_who_was_offered_nothing() -> None:
    found = m.breadth(TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "trajectories", "mode_trajectories").rows() == [
        (TALK, 1, 1),
        (SOLO, 1, 2),
        (SOLO, 1, 2),
    ]
    # 2 of 3; 1 of 3; 1 of 1 falls into the last band.
    assert found["breadth_from"].to_list() == pytest.approx([0.65, 0.30, 0.95])
    assert found["breadth_to"].to_list() == pytest.approx([0.7, 0.35, 1.0])
    assert found["median_breadth"].to_list() == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert found["trajectory_share"].to_list() == [1, 1 / 2, 1 / 2]


def test_concentration_counts_unused_tools_and_leaves_undeclared_calls_out() -> None:
    found = m.concentration(BY_TOOL, TRAJECTORIES_SEEN).collect()
    columns = ("env_id", "trajectories", "offered_tools", "used_tools", "unused_tools", "calls")
    assert found.select(columns).rows() == [("bank", 2, 3, 2, 1, 4), ("shop", 1, 1, 1, 0, 1)]
    bank = found.row(0, named=True)
    # Calls 0, 1, 3: pairs differ by 2 * (1 + 3 + 2) over 2 * 3 * 4.
    assert bank["gini"] == pytest.approx(12 / 24)
    assert bank["unused_share"] == pytest.approx(1 / 3)
    assert bank["top_three_share"] == 1
    assert found["evenness"].to_list()[1] is None, "one tool cannot be uneven"


def test_across_counts_names_once_and_undeclared_calls_apart() -> None:
    found = m.across(BY_TOOL).collect().row(0, named=True)
    assert found["environments"] == 2
    assert (found["offered_tools"], found["distinct_names"]) == (4, 3)
    assert (found["used_tools"], found["unused_tools"]) == (3, 1)
    assert (found["calls"], found["undeclared_calls"]) == (5, 2)
    assert found["top_tenth_share"] == pytest.approx(3 / 5)


def test_unused_lists_what_is_offered_and_never_called() -> None:
    assert m.unused(BY_TOOL).collect().rows() == [("bank", "never", 2)]


MEASURES: list[tuple[Table, Any]] = [
    (m.TOOLS, m.by_tool),
    (m.BUSIEST, lambda c, t, s: m.busiest(m.by_tool(c, t, s), top=5)),
    (m.RATES, lambda c, t, s: m.rates(m.by_tool(c, t, s))),
    (m.MODES, partial(m.modes, top=5)),
    (m.BREADTH, lambda _c, t, _s: m.breadth(t)),
    (m.CONCENTRATION, lambda c, t, s: m.concentration(m.by_tool(c, t, s), t)),
    (m.ACROSS, lambda c, t, s: m.across(m.by_tool(c, t, s))),
    (m.UNUSED, lambda c, t, s: m.unused(m.by_tool(c, t, s))),
]


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_no_rows_give_the_declared_empty_frame(result: Table, measure: Any) -> None:
    assert_frame_equal(measure(NO_CALLS, NO_TRAJECTORIES, NO_TOOLS).collect(), result.empty())


@pytest.mark.parametrize(("result", "measure"), MEASURES, ids=[table.name for table, _ in MEASURES])
def test_the_order_of_rows_changes_nothing(result: Table, measure: Any) -> None:
    frames = (CALLS_SEEN, TRAJECTORIES_SEEN, TOOLS_SEEN)
    straight = measure(*frames).collect()
    assert straight.schema == result.schema
    assert_frame_equal(measure(*map(shuffled, frames)).collect(), straight)
