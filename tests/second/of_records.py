"""Overview, tool usage, lengths, coverage and environments, by plain loops."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from math import exp, log
from statistics import mean, median
from typing import Any

from analysis.records.rules import RULES
from tests.second.world import (
    FEWEST,
    Row,
    Rows,
    Run,
    World,
    at_most,
    entropy,
    gini,
    grouped,
    parsed,
    quantile,
    rate,
    share,
    wilson,
)

QUANTITIES = {"steps": "steps", "tool calls": "tool calls", "user messages": "user messages"}
EDGES = {"conversation": (5, 39), "non_conversation": (3, 29)}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def schemas(run: Run) -> dict[str, Row]:
    return {tool["function"]["name"]: tool["function"]["parameters"] for tool in run.raw.tools}


def verdict(run: Run, tool: str, arguments: str, outcome: str) -> str:
    """The class of a call's arguments, by the first thing that is wrong."""
    schema = schemas(run).get(tool)
    if schema is None:
        return "undeclared_tool"
    held, declared = parsed(arguments), schema["properties"]
    if set(schema.get("required", ())) - set(held):
        return "over_required" if outcome == "ok" else "missing_required"
    if set(held) - set(declared):
        return "unknown_key"
    if any(not _fits(value, declared[key]) for key, value in held.items()):
        return "wrong_type"
    return "valid"


def _fits(value: Any, schema: Row) -> bool:
    wanted = schema.get("type")
    if wanted is None:
        return True
    if isinstance(value, bool) and wanted != "boolean":
        return False
    fits = isinstance(value, _TYPES[wanted])
    if wanted == "object" and fits:
        inner = schema.get("properties", {})
        return all(_fits(part, inner.get(key, {})) for key, part in value.items())
    if wanted == "array" and fits:
        return all(_fits(part, schema.get("items", {})) for part in value)
    return fits


