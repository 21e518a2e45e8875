"""Grounding in brief: where the ids in arguments come from, and how far they travel."""

import polars as pl

from analysis.brief import Headline, is_much, total
from analysis.measures.expressions import counted_quantile
from analysis.measures.grounding import LONGEST_DISTANCE, is_ungrounded
from analysis.wording import count, decimal, rate


def in_brief(
    sources: pl.DataFrame, distances: pl.DataFrame, chains: pl.DataFrame, baseline: pl.DataFrame | None = None
) -> list[Headline]:
    """Say where the ids in arguments come from, and how far they travel.

    Args:
        sources: conforms to grounding.SOURCES.
        distances: conforms to grounding.DISTANCES.
        chains: conforms to grounding.CHAINS.
        baseline: conforms to grounding.BASELINE: the same of values swapped in from other trajectories.

    Returns:
        Four headlines, in reading order; a dash where no value came from a result.
    """
    values, ungrounded = total(sources, "values"), total(sources, "values", is_ungrounded())
    from_results = total(sources, "values", source="result")
    linked, calling = total(chains, "trajectories", pl.col("longest_chain") > 1), total(chains, "trajectories")
    return [
        Headline(
            rate(values - ungrounded, values),
            "ids in arguments that are grounded",
            f"{count(values - ungrounded)} of {count(values, 'id-like value')} appear in an earlier text that is not "
            f"the agent's own{_beside(baseline)}",
            f"Ids in arguments that no earlier text contains, except the agent's own: {count(ungrounded)} of "
            f"{count(values)}."
            if is_much(ungrounded, values)
            else None,
        ),
        Headline(
            rate(from_results, values),
            "ids in arguments that come from a result",
            f"{count(from_results)} of {count(values, 'id-like value')} appear first in the result of a tool",
        ),
        Headline(
            _median_distance(distances),
            "calls from the nearest result to the use of its value, median",
            f"over {count(total(distances, 'values'), 'value')} taken from results",
        ),
        Headline(
            rate(linked, calling),
            "trajectories that link calls",
            f"{count(linked)} of {count(calling)} with a call: one call uses what another returned",
        ),
    ]


def _beside(baseline: pl.DataFrame | None) -> str:
    """What the same rate is for values of other trajectories of the environment: what chance finds."""
    if baseline is None or not total(baseline, "swapped_values"):
        return ""
    swapped, missing = total(baseline, "swapped_values"), total(baseline, "swapped_ungrounded")
    return f"; of as many swapped in from other trajectories of the environment, {rate(swapped - missing, swapped)}"


def _median_distance(distances: pl.DataFrame) -> str:
    reused = distances.group_by("distance").agg(pl.col("values").sum()).sort("distance")
    median = reused.select(counted_quantile("distance", "values", 0.5)).item()
    return decimal(median) + (" or more" if (median or 0) >= LONGEST_DISTANCE else "")
