"""Both sides of the comparison page, its modes left and right, by plain loops over scenarios."""

from collections import Counter, defaultdict
from collections.abc import Callable
from math import expm1, hypot, sqrt
from statistics import mean
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.second.of_records import usage
from tests.second.of_texts import studentised
from tests.second.world import CLUSTERS, FEWEST, Row, Rows, Run, World, at_most, rate

LEFT, RIGHT = "conversation", "non_conversation"
Sums = NDArray[np.float64]

# Events and trials of a run.
QUANTITIES: dict[str, Callable[[Run], tuple[float, float]]] = {
    "steps per trajectory": lambda run: (len(run.raw.assistant), 1),
    "tool calls per trajectory": lambda run: (len(run.calls), 1),
    "user messages per trajectory": lambda run: (run.raw.lengths["user messages"], 1),
    "tools offered per trajectory": lambda run: (len(run.raw.offered), 1),
    "distinct tools used per trajectory": lambda run: (_used(run), 1),
    "reward per trajectory that has one": lambda run: (run.reward or 0.0, run.reward is not None),
    "breadth: tools used / offered": lambda run: (_used(run), len(run.raw.offered)),
    "calls per step": lambda run: (len(run.calls), len(run.raw.assistant)),
    "error rate of calls": lambda run: (run.errors, run.judged),
    "unknown share of calls": lambda run: (len(run.calls) - run.judged, len(run.calls)),
    "share of steps with reasoning": lambda run: (
        sum(bool(message.get("reasoning_content")) for message in run.raw.assistant),
        len(run.raw.assistant),
    ),
    "share that closes with its marker": lambda run: (run.end in ("stop_marker", "completed_marker"), 1),
}
RATES = {
    *("breadth: tools used / offered", "error rate of calls", "unknown share of calls"),
    *("share of steps with reasoning", "share that closes with its marker"),
}


def _used(run: Run) -> int:
    return len({call.tool for call in run.calls} & run.raw.offered)


def counts(world: World) -> Rows:
    sides = [[run for run in world.runs if run.mode == mode] for mode in (LEFT, RIGHT)]
    held: dict[str, Callable[[Run], set[Any]]] = {
        "scenarios": lambda run: {run.scenario},
        "environments": lambda run: {run.env},
        "tools offered": lambda run: {(run.env, tool) for tool in run.raw.offered},
    }
    rows: Rows = {("trajectories",): {"left": len(sides[0]), "right": len(sides[1]), "shared": None}}
    for name, of in held.items():
        left, right = ({one for run in side for one in of(run)} for side in sides)
        rows[name,] = {"left": len(left), "right": len(right), "shared": len(left & right)}
    return rows


def membership(world: World) -> Rows:
    """Environments of one side alone, and tools of one side alone in an environment of both."""
    rows: Rows = {}
    offering = {mode: usage(world, mode) for mode in (LEFT, RIGHT)}
    runs = {mode: Counter(run.env for run in world.runs if run.mode == mode) for mode in (LEFT, RIGHT)}
    for one, other in ((LEFT, RIGHT), (RIGHT, LEFT)):
        for env in runs[one].keys() - runs[other].keys():
            rows["environment", env, None] = {"trajectories": runs[one][env]}
        for (env, tool), row in offering[one].items():
            if runs[other][env] and row["offering"] and not offering[other].get((env, tool), {}).get("offering"):
                rows["tool", env, tool] = {"trajectories": row["offering"]}
    return rows


def sums(world: World, quantity: str) -> dict[Any, list[float]]:
    """By scenario: events and trials on the left, events and trials on the right."""
    of: dict[Any, list[float]] = defaultdict(lambda: [0.0] * 4)
    for run in world.runs:
        events, trials = QUANTITIES[quantity](run)
        place = 0 if run.mode == LEFT else 2
        of[run.scenario][place] += events
        of[run.scenario][place + 1] += trials
    return of


def headlines(world: World) -> Rows:
    rows: Rows = {}
    for quantity in QUANTITIES:
        held = sums(world, quantity)
        le, lt, re, rt = (sum(row[place] for row in held.values()) for place in range(4))
        if not lt or not rt:
            continue
        clusters = [sum(row[place] > 0 for row in held.values()) for place in (1, 3)]
        row: Row = {
            "left": le / lt,
            "right": re / rt,
            "difference": le / lt - re / rt,
            **dict(zip(("left_events", "left_trials", "right_events", "right_trials"), (le, lt, re, rt), strict=True)),
            "left_scenarios": clusters[0],
            "right_scenarios": clusters[1],
            "scenarios": len(held),
        }
        ends = _rates_apart(held) if quantity in RATES else _apart(held, "difference")
        rows[quantity,] = row | _told(row["difference"], ends, min(clusters)) | _relative(held, le / lt, re / rt)
    return _judged(rows)


