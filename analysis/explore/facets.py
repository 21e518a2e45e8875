"""What the figures show: how many trajectories each choice would leave, the other choices made."""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from analysis.explore.selection import Selection, label
from analysis.nearest import hint

# More bars than this nobody scrolls through; words in the search box find the others.
MOST_NAMES = 300
# Bars of a histogram.
MOST_BINS = 40


class Names(NamedTuple):
    """Rows of a list of names, and how many names there are."""

    rows: list[tuple[str, int, int]]
    all: int


def names(runs: pl.DataFrame, selection: Selection, column: str, most: int = MOST_NAMES) -> Names:
    """Trajectories by name, with and without the selection.

    Args:
        runs: conforms to RUNS.
        selection: what is chosen; its own facet is left open, so that a choice can be widened.
        column: of NAMED.
        most: names to return; the chosen ones are always among them.

    Returns:
        (name, trajectories within the selection, trajectories in all), most first; names without any are left out,
        unless they are chosen.
    """
    counted = runs.select(
        name=label(column) if column != "tools_called" else pl.col(column), kept=_kept(selection, column)
    )
    if column == "tools_called":
        counted = counted.explode("name").drop_nulls("name")
    chosen = list(selection.names.get(column, ()))
    counts = counted.group_by("name").agg(count=pl.col("kept").sum(), total=pl.len())
    here = counts.filter((pl.col("count") > 0) | pl.col("name").is_in(chosen)).with_columns(
        is_chosen=pl.col("name").is_in(chosen)
    )
    best = here.sort("count", "total", "name", descending=[True, True, False])
    shown = pl.concat([best.head(most), best.slice(most).filter("is_chosen")])
    return Names(shown.select("name", "count", "total").rows(), here.height)


def refuse_unknown(runs: pl.DataFrame, column: str, chosen: Iterable[str]) -> None:
    """Refuse names that no trajectory has.

    Raises:
        ValueError: there is no such name in a column of NAMED; the message names the nearest.
    """
    names = runs[column].explode() if column == "tools_called" else runs.select(label(column)).to_series()
    there = names.drop_nulls().unique().to_list()
    for name in chosen:
        if name not in there:
            raise ValueError(f"no trajectory has {column} {name!r}; {hint(name, there)}")


def bins(runs: pl.DataFrame, selection: Selection, column: str) -> list[tuple[int, int, int, int]]:
    """Trajectories by a count, with and without the selection.

    Args:
        runs: conforms to RUNS.
        selection: what is chosen; its own facet is left open.
        column: of COUNTED.

    Returns:
        (least, one more than the most, trajectories within the selection, trajectories in all), a row for every bin
        from the least count of all to the most, also where there are none.
    """
    if runs.is_empty():
        return []
    first, width = _grid(runs[column])
    start = (pl.col(column).cast(pl.Int64) - first) // width
    counted = runs.select(bin=start, kept=_kept(selection, column)).group_by("bin")
    counts = counted.agg(count=pl.col("kept").sum(), total=pl.len())
    every = pl.DataFrame({"bin": pl.int_range(int(counts["bin"].max()) + 1, eager=True)})  # type: ignore[arg-type]
    filled = every.join(counts, on="bin", how="left").fill_null(0).sort("bin")
    return [(first + n * width, first + (n + 1) * width, count, total) for n, count, total in filled.rows()]


def _kept(selection: Selection, column: str) -> pl.Expr:
    return selection.without(column).expression()


def _grid(counts: pl.Series) -> tuple[int, int]:
    """Where the first bin starts, and how many whole numbers each holds."""
    least, most = int(counts.min()), int(counts.max())  # type: ignore[arg-type]
    return least, -(-(most - least + 1) // MOST_BINS)
