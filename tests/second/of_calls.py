"""Call quality, sequences and value flow, by plain loops over the calls."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any

from analysis.records import values as value_rows
from analysis.schema import VALUES
from tests.measures.test_second_opinion_of_calls import Call, depth, stretches
from tests.second.of_records import verdict
from tests.second.world import Row, Rows, Run, World, grouped, parsed, rate, share, tenth, wilson

MODE = "traj_type"


def each(world: World) -> Iterator[tuple[Run, int, Call]]:
    for run in world.runs:
        for place, call in enumerate(run.calls):
            yield run, place, call


def argument_classes(world: World) -> Rows:
    made = [(run, verdict(run, call.tool, call.arguments, call.outcome)) for run, _, call in each(world)]
    rows = {}
    for mode, of_mode in grouped(made, lambda item: item[0].mode).items():
        for kind in {found for _, found in of_mode}:
            told = rate("class_rate", [(run.scenario, found == kind, 1) for run, found in of_mode])
            n = sum(found == kind for _, found in of_mode)
            rows[mode, kind] = {"calls": n, "mode_calls": len(of_mode), **told}
    return rows


def breaches(world: World) -> Rows:
    made = [
        ((run.env, call.tool), verdict(run, call.tool, call.arguments, call.outcome)) for run, _, call in each(world)
    ]
    rows: Rows = {}
    for tool, of_tool in grouped(made, lambda item: item[0]).items():
        broken = Counter(found for _, found in of_tool if found != "valid")
        for kind, n in broken.items():
            rows[*tool, kind] = {
                "calls": n,
                "tool_breaches": broken.total(),
                "tool_calls": len(of_tool),
                "breach_share": share(n, len(of_tool)),
            }
    return rows


def forms(world: World) -> Rows:
    n = sum(1 for _ in each(world))
    # All arguments of both sources are texts that parse to an object.
    assert all(isinstance(parsed(call.arguments), dict) for *_, call in each(world))
    return {("string", "object"): {"calls": n, "call_share": share(n, n)}}


def outcomes(calls: list[tuple[Run, Call]], name: str = "error_rate") -> Row:
    counts = Counter(call.outcome for _, call in calls)
    judged = counts["ok"] + counts["error"]
    told = rate(name, [(run.scenario, call.outcome == "error", call.outcome != "unknown") for run, call in calls])
    unknown = counts["unknown"] / len(calls)
    return {
        "calls": len(calls),
        "errors": counts["error"],
        "judged": judged,
        "unknown": counts["unknown"],
        "unknown_share": unknown if len(calls) >= 20 else None,
        **told,
    }


def by_mode(world: World) -> Rows:
    made = [(run, call) for run, _, call in each(world)]
    return {(mode,): outcomes(of_mode) for mode, of_mode in grouped(made, lambda item: item[0].mode).items()}


def by_environment(world: World) -> Rows:
    made = [(run, call) for run, _, call in each(world)]
    return {(env,): outcomes(of_env) for env, of_env in grouped(made, lambda item: item[0].env).items()}


def by_tool(world: World) -> Rows:
    made = [(run, call) for run, _, call in each(world)]
    tools = grouped(made, lambda item: (item[0].env, item[1].tool))
    return {tool: outcomes(of_tool) for tool, of_tool in tools.items() if outcomes(of_tool)["errors"]}


def by_position(world: World) -> Rows:
    made = [
        ((run.mode, tenth(place, len(run.calls))), (run, call))
        for run, place, call in each(world)
        if len(run.calls) >= 10
    ]
    return {
        key: outcomes([pair for _, pair in of_place]) for key, of_place in grouped(made, lambda item: item[0]).items()
    }


def rule(run: Run, call: Call) -> str:
    content = run.raw.messages[call.message + 1].get("content") or ""
    if re.match(r"\{\s*['\"]success['\"]", content):
        return "success_key"
    if content.lower().startswith("error"):
        return "error_text"
    return "none" if call.outcome == "unknown" else "structured"


_STRENGTH = ("success_key", "error_key", "error_text", "structured", "none")


def by_rule(world: World) -> Rows:
    made = [(rule(run, call), call.outcome) for run, _, call in each(world)]
    rows: Rows = {}
    for name in {name for name, _ in made}:
        counts = Counter(outcome for rule_, outcome in made if rule_ == name)
        stronger = [o for r, o in made if _STRENGTH.index(r) <= _STRENGTH.index(name) and o != "unknown"]
        rows[name,] = {
            "ok": counts["ok"],
            "errors": counts["error"],
            "unknown": counts["unknown"],
            "call_share": counts.total() / len(made),
            "cumulative_error_rate": stronger.count("error") / len(stronger),
        }
    return rows


def templates(world: World) -> Rows:
    """The folds are the project's: what is counted anew is what they hold."""
    found = world.tables.tool_calls.filter(outcome="error").select("error").collect()["error"].to_list()
    folded = _folded(tuple(found))
    held = defaultdict(list)
    for (run, _, call), text in zip(((r, p, c) for r, p, c in each(world) if c.outcome == "error"), found, strict=True):
        held[folded[text]].append((run, call, text))
    return {
        (template,): {
            "errors": len(errors),
            "all_errors": len(found),
            "error_share": len(errors) / len(found),
            "trajectories": len({run.id for run, *_ in errors}),
            "tools": len({(run.env, call.tool) for run, call, _ in errors}),
            "environments": len({run.env for run, *_ in errors}),
        }
        for template, errors in held.items()
    }