def paired(world: World) -> Rows:
    rows: Rows = {}
    for quantity in QUANTITIES:
        both = [(row[0] / row[1], row[2] / row[3]) for row in sums(world, quantity).values() if row[1] and row[3]]
        if not both:
            continue
        changes = [left - right for left, right in both]
        left, right = (mean(pair[side] for pair in both) for side in (0, 1))
        ends = (changes[0], changes[0]) if len(set(changes)) == 1 else studentised([(change, 1) for change in changes])
        rows[quantity,] = (
            {
                "left": left,
                "right": right,
                "difference": mean(changes),
                "scenarios": len(both),
                "left_higher": sum(change > 0 for change in changes),
                "right_higher": sum(change < 0 for change in changes),
            }
            | _told(mean(changes), ends, len(both))
            | _relative({place: [one, 1, other, 1] for place, (one, other) in enumerate(both)}, left, right)
        )
    return _judged(rows)


def _told(value: float, ends: tuple[Any, Any], clusters: int) -> Row:
    """The ends of a difference, and the chance of one as large where there is none."""
    low, high = (getattr(end, "expected", end) for end in ends)
    p = 1.0
    if low is not None and value:
        margin = value - low if value > 0 else high - value
        p = 0.0
        if margin > 0:
            p = 2 * stats.t.sf(stats.t.ppf(0.975, clusters - 1) * abs(value) / margin, clusters - 1)
    return {
        "difference_low": ends[0],
        "difference_high": ends[1],
        "p": p,
        "p_value": pytest.approx(p, rel=0.35, abs=0.02),
    }


def _judged(rows: Rows) -> Rows:
    """Holm's procedure over all that have an interval, a third of 5 % for each of the page's three tables."""
    compared = [row for row in rows.values() if row["difference_low"] is not None]
    still = True
    for place, row in enumerate(sorted(compared, key=lambda row: row["p"])):
        still = still and bool(row["p"] <= 0.05 / 3 / (len(compared) - place))
        row["is_different"] = still
    for row in rows.values():
        row.setdefault("is_different", False)
        row |= {"compared": len(compared), "by_chance": 0.05 * len(compared)}
        del row["p"]
    return rows


def _rates_apart(held: dict[Any, list[float]]) -> tuple[float | None, float | None]:
    """Newcombe's interval of two rates, with their correlation over scenarios."""
    left = rate("rate", [(key, row[0], row[1]) for key, row in held.items()])
    right = rate("rate", [(key, row[2], row[3]) for key, row in held.items()])
    if left["rate_low"] is None or right["rate_low"] is None:
        return None, None
    p1, l1, u1 = (left[name] for name in ("rate", "rate_low", "rate_high"))
    p2, l2, u2 = (right[name] for name in ("rate", "rate_low", "rate_high"))
    one = [row[0] - p1 * row[1] for row in held.values()]
    other = [row[2] - p2 * row[3] for row in held.values()]
    spread = sqrt(sum(x * x for x in one) * sum(x * x for x in other))
    r = sum(x * y for x, y in zip(one, other, strict=True)) / spread if spread else 0.0

    def margin(a: float, b: float) -> float:
        return sqrt(max(0.0, a * a + b * b - 2 * r * a * b))

    return p1 - p2 - margin(p1 - l1, u2 - p2), p1 - p2 + margin(u1 - p1, p2 - l2)


def _apart(held: dict[Any, list[float]], kind: str) -> tuple[Any, Any]:
    """The studentised bootstrap of a difference, or of the logarithm of a ratio, of two ratios of sums."""
    rows = np.array(list(held.values()), dtype=float)
    rows = rows[(rows[:, 1] > 0) | (rows[:, 3] > 0)]
    k = len(rows)
    if min((rows[:, 1] > 0).sum(), (rows[:, 3] > 0).sum()) < CLUSTERS:
        return None, None

    def of(s: Sums) -> Sums:
        left, right = s[..., 0] / s[..., 1], s[..., 2] / s[..., 3]
        told: Sums = left - right if kind == "difference" else np.log(left) - np.log(right)
        return told

    def slope(s: Sums, x: Sums) -> Sums:
        """What a cluster adds to the value, to first order."""
        left, right = s[..., 0] / s[..., 1], s[..., 2] / s[..., 3]
        a = (x[..., 0] - left * x[..., 1]) / s[..., 1]
        b = (x[..., 2] - right * x[..., 3]) / s[..., 3]
        told: Sums = a - b if kind == "difference" else a / left - b / right
        return told

    value = float(of(rows.sum(axis=0)))
    left_out = of(rows.sum(axis=0) - rows)
    error = sqrt((k - 1) / k * ((left_out - left_out.mean()) ** 2).sum())
    if error < 1e-12:
        return value, value
    drawn = rows[np.random.default_rng(6).integers(0, k, (4_000, k))]
    totals = drawn.sum(axis=1)
    spread = np.sqrt((slope(totals[:, None, :], drawn) ** 2).sum(axis=1) * k / (k - 1))
    scores = (of(totals) - value) / spread
    upper, lower = np.quantile(scores[np.isfinite(scores)], [0.975, 0.025])
    least = stats.t.ppf(0.975, k - 1)
    low, high = value - max(upper, least) * error, value - min(lower, -least) * error
    return pytest.approx(low, abs=0.08 * (high - low)), pytest.approx(high, abs=0.08 * (high - low))


