"""Transcripts in brief: how many trajectories are shown, how far they go, and why each of them is shown."""

import polars as pl

from analysis.brief import Headline
from analysis.measures.telling import AT_RANDOM, LONGEST, MOST_ERRORS, MOST_REPEATS
from analysis.wording import count


def in_brief(shown: pl.DataFrame, trajectories: int) -> list[Headline]:
    """Say how many trajectories are shown, and how far the farthest go.

    Args:
        shown: conforms to telling.TELLING.
        trajectories: those that were chosen from.

    Returns:
        Four headlines. Whatever has the most of a thing is shown for it or for an earlier reason, so that the most of
        those shown is the most of all.
    """
    errors, steps, repeats = (shown[name].max() for name in ("errors", "assistant_messages", "repeated_calls"))
    return [
        Headline(
            count(shown.height),
            "trajectories shown",
            f"of {count(trajectories)}: the most informative ones, and some at random",
        ),
        Headline(count(errors), "most failed calls in one trajectory", "of the selection"),  # type: ignore[arg-type]
        Headline(count(steps), "most steps in one trajectory", "assistant messages of the longest"),  # type: ignore[arg-type]
        Headline(
            count(repeats),  # type: ignore[arg-type]
            "most repeated calls in one trajectory",
            "calls with the same arguments as an earlier one",
        ),
    ]


def reasons(shown: pl.DataFrame) -> list[str]:
    """Why each trajectory is shown, in a few words with their number."""
    return [
        {
            MOST_ERRORS: f"most errors: {count(row['errors'], 'failed call')}",
            LONGEST: f"longest: {count(row['assistant_messages'], 'step')}",
            MOST_REPEATS: f"most repeated calls: {count(row['repeated_calls'])} with the same arguments as before",
            AT_RANDOM: AT_RANDOM,
        }[row["reason"]]
        for row in shown.iter_rows(named=True)
    ]
