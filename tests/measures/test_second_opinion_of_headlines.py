"""Headlines recounted from raw records by plain loops, a page after another: the sample and real records."""

import json
import re
from collections import Counter, defaultdict
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import mean, median

import polars as pl

from analysis import brief, load
from analysis.brief import Headline
from analysis.measures import (
    arguments,
    compare,
    coverage,
    dialogue,
    duplicates,
    environments,
    outcomes,
    reasoning,
    recovery,
    repeats,
    rewards,
    sequences,
    sides,
    step_lengths,
    telling,
    tool_usage,
    training_budget,
)
from analysis.records import tokens as token_rows
from analysis.records.vocabulary import vocabulary
from analysis.sample import DEFAULT, siblings
from analysis.schema import ENVIRONMENTS, SCENARIOS, TOKENS
from tests.measures.raw import Key, Raw, Source, modes, usage

TALK, SOLO = "conversation", "non_conversation"


class Said(dict[str, str]):
    """Values by label; `meaning` and `noted` hold the sentences."""

    def __init__(self, numbers: list[Headline]) -> None:
        super().__init__((number.label, number.value) for number in numbers)
        self.meaning = {number.label: number.meaning for number in numbers}
        self.noted = [number.attention for number in numbers if number.attention]


def share(events: int, trials: int) -> str:
    if trials < 20:
        return f"{events:,} of {trials:,}"
    return f"{100 * events // trials} %" if events in (0, trials) else f"{100 * events / trials:.1f} %"


def number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else str(round(float(value), digits)).removesuffix(".0")


def of_modes(raw: list[Raw], measure: str) -> str:
    """Medians, conversations first."""
    found = {mode: median(record.lengths[measure] for record in records) for mode, records in modes(raw).items()}
    return f"{number(found.get(TALK))} / {number(found.get(SOLO))}"


def repeated(record: Raw) -> int:
    """Calls whose name and arguments occurred before; none, `""` and `{}` are the same, and so are other key orders."""
    same = {(name, json.dumps(json.loads(arguments or "{}"), sort_keys=True)) for name, arguments in record.calls}
    return len(record.calls) - len(same)


def test_tool_usage(source: Source) -> None:
    tables, raw = source
    tools = tool_usage.by_tool(tables.tool_calls, tables.trajectories, tables.tools)
    said = Said(
        brief.tool_usage.in_brief(
            *pl.collect_all(
                [
                    tool_usage.across(tools),
                    tool_usage.busiest(tools, top=20),
                    tool_usage.rates(tools),
                    tool_usage.breadth(tables.trajectories),
                ]
            )
        )
    )
    counted = usage(raw)
    offered = {key: of for key, of in counted.items() if of[1]}
    used = [key for key, (_, _, calling) in offered.items() if calling]
    calls = sum(len(record.calls) for record in raw)
    assert said["tools offered"] == str(len(offered))
    assert said["tools called"] == share(len(used), len(offered))
    assert said["tool calls"] == f"{calls:,}"
    assert said["calls to any one tool, at most"] == share(max(of[0] for of in counted.values()), calls)
    judged = [of for of in offered.values() if of[1] >= 20]
    usual = sum(10 * calling > 9 * offering for _, offering, calling in judged)
    assert said["tools called by nearly all"] == share(usual, len(judged))
    never = f"Tools that are offered and never called: {len(offered) - len(used):,} of {len(offered):,}."
    assert (never in said.noted) is (len(used) < len(offered))


def test_step_lengths(source: Source) -> None:
    tables, raw = source
    said = Said(brief.step_lengths.in_brief(step_lengths.summary(tables.trajectories).collect()))
    assert said["trajectories"] == str(len(raw))
    assert said["steps, median"] == of_modes(raw, "steps")
    assert said["tool calls per trajectory, median"] == of_modes(raw, "tool calls")
    steps, calls = (sum(record.lengths[name] for record in raw) for name in ("steps", "tool calls"))
    assert said["calls per step"] == number(calls / steps, 2)
    edges = {TALK: (5, 39), SOLO: (3, 29)}
    published = [record for record in raw if re.fullmatch(r"env_\d+_sft", record.env_id)]
    at_edge = sum(record.lengths["steps"] in edges[record.traj_type] for record in published)
    if published:
        assert said["trajectories at the edge of the publisher's filter"] == share(at_edge, len(raw))