def _relative(held: dict[Any, list[float]], left: float, right: float) -> Row:
    """The relative difference, and none where the right side may as well be 0."""
    rows = [row for row in held.values() if row[3] > 0]
    total, tried = sum(row[2] for row in rows), sum(row[3] for row in rows)
    k = len(rows)
    out = [(total - row[2]) / (tried - row[3]) for row in rows] if k > 1 else []
    error = sqrt((k - 1) / k * sum((one - mean(out)) ** 2 for one in out)) if out else 0.0
    none: Row = {"relative_difference": None, "relative_low": None, "relative_high": None}
    if k < CLUSTERS or right <= 0 or right < 3 * error or left <= 0:
        return none
    low, high = _apart(held, "ratio")
    told = {"relative_difference": left / right - 1}
    if low is None:
        return told | {"relative_low": None, "relative_high": None}
    ends = [expm1(getattr(end, "expected", end)) for end in (low, high)]
    width = 0.1 * (ends[1] - ends[0]) + 1e-9
    return told | {
        "relative_low": pytest.approx(ends[0], abs=width),
        "relative_high": pytest.approx(ends[1], abs=width),
    }


def distributions(world: World) -> Rows:
    """Of steps and of calls at once: what tells them apart is the median of each side."""
    rows: Rows = {}
    for name in ("steps", "tool calls"):
        widest = max(run.raw.lengths[name] for run in world.runs) // 80 + 1
        for side, mode in (("left", LEFT), ("right", RIGHT)):
            values = [run.raw.lengths[name] for run in world.runs if run.mode == mode]
            for value, n in Counter(v // widest * widest for v in values).items():
                rows[side, value, at_most(values, 0.5), at_most(values, 0.9)] = {
                    "value_to": value + widest,
                    "trajectories": n,
                    "side_trajectories": len(values),
                    "trajectory_share": n / len(values),
                    "cumulative_share": sum(v // widest * widest <= value for v in values) / len(values),
                }
    return rows


def tools(world: World) -> Rows:
    sides = usage(world, LEFT), usage(world, RIGHT)
    both = [key for key in sides[0].keys() & sides[1].keys() if min(s[key]["offering"] for s in sides) >= FEWEST]
    rows: Rows = {}
    for key in both:
        left, right = (side[key] for side in sides)
        row: Row = {"difference": left["usage_rate"] - right["usage_rate"], "compared_tools": len(both)}
        for name, side in (("left", left), ("right", right)):
            row |= {f"{name}_rate": side["usage_rate"], f"{name}_offering": side["offering"]}
            row |= {f"{name}_{end}": side[f"usage_rate_{end}"] for end in ("low", "high")}
        ends: tuple[float | None, float | None] = (None, None)
        if row["left_low"] is not None and row["right_low"] is not None:
            below = hypot(row["left_rate"] - row["left_low"], row["right_high"] - row["right_rate"])
            above = hypot(row["left_high"] - row["left_rate"], row["right_rate"] - row["right_low"])
            ends = row["difference"] - below, row["difference"] + above
        clusters = min(left["usage_rate_clusters"], right["usage_rate_clusters"])
        rows[key] = row | _told(row["difference"], ends, clusters)
    judged = _judged(rows)
    differ = sum(row["is_different"] for row in judged.values())
    return {key: row | {"different_tools": differ} for key, row in judged.items()}


OPINIONS = {
    "compare_counts": counts,
    "compare_headlines": headlines,
    "compare_paired": paired,
    "compare_distributions": distributions,
    "compare_tools": tools,
    "compare_membership": membership,
}
KEYS = {"compare_distributions": ("side", "value", "median", "p90")}