@cache
def _folded(texts: tuple[str, ...]) -> dict[str, str]:
    import polars as pl  # noqa: PLC0415

    from analysis.measures.outcomes import template  # noqa: PLC0415

    frame = pl.DataFrame({"error": list(texts)}).unique().with_columns(template=template())
    return dict(frame.select("error", "template").rows())


# Recovery -----------------------------------------------------------------------------------------------------------


def errors(world: World) -> list[Row]:
    """Every error with whether it is recovered, what comes next, and the call of its ok."""
    found = []
    for run, place, call in each(world):
        if call.outcome != "error":
            continue
        later = run.calls[place + 1 :]
        oks = [place + k for k, other in enumerate(later, 1) if other.tool == call.tool and other.outcome == "ok"]
        if not later:
            response = "no_further_call"
        elif later[0].same == call.same:
            response = "identical_retry"
        else:
            response = "same_tool" if later[0].tool == call.tool else "other_tool"
        ok = oks[0] if oks else None
        found.append({"run": run, "place": place, "tool": call.tool, "ok": ok, "response": response})
    return found


def episodes(world: World) -> dict[str, list[tuple[int, bool]]]:
    """By mode, of every episode how many calls it lasts and whether an ok ends it."""
    starts: dict[Any, int] = {}
    for error in errors(world):
        key = (error["run"].mode, error["run"].id, error["tool"], error["ok"], len(error["run"].calls) - 1)
        starts.setdefault(key, error["place"])
    found = defaultdict(list)
    for (mode, _, _, ok, last), start in starts.items():
        found[mode].append(((last if ok is None else ok) - start, ok is not None))
    return found


def survival(lived: list[tuple[int, bool]]) -> dict[int, tuple[int, int, float]]:
    """Kaplan and Meier: at each length, episodes recovered, episodes still open before, share recovered by then."""
    still, told = 1.0, {}
    for length in sorted({n for n, is_recovered in lived if is_recovered}):
        at_risk = sum(n >= length for n, _ in lived)
        still *= 1 - lived.count((length, True)) / at_risk
        told[length] = (lived.count((length, True)), at_risk, 1 - still)
    return told


def recovery_summary(world: World) -> Rows:
    rows = {}
    for mode, found in grouped(errors(world), lambda error: error["run"].mode).items():
        lived = episodes(world)[mode]
        half = [length for length, (*_, by_then) in survival(lived).items() if by_then >= 0.5 - 1e-12]
        scenarios = [error["run"].scenario for error in found]
        rows[mode,] = {
            "errors": len(found),
            "recovered": sum(error["ok"] is not None for error in found),
            **rate("recovered_rate", [(s, e["ok"] is not None, 1) for s, e in zip(scenarios, found, strict=True)]),
            "identical_retries": sum(error["response"] == "identical_retry" for error in found),
            **rate(
                "retry_rate",
                [(s, e["response"] == "identical_retry", 1) for s, e in zip(scenarios, found, strict=True)],
            ),
            "episodes": len(lived),
            "recovered_episodes": sum(is_recovered for _, is_recovered in lived),
            "median_latency": min(half, default=None),
            "unnamed_errors": 0,
        }
    return rows