def test_coverage_without_a_catalogue(source: Source) -> None:
    tables, raw = source
    no_environments, no_scenarios = ENVIRONMENTS.empty().lazy(), SCENARIOS.empty().lazy()
    held = coverage.environments(tables.trajectories, no_environments, no_scenarios)
    summary = coverage.scenario_summary(tables.trajectories, no_scenarios)
    said = Said(brief.coverage.in_brief(*pl.collect_all([coverage.balance(held), summary])))
    runs: dict[Key, Counter[str]] = defaultdict(Counter)
    for record in raw:
        runs[record.env_id, record.task_id][record.traj_type] += 1
    sizes = Counter(record.env_id for record in raw)
    assert said["environments with a trajectory"] == str(len(sizes))
    assert said["trajectories per environment, median"] == number(median(sizes.values()))
    assert said["scenarios run"] == str(len(runs))
    assert said["scenarios run in both modes"] == share(sum(len(kinds) == 2 for kinds in runs.values()), len(runs))
    assert said["further runs of the same scenario in the same mode"] == str(
        sum(n - 1 for kinds in runs.values() for n in kinds.values())
    )
    assert said.noted == []


def test_call_quality(source: Source) -> None:
    tables, raw = source
    calls, tools = tables.tool_calls, tables.environment_tools
    loops = repeats.loops(calls, tools)
    said = Said(
        brief.outcomes.in_brief(outcomes.by_mode(calls).collect())
        + brief.arguments.in_brief(arguments.classes(calls).collect())
        + brief.recovery.in_brief(recovery.summary(calls).collect())
        + brief.repeats.in_brief(repeats.shares(calls, tools).collect(), repeats.looping(loops, calls).collect())
    )
    assert len(said) == 7
    made = sum(len(record.calls) for record in raw)
    assert said["tool calls"] == f"{made:,}"
    again = 0
    for record in raw:
        canonical = {(name, json.dumps(json.loads(text), sort_keys=True)) for name, text in record.calls}
        again += len(record.calls) - len(canonical)
    assert said["calls that repeat an earlier one"] == share(again, made)
    calling = sum(bool(record.calls) for record in raw)
    assert f" of {calling} with a call " in said.meaning["trajectories that loop"]


def test_sequences(source: Source) -> None:
    tables, raw = source
    calls, tools = tables.tool_calls, tables.environment_tools
    said = Said(
        brief.sequences.in_brief(
            *pl.collect_all(
                [
                    sequences.entropy(calls, tools, unit="tool_name", min_n=1),
                    sequences.ngrams(calls, tools, unit="tool_name", min_n=2, top=5),
                    sequences.reads_first(calls, tools),
                ]
            )
        )
    )
    names = [[name for name, _ in record.calls] for record in raw if record.calls]
    held = [{tuple(made[a : a + size]) for size in (2, 3, 4) for a in range(len(made) - size + 1)} for made in names]
    runs = {run: n for run, n in Counter(run for one in held for run in one).items() if n >= 2}
    within = {part for run in runs for part in (run[1:], run[:-1])}
    most = max((n for run, n in runs.items() if run not in within), default=0)
    shared = "trajectories that share a sequence of calls, at most"
    assert said[shared] == (share(most, len(names)) if runs else "–")
    if runs:
        shown = tuple(said.meaning[shared].split(":")[0].split(" → "))
        assert runs[shown] == most


