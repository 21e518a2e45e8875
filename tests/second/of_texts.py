"""Reasoning, budget, dialogue, duplicates, rewards and what goes with them, by plain loops."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import combinations
from math import comb, floor, log10, sqrt
from statistics import mean, variance
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis.records import tokens as token_rows
from analysis.records.vocabulary import vocabulary
from analysis.schema import PRIVATE_KINDS, TOKENS
from tests.measures.test_duplicates import edit_distance
from tests.second.world import FEWEST, Row, Rows, Run, World, grouped, quantile, rate, share, tenth


class _Held:
    """A world that can be a key: there is one of each source."""

    def __init__(self, value: World) -> None:
        self.value = value

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.value is self.value


# Reasoning ----------------------------------------------------------------------------------------------------------


def thoughts(world: World) -> list[tuple[Run, int, int, bool]]:
    """Run, place among the assistant's messages, characters of reasoning, whether a call is made."""
    return [
        (run, place, len(message.get("reasoning_content") or ""), bool(message.get("tool_calls")))
        for run in world.runs
        for place, message in enumerate(run.raw.assistant)
    ]


def reasoning_summary(world: World) -> Rows:
    rows = {}
    for mode, found in grouped(thoughts(world), lambda one: one[0].mode).items():
        lengths = [n for _, _, n, _ in found if n]
        calling = [one for one in found if one[3]]
        rows[mode,] = {
            "assistant_messages": len(found),
            "without_reasoning": sum(not n for _, _, n, _ in found),
            **rate("missing_rate", [(run.scenario, not n, 1) for run, _, n, _ in found]),
            "call_messages": len(calling),
            "thoughts_before_calls": sum(n > 0 for _, _, n, _ in calling),
            **rate("thought_before_call_share", [(run.scenario, n > 0, 1) for run, _, n, _ in calling]),
            "mean_chars": mean(lengths) if lengths else None,
            **{f"p{p}_chars": quantile(lengths, p / 100) for p in (50, 90, 99)},
            "max_chars": max(lengths, default=None),
        }
    return rows


def reasoning_lengths(world: World) -> Rows:
    rows: Rows = {}
    for mode, found in grouped([one for one in thoughts(world) if one[2]], lambda one: one[0].mode).items():
        for place, n in Counter(floor((log10(n) + 1e-12) * 10) for _, _, n, _ in found).items():
            rows[mode, round(10 ** (place / 10), 9)] = {
                "chars_to": 10 ** ((place + 1) / 10),
                "thoughts": n,
                "thought_share": n / len(found),
                "mode_thoughts": len(found),
            }
    return rows


def reasoning_positions(world: World) -> Rows:
    found = defaultdict(list)
    for run, place, n, _ in thoughts(world):
        of = len(run.raw.assistant)
        if of >= 10:
            found[run.mode, 0 if place == 0 else 11 if place == of - 1 else tenth(place, of)].append(n)
    return {
        key: {
            "assistant_messages": len(lengths),
            "without_reasoning": lengths.count(0),
            "missing_rate": lengths.count(0) / len(lengths),
            **{f"p{p}_chars": quantile([n for n in lengths if n], p / 100) for p in (25, 50, 75)},
        }
        for key, lengths in found.items()
    }


# Training budget: tokens of a message are counted by the project, and held by test_second_opinion against plain texts.

_PARTS = ("header", "tools", "content", "reasoning", "thought", "call", "result", "template")


@cache
def _messages(world: "_Held") -> dict[str, list[Row]]:
    key = vocabulary("").id
    rows = world.value.tables.derive(TOKENS, partial(token_rows.rows, tokenizer=""), key=key).collect().rows(named=True)
    return grouped(sorted(rows, key=lambda row: (row["trajectory_id"], row["message"])), lambda r: r["trajectory_id"])


