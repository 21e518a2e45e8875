"""Training budget in brief: tokens, what of them is trained on, and what a cutoff and training by step cost."""

import polars as pl

from analysis.brief import Headline, only, total, totals
from analysis.measures.samples import LAYOUTS
from analysis.wording import ABSENT, count, decimal, rate


def in_brief(parts: pl.DataFrame, loss: pl.DataFrame, expansion: pl.DataFrame) -> list[Headline]:
    """Say how many tokens there are, what of them is trained on, and what a cutoff and training by step cost.

    Args:
        parts: conforms to training_budget.PARTS.
        loss: conforms to training_budget.CUTOFF.
        expansion: conforms to training_budget.EXPANSION.

    Returns:
        Six headlines, in reading order; of a source without a token the counts are 0.
    """
    tokens = total(parts, "tokens")
    trajectories = total(parts, "trajectories", part="user")
    by_part = parts.group_by("part").agg(pl.col("tokens").sum())
    largest = only(by_part.sort("tokens", "part", descending=[True, False]))
    whole, steps = (totals(loss.filter(layout=layout)) for layout in LAYOUTS)
    of_whole, of_steps = (f"{count(one['samples_cut'])} of {count(one['samples'])}" for one in (whole, steps))
    cutoff = count(only(loss)["cutoff"] or 0)
    once, samples = total(expansion, "trajectory_tokens"), total(expansion, "samples")
    read = total(expansion, "prefix_tokens") + total(expansion, "output_tokens")
    return [
        Headline(
            count(tokens),
            "tokens",
            f"in {count(trajectories, 'trajectory')}, each rendered once with all its reasoning; "
            f"{count(tokens / trajectories) if trajectories else ABSENT} per trajectory",
        ),
        Headline(
            rate(largest["tokens"], tokens),
            "tokens in one part, at most",
            f"{largest['part'] or 'no part'}: {count(largest['tokens'] or 0)} of {count(tokens)}; no part has more",
        ),
        Headline(
            rate(whole["supervised_tokens"], tokens),
            "tokens trained on",
            f"{count(whole['supervised_tokens'])} of {count(tokens)}: what the assistant says, reasons and calls",
        ),
        Headline(
            rate(whole["samples_cut"], whole["samples"]),
            "trajectories over the cutoff",
            f"{of_whole} are longer than {cutoff} tokens; with one sample per step, {of_steps} are",
            f"Samples longer than the cutoff of {cutoff} tokens: {of_whole} with one sample per trajectory, {of_steps} "
            "with one per step."
            if whole["samples_cut"] + steps["samples_cut"]
            else None,
        ),
        Headline(
            rate(whole["supervised_lost"], whole["supervised_tokens"]),
            "trained tokens that are cut off",
            f"{_lost(whole)} with one sample per trajectory; {_lost(steps)} with one per step",
        ),
        Headline(
            decimal(read / once if once else None),
            "times the tokens with one sample per step",
            f"{count(read)} in {count(samples, 'sample')}, against {count(once)} when each trajectory is rendered once",
        ),
    ]


def _lost(layout: dict[str, int]) -> str:
    return f"{count(layout['supervised_lost'])} of {count(layout['supervised_tokens'])}"
