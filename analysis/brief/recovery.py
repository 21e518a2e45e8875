"""Recovery in brief: what follows an error."""

import polars as pl

from analysis.brief import Headline, sums
from analysis.wording import count, rate


def in_brief(summary: pl.DataFrame) -> list[Headline]:
    """Say how many errors are recovered, and how many calls are tried again unchanged.

    Args:
        summary: conforms to recovery.SUMMARY.

    Returns:
        Two headlines.
    """
    errors, recovered, retried = sums(summary, "errors", "recovered", "identical_retries")
    return [
        Headline(
            rate(recovered, errors),
            "errors that are recovered",
            f"after {count(recovered)} of {count(errors, 'error')} a later call of the same tool is ok",
        ),
        Headline(
            rate(retried, errors),
            "errors after which the call is tried again unchanged",
            f"after {count(retried)} of {count(errors, 'error')} the next call is the same",
        ),
    ]
