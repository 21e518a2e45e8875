"""New question in brief."""

import polars as pl

from analysis.brief import Headline, total
from analysis.wording import count, decimal


def in_brief(by_environment: pl.DataFrame) -> list[Headline]:
    """Say how many calls a trajectory makes; the numbers that a reader takes away.

    Args:
        by_environment: conforms to new_question.RESULT.

    Returns:
        One headline; a dash where no environment has a trajectory.
    """
    calls, trajectories = total(by_environment, "calls"), total(by_environment, "trajectories")
    return [
        Headline(
            decimal(calls / trajectories if trajectories else None),
            "calls per trajectory, mean",
            f"{count(calls, 'call')} in {count(trajectories, 'trajectory')} of the environments shown",
        )
    ]