def budget_parts(world: World) -> Rows:
    rows: Rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        counted: Counter[str] = Counter()
        for run in runs:
            for row in _messages(_Held(world))[run.id]:
                role = row["role"]
                seen = {"system": "tools and system", "assistant": "assistant text"}.get(role, "user")
                counted[seen] += row["content_tokens"]
                counted["tools and system"] += row["tools_tokens"]
                counted["reasoning"] += row["reasoning_tokens"]
                counted["calls"] += row["call_tokens"]
                counted["results"] += row["result_tokens"]
                counted["template"] += row["header_tokens"] + row["thought_tokens"] + row["template_tokens"]
        for part, n in counted.items():
            rows[mode, part] = {
                "trajectories": len(runs),
                "tokens": n,
                "token_share": n / counted.total(),
                "tokens_per_trajectory": n / len(runs),
            }
    return rows


def samples(world: World) -> dict[tuple[str, str], list[Row]]:
    """Every sample of both layouts: its run, tokens, what of it is trained on, and what stands before."""
    found = defaultdict(list)
    for run in world.runs:
        history = whole = 0
        trained = 0
        for row in _messages(_Held(world))[run.id]:
            full = sum(row[f"{part}_tokens"] for part in _PARTS)
            if row["role"] == "assistant":
                output = full - row["header_tokens"]
                prefix = history + row["header_tokens"]
                found["per_turn", run.mode].append(
                    {"run": run, "length": prefix + output, "out": output, "pre": prefix}
                )
                trained += output
            history += full - row["reasoning_tokens"] - row["thought_tokens"]
            whole += full
        found["whole", run.mode].append({"run": run, "length": whole, "out": trained, "pre": 0})
    return found


