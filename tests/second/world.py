"""The raw records once more, and the statistics of `ANALYSES` written down by hand: rates with clusters, quantiles."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor, log, sqrt
from typing import Any

from scipy import stats

from analysis.tables import Tables
from tests.measures.raw import Raw
from tests.measures.test_second_opinion_of_calls import Call, calls

Row = dict[str, Any]
Rows = dict[tuple[Any, ...], Row]
Cluster = tuple[str, str]
FEWEST, CLUSTERS = 20, 10


@dataclass
class Run:
    """A record with what the release's shape does not name: its place in the file, its reward, its trial."""

    raw: Raw
    id: str
    reward: float | None
    trial: int | None
    steps: int | None

    @property
    def mode(self) -> str:
        return self.raw.traj_type

    @property
    def env(self) -> str:
        return self.raw.env_id

    @property
    def scenario(self) -> Cluster:
        return self.raw.env_id, self.raw.task_id

    @cached_property
    def calls(self) -> list[Call]:
        return list(calls(self.raw))

    @property
    def errors(self) -> int:
        return sum(call.outcome == "error" for call in self.calls)

    @property
    def judged(self) -> int:
        return sum(call.outcome != "unknown" for call in self.calls)

    @property
    def repeats(self) -> int:
        return len(self.calls) - len({call.same for call in self.calls})

    @property
    def end(self) -> str:
        last = self.raw.messages[-1]
        if last["role"] == "user" and "###STOP###" in (last["content"] or ""):
            return "stop_marker"
        if last["role"] == "user" and "Task Completed" in (self.raw.messages[-2]["content"] or ""):
            return "completed_marker"
        return "ends_on_result" if last["role"] == "tool" else "text_without_marker"


@dataclass
class World:
    """A source: its runs, its sibling sets as they stand in their files, and the tables, where texts are counted."""

    runs: list[Run]
    environments: list[Row]
    scenarios: list[Row]
    tables: Tables
    kinds: dict[tuple[str, str], str] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = {
            (env["env_id"], operation["operation_name"]): "query"
            if operation["operation_type"] == "query"
            else "change"
            for env in self.environments
            for operation in env["operation_list"]
        }

    def kind(self, run: Run, call: Call) -> str:
        first = call.tool.split("_")[0].lower()
        reading = first in _READING
        return self.kinds.get((run.env, call.tool), "query" if reading else "change")


_READING = {
    *("get", "list", "search", "find", "check", "view", "lookup", "calculate", "think", "filter", "retrieve", "count"),
    *("show", "read", "query", "fetch", "describe"),
}


def runs_of(raw: Iterable[Raw], records: Iterable[Row]) -> list[Run]:
    return [
        Run(one, f"00000-{place:05d}", record.get("total_reward"), record.get("trial"), record.get("steps"))
        for place, (one, record) in enumerate(zip(raw, records, strict=True))
    ]


# Statistics ---------------------------------------------------------------------------------------------------------


def rate(name: str, sums: Iterable[tuple[Any, float, float]]) -> Row:
    """A rate over (cluster, events, trials): Wilson's interval on n / deff, with Student's t for the clusters."""
    by: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for cluster, events, trials in sums:
        by[cluster][0] += events
        by[cluster][1] += trials
    tried = [(e, t) for e, t in by.values() if t > 0]
    n, k = sum(t for _, t in tried), len(tried)
    told: Row = {name: None, f"{name}_low": None, f"{name}_high": None, f"{name}_clusters": k, f"{name}_deff": None}
    if n < FEWEST:
        return told
    told[name] = p = sum(e for e, _ in tried) / n
    if k < CLUSTERS:
        return told
    independent = p * (1 - p) / n
    if independent > 0:
        residuals = sum(((e - p * t) / (1 - t / n)) ** 2 for e, t in tried)
        effect = max(1.0, (k - 1) / k * residuals / n**2 / independent)
    else:
        effect = n / k
    freedom = max(1.0, n**2 / sum(t * t for _, t in tried) - 1)
    told[f"{name}_deff"] = deff = effect * (stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)) ** 2
    told[f"{name}_low"], told[f"{name}_high"] = wilson(p, n / deff)
    return told


def wilson(p: float, n: float) -> tuple[float, float]:
    z = stats.norm.ppf(0.975)
    centre, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, (centre - half) / (1 + z * z / n)), min(1.0, (centre + half) / (1 + z * z / n))


def share(events: float, trials: float) -> float | None:
    return events / trials if trials >= FEWEST else None


def quantile(values: Sequence[float], level: float) -> float | None:
    if not values:
        return None
    ordered, place = sorted(values), (len(values) - 1) * level
    low, high = ordered[floor(place)], ordered[ceil(place)]
    return low + (high - low) * (place - floor(place))


def at_most(values: Sequence[float], level: float) -> float:
    return sorted(values)[max(1, ceil(len(values) * level - 1e-9)) - 1]


def gini(held: Sequence[float]) -> float | None:
    total = sum(held)
    return sum(abs(a - b) for a in held for b in held) / len(held) / total / 2 if total else None


def entropy(held: Sequence[float]) -> float | None:
    total = sum(held)
    return -sum(n / total * log(n / total) for n in held if n) if total else None


def grouped(items: Iterable[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    groups = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)


def tenth(place: int, n: int) -> int:
    """The tenth that holds (k - 1/2) / n, for the k-th of n, k being place + 1."""
    return min(int((place + 0.5) / n * 10 + 1e-9), 9) + 1


def pairs(run: Run) -> Iterator[tuple[int, Call]]:
    yield from enumerate(run.calls)


def parsed(text: str) -> Any:
    return json.loads(text or "{}")
