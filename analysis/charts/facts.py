"""What titles and subtitles say of a frame: a count or a rate in each mode, the name of a tool."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.wording import by_mode, count, rate, rate_of

Row = Mapping[str, Any]


def rows_by_mode(frame: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The rows of each mode, in the frame's order."""
    rows = frame.rows(named=True)
    return {mode: [r for r in rows if r["traj_type"] == mode] for mode in dict.fromkeys(r["traj_type"] for r in rows)}


def mode_counts(frame: pl.DataFrame, column: str) -> str:
    """A count that all rows of a mode have alike: `90 with user, 10 without user`."""
    return by_mode({mode: count(rows[0][column]) for mode, rows in rows_by_mode(frame).items()})


def mode_rates(frame: pl.DataFrame, events: str, trials: str, noun: str = "") -> str:
    """Events summed over the rows of a mode, of trials that they have alike, with a noun where one is given."""
    return by_mode(
        {
            mode: rate_of(sum(r[events] for r in rows), rows[0][trials], noun)
            if noun
            else rate(sum(r[events] for r in rows), rows[0][trials])
            for mode, rows in rows_by_mode(frame).items()
        }
    )


def tool_name(row: Row) -> str:
    """The name of a tool, or that its block could not be read."""
    return str(row["tool_name"]) if row["tool_name"] is not None else "(unreadable block)"
