"""Small inputs that were counted wrongly once: calls made at once, arguments written otherwise, checks of others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis import load
from analysis.measures import duplicates, recovery, repeats, rewards, sequences, telling
from analysis.tables import Tables

Case = Callable[..., Tables]


@pytest.fixture
def case(shared_cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    folder = shared_cases / "statistics"
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path))

    def read(name: str, **siblings: str) -> Tables:
        given: Any = {kind: str(folder / sibling) for kind, sibling in siblings.items()}
        return load(str(folder / name), progress=False, **given)

    return read


def first(frame: Any) -> dict[str, Any]:
    row: dict[str, Any] = frame.collect().row(0, named=True)
    return row


def test_two_calls_at_once_are_neither_recovered_nor_retried_nor_repeated(case: Case) -> None:
    data = case("a_parallel.json")
    found = first(recovery.summary(data.tool_calls))
    assert (found["errors"], found["recovered"], found["identical_retries"]) == (1, 0, 0)
    assert first(repeats.shares(data.tool_calls, data.environment_tools))["repeats"] == 0
    assert repeats.loops(data.tool_calls, data.environment_tools).collect().is_empty()


def test_a_write_beside_a_read_is_not_read_first(case: Case) -> None:
    data = case("a_parallel_read.json")
    found = first(sequences.reads_first(data.tool_calls, data.environment_tools))
    assert (found["changing_calls"], found["after_read"], found["directly_after_read"]) == (1, 0, 0)


def test_empty_arguments_are_one_call_made_three_times(case: Case) -> None:
    data = case("b_empty.json")
    assert first(repeats.shares(data.tool_calls, data.environment_tools))["repeats"] == 2
    assert first(repeats.loops(data.tool_calls, data.environment_tools))["turns"] == 3


def test_keys_in_another_order_are_the_same_arguments(case: Case) -> None:
    data = case("g_telling.json")
    assert first(repeats.shares(data.tool_calls, data.environment_tools))["repeats"] == 1
    chosen = telling.telling(data.trajectories, data.tool_calls).collect()
    assert chosen["repeated_calls"].to_list() == [1]


def test_two_tasks_without_a_text_are_no_copies(case: Case) -> None:
    data = case("f_notask.json")
    found = first(duplicates.exact_summary(data.trajectories, data.tool_calls))
    assert (found["trajectories"], found["distinct"], found["extra_copies"]) == (2, 2, 0)


def test_checks_are_those_of_the_environments_own_task(case: Case) -> None:
    data = case("h_checks.json", scenarios="h_scen3.json")
    found = rewards.by_scenario(data.trajectories, data.scenarios).collect()
    assert dict(found.select("env_id", "checks").rows()) == {"env_1_sft": None, "env_2_sft": 4}