def test_training_budget(source: Source) -> None:
    tables, raw = source
    key = vocabulary("estimate").id
    tokens = tables.derive(TOKENS, partial(token_rows.rows, tokenizer="estimate"), key=key)
    cutoff = 2_000
    said = Said(
        brief.reasoning.in_brief(reasoning.summary(tables.messages, tables.trajectories).collect())
        + brief.training_budget.in_brief(
            training_budget.parts(tokens, tables.trajectories).collect(),
            training_budget.cutoff_loss(tokens, tables.trajectories, cutoff=cutoff).collect(),
            training_budget.expansion(tokens, tables.trajectories).collect(),
        )
    )
    messages = [message for record in raw for message in record.assistant]
    thoughts = sum(bool(message.get("reasoning_content")) for message in messages)
    assert said["assistant messages with reasoning"] == share(thoughts, len(messages))
    parts = [name for name in TOKENS.names if name.endswith("_tokens")]
    lengths: Counter[str] = Counter()
    for row in tokens.collect().iter_rows(named=True):
        lengths[row["trajectory_id"]] += sum(row[name] for name in parts)
    assert len(lengths) == len(raw)
    assert said["tokens"] == f"{lengths.total():,}"
    over = sum(length > cutoff for length in lengths.values())
    assert said["trajectories over the cutoff"] == share(over, len(raw))
    assert said.meaning["trajectories over the cutoff"].endswith(f" of {len(messages):,} are")
    assert any(note.startswith("Samples longer than the cutoff of 2,000 tokens") for note in said.noted) is (over > 0)