def budget_lengths(world: World) -> Rows:
    rows: Rows = {}
    for (layout, mode), of in samples(world).items():
        for start, n in Counter(one["length"] // 1024 * 1024 for one in of).items():
            told = {"tokens_to": start + 1024, "samples": n, "sample_share": n / len(of), "mode_samples": len(of)}
            rows[layout, mode, start] = told
    return rows


def budget_limits(world: World) -> Rows:
    rows: Rows = {}
    for (layout, mode), of in samples(world).items():
        for limit in (4096, 8192, 16384, 32768, 65536):
            over = [(one["run"].scenario, one["length"] > limit, 1) for one in of]
            told = {"samples": len(of), "over": sum(n for _, n, _ in over)}
            rows[layout, mode, limit] = {**told, **rate("over_share", over)}
    return rows


def budget_cutoff(world: World) -> Rows:
    """Neither source has a sample over the cutoff: nothing is lost."""
    rows: Rows = {}
    for (layout, mode), of in samples(world).items():
        assert max(one["length"] for one in of) <= 32768
        rows[layout, mode] = {
            "cutoff": 32768,
            "samples": len(of),
            "samples_cut": 0,
            "supervised_tokens": sum(one["out"] for one in of),
            "supervised_lost": 0,
            "lost_share": 0,
            "context_lost": 0,
        }
    return rows


def budget_expansion(world: World) -> Rows:
    found, rows = samples(world), {}
    for mode in {run.mode for run in world.runs}:
        whole, turns = found["whole", mode], found["per_turn", mode]
        once = sum(one["length"] for one in whole)
        before, out = sum(one["pre"] for one in turns), sum(one["out"] for one in turns)
        rows[mode,] = {
            "trajectories": len(whole),
            "samples": len(turns),
            "trajectory_tokens": once,
            "prefix_tokens": before,
            "output_tokens": out,
            "expansion_factor": (before + out) / once,
        }
    return rows


def budget_by_steps(world: World) -> Rows:
    found, rows = samples(world), {}
    for mode in {run.mode for run in world.runs}:
        read: Counter[str] = Counter()
        for one in found["per_turn", mode]:
            read[one["run"].id] += one["length"]
        for steps, of in grouped(found["whole", mode], lambda one: len(one["run"].raw.assistant)).items():
            once, again = sum(one["length"] for one in of), sum(read[one["run"].id] for one in of)
            rows[mode, steps] = {
                "trajectories": len(of),
                "tokens_per_trajectory": once / len(of),
                "sample_tokens_per_trajectory": again / len(of),
                "expansion_factor": again / once,
            }
    return rows


def private_kinds(world: World) -> Rows:
    """Finds are made by the project, and held by tests of their own; here they are counted."""
    found = world.tables.private.collect().rows(named=True)
    rows: Rows = {}
    for kind in PRIVATE_KINDS:
        of_kind = [row for row in found if row["kind"] == kind]
        runs = {form: {row["trajectory_id"] for row in of_kind if row["form"] == form} for form in ("open", "reserved")}
        finds = {form: sum(row["finds"] for row in of_kind if row["form"] == form) for form in ("open", "reserved")}
        rows[kind,] = {
            "trajectories": len(runs["open"]),
            "reserved_only": len(runs["reserved"] - runs["open"]),
            "all_trajectories": len(world.runs),
            "share": len(runs["open"]) / len(world.runs),
            "finds": finds["open"],
            "reserved_finds": finds["reserved"],
        }
    return rows


def mask_price(world: World) -> Rows:
    """Messages of one call that fails, has no result, or repeats one whose result is as long and says the same."""
    taken: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    messages = supervised = 0
    for run in world.runs:
        under: dict[int, set[str]] = defaultdict(set)
        seen = set()
        for call in run.calls:
            answer = run.raw.messages[call.message + 1 : call.message + 2]
            heard = answer[0]["content"] or "" if answer and (call.result or call.outcome == "error") else None
            known = (call.same, len(heard or ""), call.outcome, heard if call.outcome == "error" else "")
            rules = {"errors": call.outcome == "error", "unrun": heard is None, "repeats": known in seen}
            under[call.message] |= {rule for rule, holds in rules.items() if holds}
            seen |= {known} if heard is not None else set()
        for place, row in enumerate(_messages(_Held(world))[run.id]):
            if row["role"] != "assistant":
                continue
            out = sum(row[f"{part}_tokens"] for part in _PARTS) - row["header_tokens"]
            messages, supervised = messages + 1, supervised + out
            for rule in (*under[place], *(("any",) if under[place] else ())):
                taken[rule] += 1
                tokens[rule] += out
    return {
        (rule,): {
            "messages": taken[rule],
            "all_messages": messages,
            "supervised": tokens[rule],
            "all_supervised": supervised,
            "supervised_share": tokens[rule] / supervised,
        }
        for rule in ("errors", "unrun", "repeats", "any")
    }


# Dialogue -----------------------------------------------------------------------------------------------------------


def ends(world: World) -> Rows:
    rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        for end in {run.end for run in runs}:
            n = sum(run.end == end for run in runs)
            told = rate("trajectory_share", [(run.scenario, run.end == end, 1) for run in runs])
            rows[mode, end] = {
                "trajectories": n,
                "mode_trajectories": len(runs),
                **told,
                "trajectory_share": n / len(runs),
            }
    return rows


def endings(world: World) -> Rows:
    rows = {}
    totals = Counter(run.mode for run in world.runs)

    def last(run: Run) -> str | None:
        return run.calls[-1].tool if run.end == "ends_on_result" else None

    for key, runs in grouped(world.runs, lambda run: (run.mode, run.end, last(run))).items():
        rewards = [run.reward for run in runs if run.reward is not None]
        rows[key] = {
            "is_hand_over": bool(key[2]) and "transfer" in key[2],
            "trajectories": len(runs),
            "mode_trajectories": totals[key[0]],
            "trajectory_share": share(len(runs), totals[key[0]]),
            "rewarded": len(rewards),
            "solved": sum(reward == 1 for reward in rewards),
            "mean_reward": share(sum(rewards), len(rewards)),
        }
    return rows


def questions(world: World) -> list[tuple[Run, int, bool, bool]]:
    """Run, step, whether it asks, whether it makes a call: of conversations."""
    return [
        (
            run,
            step,
            not message.get("tool_calls") and (message.get("content") or "").rstrip().endswith("?"),
            bool(message.get("tool_calls")),
        )
        for run in world.runs
        if run.mode == "conversation"
        for step, message in enumerate(run.raw.assistant, 1)
    ]


def clarification(world: World) -> Rows:
    found = questions(world)
    first = {run.id: min((s for r, s, _, calls in found if calls and r is run), default=None) for run, *_ in found}
    asking = {run.id for run, _, asks, _ in found if asks}
    before = [asks and step < (first[run.id] or step + 1) for run, step, asks, _ in found]
    return {
        (): {
            "conversations": len(first),
            "asking_conversations": len(asking),
            "assistant_messages": len(found),
            "text_messages": sum(not calls for *_, calls in found),
            "questions": sum(asks for _, _, asks, _ in found),
            **rate("clarification_rate", [(run.scenario, asks, 1) for run, _, asks, _ in found]),
            "questions_before_calls": sum(before),
        }
    }


def questions_by_step(world: World) -> Rows:
    return {
        (step,): {
            "assistant_messages": len(of),
            "questions": sum(asks for _, _, asks, _ in of),
            "text_messages": sum(not calls for *_, calls in of),
            **rate("question_share", [(run.scenario, asks, 1) for run, _, asks, _ in of]),
        }
        for step, of in grouped(questions(world), lambda one: one[1]).items()
    }


def user_turns(world: World) -> Rows:
    held = [run.raw.lengths["user messages"] for run in world.runs if run.mode == "conversation"]
    return {
        (n,): {"trajectories": k, "mode_trajectories": len(held), "trajectory_share": k / len(held)}
        for n, k in Counter(held).items()
    }


def calls_per_turn(world: World) -> Rows:
    costs = []
    for run in (one for one in world.runs if one.mode == "conversation"):
        messages = run.raw.messages
        starts = [place for place, message in enumerate(messages) if message["role"] == "user"]
        for start, stop in zip(starts, [*starts[1:], len(messages)], strict=True):
            answer = messages[start + 1 : stop]
            if any(message["role"] == "assistant" for message in answer):
                costs.append(sum(len(message.get("tool_calls") or ()) for message in answer))
    return {
        (n,): {
            "user_turns": k,
            "all_user_turns": len(costs),
            "user_turn_share": k / len(costs),
            "mean_calls": mean(costs),
        }
        for n, k in Counter(costs).items()
    }


def first_calls(world: World) -> Rows:
    rows: Rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        firsts = [
            next((step for step, message in enumerate(run.raw.assistant, 1) if message.get("tool_calls")), 0)
            for run in runs
        ]
        for step, n in Counter(firsts).items():
            rows[mode, step] = {
                "trajectories": n,
                "mode_trajectories": len(runs),
                "trajectory_share": n / len(runs),
                "cumulative_share": sum(0 < first <= step for first in firsts) / len(runs),
            }
    return rows


def paired(world: World) -> Rows:
    counted = {
        "assistant messages": lambda run: len(run.raw.assistant),
        "tool calls": lambda run: len(run.calls),
        "distinct tools used": lambda run: len({call.tool for call in run.calls} & run.raw.offered),
        "user messages": lambda run: run.raw.lengths["user messages"],
        "calls that failed": lambda run: run.errors,
    }
    rows = {}
    for quantity, of in counted.items():
        sides = []
        for runs in grouped(world.runs, lambda run: run.scenario).values():
            modes = grouped(runs, lambda run: run.mode)
            if len(modes) == 2:
                sides.append([mean(map(of, modes[mode])) for mode in ("conversation", "non_conversation")])
        if sides:
            changes = [left - right for left, right in sides]
            low, high = studentised([(change, 1) for change in changes])
            rows[quantity,] = {
                "scenarios": len(sides),
                "conversation_mean": mean(left for left, _ in sides),
                "non_conversation_mean": mean(right for _, right in sides),
                "difference": mean(changes),
                "difference_low": low,
                "difference_high": high,
                "higher_scenarios": sum(change > 0 for change in changes),
                "lower_scenarios": sum(change < 0 for change in changes),
            }
    return rows


def studentised(clusters: Sequence[tuple[float, float]]) -> tuple[Any, Any]:
    """The studentised bootstrap of a ratio of sums, within what 4,000 draws of one's own can tell."""
    if len(clusters) < 10:
        return None, None
    held = np.array(clusters, dtype=float)
    k = len(held)
    value = held[:, 0].sum() / held[:, 1].sum()
    left_out = (held[:, 0].sum() - held[:, 0]) / (held[:, 1].sum() - held[:, 1])
    error = sqrt((k - 1) / k * ((left_out - left_out.mean()) ** 2).sum())
    picks = np.random.default_rng(5).integers(0, k, (4_000, k))
    events, trials = held[picks, 0], held[picks, 1]
    drawn = events.sum(axis=1) / trials.sum(axis=1)
    residuals = events - drawn[:, None] * trials
    spread = np.sqrt((residuals**2).sum(axis=1) * k / (k - 1)) / trials.sum(axis=1)
    scores = (drawn - value) / spread
    upper, lower = np.quantile(scores[np.isfinite(scores)], [0.975, 0.025])
    least = stats.t.ppf(0.975, k - 1)
    ends = value - max(upper, least) * error, value - min(lower, -least) * error
    return tuple(pytest.approx(end, abs=0.08 * (ends[1] - ends[0])) for end in ends)  # type: ignore[return-value]


# Duplicates ---------------------------------------------------------------------------------------------------------


def done(run: Run) -> tuple[Any, ...]:
    return (
        *run.scenario,
        tuple((call.tool, json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)) for call in run.calls),
    )


