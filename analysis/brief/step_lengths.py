"""Step lengths in brief: how long trajectories are in either mode, and how many stand where the publisher cut."""

from typing import Any

import polars as pl

from analysis.brief import Headline, by_mode, is_much, sums
from analysis.measures.step_lengths import QUANTITIES
from analysis.schema import FEWEST_FOR_A_RATE
from analysis.wording import BOTH_MODES, CONVERSATION, NON_CONVERSATION, count, decimal, mode, modes_side_by_side, rate


def in_brief(summary: pl.DataFrame, edges: pl.DataFrame | None = None) -> list[Headline]:
    """Say how long trajectories are in either mode, and how many stand where they were cut.

    Args:
        summary: conforms to step_lengths.SUMMARY.
        edges: conforms to endings.EDGES: where a source that is not the publisher's piles up itself.

    Returns:
        Seven or eight headlines, in reading order; a mode that is absent has a dash. The last is of the publisher's
        filter where it was applied, else of the longest length where many trajectories stop at it.
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
            modes_side_by_side(
                {mode: p95 for mode, p95 in by_mode(steps, "p95").items() if n[mode] >= FEWEST_FOR_A_RATE}
            ),
            "steps, 95th percentile",
            f"at most about one trajectory in twenty is longer; none of fewer than 20 trajectories; {BOTH_MODES}",
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
        *(_at_the_edges(steps) if steps["edge_low"].drop_nulls().len() else _at_its_own(edges)),
    ]


def _side_by_side(frame: pl.DataFrame, column: str) -> str:
    return modes_side_by_side(by_mode(frame, column))


def _at_its_own(edges: pl.DataFrame | None) -> list[Headline]:
    return [_at_edge(row) for row in edges.iter_rows(named=True)] if edges is not None else []


def _at_edge(row: dict[str, Any]) -> Headline:
    held = f"{count(row['trajectories'])} of {count(row['mode_trajectories'])} {mode(row['traj_type'])}"
    edge = count(row["edge"], "step")
    reward = "" if not row["rewarded"] else f"; {count(row['solved'])} of {count(row['rewarded'])} are solved"
    return Headline(
        rate(row["trajectories"], row["mode_trajectories"]),
        f"trajectories with exactly {edge}, the most",
        f"{held}, and {count(row['below'])} with one of the three lengths below{reward}",
        f"Trajectories that stop at exactly {edge}, past which none goes: {held}{reward}. They look cut off.",
    )


def _at_the_edges(steps: pl.DataFrame) -> list[Headline]:
    n, low, high, outside = sums(steps, "trajectories", "at_edge_low", "at_edge_high", "outside_edges")
    return [_filtered(n, low, high, outside)]


def _filtered(n: int, low: int, high: int, outside: int) -> Headline:
    return Headline(
        rate(low + high, n),
        "trajectories at the edge of the publisher's filter",
        f"{count(low)} with the fewest steps it kept, {count(high)} with the most; {count(outside)} are outside",
        f"Trajectories with exactly as many steps as the publisher kept at most: {count(high)} of {count(n)}, and none "
        "longer; any that were longer are missing."
        if is_much(high, n) and not outside
        else None,
    )
