"""Which of the chosen records are written: copies dropped, at most so many of a scenario, the most diverse, a budget.

Every step keeps or drops whole records, in an order that the seed and a record's id give: the same source, options and
seed choose the same records on every machine. Each step's counts stand in the manifest.
"""

import hashlib
import heapq
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import polars as pl


class Limits(msgspec.Struct, frozen=True):
    """What is asked for; 0 and False ask for nothing.

    Args:
        drop_copies: leave out what does what an earlier record does.
        per_scenario: records of one scenario and mode, at most.
        per_environment: records of one environment, at most.
        diverse: so many records, chosen one by one for the tools, pairs of tools and parameters that none before has.
        budget: tokens of the records together, at most, rendered once.
    """

    drop_copies: bool = False
    per_scenario: int = 0
    per_environment: int = 0
    diverse: int = 0
    budget: int = 0

    @property
    def named(self) -> dict[str, Any]:
        """Those that ask for something, in the order in which they are taken."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value}

    @property
    def columns(self) -> str:
        """Columns of CHOOSABLE that they need, found on demand."""
        return " ".join([*(["is_copy"] if self.drop_copies else []), *(["tokens"] if self.budget else [])])


class Step(NamedTuple):
    """One limit: what it is, how many records it left out, and how many remain."""

    limit: str
    left_out: int
    remain: int


def choose(
    rows: pl.DataFrame, limits: Limits, seed: int, features: Mapping[str, frozenset[Any]]
) -> tuple[pl.DataFrame, list[Step]]:
    """The records that are written, in their order, and what each limit left out.

    Args:
        rows: conforms to CHOOSABLE, with the columns that the limits need.
        limits: what is asked for.
        seed: of the order in which records are taken.
        features: by trajectory_id, what a record has that others may lack; needed by `diverse` alone.
    """
    steps: list[Step] = []
    left = rows.with_columns(_turn=pl.col("trajectory_id").map_elements(lambda id_: turn(id_, seed), pl.String))
    for name, value in limits.named.items():
        kept = _KEEP[name](left.sort("_turn"), value, features)
        steps.append(Step(f"{name} {value}" if value is not True else name, left.height - len(kept), len(kept)))
        left = left.filter(pl.col("trajectory_id").is_in(list(kept)))
    return left.drop("_turn"), steps


def features_of(tool_calls: pl.LazyFrame) -> dict[str, frozenset[Any]]:
    """What each record has: tools, pairs of tools in a row, and parameters, all of its environment.

    Args:
        tool_calls: conforms to TOOL_CALLS.
    """
    calls = tool_calls.select("trajectory_id", "env_id", "tool_name", "arguments").filter(
        pl.col("tool_name").is_not_null()
    )
    features: dict[str, set[Any]] = {}
    before: dict[str, str] = {}
    for id_, env_id, tool, arguments in calls.collect().iter_rows():
        has = features.setdefault(id_, set())
        has.add((env_id, tool))
        if id_ in before:
            has.add((env_id, before[id_], tool))
        before[id_] = tool
        has |= {(env_id, tool, "parameter", name) for name in _parameters(arguments)}
    return {id_: frozenset(has) for id_, has in features.items()}


def _parameters(arguments: str | None) -> Iterator[str]:
    try:
        yield from msgspec.json.decode(arguments or "{}", type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeError):
        return


def turn(id_: str, seed: int = 0) -> str:
    """When a record has its turn, among others of the same seed."""
    return hashlib.sha256(f"{seed} {id_}".encode()).hexdigest()


def _without_copies(rows: pl.DataFrame, _: Any, __: Any) -> list[str]:
    return rows.filter(~pl.col("is_copy"))["trajectory_id"].to_list()


def scenario_columns() -> tuple[pl.Expr, ...]:
    """What a scenario and mode is told by: its id, else its task, else the record alone."""
    known = pl.col("task_id").is_not_null()
    scenario = pl.when(known).then(pl.col("task_id")).otherwise(pl.coalesce("task", "trajectory_id"))
    return pl.col("env_id"), pl.col("traj_type"), known.alias("known"), scenario.alias("scenario")


def _per_scenario(rows: pl.DataFrame, most: int, _: Any) -> list[str]:
    place = pl.int_range(pl.len()).over(*scenario_columns())
    return rows.filter(place < most)["trajectory_id"].to_list()


def _per_environment(rows: pl.DataFrame, most: int, _: Any) -> list[str]:
    return rows.filter(pl.int_range(pl.len()).over("env_id") < most)["trajectory_id"].to_list()


def _diverse(rows: pl.DataFrame, most: int, features: Mapping[str, frozenset[Any]]) -> list[str]:
    """Greedily, the record with most that no chosen one has; where none adds anything, in turn.

    A gain can only shrink as others are chosen, so that of the sorted gains few are counted anew. The greedy choice
    covers at least 63 % of what the best one does: G. Nemhauser, L. Wolsey and M. Fisher (1978).
    """
    nothing: frozenset[Any] = frozenset()
    covered: set[Any] = set()
    chosen: list[str] = []
    gains = [(-len(features.get(id_, nothing)), place, id_) for place, id_ in enumerate(rows["trajectory_id"])]
    heapq.heapify(gains)
    while gains and len(chosen) < most:
        _, place, id_ = heapq.heappop(gains)
        gain = -len(features.get(id_, nothing) - covered)
        if gains and (gain, place, id_) > gains[0]:
            heapq.heappush(gains, (gain, place, id_))
            continue
        chosen.append(id_)
        covered |= features.get(id_, nothing)
    return chosen


def _budget(rows: pl.DataFrame, most: int, _: Any) -> list[str]:
    """In turn, whatever still fits; a record without an assistant message has no tokens to learn from."""
    total, kept = 0, []
    for id_, tokens in rows.select("trajectory_id", "tokens").iter_rows():
        if total + (tokens or 0) <= most:
            total += tokens or 0
            kept.append(id_)
    return kept


_KEEP = {
    "drop_copies": _without_copies,
    "per_scenario": _per_scenario,
    "per_environment": _per_environment,
    "diverse": _diverse,
    "budget": _budget,
}