def exact_summary(world: World) -> Rows:
    sizes = Counter(map(done, world.runs))
    n = len(world.runs)
    return {
        (): {
            "trajectories": n,
            "distinct": len(sizes),
            "groups": sum(k > 1 for k in sizes.values()),
            "extra_copies": n - len(sizes),
            "extra_share": share(n - len(sizes), n),
            "largest_group": max(sizes.values()),
        }
    }


def exact(world: World) -> Rows:
    return {
        (runs[0].id,): {
            "copies": len(runs),
            "conversations": sum(run.mode == "conversation" for run in runs),
            "tool_calls": len(runs[0].calls),
        }
        for runs in grouped(world.runs, done).values()
        if len(runs) > 1
    }


@cache
def _run_pairs(world: "_Held") -> list[Row]:
    found = []
    for runs in grouped(world.value.runs, lambda run: run.scenario).values():
        for left, right in combinations(runs, 2):
            longer = max(len(left.calls), len(right.calls))
            names = edit_distance([call.tool for call in left.calls], [call.tool for call in right.calls])
            whole = edit_distance(list(done(left)[2]), list(done(right)[2]))
            found.append(
                {
                    "scenario": left.scenario,
                    "kind": "same mode" if left.mode == right.mode else "across modes",
                    "similarity": 1 - whole / longer if longer else 1.0,
                    "name_similarity": 1 - names / longer if longer else 1.0,
                    "ids": (left.id, right.id),
                    "calls": (len(left.calls), len(right.calls)),
                }
            )
    return found


