"""What a person adds to tables in a notebook: a choice of trajectories, and columns of their own beside them."""

import warnings
from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from analysis.nearest import hint
from analysis.wording import count

KEY = "trajectory_id"


class Choice(NamedTuple):
    """Trajectories, and how they were chosen, in words."""

    trajectory_ids: tuple[str, ...]
    words: str


def choose(
    trajectories: pl.LazyFrame, by: pl.Expr | pl.DataFrame | Iterable[str], before: Choice | None = None
) -> Choice:
    """Choose some of the trajectories; of a choice before, its words stay.

    Raises:
        ValueError: an id is of no trajectory, or the expression names no column of `trajectories`.
    """
    ids = _by_expression(trajectories, by) if isinstance(by, pl.Expr) else _by_name(trajectories, by)
    whole = trajectories.select(pl.len()).collect().item()
    how = f", by {str(by).removeprefix('[').removesuffix(']')}" if isinstance(by, pl.Expr) else ""
    words = f"{count(len(ids))} of the {count(whole, 'trajectory')}{how}"
    return Choice(ids, f"{before.words}, {words}" if before else words)


def beside(
    trajectories: pl.LazyFrame, frame: pl.DataFrame | pl.LazyFrame, on: str, before: pl.LazyFrame | None
) -> pl.LazyFrame:
    """A frame's columns by trajectory, together with those that were joined before.

    Raises:
        ValueError: no such column, two rows for one value, a column that is there already, or no row that fits.
    """
    own = frame.lazy().collect()
    there = trajectories.collect_schema().names()
    for names in (there, own.columns):
        if on not in names:
            raise ValueError(f"there is no column {on!r} to join on; {hint(on, names)}")
    if clash := [name for name in own.columns if name in there and name != on]:
        raise ValueError(f"trajectories have a column {clash[0]!r} already; rename the frame's")
    own = own.with_columns(pl.col(on).cast(pl.String))
    if twice := own.height - own[on].n_unique():
        raise ValueError(f"{count(twice, 'row')} of {own.height:,} repeat a value of {on}; one row each, please")
    keys = trajectories.select(list(dict.fromkeys([KEY, on]))).with_columns(pl.col(on).cast(pl.String)).collect()
    _tell_of_gaps(keys, own, on)
    joined = keys.join(own, on=on, how="left").select(KEY, *(name for name in own.columns if name != on)).lazy()
    return joined if before is None else before.join(joined, on=KEY, how="full", coalesce=True)


def column(trajectories: pl.LazyFrame, name: str) -> pl.Expr:
    """A column of the trajectories.

    Raises:
        ValueError: there is none of that name; the message names the nearest.
    """
    names = trajectories.collect_schema().names()
    if name not in names:
        raise ValueError(f"trajectories have no column {name!r}; {hint(name, names)}")
    return pl.col(name)


def _by_expression(trajectories: pl.LazyFrame, expression: pl.Expr) -> tuple[str, ...]:
    for name in expression.meta.root_names():
        column(trajectories, name)
    return tuple(trajectories.filter(expression).select(KEY).collect()[KEY])


def _by_name(trajectories: pl.LazyFrame, held: pl.DataFrame | Iterable[str]) -> tuple[str, ...]:
    if isinstance(held, str):
        raise ValueError(f"{held!r} is one text; where() takes a list of trajectory ids, or env_id=…, traj_type=…")
    if isinstance(held, pl.DataFrame) and KEY not in held.columns:
        raise ValueError(f"the frame has no column {KEY!r}; it has {', '.join(held.columns)}")
    ids = tuple(dict.fromkeys(map(str, held[KEY] if isinstance(held, pl.DataFrame) else held)))
    there = set(trajectories.select(KEY).collect()[KEY])
    if missing := [id_ for id_ in ids if id_ not in there]:
        raise ValueError(
            f"{len(missing):,} of {count(len(ids), 'id')} are of no trajectory here, such as {missing[0]!r}"
        )
    return ids


def _tell_of_gaps(keys: pl.DataFrame, own: pl.DataFrame, on: str) -> None:
    with_row = keys.filter(pl.col(on).is_in(own[on].implode())).height
    if not with_row:
        raise ValueError(f"no {on} of the frame is one of the {keys.height:,} trajectories'")
    unused = own.filter(~pl.col(on).is_in(keys[on].drop_nulls().implode())).height
    if with_row < keys.height or unused:
        warnings.warn(
            f"{with_row:,} of {keys.height:,} trajectories have a row in the frame, the others get nulls; "
            f"{unused:,} of its {own.height:,} rows fit none",
            stacklevel=4,
        )
