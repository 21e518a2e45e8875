"""Step lengths in brief: how long trajectories are in either mode, and how many stand where the publisher cut."""

import polars as pl

from analysis.brief import Headline, by_mode, is_much, sums
from analysis.measures.step_lengths import QUANTITIES
from analysis.wording import BOTH_MODES, CONVERSATION, NON_CONVERSATION, count, decimal, modes_side_by_side, rate


def in_brief(summary: pl.DataFrame) -> list[Headline]:
    """Say how long trajectories are in either mode, and how many stand where the publisher cut.

    Args:
        summary: conforms to step_lengths.SUMMARY.

    Returns:
        Eight headlines, in reading order; a mode that is absent has a dash.
    """
    steps, calls, users = (summary.filter(quantity=quantity) for quantity in QUANTITIES.values())
    n = by_mode(steps, "trajectories")
    talks, alone = (n.get(mode, 0) for mode in (CONVERSATION, NON_CONVERSATION))
    (all_steps,), (all_calls,) = sums(steps, "total"), sums(calls, "total")
    median_users, most_users = (by_mode(users, column).get(CONVERSATION) for column in ("median", "maximum"))
    return [
        Headline(count(talks + alone), "trajectories", f"{count(talks)} with user, {count(alone)} without user"),
        Headline(_side_by_side(steps, "median"), "steps, median", f"a step is an assistant message; {BOTH_MODES}"),
        Headline(
            _side_by_side(steps, "p95"), "steps, 95th percentile", f"one trajectory in twenty is longer; {BOTH_MODES}"
        ),
        Headline(_side_by_side(steps, "maximum"), "steps, maximum", f"in the longest trajectory; {BOTH_MODES}"),
        Headline(
            _side_by_side(calls, "median"),
            "tool calls per trajectory, median",
            f"including unreadable blocks; {BOTH_MODES}",
        ),
        Headline(
            decimal(all_calls / all_steps if all_steps else None, 2),
            "calls per step",
            f"{count(all_calls, 'call')} over {count(all_steps, 'step')}",
        ),
        Headline(
            decimal(median_users),
            "user messages, median",
            f"with user, n = {count(talks)}; including the closing one; maximum {count(most_users)}",
        ),
        _at_the_edges(steps),
    ]


def _side_by_side(frame: pl.DataFrame, column: str) -> str:
    return modes_side_by_side(by_mode(frame, column))


def _at_the_edges(steps: pl.DataFrame) -> Headline:
    n, low, high, outside = sums(steps, "trajectories", "at_edge_low", "at_edge_high", "outside_edges")
    return Headline(
        rate(low + high, n),
        "trajectories at the edge of the publisher's filter",
        f"{count(low)} with the fewest steps it kept, {count(high)} with the most; {count(outside)} are outside",
        f"Trajectories with exactly as many steps as the publisher kept at most: {count(high)} of {count(n)}, and none "
        "longer; any that were longer are missing."
        if is_much(high, n) and not outside
        else None,
    )