def run_pairs(world: World) -> list[Row]:
    return _run_pairs(_Held(world))


def pairs(world: World) -> Rows:
    return {
        pair["ids"]: {
            "similarity": pair["similarity"],
            "name_similarity": pair["name_similarity"],
            "left_calls": pair["calls"][0],
            "right_calls": pair["calls"][1],
        }
        for pair in run_pairs(world)
    }


def _bin(column: str, pair: Row) -> int:
    return min(int(pair[column] * 20 + 1e-9), 19)


def similarity(world: World) -> Rows:
    rows: Rows = {}
    for kind, of_kind in grouped(run_pairs(world), lambda pair: pair["kind"]).items():
        sizes = Counter(pair["scenario"] for pair in of_kind)
        for compared, column in (("calls with arguments", "similarity"), ("tool names", "name_similarity")):
            bins = grouped(of_kind, partial(_bin, column))
            for place, of_bin in bins.items():
                rows[kind, compared, round(place / 20, 9)] = {
                    "similarity_to": (place + 1) / 20,
                    "pairs": len(of_bin),
                    "pair_share": sum(1 / sizes[pair["scenario"]] for pair in of_bin) / len(sizes),
                    "kind_pairs": len(of_kind),
                }
    return rows


def tasks_summary(world: World) -> Rows:
    tasks = {run.scenario: run.raw.task for run in reversed(world.runs)}
    sets = []
    for text in tasks.values():
        words = text.lower().split()
        sets.append({tuple(words[k : k + 5]) for k in range(max(len(words) - 4, 1))})
    near = [
        (left, right)
        for left, right in combinations(range(len(sets)), 2)
        if len(sets[left] & sets[right]) / len(sets[left] | sets[right]) >= 0.8
    ]
    involved = {place for pair in near for place in pair}
    return {
        (): {
            "tasks": len(sets),
            "verified": len(near),
            "identical": sum(sets[left] == sets[right] for left, right in near),
            "tasks_in_pairs": len(involved),
            "tasks_in_pairs_share": share(len(involved), len(sets)),
            "threshold": 0.8,
            # 32 bands of 4 rows.
            "expected_recall": 1 - (1 - 0.8**4) ** 32,
        }
    }