def findings(world: World) -> dict[str, Counter[str]]:
    """By rule, findings of each record that breaks it."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    times = Counter((run.mode, run.scenario) for run in world.runs)
    for run in world.runs:
        for call in run.calls:
            kind = verdict(run, call.tool, call.arguments, call.outcome)
            if kind != "valid":
                found[kind][run.id] += 1
            after = run.raw.messages[call.message + 1] if call.message + 1 < len(run.raw.messages) else {}
            if after.get("role") == "user" and (after.get("content") or "").startswith("Error"):
                found["answered_by_user"][run.id] += 1
        ids = [call.get("id") for message in run.raw.messages for call in message.get("tool_calls") or ()]
        if any(n > 1 for id_, n in Counter(ids).items() if id_):
            found["duplicate_call_id"][run.id] += 1
        if times[run.mode, run.scenario] > 1:
            found["repeated_task"][run.id] += 1
    return found


def composition(world: World) -> Rows:
    n = len(world.runs)
    return {
        (mode, "release", end): {"records": k, "all_records": n, "record_share": k / n}
        for (mode, end), k in Counter((run.mode, run.end) for run in world.runs).items()
    }


def sound(world: World) -> Rows:
    broken = {id_ for records in findings(world).values() for id_ in records}
    rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        whole = [run for run in runs if run.id not in broken]
        told = rate("sound_share", [(run.scenario, run.id not in broken, 1) for run in runs])
        rows[mode,] = {"sound_records": len(whole), "records": len(runs), **told}
    return rows


def rules(world: World) -> Rows:
    found, n = findings(world), len(world.runs)
    return {
        (rule.id,): {
            "records_breaking": len(found[rule.id]),
            "findings": found[rule.id].total(),
            "records": n,
            "record_share": share(len(found[rule.id]), n),
        }
        for rule in RULES
    }


def steps(world: World) -> Rows:
    candidates: dict[str, Callable[[Run], int]] = {
        "assistant messages": lambda run: len(run.raw.assistant),
        "tool calls": lambda run: len(run.calls),
        "tool messages": lambda run: sum(message["role"] == "tool" for message in run.raw.messages),
    }
    rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        for name, counted in candidates.items():
            same = [(run.scenario, counted(run) == run.steps, 1) for run in runs]
            told = {"matches": sum(equal for _, equal, _ in same), "declared": len(runs)}
            rows[mode, name] = {**told, **rate("match_rate", same)}
    return rows


# Tool usage ---------------------------------------------------------------------------------------------------------


def usage(world: World, mode: str = "") -> dict[tuple[str, str], Row]:
    runs = [run for run in world.runs if mode in ("", run.mode)]
    calls = Counter((run.env, call.tool) for run in runs for call in run.calls)
    offering, calling = defaultdict(list), defaultdict(set)
    for run in runs:
        for tool in run.raw.offered:
            offering[run.env, tool].append(run)
        for call in run.calls:
            calling[run.env, call.tool].add(run.id)
    rows: dict[tuple[str, str], Row] = {}
    for key in {*calls, *offering}:
        given = offering[key]
        using = [(run.scenario, run.id in calling[key], 1) for run in given]
        of_env = sum(n for (env, _), n in calls.items() if env == key[0])
        rows[key] = {
            "calls": calls[key],
            "env_calls": of_env,
            "call_share": calls[key] / of_env if of_env else None,
            "offering": len(given),
            "calling": sum(n for _, n, _ in using),
            **rate("usage_rate", using),
            "outside_calls": 0,
            "all_calls": calls.total(),
            "all_tools": len({*calls, *offering}),
            "all_call_share": calls[key] / calls.total(),
        }
    return rows


def bands(world: World) -> Rows:
    tools = [row for row in usage(world).values() if row["offering"]]
    judged = [row for row in tools if row["offering"] >= FEWEST]
    counted = Counter(
        next(band for band in range(11) if row["calling"] * 10 <= band * row["offering"]) for row in judged
    )
    return {
        (band,): {
            "rate_from": max(band - 1, 0) / 10,
            "rate_to": band / 10,
            "tools": counted[band],
            "all_tools": len(judged),
            "small_tools": len(tools) - len(judged),
            "tool_share": counted[band] / len(judged),
        }
        for band in range(11)
    }


def modes_of_tools(world: World) -> Rows:
    talk, solo = usage(world, "conversation"), usage(world, "non_conversation")
    both = [key for key in talk.keys() & solo.keys() if min(talk[key]["offering"], solo[key]["offering"]) >= FEWEST]
    rows = {}
    for key in both:
        change = talk[key]["usage_rate"] - solo[key]["usage_rate"]
        for mode, side in (("conversation", talk), ("non_conversation", solo)):
            rows[*key, mode] = {**side[key], "difference": change, "compared_tools": len(both)}
    return rows


def breadth(world: World) -> Rows:
    rows: Rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        shares = [
            (len({call.tool for call in run.calls} & run.raw.offered), len(run.raw.offered))
            for run in runs
            if run.raw.offered
        ]
        for band, n in Counter(min(used * 20 // of, 19) for used, of in shares).items():
            rows[mode, round(band / 20, 9)] = {
                "breadth_to": (band + 1) / 20,
                "trajectories": n,
                "mode_trajectories": len(shares),
                "trajectory_share": n / len(shares),
                "median_breadth": median(used / of for used, of in shares),
            }
    return rows


def concentration(world: World) -> Rows:
    rows = {}
    for env, keys in grouped(usage(world).items(), lambda item: item[0][0]).items():
        held = sorted((row["calls"] for _, row in keys if row["offering"]), reverse=True)
        spread = entropy(held)
        rows[env,] = {
            "trajectories": sum(run.env == env for run in world.runs),
            "offered_tools": len(held),
            "used_tools": sum(n > 0 for n in held),
            "unused_tools": held.count(0),
            "unused_share": held.count(0) / len(held),
            "calls": sum(held),
            "gini": gini(held),
            "top_three_share": sum(held[:3]) / sum(held),
            "evenness": spread / log(len(held)) if spread is not None else None,
            "effective_tools": exp(spread) if spread is not None else None,
        }
    return rows


def across(world: World) -> Rows:
    tools = usage(world)
    offered = {key: row for key, row in tools.items() if row["offering"]}
    held = sorted((row["calls"] for row in offered.values()), reverse=True)
    top = sum(held[: -(-len(held) // 10)])
    return {
        (): {
            "environments": len({env for env, _ in offered}),
            "offered_tools": len(offered),
            "distinct_names": len({tool for _, tool in offered}),
            "used_tools": sum(n > 0 for n in held),
            "unused_tools": held.count(0),
            "calls": sum(held),
            "undeclared_calls": sum(row["calls"] for key, row in tools.items() if key not in offered),
            "outside_calls": 0,
            "gini": gini(held),
            "top_tenth_calls": top,
            "top_tenth_share": share(top, sum(held)),
        }
    }


def unused(world: World) -> Rows:
    tools = usage(world)
    return {key: {"offering": row["offering"]} for key, row in tools.items() if row["offering"] and not row["calls"]}


# Lengths ------------------------------------------------------------------------------------------------------------


def edges_of(runs: list[Run], quantity: str, mode: str) -> tuple[int, int] | tuple[None, None]:
    """The publisher's bounds, on data of the publisher's alone."""
    is_published = all(re.fullmatch(r"env_\d+_sft", run.env) for run in runs)
    return EDGES[mode] if quantity == "steps" and is_published else (None, None)


def lengths(world: World) -> Rows:
    """Of (quantity, mode): what the summary says, but for the ends of the mean's interval."""
    rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        for quantity in QUANTITIES:
            values = [run.raw.lengths[quantity] for run in runs]
            low, high = edges_of(runs, quantity, mode)
            rows[quantity, mode] = {
                "trajectories": len(values),
                "total": sum(values),
                "mean": mean(values),
                "minimum": min(values),
                **{f"p{p}": quantile(values, p / 100) for p in (25, 75, 90, 95, 99)},
                "median": median(values),
                "half_at_most": at_most(values, 0.5),
                "nine_in_ten_at_most": at_most(values, 0.9),
                "maximum": max(values),
                "edge_low": low,
                "edge_high": high,
                "at_edge_low": None if low is None else values.count(low),
                "at_edge_high": None if high is None else values.count(high),
                "outside_edges": None if low is None or high is None else sum(not low <= v <= high for v in values),
            }
    return rows


