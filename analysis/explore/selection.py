"""A choice of trajectories as a value: from it come one filter expression, the frame, and a sentence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from analysis.nearest import hint
from analysis.wording import ABSENT, MODES, cell, count

# What is chosen by name, and how it is said.
NAMED = {"env_id": "environment", "tools_called": "calls", "traj_type": "mode", "end_class": "ending"}
# Of these the names of classes are said in words.
CLASSES = ("traj_type", "end_class")
# What is chosen by a range of whole numbers.
COUNTED = {"assistant_messages": "steps", "tool_calls": "calls made", "errors": "failed calls"}
# Where words are looked for.
WORDED = ("trajectory_id", "env_id", "task_id", "task")

Range = tuple[int, int]


@dataclass(frozen=True)
class Selection:
    """What is chosen. Facets narrow each other; within one, any of the names will do.

    Args:
        names: of a column of NAMED, the values chosen; an absent environment is ABSENT.
        ranges: of a column of COUNTED, the least and the most.
        words: found in task, ids or names of tools called, whatever the case.
    """

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    words: str = ""

    @classmethod
    def of(cls, words: str = "", **chosen: Any) -> "Selection":
        """A selection as a person writes it: `Selection.of(env_id="env_3", errors=(1, 4), words="refund")`.

        Raises:
            ValueError: no such facet, or a range that is none; the message says what there is.
        """
        names: dict[str, tuple[str, ...]] = {}
        ranges: dict[str, Range] = {}
        for column, value in chosen.items():
            if column in NAMED:
                given = (value,) if isinstance(value, str) else tuple(value)
                is_class = column in CLASSES
                names |= {column: tuple(dict.fromkeys(cell(v, is_class=is_class) for v in given))} if given else {}
            elif column in COUNTED:
                ranges[column] = _range(column, value)
            else:
                raise ValueError(f"nothing is chosen by {column!r}; {hint(column, [*NAMED, *COUNTED, 'words'])}")
        return cls(names, ranges, words.strip())

    def chosen(self, column: str) -> tuple[str, ...] | Range | None:
        """What is chosen by a column, or None."""
        return self.names.get(column) or self.ranges.get(column)

    def without(self, column: str) -> "Selection":
        """The selection with one facet left open: what else that facet could offer."""
        return replace(
            self,
            names={name: value for name, value in self.names.items() if name != column},
            ranges={name: value for name, value in self.ranges.items() if name != column},
        )

    def expression(self) -> pl.Expr:
        """One condition over RUNS; true everywhere when nothing is chosen."""
        parts = [pl.lit(True)]
        parts += [_any_of(column, values) for column, values in self.names.items()]
        parts += [pl.col(column).is_between(least, most) for column, (least, most) in self.ranges.items()]
        if self.words:
            parts.append(pl.any_horizontal(_holds(pl.col(name), self.words) for name in WORDED) | _calls(self.words))
        return pl.all_horizontal(parts)

    def rows(self, runs: pl.DataFrame) -> pl.DataFrame:
        """The chosen rows of RUNS, in their order."""
        return runs.filter(self.expression())

    def sentence(self, most: int = 4) -> str:
        """The choice in words; "" when nothing is chosen."""
        parts = [f"{NAMED[column]} {_listed(values, most)}" for column, values in self.names.items()]
        parts += [f"{COUNTED[column]} {_span(*span)}" for column, span in self.ranges.items()]
        parts += [f"“{self.words}”"] if self.words else []
        return ", ".join(parts)


def label(column: str) -> pl.Expr:
    """A column of NAMED as the names it is chosen by."""
    names = pl.col(column).cast(pl.String)
    names = names.replace(dict(MODES)).str.replace_all("_", " ", literal=True) if column in CLASSES else names
    return names.fill_null(ABSENT)


def _any_of(column: str, values: Iterable[str]) -> pl.Expr:
    if column == "tools_called":
        wanted = pl.lit(list(values), pl.List(pl.String))
        return pl.col(column).list.set_intersection(wanted).list.len() > 0
    return label(column).is_in(list(values))


def _holds(column: pl.Expr, words: str) -> pl.Expr:
    return column.fill_null("").str.to_lowercase().str.contains(words.lower(), literal=True)


def _calls(words: str) -> pl.Expr:
    # One text per trajectory is far quicker to search than a list; no name holds a line feed that matters.
    return _holds(pl.col("tools_called").list.join("\n"), words)


def _range(column: str, value: Any) -> Range:
    try:
        least, most = (value, value) if isinstance(value, int) else value
        span = int(least), int(most)
    except (TypeError, ValueError):
        raise ValueError(f"{column}={value!r}: a number, or the least and the most, such as (3, 12)") from None
    if span[0] > span[1]:
        raise ValueError(f"{column}={value!r}: the least, {span[0]}, is more than the most, {span[1]}")
    return span


def _span(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _listed(values: tuple[str, ...], most: int) -> str:
    shown = " or ".join(values[:most])
    return shown if len(values) <= most else f"{shown} or {count(len(values) - most)} more"