def telling(world: World) -> Rows:
    return {
        (run.id,): {
            "assistant_messages": len(run.raw.assistant),
            "tool_calls": len(run.calls),
            "errors": run.errors,
            "repeated_calls": run.repeats,
        }
        for run in world.runs
    }


# Rewards ------------------------------------------------------------------------------------------------------------


def rewarded(world: World) -> list[Run]:
    """Neither source holds a record twice: their messages differ."""
    return [run for run in world.runs if run.reward is not None]


def is_solved(run: Run) -> bool:
    return abs((run.reward or 0.0) - 1) <= 1e-6


def estimated(runs: list[Run]) -> Row:
    sums = [(sum(run.reward or 0.0 for run in of), len(of)) for of in grouped(runs, lambda run: run.scenario).values()]
    n = len(runs)
    solved = rate("solved_share", [(run.scenario, is_solved(run), 1) for run in runs])
    low, high = studentised(sums) if n >= FEWEST else (None, None)
    return {
        "trajectories": n,
        "scenarios": len(sums),
        "reward_sum": sum(run.reward or 0.0 for run in runs),
        "mean_reward": share(sum(run.reward or 0.0 for run in runs), n),
        "mean_low": low,
        "mean_high": high,
        "solved": sum(map(is_solved, runs)),
        "solved_share": solved["solved_share"],
        **{f"solved_{end}": solved[f"solved_share_{end}"] for end in ("low", "high", "deff")},
    }


def rewards_summary(world: World) -> Rows:
    runs = rewarded(world)
    if not runs:
        return {}
    by_scenario = grouped(runs, lambda run: run.scenario)
    return {
        (): {
            "all_trajectories": len(world.runs),
            "copies": 0,
            "most_runs": max(map(len, by_scenario.values())),
            **estimated(runs),
            "mean_by_scenario": share(
                sum(mean(run.reward or 0.0 for run in of) for of in by_scenario.values()), len(by_scenario)
            ),
            "step_capped": 0,
        }
    }


def groups(world: World) -> Rows:
    rows: Rows = {}
    runs = rewarded(world)
    kinds = {
        "environment": lambda run: run.env,
        "model": lambda run: None,
        "trial": lambda run: str(run.trial),
        "mode": lambda run: run.mode,
        "ending": lambda run: run.end,
    }
    for kind, of in kinds.items():
        found = grouped(runs, of)
        for group, own in found.items():
            rows[kind, group] = {**estimated(own), "all_trajectories": len(runs), "all_groups": len(found)}
    return rows


def reward_bins(world: World) -> Rows:
    counted = Counter(min(floor((run.reward or 0.0) * 10 + 1e-9), 9) for run in rewarded(world))
    return {
        (round(place / 10, 9),): {
            "reward_to": (place + 1) / 10,
            "trajectories": n,
            "trajectory_share": n / counted.total(),
            "all_trajectories": counted.total(),
        }
        for place, n in counted.items()
    }


