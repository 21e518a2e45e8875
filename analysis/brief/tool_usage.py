"""Tool usage in brief: how many tools there are, how many of them are called, and how evenly."""

import polars as pl

from analysis.brief import Headline, by_mode, only
from analysis.schema import FEWEST_FOR_A_RATE
from analysis.wording import BOTH_MODES, count, modes_side_by_side, percent, plural, rate


def in_brief(across: pl.DataFrame, busiest: pl.DataFrame, rates: pl.DataFrame, breadth: pl.DataFrame) -> list[Headline]:
    """Say how many tools there are, how many of them are called, and how evenly.

    Args:
        across: conforms to tool_usage.ACROSS.
        busiest: conforms to tool_usage.BUSIEST.
        rates: conforms to tool_usage.RATES.
        breadth: conforms to tool_usage.BREADTH.

    Returns:
        Seven headlines, in reading order; of a source without a tool the counts are 0.
    """
    all_ = {name: value or 0 for name, value in only(across).items()}
    offered, unused, calls, undeclared, outside = (
        all_[name] for name in ("offered_tools", "unused_tools", "calls", "undeclared_calls", "outside_calls")
    )
    all_calls = calls + undeclared + outside
    top, tenth = only(busiest.drop_nulls("tool_name")), all_["top_tenth_calls"]
    bears_rate = pl.col("mode_trajectories") >= FEWEST_FOR_A_RATE
    usual, judged = rates.filter(band=10)["tools"].sum(), rates["tools"].sum()
    return [
        Headline(
            count(offered),
            plural(offered, "tool") + " offered",
            f"in {count(all_['environments'], 'environment')}, under {count(all_['distinct_names'], 'distinct name')}",
        ),
        Headline(
            rate(all_["used_tools"], offered),
            "tools called",
            f"{count(all_['used_tools'])} of {count(offered, 'tool')} of an environment, at least once",
            f"Tools that are offered and never called: {count(unused)} of {count(offered)}." if unused else None,
        ),
        Headline(
            count(all_calls),
            "tool calls",
            f"{count(calls)} to offered tools; {count(undeclared)} to tools that were not offered, or without a name"
            + (f"; {count(outside)} in records that declare no tools" if outside else ""),
            f"Calls to tools that were not offered, or without a tool name: {count(undeclared)} of "
            f"{count(calls + undeclared)}."
            if undeclared
            else None,
        ),
        Headline(
            rate(top["calls"], all_calls),
            "calls to any one tool, at most",
            f"{count(top['calls'])} of {count(all_calls, 'call')}, a tool being one name in one environment"
            if top["calls"]
            else "no call names a tool",
        ),
        Headline(
            rate(usual, judged),
            "tools called by nearly all",
            f"by over 90 % of the trajectories offered them: {count(usual)} of {count(judged, 'tool')} offered to "
            "20 or more",
        ),
        Headline(
            modes_side_by_side(by_mode(breadth.filter(bears_rate), "median_breadth"), percent),
            "offered tools that a trajectory calls, median",
            f"distinct tools called of those offered; none of fewer than 20 trajectories; {BOTH_MODES}",
        ),
        Headline(
            rate(tenth, calls),
            "calls to a tenth of the tools, at most",
            f"{count(tenth)} of {count(calls, 'call')}: no tenth of the offered tools takes more",
        ),
    ]
