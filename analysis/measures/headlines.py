"""Headlines: the five to eight numbers a reader takes away from a page, as text with their denominators.

They are made of the small results that the page's figures are drawn from, both modes together, so that a number at the
top of a page and the figure below it cannot differ.
"""

from collections.abc import Sequence

import polars as pl

from analysis.measures.expressions import FEWEST_FOR_A_RATE, counted_quantile
from analysis.measures.grounding import LONGEST_DISTANCE, is_ungrounded
from analysis.schema import Column, Table

HEADLINES = Table(
    "headlines",
    "number a reader takes away",
    (
        Column("value", pl.String(), "the number, as text"),
        Column("label", pl.String(), "what it counts"),
        Column("meaning", pl.String(), "its definition, with the denominator"),
    ),
    key=("label",),
)

NOTHING = "–"


def call_quality(
    classes: pl.LazyFrame, by_mode: pl.LazyFrame, recovery: pl.LazyFrame, repeats: pl.LazyFrame, looping: pl.LazyFrame
) -> pl.LazyFrame:
    """Say how sound the calls are, what comes back, and what follows an error.

    Args:
        classes: conforms to arguments.CLASSES.
        by_mode: conforms to outcomes.MODES.
        recovery: conforms to recovery.SUMMARY.
        repeats: conforms to repeats.SHARES.
        looping: conforms to repeats.LOOPING.

    Returns:
        Seven rows, conforming to HEADLINES, in the order they are read; counts stand in place of rates over fewer than
        20, and of a source without a call all are 0.
    """
    verdict, any_period = pl.col("verdict"), pl.col("period") == 0
    known = _side_by_side(
        classes.select(
            checkable=pl.col("calls").filter(verdict != "unchecked").sum(),
            valid=pl.col("calls").filter(verdict == "valid").sum(),
            over_required=pl.col("calls").filter(verdict == "over_required").sum(),
        ),
        by_mode.select(pl.col("calls", "errors", "judged").sum()),
        recovery.select(pl.col("recovered", "identical_retries").sum(), named_errors=pl.col("errors").sum()),
        repeats.select(pl.col("repeats", "idle_repeats").sum(), named_calls=pl.col("calls").sum()),
        looping.select(
            looping=pl.col("trajectories").filter(any_period).sum(),
            calling=pl.col("mode_trajectories").filter(any_period).sum(),
        ),
    )
    return _rows(
        known,
        (count("calls"), "tool calls", _say("made by {} trajectories, unreadable blocks included", "calling")),
        (
            rate("valid", "checkable"),
            "of calls fit their schema",
            _say(
                "{} of {} calls that can be held against one; {} more leave out what the tool did without",
                "valid",
                "checkable",
                "over_required",
            ),
        ),
        (
            rate("errors", "judged"),
            "of calls fail",
            _say("{} of {} calls whose result says ok or error; no measure of quality", "errors", "judged"),
        ),
        (
            rate("recovered", "named_errors"),
            "of errors are recovered",
            _say("after {} of {} errors a later call of the same tool is ok", "recovered", "named_errors"),
        ),
        (
            rate("identical_retries", "named_errors"),
            "of errors are retried unchanged",
            _say("after {} of {} errors the next call is the same", "identical_retries", "named_errors"),
        ),
        (
            rate("repeats", "named_calls"),
            "of calls repeat an earlier one",
            _say(
                "{} of {} calls that name a tool; {} with no changing call in between",
                "repeats",
                "named_calls",
                "idle_repeats",
            ),
        ),
        (
            rate("looping", "calling"),
            "of trajectories loop",
            _say("{} of {} with a call repeat a block of calls three times or more", "looping", "calling"),
        ),
    )