def passes(world: World) -> Rows:
    rows: Rows = {}
    for mode, runs in grouped(rewarded(world), lambda run: run.mode).items():
        tries = [(len(of), sum(map(is_solved, of))) for of in grouped(runs, lambda run: run.scenario).values()]
        deepest = sorted(n for n, _ in tries)[floor(len(tries) * 0.1 + 1e-9)]
        cohort = [(n, c) for n, c in tries if n >= deepest]
        for k in range(1, deepest + 1):
            every = [comb(c, k) / comb(n, k) for n, c in cohort]
            some = [1 - comb(n - c, k) / comb(n, k) for n, c in cohort]
            rows[None, mode, k] = {"scenarios": len(cohort), "all_scenarios": len(tries)}
            for name, chances in (("pass_all", every), ("pass_any", some)):
                low, high = studentised([(chance, 1) for chance in chances])
                rows[None, mode, k] |= {name: mean(chances), f"{name}_low": low, f"{name}_high": high}
    return rows


def by_scenario(world: World) -> Rows:
    return {
        scenario: {
            "trajectories": len(runs),
            "solved": sum(map(is_solved, runs)),
            "reward_sum": sum(run.reward or 0.0 for run in runs),
            "mean_reward": share(sum(run.reward or 0.0 for run in runs), len(runs)),
            "min_reward": min(run.reward or 0.0 for run in runs),
            "max_reward": max(run.reward or 0.0 for run in runs),
            "checks": None,
        }
        for scenario, runs in grouped(rewarded(world), lambda run: run.scenario).items()
    }


def solved_runs(world: World) -> Rows:
    rows: Rows = {}
    for mode, runs in grouped(rewarded(world), lambda run: run.mode).items():
        tries = [(len(of), sum(map(is_solved, of))) for of in grouped(runs, lambda run: run.scenario).values()]
        for key, n in Counter(tries).items():
            rows[None, mode, *key] = {
                "scenarios": n,
                "scenario_share": n / sum(of == key[0] for of, _ in tries),
                "all_scenarios": len(tries),
            }
    return rows


def quantities(world: World) -> dict[str, Callable[[Run], float]]:
    return {
        "steps": lambda run: len(run.raw.assistant),
        "calls": lambda run: len(run.calls),
        "writes": lambda run: sum(world.kind(run, c) == "change" and "transfer" not in c.tool for c in run.calls),
        "errors": lambda run: run.errors,
        "error rate": lambda run: run.errors / run.judged if run.judged else 0.0,
        "repeated calls": lambda run: run.repeats,
        "tools used": lambda run: len({call.tool for call in run.calls} & run.raw.offered),
        "user messages": lambda run: run.raw.lengths["user messages"],
    }


def effects(world: World) -> Rows:
    runs, rows = rewarded(world), {}
    solved, others = [run for run in runs if is_solved(run)], [run for run in runs if not is_solved(run)]
    if not solved or not others:
        return {}
    for name, of in quantities(world).items():
        held = {run.id: of(run) for run in runs}
        every = [_more(held[one.id], held[other.id]) for one in solved for other in others]
        within = [
            (one.scenario, _more(held[one.id], held[other.id]))
            for one in solved
            for other in others
            if (one.scenario, one.mode) == (other.scenario, other.mode)
        ]
        rows[name,] = {
            **rate("within_share", [(scenario, won, 1) for scenario, won in within]),
            "more": sum(won == 1 for _, won in within),
            "ties": sum(won == 0.5 for _, won in within),
            "pairs": len(within),
            "pooled_share": mean(every),
            "pooled_pairs": len(every),
        }
    return rows


def _more(one: float, other: float) -> float:
    return 0.5 if one == other else float(one > other)


def components(world: World) -> Rows:
    values: dict[str, Callable[[Run], float | None]] = {
        "reward": lambda run: run.reward,
        "steps": lambda run: float(len(run.raw.assistant)),
        "error rate": lambda run: run.errors / run.judged if run.judged else None,
    }
    rows: Rows = {}
    for quantity, of in values.items():
        held = [(run, of(run)) for run in world.runs if of(run) is not None]
        if len(held) > 1:
            rows[quantity,] = _components(held)
    return rows