def next_calls(world: World) -> Rows:
    rows = {}
    for mode, found in grouped(errors(world), lambda error: error["run"].mode).items():
        for response, of_kind in grouped(found, lambda error: error["response"]).items():
            rows[mode, response] = {
                "errors": len(of_kind),
                "mode_errors": len(found),
                **rate("response_rate", [(e["run"].scenario, e["response"] == response, 1) for e in found]),
                "recovered": sum(e["ok"] is not None for e in of_kind),
                **rate("recovered_rate", [(e["run"].scenario, e["ok"] is not None, 1) for e in of_kind]),
            }
    return rows


def latencies(world: World) -> Rows:
    rows: Rows = {}
    for mode, lived in episodes(world).items():
        for length, (recovered, at_risk, by_then) in survival(lived).items():
            rows[mode, length] = {
                "recovered": recovered,
                "open": at_risk,
                "cumulative_share": by_then,
                "mode_episodes": len(lived),
                "mode_recovered": sum(is_recovered for _, is_recovered in lived),
            }
    return rows


def recovery_by_tool(world: World) -> Rows:
    tools = grouped(errors(world), lambda error: (error["run"].env, error["tool"]))
    return {
        tool: {
            "errors": len(found),
            "recovered": sum(e["ok"] is not None for e in found),
            **rate("recovered_rate", [(e["run"].scenario, e["ok"] is not None, 1) for e in found]),
        }
        for tool, found in tools.items()
    }


def error_runs(world: World) -> Rows:
    longest: Counter[tuple[str, int]] = Counter()
    for run in world.runs:
        here = most = 0
        for call in run.calls:
            here = here + 1 if call.outcome == "error" else 0
            most = max(most, here)
        if run.calls:
            longest[run.mode, most] += 1
    totals = Counter(run.mode for run in world.runs if run.calls)
    return {
        key: {"trajectories": n, "mode_trajectories": totals[key[0]], "trajectory_share": n / totals[key[0]]}
        for key, n in longest.items()
    }


# Repeats ------------------------------------------------------------------------------------------------------------


def repeated(world: World) -> list[Row]:
    """Every call with its kind, whether it repeats an earlier one, and whether nothing changed in between."""
    found = []
    for run in world.runs:
        last: dict[str, int] = {}
        changes: list[int] = []
        for place, call in enumerate(run.calls):
            kind, before = world.kind(run, call), last.get(call.same)
            is_idle = before is not None and not any(before < change < place for change in changes)
            # A changing call that repeats itself changed something the time before.
            found.append({"run": run, "call": call, "kind": kind, "again": before is not None, "idle": is_idle})
            last[call.same] = place
            if kind == "change":
                changes.append(place)
    return found


def repeat_shares(world: World) -> Rows:
    rows = {}
    for key, of_kind in grouped(repeated(world), lambda one: (one["run"].mode, one["kind"])).items():
        rows[key] = {
            "calls": len(of_kind),
            "repeats": sum(one["again"] for one in of_kind),
            **rate("repeat_rate", [(one["run"].scenario, one["again"], 1) for one in of_kind]),
            "idle_repeats": sum(one["idle"] for one in of_kind),
            "catalogued_calls": sum((one["run"].env, one["call"].tool) in world.kinds for one in of_kind),
        }
    return rows


def repeats_by_tool(world: World) -> Rows:
    tools = grouped(repeated(world), lambda one: (one["run"].env, one["call"].tool))
    return {
        tool: {
            "calls": len(of_tool),
            "repeats": sum(one["again"] for one in of_tool),
            **rate("repeat_rate", [(one["run"].scenario, one["again"], 1) for one in of_tool]),
        }
        for tool, of_tool in tools.items()
        if any(one["again"] for one in of_tool)
    }


