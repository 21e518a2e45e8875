"""Headlines: the numbers a reader takes away from a page, as text with their denominators, and what needs attention.

Each question makes its own (`in_brief`), of the small results that its figures are drawn from, both modes together, so
that a number at the top of a page and the figure below it cannot differ. Counts stand in place of rates over fewer than
20, a dash in place of what is not known. Attention is asked for by count, not by judgement: it says what is there.
"""

from collections.abc import Callable
from typing import NamedTuple

import polars as pl

from analysis.schema import FEWEST_FOR_A_RATE, Column, Table

HEADLINES = Table(
    "headlines",
    "number a reader takes away",
    (
        Column("value", pl.String(), "the number, as text"),
        Column("label", pl.String(), "what it counts"),
        Column("meaning", pl.String(), "its definition, with the denominator"),
        Column("attention", pl.String(), "what of it needs attention, in a sentence", nullable=True),
    ),
    key=("label",),
)

NOTHING = "–"
BOTH_MODES = "conversations / without a user"
# From this share on a breach says something about the source, and below it about a few records: their page lists them.
MUCH = 0.05
# With more unknown results than this an error rate tells of the rest alone.
MUCH_UNKNOWN = 0.2


class Number(NamedTuple):
    """One headline, as expressions over one row of facts; attention is null where there is nothing to note."""

    value: pl.Expr
    label: str
    meaning: pl.Expr
    attention: pl.Expr | None = None


def rows(known: pl.LazyFrame, *numbers: Number) -> pl.LazyFrame:
    """Headlines in the order given, of facts in one row; none of a frame without a row."""
    made = [
        known.select(
            place=pl.lit(place),
            value=number.value,
            label=pl.lit(number.label),
            meaning=number.meaning,
            attention=pl.lit(None, pl.String) if number.attention is None else number.attention,
        )
        for place, number in enumerate(numbers)
    ]
    return HEADLINES.select(pl.concat(made).sort("place"))


def together(*questions: pl.LazyFrame) -> pl.LazyFrame:
    """The headlines of several questions as those of one page."""
    return pl.concat(questions)


def side_by_side(*facts: pl.LazyFrame) -> pl.LazyFrame:
    """Frames of one row each as one row; a result that may have none is to be aggregated first."""
    return pl.concat(facts, how="horizontal")


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


def decimal(number: pl.Expr | str, digits: int = 1) -> pl.Expr:
    """A number that is no count, rounded, without a needless .0; a dash where it is not known."""
    known = pl.col(number) if isinstance(number, str) else number
    return known.cast(pl.Float64).round(digits).cast(pl.String).str.strip_suffix(".0").fill_null(NOTHING)


def interval(low: str, high: str, digits: int = 1) -> pl.Expr:
    """A 95 % interval of two columns, in words."""
    ends = pl.format("95 % interval {} to {}", decimal(low, digits), decimal(high, digits))
    return pl.when(pl.col(low).is_null()).then(pl.lit("too few for an interval")).otherwise(ends)


def percent(share: pl.Expr | str) -> pl.Expr:
    """A share of 0 to 1 as a whole percentage, where it is no quotient of counts; a dash where it is not known."""
    known = pl.col(share) if isinstance(share, str) else share
    return pl.format("{} %", (100 * known).round().cast(pl.Int64)).fill_null(NOTHING)


def of_modes(column: str, name: str) -> dict[str, pl.Expr]:
    """`<name>_talk` and `<name>_solo`: what the row of a mode says in a result with a row a mode."""
    is_talk = pl.col("traj_type") == "conversation"
    return {
        f"{name}_talk": pl.col(column).filter(is_talk).first(),
        f"{name}_solo": pl.col(column).filter(~is_talk).first(),
    }


def both(name: str, as_text: Callable[[str], pl.Expr] = decimal) -> pl.Expr:
    """What `of_modes` found, conversations first: `12.5 / 9`."""
    return pl.format("{} / {}", as_text(f"{name}_talk"), as_text(f"{name}_solo"))


def say(sentence: str, *columns: str) -> pl.Expr:
    """A sentence with counts in it; the "(s)" of "{} call(s)" stands where the count before it is not one."""
    first, *others = sentence.split("{}")
    pieces = [pl.lit(first)]
    for column, piece in zip(columns, others, strict=True):
        one, more = pl.lit(piece.replace("(s)", "")), pl.lit(piece.replace("(s)", "s"))
        pieces += [count(column), pl.when(_counted(column) == 1).then(one).otherwise(more)]
    return pl.concat_str(pieces)


def note(when: pl.Expr, sentence: str, *columns: str) -> pl.Expr:
    """The sentence with its counts where it needs to be said; null elsewhere, and where that is not known."""
    return pl.when(when).then(say(sentence, *columns))


def is_much(events: str, trials: str, share: float = MUCH) -> pl.Expr:
    """Some, and at least this share of those tried."""
    return (_counted(events) > 0) & (_counted(events) >= share * _counted(trials))


def _counted(number: pl.Expr | str) -> pl.Expr:
    known = pl.col(number) if isinstance(number, str) else number
    return known.fill_null(0).cast(pl.Int64)
