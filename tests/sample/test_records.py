"""Records are the release's to the last key, and what they say happened did happen."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from analysis import sample
from analysis.sample.engine import Environment
from analysis.sample.naming import environment
from analysis.sample.toolbox import toolbox
from tests.conftest import ROOT

Record = dict[str, Any]

EXCERPT = ROOT.parent / "shared" / "data" / "envscaler_release_excerpt.json"
SHA256_OF_SIX = "46eafbcffd4b7cf35f2a28373bc313d98ce80809398adbe02bde19c146d48290"


def messages(record: Record) -> list[Record]:
    loaded: list[Record] = json.loads(record["messages"])
    return loaded


def calls(record: Record) -> list[tuple[str, str, Record]]:
    """Name, arguments and answer of every call, paired by position."""
    said = messages(record)
    functions = [(i, m["tool_calls"][0]["function"]) for i, m in enumerate(said) if m.get("tool_calls")]
    return [(function["name"], function["arguments"], said[i + 1]) for i, function in functions]


def of_type(records: list[Record], traj_type: str) -> list[Record]:
    return [record for record in records if record["traj_type"] == traj_type]


def test_playing_a_record_s_calls_again_gives_exactly_the_results_it_holds(
    default: list[Record], family: tuple[list[Record], ...]
) -> None:
    initial = {row["task_id"]: row["init_config"] for row in family[1]}
    seed = sample.DEFAULT["seed"]
    replayed = 0
    for record in default:
        task = record["task_info"]
        index = int(task["env_id"].split("_")[1]) - 1
        state = json.loads(initial[task["task_id"]])
        today = state.pop("current_date")
        env = Environment(environment(index, seed), toolbox(index, seed), state, today)
        for name, arguments, answer in calls(record):
            result = env.call(name, json.loads(arguments))
            if answer["role"] == "user":
                assert not result["success"]
                continue
            assert repr(result) == answer["content"]
            replayed += 1
    assert replayed > 4_000


def test_keys_and_their_order_are_the_release_s(default: list[Record]) -> None:
    for record in default:
        assert list(record) == ["traj_type", "task_info", "tools", "messages", "user_messages", "steps"]
        assert list(record["task_info"]) == ["env_id", "task_id", "task"]
        for message in messages(record):
            keys = [key for key in message if key != "reasoning_content"]
            assert keys == {"assistant": ["role", "content", *(["tool_calls"] if "tool_calls" in message else [])]}.get(
                message["role"], ["role", "content"]
            )
            if "reasoning_content" in message:
                assert list(message)[:2] == ["role", "reasoning_content"]
            for call in message.get("tool_calls", []):
                assert list(call) == ["function"]
                assert list(call["function"]) == ["name", "arguments"]


def test_keys_and_their_order_equal_those_of_a_real_record(default: list[Record]) -> None:
    if not EXCERPT.exists():
        pytest.skip("the excerpt of the release is not beside the project")
    real = json.loads(EXCERPT.read_text(encoding="utf-8"))
    for traj_type in ("conversation", "non_conversation"):
        assert shapes(of_type(real, traj_type)) <= shapes(of_type(default, traj_type))


def shapes(records: list[Record]) -> set[tuple[Any, ...]]:
    """Key order and types of records, messages, calls, tools and user messages."""
    found: set[tuple[Any, ...]] = set()
    for record in records:
        found.add(("record", *((key, type(value).__name__) for key, value in record.items())))
        found.add(("task_info", *record["task_info"]))
        for message in messages(record):
            found.add((message["role"], *((key, type(value).__name__) for key, value in message.items())))
        for message in json.loads(record["user_messages"]):
            found.add(("user_messages", message["role"], *message))
        for tool in json.loads(record["tools"]):
            found.add(("tool", *tool, *tool["function"], *tool["function"]["parameters"]))
    return found


def test_messages_alternate_and_end_as_the_release_s_do(default: list[Record]) -> None:
    for record in default:
        said = messages(record)
        assert said[0]["role"] == "system"
        assert all((m["role"] == "assistant") == (i % 2 == 0) for i, m in enumerate(said[1:], start=1))
        assert said[-1]["role"] == "user"
        if record["traj_type"] == "non_conversation":
            assert "Task Completed" in said[-2]["content"]
            assert said[-1]["content"] == "Task finished"
            assert json.loads(record["user_messages"]) == []
        else:
            assert "###STOP###" in said[-1]["content"]
        assert record["steps"] == sum(m["role"] == "assistant" for m in said)


def test_the_simulator_s_side_mirrors_the_conversation(default: list[Record]) -> None:
    for record in of_type(default, "conversation"):
        seen = json.loads(record["user_messages"])
        heard = [
            m["content"] for m in messages(record) if m["role"] == "user" and not m["content"].startswith("Error:")
        ]
        replies = [m["content"] for m in messages(record) if m["role"] == "assistant" and m["content"]]
        assert seen[0]["role"] == "system"
        assert "###STOP###" in seen[0]["content"]
        assert record["task_info"]["task"] in seen[0]["content"]
        assert [m["role"] for m in seen[1:]] == ["user", "assistant"] * (len(seen) // 2)
        assert [m["content"] for m in seen[1::2]] == [f"[Agent] {said}" for said in (sample_greeting(), *replies)]
        thoughts = [
            re.fullmatch(r"# Thought:  \n(.+?)\n\n# Reply:  \n(.+)", m["content"], re.DOTALL) for m in seen[2::2]
        ]
        assert [found.group(2) for found in thoughts if found] == heard
        assert sample_greeting() not in record["messages"]


def sample_greeting() -> str:
    from analysis.sample.words import phrases  # noqa: PLC0415 - used by this one test

    return phrases().greeting


def test_lengths_are_the_release_s(default: list[Record]) -> None:
    alone, talk = of_type(default, "non_conversation"), of_type(default, "conversation")
    assert 0.4 < len(talk) / len(default) < 0.6
    assert all(3 <= record["steps"] <= 29 for record in alone)
    assert all(5 <= record["steps"] <= 39 for record in talk)
    assert mean(record["steps"] for record in alone) == pytest.approx(14.3, abs=1.5)
    assert mean(record["steps"] for record in talk) == pytest.approx(22.1, abs=2)
    for half in (alone, talk):
        assert mean(len(calls(record)) for record in half) == pytest.approx(13.3, abs=1.3)
        assert mean(len(json.loads(record["tools"])) for record in half) == pytest.approx(18.6, abs=1.5)
    heard = [sum(m["role"] == "user" for m in messages(record)) for record in talk]
    assert mean(heard) == pytest.approx(9.75, abs=1.2)


def test_most_scenarios_were_run_once_in_each_mode_and_a_few_only_once(default: list[Record]) -> None:
    modes: dict[str, list[str]] = defaultdict(list)
    for record in default:
        modes[record["task_info"]["task_id"]].append(record["traj_type"])
    assert all(len(set(runs)) == len(runs) for runs in modes.values())
    both = sum(len(runs) == 2 for runs in modes.values()) / len(modes)
    assert 0.75 < both < 1


def test_the_two_runs_of_a_scenario_share_task_and_tools_and_differ(default: list[Record]) -> None:
    runs = defaultdict(list)
    for record in default:
        runs[record["task_info"]["task_id"]].append(record)
    pairs = [pair for pair in runs.values() if len(pair) == 2]
    assert all(a["task_info"] == b["task_info"] and a["tools"] == b["tools"] for a, b in pairs)
    assert all(a["messages"] != b["messages"] for a, b in pairs)


def test_results_are_python_repr_whose_quotes_flip_around_apostrophes(default: list[Record]) -> None:
    results = [answer["content"] for record in default for _, _, answer in calls(record) if answer["role"] == "tool"]
    assert all(result.startswith(("{'success': True, '", "{'success': False, 'error': ")) for result in results)
    assert any(re.search(r": \"[^\"]*'[^\"]*\"", result) for result in results)
    assert any("None" in result for result in results)
    assert any("True, 'data': []" in result for result in results)
    assert any("[{'" in result for result in results)


def test_mistakes_of_every_kind_occur_and_most_are_recovered(default: list[Record]) -> None:
    errors: Counter[str] = Counter()
    recovered = made = 0
    for record in default:
        outcomes = [
            (name, arguments, "'success': True" in answer["content"][:16]) for name, arguments, answer in calls(record)
        ]
        for i, (name, arguments, is_ok) in enumerate(outcomes):
            if is_ok:
                continue
            made += 1
            recovered += any(other == name and ok for other, _, ok in outcomes[i + 1 :])
            errors["identical retry"] += outcomes[i + 1 : i + 2] == [(name, arguments, False)]
            errors[kind(calls(record)[i][2]["content"])] += 1
    assert 0.05 < made / sum(len(calls(record)) for record in default) < 0.2
    assert recovered / made > 0.4
    assert {"missing argument", "unexpected argument", "no such record", "wrong state", "value", "type", "rule"} <= {
        name for name, count in errors.items() if count >= 5
    }
    assert errors["identical retry"] >= 10


def kind(result: str) -> str:
    """Which mistake an error names; what none of the others explains is a rule."""
    for name, mark in {
        "missing argument": "is missing the argument",
        "unexpected argument": "got an unexpected argument",
        "no such record": r"not found|does not exist|No \w+ with",
        "wrong state": "can only be",
        "value": "must be one of|must be between",
        "type": "must be (a number|a whole number|text)",
        "unknown tool": "Unknown operation|Invalid action",
    }.items():
        if re.search(mark, result):
            return name
    return "rule"


def test_some_tools_are_never_used_and_some_loops_and_gaps_occur(default: list[Record]) -> None:
    used: dict[str, set[str]] = defaultdict(set)
    offered: dict[str, set[str]] = defaultdict(set)
    loops = silent = questions = 0
    for record in default:
        made = [(name, arguments) for name, arguments, _ in calls(record)]
        env_id = record["task_info"]["env_id"]
        used[env_id].update(name for name, _ in made)
        offered[env_id].update(tool["function"]["name"] for tool in json.loads(record["tools"]))
        loops += any(made[i : i + p] * 3 == made[i : i + 3 * p] for p in (1, 2, 3, 4) for i in range(len(made) - p))
        said = [m for m in messages(record) if m["role"] == "assistant"]
        silent += sum("reasoning_content" not in m for m in said)
        questions += sum((m["content"] or "").endswith("?") for m in said)
    assert sum(bool(offered[env_id] - used[env_id]) for env_id in offered) >= len(offered) // 2
    assert 0 < loops < len(default) * 0.1
    assert 0 < silent < sum(record["steps"] for record in default) * 0.02
    assert questions > 100


def test_environments_are_unequal(default: list[Record]) -> None:
    counts = Counter(record["task_info"]["env_id"] for record in default)
    assert len(counts) == sample.DEFAULT["environments"]
    assert max(counts.values()) >= 10 * min(counts.values())
    assert sum(counts.values()) == sample.DEFAULT["trajectories"]


def test_the_same_numbers_give_the_same_records_and_another_seed_others() -> None:
    six = [json.dumps(record) for record in sample.records(6, 3, seed=1)]
    assert six == [json.dumps(record) for record in sample.records(6, 3, seed=1)]
    assert six != [json.dumps(record) for record in sample.records(6, 3, seed=2)]


def test_the_version_says_that_the_output_changed(tmp_path: Path) -> None:
    """Changed on purpose? Then raise `sample.VERSION` and put the new hash here."""
    sample.write(tmp_path / "six.json", trajectories=6, environments=3, seed=1)
    digest = hashlib.sha256((tmp_path / "six.json").read_bytes()).hexdigest()
    assert (sample.VERSION, digest) == ("2", SHA256_OF_SIX)


def test_release_sizes_are_the_release_s() -> None:
    records = list(sample.records(60, 20, seed=3, release_sizes=True))
    sizes = [len(json.dumps(record, ensure_ascii=False, indent=4).encode()) for record in records]
    assert mean(sizes) == pytest.approx(77_000, rel=0.15)
    thoughts = sorted(
        len(m["reasoning_content"]) for record in records for m in messages(record) if "reasoning_content" in m
    )
    assert 1_300 < thoughts[len(thoughts) // 2] < 2_400
    assert thoughts[-1] > 8 * thoughts[len(thoughts) // 2]


def test_more_environments_than_trajectories_are_refused() -> None:
    with pytest.raises(ValueError, match="each needs at least one"):
        next(sample.records(3, 5, seed=1))