def distribution(world: World) -> Rows:
    rows: Rows = {}
    for (quantity, mode), whole in lengths(world).items():
        values = [run.raw.lengths[quantity] for run in world.runs if run.mode == mode]
        widest = max(run.raw.lengths[quantity] for run in world.runs) // 80 + 1
        for value, n in Counter(v // widest * widest for v in values).items():
            rows[quantity, mode, value] = {
                **{name: whole[name] for name in ("half_at_most", "nine_in_ten_at_most", "edge_low", "edge_high")},
                "value_to": value + widest,
                "trajectories": n,
                "mode_trajectories": len(values),
                "trajectory_share": n / len(values),
                "cumulative_share": sum(v // widest * widest <= value for v in values) / len(values),
            }
    return rows


def steps_by_environment(world: World) -> Rows:
    rows: Rows = {}
    for env, runs in grouped(world.runs, lambda run: run.env).items():
        for mode, of_mode in grouped(runs, lambda run: run.mode).items():
            values = [len(run.raw.assistant) for run in of_mode]
            low, high = edges_of(of_mode, "steps", mode)
            rows[env, mode] = {
                "trajectories": len(values),
                "environment_median": median(len(run.raw.assistant) for run in runs),
                "median": median(values),
                **{f"p{p}": quantile(values, p / 100) for p in (10, 25, 75, 90)},
                "environments": len({run.env for run in world.runs}),
                "edge_low": low,
                "edge_high": high,
            }
    return rows


def characters(world: World) -> Rows:
    texts: dict[tuple[str, str], list[int]] = defaultdict(list)
    for run in world.runs:
        for message in run.raw.messages:
            kind = {"assistant": "assistant text", "tool": "result"}.get(message["role"], message["role"])
            size = len(message.get("content") or "")
            if kind != "assistant text" or size:
                texts[run.mode, kind].append(size)
            if message.get("reasoning_content"):
                texts[run.mode, "reasoning"].append(len(message["reasoning_content"]))
    return {
        (mode, kind): {
            "texts": len(sizes),
            "total_chars": sum(sizes),
            "char_share": sum(sizes) / sum(sum(of) for (other, _), of in texts.items() if other == mode),
            "mean_chars": mean(sizes),
            **{f"p{p}": quantile(sizes, p / 100) for p in (25, 75, 90, 99)},
            "median": median(sizes),
            "maximum": max(sizes),
        }
        for (mode, kind), sizes in texts.items()
    }


# Coverage and environments ------------------------------------------------------------------------------------------


def coverage(world: World) -> Rows:
    seen = Counter(run.env for run in world.runs)
    catalogue = {env["env_id"] for env in world.environments}
    return {
        (env,): {
            "is_catalogued": env in catalogue if catalogue else None,
            "trajectories": seen[env],
            "trajectory_share": share(seen[env], len(world.runs)),
            "conversations": sum(run.env == env and run.mode == "conversation" for run in world.runs),
            "non_conversations": sum(run.env == env and run.mode == "non_conversation" for run in world.runs),
            "scenarios": len({run.scenario for run in world.runs if run.env == env}),
            "scenarios_catalogued": sum(s["env_id"] == env for s in world.scenarios) if world.scenarios else None,
        }
        for env in {*seen, *catalogue}
    }


def balance(world: World) -> Rows:
    rows = {}
    table = coverage(world)
    present = [row["trajectories"] for row in table.values()]
    for grain in ("trajectories", "scenarios"):
        held = sorted((row[grain] for row in table.values()), reverse=True)
        top, spread = sum(held[: -(-len(held) // 10)]), entropy(held)
        rows[grain,] = {
            "has_catalogue": bool(world.environments),
            "environments": len(held),
            "seen": sum(n > 0 for n in present),
            "absent": present.count(0),
            "total": sum(held),
            "minimum": min(held),
            "median": median(held),
            "maximum": max(held),
            "gini": gini(held),
            "evenness": spread / log(len(held)) if spread is not None and len(held) > 1 else None,
            "effective_environments": exp(spread) if spread is not None else None,
            "top_tenth": top,
            "top_tenth_share": share(top, sum(held)),
        }
    return rows


def lorenz(world: World) -> Rows:
    rows: Rows = {}
    for grain in ("trajectories", "scenarios"):
        held = sorted(row[grain] for row in coverage(world).values())
        for place in range(len(held) + 1):
            rows[grain, round(place / len(held), 9)] = {
                "held_share": sum(held[:place]) / sum(held),
                "total": sum(held),
                "environments": len(held),
                "gini": gini(held),
            }
    return rows


def scenarios_run(world: World) -> dict[tuple[str, str], Counter[str]]:
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for run in world.runs:
        seen[run.scenario][run.mode] += 1
    return seen


def per_scenario(world: World) -> Rows:
    seen = scenarios_run(world)
    listed = {(s["env_id"], str(s["task_id"])) for s in world.scenarios}
    names = {
        frozenset(): "not run",
        frozenset({"conversation"}): "with user only",
        frozenset({"non_conversation"}): "without user only",
        frozenset({"conversation", "non_conversation"}): "both modes",
    }
    everything = {*seen, *listed}
    counted = Counter((seen[key].total(), names[frozenset(seen[key])]) for key in everything)
    return {
        key: {
            "scenarios": n,
            "all_scenarios": len(everything),
            "scenario_share": n / len(everything),
            "has_catalogue": bool(listed),
        }
        for key, n in counted.items()
    }


def scenario_summary(world: World) -> Rows:
    seen = scenarios_run(world)
    listed = {(s["env_id"], str(s["task_id"])) for s in world.scenarios}
    paired = sum(len(modes) == 2 for modes in seen.values())
    repeated = [n for modes in seen.values() for n in modes.values() if n > 1]
    told = rate("pair_rate", [(key, len(modes) == 2, 1) for key, modes in seen.items()])
    # A scenario is a trial of its own: here there is nothing to take together, and no Student.
    low, high = wilson(paired / len(seen), len(seen))
    catalogue = listed or set(seen)
    return {
        (): {
            "has_catalogue": bool(listed),
            "scenarios": len(catalogue),
            "present": len(catalogue & set(seen)),
            "missing": len(catalogue - set(seen)),
            "uncatalogued": len(set(seen) - catalogue),
            "coverage_rate": len(catalogue & set(seen)) / len(catalogue) if listed else None,
            "seen": len(seen),
            "paired": paired,
            "pair_rate": told["pair_rate"],
            "pair_rate_low": low,
            "pair_rate_high": high,
            "repeated_keys": len(repeated),
            "repeats": sum(n - 1 for n in repeated),
            "trajectories": len(world.runs),
            "unnamed": 0,
        }
    }


def missing(world: World) -> Rows:
    seen = scenarios_run(world)
    return {key: {} for key in {(s["env_id"], str(s["task_id"])) for s in world.scenarios} - set(seen)}


def repeated(world: World) -> Rows:
    return {
        (*key, mode): {"trajectories": n}
        for key, modes in scenarios_run(world).items()
        for mode, n in modes.items()
        if n > 1
    }


def environments(world: World) -> Rows:
    rows = {}
    for env in world.environments:
        kinds = Counter(operation["operation_type"] for operation in env["operation_list"])
        states = env["state_space_definition"]
        rows[env["env_id"],] = {
            "query_tools": kinds["query"],
            "change_tools": len(env["operation_list"]) - kinds["query"],
            "state_entities": len(states),
            "state_categories": sum(_attributes(state) for state in states),
            "rules": len(env["constraints_rules"]),
            "scenarios": sum(s["env_id"] == env["env_id"] for s in world.scenarios),
            "code_lines": len(env["env_class_code"].splitlines()),
        }
    return rows


def _attributes(state: Row) -> int:
    held = state["attributes"]
    return len([part for part in held.split(",") if part.strip()]) if isinstance(held, str) else len(held)


_COLUMNS = {
    "query tools": "query_tools",
    "state-change tools": "change_tools",
    "state categories": "state_categories",
    "scenarios": "scenarios",
    "state entities": "state_entities",
    "rules": "rules",
}
# Published for EnvScaler-191-Env: DATA, section 3.
_PUBLISHED = {
    "query tools": (10.44, 10),
    "state-change tools": (8.14, 8),
    "state categories": (21.38, 21),
    "scenarios": (37.28, 42),
}


def environments_summary(world: World) -> Rows:
    rows: Rows = {}
    for quantity, column in _COLUMNS.items():
        held = [row[column] for row in environments(world).values()]
        if held:
            published = _PUBLISHED.get(quantity, (None, None))
            found = (round(mean(held), 2), median(held))
            rows[quantity,] = {
                "environments": len(held),
                "mean": mean(held),
                "median": median(held),
                "min": min(held),
                "max": max(held),
                "published_mean": published[0],
                "published_median": published[1],
                "is_equal": None if published[0] is None else found == published,
            }
    return rows


def environments_histogram(world: World) -> Rows:
    rows: Rows = {}
    for quantity, column in _COLUMNS.items():
        held = [row[column] for row in environments(world).values()]
        width = {"scenarios": 5}.get(quantity, 1)
        for start, n in Counter(v // width * width for v in held).items():
            rows[quantity, start] = {
                "count_to": start + width,
                "environments": n,
                "environment_share": n / len(held),
            }
    return rows


def checks(world: World) -> Rows:
    held = [len(s["checklist_with_func"]) for s in world.scenarios if s.get("checklist_with_func")]
    return {
        (n,): {
            "scenarios": times,
            "scenario_share": times / len(held),
            "all_scenarios": len(held),
            "mean_checks": mean(held),
        }
        for n, times in Counter(held).items()
    }


OPINIONS = {
    "overview_composition": composition,
    "overview_sound": sound,
    "overview_rules": rules,
    "overview_steps": steps,
    "tool_usage_busiest": usage,
    "tool_usage_rates": bands,
    "tool_usage_modes": modes_of_tools,
    "tool_usage_breadth": breadth,
    "tool_usage_concentration": concentration,
    "tool_usage_across": across,
    "tool_usage_unused": unused,
    "step_lengths_summary": lengths,
    "step_lengths_distribution": distribution,
    "step_lengths_cumulative": distribution,
    "step_lengths_by_environment": steps_by_environment,
    "step_lengths_characters": characters,
    "coverage_environments": coverage,
    "coverage_balance": balance,
    "coverage_lorenz": lorenz,
    "coverage_per_scenario": per_scenario,
    "coverage_scenario_summary": scenario_summary,
    "coverage_missing": missing,
    "coverage_repeated": repeated,
    "environments_each": environments,
    "environments_summary": environments_summary,
    "environments_histogram": environments_histogram,
    "environments_checks": checks,
}