def loops(world: World) -> Rows:
    rows: Rows = {}
    for run in world.runs:
        same = [call.same for call in run.calls]
        for period in range(1, 5):
            for first, last in stretches(same, period):
                block = same[first : first + period]
                if any(period % p == 0 and block == block[:p] * (period // p) for p in range(1, period)):
                    continue
                within = run.calls[first : last + 1]
                rows[run.id, period, first + 1] = {
                    "turns": len(within) // period,
                    "calls": len(within),
                    "errors": sum(call.outcome == "error" for call in within),
                    "changing_calls": sum(world.kind(run, call) == "change" for call in within),
                }
    return rows


def looping(world: World) -> Rows:
    found = loops(world)
    rows: Rows = {}
    for mode, runs in grouped([run for run in world.runs if run.calls], lambda run: run.mode).items():
        ids = {run.id for run in runs}
        here = [(id_, period) for id_, period, _ in found if id_ in ids]
        for period in {0, *(period for _, period in here)}:
            of_period = Counter(id_ for id_, own in here if period in (0, own))
            rows[mode, period] = {
                "loops": of_period.total(),
                "trajectories": len(of_period),
                "mode_trajectories": len(runs),
                **rate("looping_rate", [(run.scenario, run.id in of_period, 1) for run in runs]),
            }
    return rows


# Sequences ----------------------------------------------------------------------------------------------------------

START, END = "(start)", "(end)"
Pairs = dict[str, Counter[tuple[str, str]]]


def named(world: World, call: Call, run: Run, unit: str) -> str:
    if unit == "kind":
        return world.kind(run, call)
    return call.tool.split("_")[0].lower() if unit == "verb" else call.tool


def transitions_seen(world: World, unit: str) -> Pairs:
    seen: Pairs = defaultdict(Counter)
    for run in world.runs:
        if run.calls:
            names = [START, *(named(world, call, run, unit) for call in run.calls), END]
            seen[run.env].update(pairwise(names))
    return seen


def transitions(world: World) -> Rows:
    """Of all three units at once: their names do not meet."""
    rows: Rows = {}
    units = ("kind", "verb") if len({run.env for run in world.runs}) > 1 else ("kind", "tool_name")
    for unit in units:
        seen = transitions_seen(world, unit)
        pairs = sum(seen.values(), Counter())
        before: Counter[str] = Counter()
        expected: dict[tuple[str, str], float] = defaultdict(float)
        for (first, _), n in pairs.items():
            before[first] += n
        for of_env in seen.values():
            leaving, coming = Counter[str](), Counter[str]()
            for (first, second), n in of_env.items():
                leaving[first] += n
                coming[second] += n
            for first, second in product(leaving, coming):
                expected[first, second] += leaving[first] * coming[second] / of_env.total()
        for (first, second), n in pairs.items():
            rows[first, second, before[first]] = {
                "transitions": n,
                "all_transitions": pairs.total(),
                "probability": n / before[first],
                "lift": n / expected[first, second],
            }
    return rows


def entropies(world: World) -> Rows:
    seen = transitions_seen(world, "tool_name")
    known = {env: of_env for env, of_env in seen.items() if of_env.total() >= 20}
    size = min([2_000, *(of_env.total() for of_env in known.values())])
    rows: Rows = {}
    for env, of_env in seen.items():
        befores, afters = Counter[str](), Counter[str]()
        for (first, second), n in of_env.items():
            befores[first] += n
            afters[second] += n
        cut = size if env in known else None
        bits = None if cut is None else rarefied(of_env, cut) - rarefied(befores, cut)
        rows[env,] = {
            "transitions": of_env.total(),
            "states": len(set(befores) - {START}),
            "rarefied_to": cut,
            "entropy_rate": bits,
            "entropy": None if cut is None else rarefied(afters, cut),
            "seen_entropy_rate": None
            if cut is None
            else rarefied(of_env, of_env.total()) - rarefied(befores, of_env.total()),
            "effective_choices": None if bits is None else 2**bits,
        }
    return rows


def rarefied(counts: Counter[Any], size: int) -> float:
    """Entropy in bits expected of a draw of so many without putting back: a sum over how often each may come up."""
    total = counts.total()
    if size >= total:
        return -sum(n / total * math.log2(n / total) for n in counts.values())
    terms = 0.0
    for n in counts.values():
        for x in range(1, min(n, size) + 1):
            chance = math.comb(n, x) * math.comb(total - n, size - x) / math.comb(total, size)
            terms += chance * x * math.log2(x)
    return math.log2(size) - terms / size


def ngrams(world: World) -> Rows:
    unit = "verb" if len({run.env for run in world.runs}) > 1 else "tool_name"
    names = [(run, [named(world, call, run, unit) for call in run.calls]) for run in world.runs if run.calls]
    held: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for run, made in names:
        for size in (2, 3, 4):
            for place in range(len(made) - size + 1):
                held[tuple(made[place : place + size])].append(run.id)
    clusters = len({run.scenario for run, _ in names})
    rows: Rows = {}
    for gram, ids in held.items():
        n, of = len(set(ids)), len(names)
        # Which scenarios hold it is not known to the measure: as if all runs of one did alike.
        told = rate("trajectory_rate", [(k, 0, 1) for k in range(clusters)])
        deff = of / clusters * told["trajectory_rate_deff"]
        low, high = wilson(n / of, of / deff)
        rows[" → ".join(gram),] = {
            "length": len(gram),
            "trajectories": n,
            "all_trajectories": of,
            "occurrences": len(ids),
            "trajectory_rate": n / of,
            "trajectory_rate_low": low,
            "trajectory_rate_high": high,
            "trajectory_rate_clusters": clusters,
            "trajectory_rate_deff": deff,
        }
    return rows


def reads_first(world: World) -> Rows:
    found = defaultdict(list)
    for run in world.runs:
        kinds = [world.kind(run, call) for call in run.calls]
        for place, kind in enumerate(kinds):
            if kind == "change":
                after, directly = "query" in kinds[:place], place > 0 and kinds[place - 1] == "query"
                found[run.mode].append((run, after, directly, (run.env, run.calls[place].tool) in world.kinds))
    return {
        (mode,): {
            "changing_calls": len(changes),
            "after_read": sum(after for _, after, *_ in changes),
            **rate("after_read_rate", [(run.scenario, after, 1) for run, after, *_ in changes]),
            "directly_after_read": sum(directly for *_, directly, _ in changes),
            **rate("directly_after_rate", [(run.scenario, directly, 1) for run, _, directly, _ in changes]),
            "catalogued_calls": sum(known for *_, known in changes),
        }
        for mode, changes in found.items()
    }


# Grounding ----------------------------------------------------------------------------------------------------------


def values(world: World) -> list[Row]:
    """The id-like values; that each stands where it is said to is held by test_second_opinion_of_calls."""
    return world.tables.derive(VALUES, value_rows.rows, key=value_rows.VERSION).collect().rows(named=True)


def with_runs(world: World) -> list[tuple[Run, Row]]:
    by_id = {run.id: run for run in world.runs}
    return [(by_id[row["trajectory_id"]], row) for row in values(world)]


def sources(world: World) -> Rows:
    rows = {}
    for mode, found in grouped(with_runs(world), lambda item: item[0].mode).items():
        for source, here in grouped(found, lambda item: item[1]["source"]).items():
            told = rate("source_rate", [(run.scenario, row["source"] == source, 1) for run, row in found])
            rows[mode, source] = {"values": len(here), "mode_values": len(found), **told}
    return rows


def arguments(world: World) -> Rows:
    return {
        (name,): {
            "values": len(found),
            "ungrounded": sum(row["source"] in ("agent", "none") for _, row in found),
            **rate("ungrounded_rate", [(run.scenario, row["source"] in ("agent", "none"), 1) for run, row in found]),
        }
        for name, found in grouped(with_runs(world), lambda item: item[1]["argument"]).items()
    }


def distances(world: World) -> Rows:
    counted: Counter[tuple[str, int]] = Counter()
    for run, row in with_runs(world):
        if row["source"] == "result" and row["nearest_distance"] is not None:
            counted[run.mode, min(row["nearest_distance"], 15)] += 1
    totals: Counter[str] = Counter()
    for (mode, _), n in counted.items():
        totals[mode] += n
    return {
        (mode, distance): {"values": n, "mode_values": totals[mode], "value_share": n / totals[mode]}
        for (mode, distance), n in counted.items()
    }


def chains(world: World) -> Rows:
    links: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in values(world):
        if row["source_call"] is not None:
            links[row["trajectory_id"]][row["call"]].add(row["source_call"])
    longest = Counter(
        (run.mode, max(depth(call, links[run.id]) for call in range(1, len(run.calls) + 1)))
        for run in world.runs
        if run.calls
    )
    totals = Counter(run.mode for run in world.runs if run.calls)
    return {
        key: {"trajectories": n, "mode_trajectories": totals[key[0]], "trajectory_share": n / totals[key[0]]}
        for key, n in longest.items()
    }


def examples(world: World) -> Rows:
    return {
        (row["trajectory_id"], row["call"], row["path"]): {}
        for row in values(world)
        if row["source"] in ("agent", "none")
    }


def _places(run: Run) -> list[str]:
    """The tool of each message that calls: of several the first in order of the alphabet."""
    by_message = grouped(run.calls, lambda call: call.message)
    return [min(call.tool for call in by_message[place]) for place in sorted(by_message)]


def _first_word(tool: str) -> str:
    return re.split(r"_|(?<=[a-z0-9])(?=[A-Z])", tool.rsplit(".", maxsplit=1)[-1])[0].lower()


def hill(world: World) -> Rows:
    used: dict[str, Counter[Any]] = defaultdict(Counter)
    for run in world.runs:
        used["tools"].update((run.env, call.tool) for call in run.calls)
        used["verbs"].update(_first_word(call.tool) for call in run.calls)
        for size, unit in ((2, "pairs of tools"), (3, "triples of tools")):
            places = _places(run)
            used[unit].update((run.env, *places[at : at + size]) for at in range(len(places) - size + 1))
    offered = {(run.env, tool["function"]["name"]) for run in world.runs for tool in run.raw.tools}
    return {(unit,): _diverse(counts, len(offered) if unit == "tools" else None) for unit, counts in used.items()}


def _diverse(counts: Counter[Any], offered: int | None) -> Row:
    n = counts.total()
    once, twice = (sum(uses == times for uses in counts.values()) for times in (1, 2))
    return {
        "uses": n,
        "hill_0": len(counts),
        "hill_1": math.exp(-sum(uses / n * math.log(uses / n) for uses in counts.values())),
        "hill_2": n * n / sum(uses * uses for uses in counts.values()),
        "singletons": once,
        "doubletons": twice,
        "coverage": 1 - once / n,
        "chao1": len(counts) + (n - 1) / n * once * (once - 1) / (2 * (twice + 1)),
        "offered": offered,
    }


def parallel(world: World) -> Rows:
    rows: Rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        sizes = [n for run in runs for n in Counter(call.message for call in run.calls).values()]
        if not sizes:
            continue
        beside = [n for n in sizes if n > 1]
        rows[(mode,)] = {
            "call_messages": len(sizes),
            "parallel_messages": len(beside),
            "calls": sum(sizes),
            "parallel_calls": sum(beside),
            "parallel_share": sum(beside) / sum(sizes),
            "most_calls": max(sizes),
        }
    return rows


def parameters(world: World) -> Rows:
    given: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for run, _, call in each(world):
        for name, value in parsed(call.arguments).items():
            given[run.env, call.tool, name][json.dumps(value, sort_keys=True)] += 1
    return {
        key: {
            "uses": found.total(),
            "values": len(found),
            "values_per_use": len(found) / found.total(),
            "top_share": max(found.values()) / found.total(),
        }
        for key, found in given.items()
    }


OPINIONS = {
    "diversity": hill,
    "parallel_calls": parallel,
    "parameter_values": parameters,
    "argument_classes": argument_classes,
    "argument_breaches": breaches,
    "argument_forms": forms,
    "outcomes_by_mode": by_mode,
    "outcomes_by_rule": by_rule,
    "outcomes_by_environment": by_environment,
    "outcomes_by_tool": by_tool,
    "outcomes_by_position": by_position,
    "error_templates": templates,
    "recovery_next_calls": next_calls,
    "recovery_latencies": latencies,
    "recovery_summary": recovery_summary,
    "recovery_by_tool": recovery_by_tool,
    "recovery_runs": error_runs,
    "repeat_shares": repeat_shares,
    "repeats_by_tool": repeats_by_tool,
    "looping_trajectories": looping,
    "loops": loops,
    "sequence_transitions": transitions,
    "sequence_entropy": entropies,
    "sequence_ngrams": ngrams,
    "sequence_reads_first": reads_first,
    "grounding_sources": sources,
    "grounding_arguments": arguments,
    "ungrounded_values": examples,
    "grounding_distances": distances,
    "grounding_chains": chains,
}
# What tells rows apart where the declared key does not, for frames of several units.
KEYS = {"sequence_transitions": ("before", "after", "before_transitions")}