def test_dialogue(source: Source) -> None:
    tables, raw = source
    trajectories, messages, calls = tables.trajectories, tables.messages, tables.tool_calls
    said = Said(
        brief.dialogue.in_brief(
            dialogue.end_classes(trajectories).collect(),
            dialogue.clarification(messages, trajectories).collect(),
            dialogue.user_turns(trajectories).collect(),
            dialogue.calls_per_user_turn(messages, trajectories).collect(),
            dialogue.first_calls(calls, trajectories).collect(),
            dialogue.paired_difference(trajectories, calls).collect(),
        )
    )
    talks = modes(raw).get(TALK, [])
    asked = [
        sum(not m.get("tool_calls") and (m.get("content") or "").rstrip().endswith("?") for m in record.assistant)
        for record in talks
    ]
    assert said["conversations in which the agent asks a question"] == share(sum(n > 0 for n in asked), len(talks))
    assert said["assistant messages that ask a question"] == share(
        sum(asked), sum(len(record.assistant) for record in talks)
    )
    users = [record.lengths["user messages"] for record in talks]
    assert said["user messages of a conversation, median"] == number(median(users) if users else None)
    at_once = sum(bool(record.assistant and record.assistant[0].get("tool_calls")) for record in raw)
    assert said["trajectories that call a tool at once"] == share(at_once, len(raw))
    steps: dict[Key, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for record in raw:
        steps[record.env_id, record.task_id][record.traj_type].append(len(record.assistant))
    both = [mean(kinds[TALK]) - mean(kinds[SOLO]) for kinds in steps.values() if len(kinds) == 2]
    assert said["steps with user, minus steps without"].removeprefix("+") == number(mean(both) if both else None)


def test_duplicates(source: Source) -> None:
    tables, raw = source
    said = Said(
        brief.duplicates.in_brief(
            duplicates.exact_summary(tables.trajectories, tables.tool_calls).collect(),
            duplicates.run_pairs(tables.trajectories, tables.tool_calls).collect(),
            duplicates.tasks_summary(tables.trajectories).collect(),
        )
    )
    done = [
        (r.env_id, r.task_id, r.task, [(name, json.loads(text)) for name, text in r.calls]) for r in raw
    ]  # calls compared as values, not as text
    distinct: list[object] = []
    for env_id, _, task, calls in done:
        if (env_id, task, calls) not in distinct:
            distinct.append((env_id, task, calls))
    assert said["trajectories compared"] == str(len(raw))
    assert said["trajectories that repeat another"] == share(len(raw) - len(distinct), len(raw))
    pairs = [(left, right) for left, right in combinations(done, 2) if left[:2] == right[:2]]
    alike = sum(left[3] == right[3] for left, right in pairs)
    assert said["pairs with equal calls"] == share(alike, len(pairs))


def test_environments_of_the_sample() -> None:
    tables = load("sample")
    said = Said(
        brief.environments.in_brief(
            environments.per_environment(tables.environments, tables.scenarios).collect(),
            environments.checks_per_scenario(tables.scenarios).collect(),
        )
    )
    catalogue, played, checked = siblings(DEFAULT["environments"], DEFAULT["seed"])
    kinds = [
        Counter(operation["operation_type"] == "query" for operation in row["operation_list"]) for row in catalogue
    ]
    tools = [kind.total() for kind in kinds]
    assert said["environments"] == str(len(catalogue))
    assert said["tools per environment, median"] == number(median(tools))
    assert said["tools that change the state"] == share(sum(kind[False] for kind in kinds), sum(tools))
    assert said["rules per environment, median"] == number(median(len(row["constraints_rules"]) for row in catalogue))
    assert said["scenarios"] == str(len(played) + len(checked))
    assert said["checks per scenario"] == number(mean(len(row["checklist_with_func"]) for row in checked))


def test_transcripts(source: Source) -> None:
    tables, raw = source
    shown = telling.telling(tables.trajectories, tables.tool_calls, each=1).collect()
    said = Said(brief.telling.in_brief(shown, len(raw)))
    assert said["trajectories shown"] == str(min(4, len(raw)))
    assert said.meaning["trajectories shown"].startswith(f"of {len(raw)}:")
    assert said["most steps in one trajectory"] == str(max(len(record.assistant) for record in raw))
    assert said["most repeated calls in one trajectory"] == str(max(map(repeated, raw)))


def test_rewards_of_real_trials(shared_data: Path) -> None:
    path = shared_data / "tau_bench_airline_gpt4o.json"
    data = load(str(path)).trajectories
    said = Said(
        brief.rewards.in_brief(
            *pl.collect_all([rewards.summary(data), rewards.solved_runs(data), rewards.pass_k(data)])
        )
    )
    runs: dict[str, list[float]] = defaultdict(list)
    for record in json.loads(path.read_text(encoding="utf-8")):
        runs[record["task_info"]["task_id"]].append(record["total_reward"])
    earned = [reward for trials in runs.values() for reward in trials]
    assert said["trajectories with a reward"] == str(len(earned))
    assert said["mean reward"] == number(mean(earned), 2)
    assert said["trajectories solved"] == share(earned.count(1), len(earned))
    always = sum(min(trials) == 1 for trials in runs.values())
    never = sum(max(trials) < 1 for trials in runs.values())
    assert said["scenarios solved every time"] == share(always, len(runs))
    assert said["scenarios never solved"] == share(never, len(runs))
    assert said.noted == [f"Scenarios that no trajectory solves: {never} of {len(runs)}."]
    # Each was run four times: all four solved is as often as a scenario is solved each time.
    assert {len(trials) for trials in runs.values()} == {4}
    assert said["chance that all trials are solved"] == number(always / len(runs), 2)


def test_compare_of_the_two_modes(source: Source) -> None:
    tables, raw = source
    left, right = (tables.where(traj_type=mode) for mode in (TALK, SOLO))
    tools = [tool_usage.by_tool(side.tool_calls, side.trajectories, side.tools) for side in (left, right)]
    runs = (left.trajectories, right.trajectories)
    calls = (left.tool_calls, right.tool_calls)
    said = Said(
        brief.compare.in_brief(
            sides.counts(*runs, *tools).collect(),
            compare.headlines(*runs, *calls).collect(),
            compare.paired(*runs, *calls).collect(),
            sides.membership(*runs, *tools).collect(),
        )
    )
    halves = [modes(raw).get(mode, []) for mode in (TALK, SOLO)]
    assert said["trajectories"] == " / ".join(str(len(side)) for side in halves)
    played = [{(record.env_id, record.task_id) for record in side} for side in halves]
    assert said["scenarios on both sides"] == str(len(played[0] & played[1]))
    offered = [{(record.env_id, name) for record in side for name in record.offered} for side in halves]
    assert said["tools offered on both sides"] == str(len(offered[0] & offered[1]))
    means = [number(mean(len(record.assistant) for record in side)) if all(halves) else "–" for side in halves]
    assert said["steps, mean"] == " / ".join(means)
    assert any(note.startswith("One side has no trajectory") for note in said.noted) is not all(halves)