def sequences(
    entropy: pl.LazyFrame,
    ngrams: pl.LazyFrame,
    reads_first: pl.LazyFrame,
    sources: pl.LazyFrame,
    distances: pl.LazyFrame,
    chains: pl.LazyFrame,
) -> pl.LazyFrame:
    """Say how predictable calls are, what they share, and where their ids come from.

    Args:
        entropy: conforms to sequences.ENTROPY.
        ngrams: conforms to sequences.NGRAMS.
        reads_first: conforms to sequences.READS_FIRST.
        sources: conforms to grounding.SOURCES.
        distances: conforms to grounding.DISTANCES.
        chains: conforms to grounding.CHAINS.

    Returns:
        Seven rows, conforming to HEADLINES, in the order they are read; a dash where there is nothing to take a median
        of and no run that many share.
    """
    choices, is_linked = pl.col("effective_choices").drop_nulls(), pl.col("longest_chain") > 1
    reused = distances.group_by("distance").agg(pl.col("values").sum()).sort("distance")
    known = _side_by_side(
        entropy.select(choices=choices.median(), environments=choices.len()),
        ngrams.select(pl.col("ngram", "trajectories", "all_trajectories").first()),
        reads_first.select(pl.col("changing_calls", "after_read").sum()),
        sources.select(
            all_values=pl.col("values").sum(),
            grounded=pl.col("values").filter(~is_ungrounded()).sum(),
            from_results=pl.col("values").filter(pl.col("source") == "result").sum(),
        ),
        reused.select(distance=counted_quantile("distance", "values", 0.5), reused=pl.col("values").sum()),
        chains.select(linked=pl.col("trajectories").filter(is_linked).sum(), calling=pl.col("trajectories").sum()),
    )
    far = pl.when(pl.col("distance") >= LONGEST_DISTANCE).then(pl.lit(" or more")).otherwise(pl.lit(""))
    return _rows(
        known,
        (
            pl.col("choices").round(1).cast(pl.String).fill_null(NOTHING),
            "likely next calls",
            _say(
                "equally likely calls after the last, median over {} environments with 20 transitions or more",
                "environments",
            ),
        ),
        (
            pl.col("ngram").fill_null(NOTHING),
            "run that most trajectories share",
            pl.when(pl.col("ngram").is_null())
            .then(pl.lit("no run of calls is held by as many as asked for"))
            .otherwise(_say("{} of {} trajectories with a call hold it", "trajectories", "all_trajectories")),
        ),
        (
            rate("after_read", "changing_calls"),
            "of changing calls come after a reading one",
            _say("{} of {} calls of tools that change the state", "after_read", "changing_calls"),
        ),
        (
            rate("grounded", "all_values"),
            "of ids in arguments are grounded",
            _say(
                "{} of {} id-like values stood in an earlier text that is not the agent's own", "grounded", "all_values"
            ),
        ),
        (
            rate("from_results", "all_values"),
            "of ids come from a result",
            _say("{} of {} id-like values stood first in what a tool returned", "from_results", "all_values"),
        ),
        (
            pl.concat_str(pl.col("distance").round(1).cast(pl.String).str.strip_suffix(".0"), far).fill_null(NOTHING),
            "calls from a result to the use of its value",
            _say("median over {} values taken from results", "reused"),
        ),
        (
            rate("linked", "calling"),
            "of trajectories link calls",
            _say("{} of {} with a call use in one what another returned", "linked", "calling"),
        ),
    )


def count(number: pl.Expr | str) -> pl.Expr:
    """A count (or the column of that name) with thousands apart, as text."""
    # Three digits at a time from the right: Polars has no thousands separator.
    groups = _counted(number).cast(pl.String).str.reverse().str.extract_all(r"\d{1,3}")
    return groups.list.join(",").str.reverse()


def rate(events: pl.Expr | str, trials: pl.Expr | str) -> pl.Expr:
    """A rate as a percentage; under 20 events tried, the counts."""
    tried = _counted(trials)
    share = (100 * _counted(events) / tried).round(1).cast(pl.String)
    return (
        pl.when(tried >= FEWEST_FOR_A_RATE)
        .then(pl.format("{} %", share))
        .otherwise(pl.format("{} of {}", count(events), count(trials)))
    )


def _counted(number: pl.Expr | str) -> pl.Expr:
    known = pl.col(number) if isinstance(number, str) else number
    return known.fill_null(0).cast(pl.Int64)


def _say(sentence: str, *columns: str) -> pl.Expr:
    """A sentence with counts in it."""
    return pl.format(sentence, *map(count, columns))


def _side_by_side(*facts: pl.LazyFrame) -> pl.LazyFrame:
    """Frames of one row each as one row."""
    return pl.concat(facts, how="horizontal")


def _rows(known: pl.LazyFrame, *numbers: tuple[pl.Expr, str, pl.Expr]) -> pl.LazyFrame:
    rows: Sequence[pl.LazyFrame] = [
        known.select(place=pl.lit(place), value=value, label=pl.lit(label), meaning=meaning)
        for place, (value, label, meaning) in enumerate(numbers)
    ]
    return HEADLINES.select(pl.concat(rows).sort("place"))
