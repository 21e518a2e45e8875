"""Sequences in brief: how predictable calls are, what they share, and whether reading comes before changing."""

import polars as pl

from analysis.brief import Headline, only, total
from analysis.wording import ABSENT, count, decimal, rate


def in_brief(entropy: pl.DataFrame, ngrams: pl.DataFrame, reads_first: pl.DataFrame) -> list[Headline]:
    """Say how predictable calls are, what they share, and whether reading comes before changing.

    Args:
        entropy: conforms to sequences.ENTROPY.
        ngrams: conforms to sequences.NGRAMS, the most common first.
        reads_first: conforms to sequences.READS_FIRST.

    Returns:
        Three headlines, in reading order; a dash where there is no median and no sequence that many trajectories share.
    """
    choices = entropy["effective_choices"].drop_nulls()
    first = only(ngrams)
    changing, after_read = total(reads_first, "changing_calls"), total(reads_first, "after_read")
    return [
        Headline(
            decimal(choices.median()),  # type: ignore[arg-type]
            "equally likely next calls, median",
            f"given the last call; over {count(choices.len(), 'environment')} with 20 or more transitions, each cut "
            f"down to {count(entropy['rarefied_to'].max())}"  # type: ignore[arg-type]
            if choices.len()
            else "no environment has 20 transitions",
        ),
        Headline(
            rate(first["trajectories"], first["all_trajectories"]) if first["ngram"] else ABSENT,
            "trajectories that share a sequence of calls, at most",
            f"{first['ngram']}: {count(first['trajectories'])} of {count(first['all_trajectories'])} with a call; "
            "of sequences that are not part of a longer one none is in more"
            if first["ngram"]
            else "no sequence of calls occurs in as many trajectories as required",
        ),
        Headline(
            rate(after_read, changing),
            "changing calls that come after a reading call",
            f"{count(after_read)} of {count(changing, 'call')} to tools that change the state",
        ),
    ]
