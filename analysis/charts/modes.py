"""What each mode has, for the sentences and facts of a chart; the modes as `figure` names them."""

from collections.abc import Callable
from typing import Any

import polars as pl

from analysis.wording import by_mode, count, rate, rate_of


def rows_by_mode(frame: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The rows of each mode, in the order of the modes."""
    modes = frame.sort("traj_type", maintain_order=True).partition_by("traj_type", as_dict=True, maintain_order=True)
    return {str(mode): rows.rows(named=True) for (mode,), rows in modes.items()}


def each_mode(frame: pl.DataFrame, text: Callable[[dict[str, Any]], str]) -> str:
    """What `text` says of the first row of each mode, in the order of the modes."""
    firsts = frame.group_by("traj_type", maintain_order=True).first().sort("traj_type")
    return by_mode({row["traj_type"]: text(row) for row in firsts.iter_rows(named=True)})


def counts_by_mode(frame: pl.DataFrame, column: str) -> str:
    """A count that is the same in all rows of a mode: its denominator."""
    return each_mode(frame, lambda row: count(row[column]))


def rate_by_mode(frame: pl.DataFrame, events: str, trials: str, where: pl.Expr | None = None, *, noun: str = "") -> str:
    """The events of the rows `where`, over the mode's denominator, with its noun where one is given."""
    of_rows = pl.col(events) if where is None else pl.col(events).filter(where)
    sums = frame.group_by("traj_type").agg(of_rows.sum(), pl.col(trials).first())
    return each_mode(sums, lambda row: _rate(row[events], row[trials], noun))


def _rate(events: float, trials: float, noun: str) -> str:
    return rate_of(events, trials, noun) if noun else rate(events, trials)
