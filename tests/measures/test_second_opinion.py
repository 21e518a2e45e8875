"""Reasoning, budget, dialogue and duplicates recomputed from raw records by plain loops: the sample and real ones."""

import json
from collections import Counter, defaultdict
from functools import partial
from itertools import combinations, groupby
from statistics import mean, median, quantiles
from typing import Any

import polars as pl
import pytest

from analysis.measures import dialogue, duplicates, reasoning, training_budget
from analysis.records import tokens as token_rows
from analysis.records.vocabulary import has_qwen, vocabulary
from analysis.schema import TOKENS
from tests.measures.raw import Raw, Source, modes
from tests.measures.test_duplicates import edit_distance


def test_reasoning(source: Source) -> None:
    tables, raw = source
    found = reasoning.summary(tables.messages, tables.trajectories).collect()
    assert found["traj_type"].to_list() == list(modes(raw))
    for row, records in zip(found.iter_rows(named=True), modes(raw).values(), strict=True):
        messages = [message for record in records for message in record.assistant]
        lengths = [len(message["reasoning_content"]) for message in messages if message.get("reasoning_content")]
        calling = [message for message in messages if message.get("tool_calls")]
        assert row["assistant_messages"] == len(messages)
        assert row["without_reasoning"] == len(messages) - len(lengths)
        assert row["call_messages"] == len(calling)
        assert row["thoughts_before_calls"] == sum(bool(message.get("reasoning_content")) for message in calling)
        assert row["max_chars"] == max(lengths, default=None)
        if len(lengths) > 1:
            assert row["mean_chars"] == pytest.approx(mean(lengths))
            assert row["p50_chars"] == pytest.approx(median(lengths))
            assert row["p90_chars"] == pytest.approx(quantiles(lengths, n=10, method="inclusive")[8])


def test_reasoning_along_the_trajectory(source: Source) -> None:
    tables, raw = source
    expected: dict[tuple[str, int], list[int]] = defaultdict(list)
    for record in raw:
        n = len(record.assistant)
        for place, message in enumerate(record.assistant if n >= 10 else ()):
            tenth = min(int((place + 0.5) / n * 10 + 1e-9), 9) + 1
            tenth = 0 if place == 0 else 11 if place == n - 1 else tenth
            expected[record.traj_type, tenth].append(len(message.get("reasoning_content") or ""))
    spoken = {mode for (mode, _), lengths in expected.items() if any(lengths)}
    found = reasoning.positions(tables.messages, tables.trajectories).collect()
    assert dict(zip(found.select("traj_type", "decile").rows(), found["assistant_messages"], strict=True)) == {
        key: len(lengths) for key, lengths in expected.items() if key[0] in spoken
    }
    for row in found.iter_rows(named=True):
        lengths = [n for n in expected[row["traj_type"], row["decile"]] if n]
        assert row["p50_chars"] == (pytest.approx(median(lengths)) if lengths else None)


def test_user_turns_and_the_calls_they_cost(source: Source) -> None:
    tables, raw = source
    talks = [record for record in raw if record.traj_type == "conversation"]
    turns = Counter(sum(message["role"] == "user" for message in record.messages) for record in talks)
    costs: Counter[int] = Counter()
    for record in talks:
        starts = [place for place, message in enumerate(record.messages) if message["role"] == "user"]
        for start, stop in zip(starts, [*starts[1:], len(record.messages)], strict=True):
            answer = record.messages[start + 1 : stop]
            if any(message["role"] == "assistant" for message in answer):
                costs[sum(len(message.get("tool_calls") or ()) for message in answer)] += 1
    assert (
        dict(dialogue.user_turns(tables.trajectories).select("user_turns", "trajectories").collect().iter_rows())
        == turns
    )
    found = dialogue.calls_per_user_turn(tables.messages, tables.trajectories).collect()
    assert dict(found.select("calls", "user_turns").iter_rows()) == costs


def test_questions(source: Source) -> None:
    tables, raw = source
    talks = [record for record in raw if record.traj_type == "conversation"]
    asked = [
        sum(not m.get("tool_calls") and (m.get("content") or "").rstrip().endswith("?") for m in record.assistant)
        for record in talks
    ]
    found = dialogue.clarification(tables.messages, tables.trajectories).collect()
    assert found["questions"].to_list() == ([sum(asked)] if talks else [])
    assert found["asking_conversations"].to_list() == ([sum(n > 0 for n in asked)] if talks else [])


def test_first_calls(source: Source) -> None:
    tables, raw = source
    expected: Counter[tuple[str, int]] = Counter()
    for record in raw:
        steps = [step for step, message in enumerate(record.assistant, start=1) if message.get("tool_calls")]
        expected[record.traj_type, min(steps, default=0)] += 1
    found = dialogue.first_calls(tables.tool_calls, tables.trajectories).collect()
    assert {
        (mode, step): n for mode, step, n in found.select("traj_type", "step", "trajectories").iter_rows()
    } == expected