def _components(held: list[tuple[Run, Any]]) -> Row:
    """Nested analysis of variance of unequal groups, by its sums of squares as the textbook has them."""
    every = [value for _, value in held]
    total, whole = len(held), mean(every)
    envs = {env: [v for _, v in of] for env, of in grouped(held, lambda pair: pair[0].env).items()}
    cells = {key: [v for _, v in of] for key, of in grouped(held, lambda pair: pair[0].scenario).items()}
    a, b = len(envs), len(cells)
    ss_within = sum((v - mean(of)) ** 2 for of in cells.values() for v in of)
    ss_cells = sum(len(of) * (mean(of) - mean(envs[env])) ** 2 for (env, _), of in cells.items())
    ss_envs = sum(len(of) * (mean(of) - whole) ** 2 for of in envs.values())
    within = ss_within / (total - b) if total > b else None
    n_cells = sum(len(of) ** 2 / len(envs[env]) for (env, _), of in cells.items())
    between = (
        max(0.0, (ss_cells - (b - a) * (within or 0)) / (total - n_cells)) if within is not None and b > a else None
    )
    top = None
    if a > 1 and within is not None:
        n_all = sum(len(of) ** 2 for of in cells.values()) / total
        spare = total - sum(len(of) ** 2 for of in envs.values()) / total
        top = max(0.0, (ss_envs - (a - 1) * within - (n_cells - n_all) * (between or 0.0)) / spare)
    shared = (top or 0.0) + (between or 0.0)
    residuals = sum((sum(of) - len(of) * whole) ** 2 for of in cells.values())
    error = sqrt(b / (b - 1) * residuals) / total if b >= 10 else None
    return {
        "trajectories": total,
        "scenarios": b,
        "environments": a,
        "between_environments": top,
        "between_scenarios": between,
        "between_trajectories": within,
        "intraclass_correlation": shared / (shared + within) if within is not None else None,
        "mean": whole,
        "standard_error": error,
        "independent_error": sqrt(variance(every) / total),
        "smallest_difference": None
        if error is None
        else (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * sqrt(2) * error,
    }


def lengths_ends(world: World) -> Rows:
    """The ends of the means of step_lengths."""
    rows: Rows = {}
    for mode, runs in grouped(world.runs, lambda run: run.mode).items():
        for quantity in ("steps", "tool calls", "user messages"):
            sums = [
                (sum(run.raw.lengths[quantity] for run in of), len(of))
                for of in grouped(runs, lambda run: run.scenario).values()
            ]
            if len({a / b for a, b in sums}) == 1:
                rows[quantity, mode] = {"mean_low": sums[0][0] / sums[0][1], "mean_high": sums[0][0] / sums[0][1]}
            else:
                low, high = studentised(sums)
                rows[quantity, mode] = {"mean_low": low, "mean_high": high}
    return rows


OPINIONS = {
    "reasoning_summary": reasoning_summary,
    "reasoning_lengths": reasoning_lengths,
    "reasoning_positions": reasoning_positions,
    "budget_parts": budget_parts,
    "budget_lengths": budget_lengths,
    "budget_limits": budget_limits,
    "budget_cutoff": budget_cutoff,
    "mask_price": mask_price,
    "private_kinds": private_kinds,
    "budget_expansion": budget_expansion,
    "budget_expansion_by_steps": budget_by_steps,
    "dialogue_ends": ends,
    "endings": endings,
    "dialogue_clarification": clarification,
    "dialogue_questions": questions_by_step,
    "dialogue_user_turns": user_turns,
    "dialogue_calls_per_turn": calls_per_turn,
    "dialogue_first_calls": first_calls,
    "dialogue_paired": paired,
    "duplicates_exact_summary": exact_summary,
    "duplicates_exact": exact,
    "duplicates_pairs": pairs,
    "duplicates_similarity": similarity,
    "duplicates_tasks_summary": tasks_summary,
    "telling": telling,
    "rewards_summary": rewards_summary,
    "rewards_groups": groups,
    "rewards_distribution": reward_bins,
    "rewards_pass": passes,
    "rewards_by_scenario": by_scenario,
    "rewards_solved_runs": solved_runs,
    "effects": effects,
    "variance_components": components,
}
