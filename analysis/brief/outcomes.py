"""Outcomes of calls in brief: how many calls there are and how many of them fail."""

import polars as pl

from analysis.brief import MUCH_UNKNOWN, Headline, is_much, sums
from analysis.wording import count, rate


def in_brief(by_mode: pl.DataFrame) -> list[Headline]:
    """Say how many calls there are and how many of them fail.

    Args:
        by_mode: conforms to outcomes.MODES.

    Returns:
        Two headlines; of a source without a call all counts are 0.
    """
    calls, errors, judged, unknown = sums(by_mode, "calls", "errors", "judged", "unknown")
    return [
        Headline(
            count(calls),
            "tool calls",
            f"including unreadable blocks; the results of {count(unknown)} say neither ok nor error",
            unknown_outcomes(unknown, calls),
        ),
        failures(errors, judged),
    ]


def failures(errors: float, judged: float) -> Headline:
    """How many calls fail, of those whose result says."""
    of_all = f"{count(errors)} of {count(judged, 'call')} whose result says ok or error"
    return Headline(rate(errors, judged), "calls that fail", f"{of_all}; not a measure of quality")


def unknown_outcomes(unknown: float, calls: float) -> str | None:
    """Attention where many results say neither."""
    if not is_much(unknown, calls, MUCH_UNKNOWN):
        return None
    return (
        f"Calls whose result says neither ok nor error: {count(unknown)} of {count(calls)}; error rates leave them out."
    )