def test_paired_difference(source: Source) -> None:
    tables, raw = source
    runs: dict[tuple[str, str], dict[str, list[Raw]]] = defaultdict(lambda: defaultdict(list))
    for record in raw:
        runs[record.env_id, record.task_id][record.traj_type].append(record)
    both = [kinds for kinds in runs.values() if len(kinds) == 2]
    differences = [
        mean(len(r.calls) for r in kinds["conversation"]) - mean(len(r.calls) for r in kinds["non_conversation"])
        for kinds in both
    ]
    found = dialogue.paired_difference(tables.trajectories, tables.tool_calls).collect()
    calls = found.filter(pl.col("quantity") == "tool calls")
    assert calls["scenarios"].to_list() == ([len(both)] if both else [])
    assert calls["difference"].to_list() == pytest.approx([mean(differences)] if both else [])
    for row in calls.filter(pl.col("difference_low").is_not_null()).iter_rows(named=True):
        assert (
            min(differences) <= row["difference_low"] <= row["difference"] <= row["difference_high"] <= max(differences)
        )


def signature(record: Raw) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return (
        record.env_id,
        record.task,
        tuple((name, json.dumps(json.loads(text), sort_keys=True)) for name, text in record.calls),
    )


def test_exact_copies(source: Source) -> None:
    tables, raw = source
    groups = Counter(map(signature, raw))
    found = duplicates.exact_summary(tables.trajectories, tables.tool_calls).collect().row(0, named=True)
    assert (found["trajectories"], found["distinct"]) == (len(raw), len(groups))
    assert found["groups"] == sum(n > 1 for n in groups.values())
    assert found["largest_group"] == max(groups.values())
    exact = duplicates.exact(tables.trajectories, tables.tool_calls).collect()
    assert sorted(exact["copies"]) == sorted(n for n in groups.values() if n > 1)


def test_runs_of_one_scenario(source: Source) -> None:
    tables, raw = source
    by_scenario = sorted(raw, key=lambda record: (record.env_id, record.task_id))
    expected = []
    for _, group in groupby(by_scenario, key=lambda record: (record.env_id, record.task_id)):
        for left, right in combinations(list(group), 2):
            longer = max(len(left.calls), len(right.calls))
            names = edit_distance([name for name, _ in left.calls], [name for name, _ in right.calls])
            whole = edit_distance(list(signature(left)[2]), list(signature(right)[2]))
            kind = "same mode" if left.traj_type == right.traj_type else "across modes"
            expected.append((kind, 1 - whole / longer if longer else 1.0, 1 - names / longer if longer else 1.0))
    found = duplicates.run_pairs(tables.trajectories, tables.tool_calls).collect()
    rounded = [
        (kind, round(a, 9), round(b, 9))
        for kind, a, b in found.select("kind", "similarity", "name_similarity").iter_rows()
    ]
    assert sorted(rounded) == sorted((kind, round(a, 9), round(b, 9)) for kind, a, b in expected)


def test_tasks_that_read_nearly_the_same(source: Source) -> None:
    tables, raw = source
    tasks = {(record.env_id, record.task_id): record.task for record in reversed(raw)}
    sets = {}
    for key, text in tasks.items():
        words = text.lower().split()
        sets[key] = {tuple(words[i : i + 5]) for i in range(max(len(words) - 4, 1))}
    near = [pair for pair in combinations(sets.values(), 2) if len(pair[0] & pair[1]) / len(pair[0] | pair[1]) >= 0.8]
    found = duplicates.tasks_summary(tables.trajectories).collect().row(0, named=True)
    assert (found["tasks"], found["verified"]) == (len(tasks), len(near))


@pytest.mark.skipif(not has_qwen(), reason="the extra `tokens` is not installed: the real vocabulary was not tested")
def test_tokens_of_a_plainly_rendered_trajectory(source: Source) -> None:
    tables, raw = source
    key = vocabulary("qwen").id
    tokens = tables.derive(TOKENS, partial(token_rows.rows, tokenizer="qwen"), key=key)
    found = training_budget.expansion(tokens, tables.trajectories).collect()
    count = vocabulary("qwen").count
    expected = {mode: sum(count(rendered(record)) for record in records) for mode, records in modes(raw).items()}
    assert dict(found.select("traj_type", "trajectory_tokens").iter_rows()) == expected
    samples = {mode: sum(len(record.assistant) for record in records) for mode, records in modes(raw).items()}
    assert dict(found.select("traj_type", "samples").iter_rows()) == samples


TOOLS_AROUND = """# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>LINES
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>"""


def called(call: dict[str, Any]) -> str:
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def rendered(record: Raw) -> str:
    """Qwen3's layout once more, written down as the template reads, with every thought."""
    lines = "".join("\n" + json.dumps(tool, ensure_ascii=False) for tool in record.tools)
    tools = TOOLS_AROUND.replace("LINES", lines)
    text = ""
    for place, message in enumerate(record.messages):
        content = message.get("content") or ""
        if message["role"] == "system":
            text += f"<|im_start|>system\n{content.lstrip()}\n\n{tools}<|im_end|>\n"
        elif message["role"] == "user":
            text += f"<|im_start|>user\n{content.strip()}<|im_end|>\n"
        elif message["role"] == "tool":
            first = record.messages[place - 1]["role"] != "tool"
            last = place + 1 == len(record.messages) or record.messages[place + 1]["role"] != "tool"
            text += "<|im_start|>user" if first else ""
            text += f"\n<tool_response>\n{content}\n</tool_response>" + ("<|im_end|>\n" if last else "")
        else:
            thought = (message.get("reasoning_content") or "").strip()
            calls = [called(call) for call in message.get("tool_calls") or ()]
            answer = "\n".join(part for part in [content.strip(), *calls] if part)
            text += f"<|im_start|>assistant\n<think>\n{thought}\n</think>\n\n{answer}<|im_end|>\n"
    return text
