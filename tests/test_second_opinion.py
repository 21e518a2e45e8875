"""The facts counted again by plain Python over the raw records: on the sample, and on real records where they are."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import sample
from analysis.tables import Tables, load
from benchmarks import baseline
from tests.builders import decode


def inner(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def total(data: Tables, column: str) -> int:
    return int(data.trajectories.select(pl.col(column).sum()).collect().item())


def outcomes(data: Tables) -> Counter[tuple[str, str]]:
    return Counter(data.tool_calls.select("outcome", "outcome_rule").collect().iter_rows())


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(cache))


def test_the_sample_counts_as_a_plain_loop_counts_it() -> None:
    data = load("sample")
    counted: Counter[str] = Counter()
    for record in sample.records(**sample.DEFAULT):
        messages = json.loads(record["messages"])
        counted["records_in"] += 1
        counted["messages"] += len(messages)
        counted["tools"] += len(json.loads(record["tools"]))
        for message, following in zip(messages, [*messages[1:], {}], strict=True):
            counted[message["role"]] += 1
            counted["chars"] += len(message.get("content") or "")
            counted["thoughts"] += len(message.get("reasoning_content") or "")
            for call in message.get("tool_calls") or ():
                counted["calls"] += 1
                counted["argument chars"] += len(call["function"]["arguments"])
                counted["ok"] += following["content"].startswith("{'success': True")
    messages_ = data.messages.collect()
    calls = data.tool_calls.collect()
    assert data.manifest["records_in"] == data.manifest["kept"] == counted["records_in"]
    assert messages_.height == counted["messages"]
    assert total(data, "tools_offered") == counted["tools"]
    for column, role in (("assistant_messages", "assistant"), ("user_messages", "user"), ("tool_messages", "tool")):
        assert total(data, column) == counted[role]
    assert messages_["content_chars"].sum() == counted["chars"]
    assert messages_["reasoning_chars"].sum() == counted["thoughts"]
    assert calls.height == total(data, "tool_calls") == counted["calls"]
    assert calls["arguments"].str.len_chars().sum() == counted["argument chars"]
    assert (calls["outcome"] == "ok").sum() == counted["ok"]


@pytest.mark.parametrize("seed", [3, 4])
def test_the_tables_equal_the_plain_way_s_row_by_row(tmp_path: Path, seed: int) -> None:
    sample.write(tmp_path / "sample.json", trajectories=120, environments=14, seed=seed)
    ours = load(str(tmp_path / "sample.json"))
    plain = baseline.decode(tmp_path / "sample.json", check=True)
    # It cannot tell where a record stands in its file; a sample has no rewards, trials or models, and it reads none.
    untold = {"trajectory_id", "origin", "record_bytes", "total_reward", "trial", "model"}
    for name, theirs in plain.items():
        frame: pl.DataFrame = getattr(ours, name).collect()
        assert set(frame.columns) - set(theirs.columns) <= untold
        columns = [column for column in theirs.columns if column != "trajectory_id"]
        rows = [sorted(map(repr, table.select(columns).iter_rows())) for table in (frame, theirs)]
        assert rows[0] == rows[1], name
    assert plain["findings"]["rule"].n_unique() >= 5
    unchecked = baseline.decode(tmp_path / "sample.json")
    for name, frame in unchecked.items():
        assert frame.equals(plain[name].select(frame.columns))


def test_tau_bench_reads_as_it_is_counted_by_hand(shared_data: Path) -> None:
    path = shared_data / "tau_bench_airline_gpt4o.json"
    data = load(str(path))
    roles: Counter[str] = Counter()
    calls, results, tasks = 0, Counter[str](), Counter[str]()
    for record in json.loads(path.read_text(encoding="utf-8")):
        tasks[record["task_info"]["task_id"]] += 1
        for message in inner(record["messages"]):
            roles[message["role"]] += 1
            calls += len(message.get("tool_calls") or ())
            if message["role"] == "tool":
                results["error" if message["content"].startswith("Error") else _kind(message["content"])] += 1
    assert (data.manifest["records_in"], data.manifest["kept"], data.manifest["rejected"]) == (200, 200, 0)
    found = {role: total(data, f"{role}_messages") for role in ("assistant", "tool", "user")}
    assert found == {"assistant": 2454, "tool": 1164, "user": 1490}
    assert found == {role: roles[role] for role in found}
    assert total(data, "tool_calls") == calls == 1164
    assert data.trajectories.select(pl.col("tools_offered").unique()).collect().to_series().to_list() == [14]
    assert data.trajectories.select(pl.col("env_id").n_unique()).collect().item() == 1
    judged = outcomes(data)
    assert judged == {
        ("error", "error_text"): results["error"],
        ("ok", "structured"): results["structured"],
        ("unknown", "none"): results["plain"],
    }
    repeats = data.findings.filter(pl.col("rule") == "repeated_task").collect()
    assert repeats.height == sum(count for count in tasks.values() if count > 1) == 200


def _kind(text: str) -> str:
    return "structured" if text.startswith(("{", "[")) else "plain"


def test_the_release_excerpt_pairs_by_position_and_reads_success(shared_data: Path) -> None:
    path = shared_data / "envscaler_release_excerpt.json"
    data = load(str(path))
    assert data.manifest["dialects"] == {"release": 2}
    assert data.trajectories.collect()["steps"].to_list() == [3, 6]
    assert outcomes(data) == {("ok", "success_key"): 6}
    expected = []
    for record in json.loads(path.read_text(encoding="utf-8")):
        messages = json.loads(record["messages"])
        expected += [index + 1 for index, message in enumerate(messages) if message.get("tool_calls")]
    assert data.tool_calls.collect()["result_message"].to_list() == expected


def test_the_runner_s_function_calls_are_dialect_fc(shared_data: Path) -> None:
    data = load(str(shared_data / "envscaler_runner_fc.json"))
    assert data.manifest["dialects"] == {"fc": 3}
    assert sorted(data.trajectories.collect()["steps"].to_list()) == [17, 19, 25]
    assert data.tool_calls.filter(pl.col("result_message").is_null()).collect().is_empty()


def test_the_runner_s_prompt_mode_reads_five_blocks_of_which_one_names_no_tool(shared_data: Path) -> None:
    data = load(str(shared_data / "envscaler_runner_prompt.json"))
    assert data.manifest["dialects"] == {"prompt": 1}
    assert data.trajectories.collect()["steps"].to_list() == [6]
    calls = data.tool_calls.select("tool_name", "outcome", "outcome_rule").collect().rows()
    names = ["list_comments_sorted", "set_session_sort_preference", "edit_comment_content", "edit_comment_content"]
    assert calls == [(None, "error", "error_text"), *((name, "ok", "success_key") for name in names)]
    assert data.findings.filter(pl.col("rule") == "unreadable_call").collect().height == 1


def test_the_siblings_join_to_the_runner_s_records(shared_data: Path) -> None:
    data = load(
        str(shared_data / "envscaler_runner_fc.json"),
        environments=str(shared_data / "envscaler_environment.json"),
        scenarios=str(shared_data / "envscaler_rl_scenarios.json"),
    )
    ((env_id, row),) = json.loads((shared_data / "envscaler_environment.json").read_text(encoding="utf-8")).items()
    scenarios = json.loads((shared_data / "envscaler_rl_scenarios.json").read_text(encoding="utf-8"))
    environment = data.environments.collect().row(0, named=True)
    kinds = Counter(operation["operation_type"] for operation in row["operation_list"])
    assert (environment["env_id"], environment["code_chars"]) == (env_id, len(row["env_class_code"]))
    assert (environment["query_tools"], environment["change_tools"]) == (kinds["query"], kinds["state_change"])
    assert environment["rules"] == len(row["constraints_rules"])
    assert data.scenarios.collect().height == len(scenarios) == 3
    assert data.checks.collect().height == sum(len(scenario["checklist_with_func"]) for scenario in scenarios)
    joined = data.trajectories.join(data.scenarios, on=["env_id", "task_id"], how="inner", validate="m:1").collect()
    assert joined.height == 3


def test_builders_and_the_decoder_agree_on_an_empty_source() -> None:
    data = decode()
    assert data.manifest["records_in"] == 0
    assert data.trajectories.collect().is_empty()
