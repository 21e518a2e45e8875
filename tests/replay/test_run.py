"""The door: `replay` from the command line, its tables, its exit statuses."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

from analysis.cli.main import main
from analysis.replay import run
from analysis.schema import REPLAY_TABLES, conform
from tests.builders import step, trajectory

CODE = """
class Bank:
    def __init__(self):
        self.accounts = {}

    def balance(self, account_id):
        return {"success": True, "data": self.accounts[account_id]["balance"]}

    def pay(self, account_id, amount):
        self.accounts[account_id]["balance"] += amount
        return {"success": True, "message": "Paid."}
"""
ENVIRONMENTS = [
    {"env_id": "bank", "env_class_name": "Bank", "env_class_code": CODE, "operation_list": []},
    {"env_id": "odd", "env_class_name": "Odd", "env_class_code": "import numpy\nclass Odd: pass", "operation_list": []},
]
CHECK = "def check_func(final_state):\n    return final_state['accounts']['A-1']['balance'] == 15"
START = {"accounts": {"A-1": {"balance": 10}}}


def scenario(task_id: str, env_id: str, **more: Any) -> dict[str, Any]:
    return {"task_id": task_id, "env_id": env_id, "task": "Pay.", "init_config": json.dumps(START), **more}


SCENARIOS = [
    scenario("bank-1", "bank", checklist_with_func=[{"check_item": "Is it 15?", "check_func": CHECK}]),
    scenario("bank-2", "bank"),
    scenario("odd-1", "odd"),
]
PAY = step(tool="pay", arguments={"account_id": "A-1", "amount": 5}, result="{'success': True, 'message': 'Paid.'}")


def read(balance: int) -> list[dict[str, Any]]:
    result = f"{{'success': True, 'data': {balance}}}"
    return step(tool="balance", arguments={"account_id": "A-1"}, result=result)


RECORDS = [
    trajectory("1", env_id="bank", steps=[PAY, read(15)], total_reward=1.0),
    trajectory("2", env_id="bank", steps=[read(10), PAY, read(16)]),
    trajectory("1", env_id="odd", steps=[read(1)]),
    trajectory("9", env_id="bank", steps=[read(1)]),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    for name, rows in (("records", RECORDS), ("environments", ENVIRONMENTS), ("scenarios", SCENARIOS)):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    siblings = [f"--{name}={tmp_path / name}.json" for name in ("environments", "scenarios")]
    return ["replay", str(tmp_path / "records.json"), str(tmp_path / "out"), *siblings, "--quiet"]


def test_replay_tells_what_came_out_and_ends_with_one_where_a_call_differs(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(files) == 1
    said = capsys.readouterr()
    assert said.out == (
        f"{tmp_path / 'out'}: 2 of 4 trajectories replayed, 4 of 5 calls reproduced, 1 differ, 0 cannot be told, "
        "1 of 1 checks passed, 1 of 1 rewards as recorded\n"
    )
    assert said.err.splitlines() == [
        "analysis: 1 not replayable: imports numpy, which the sandbox has not",
        "analysis: 1 not replayable: no scenario bank-9 of bank among those given",
    ]
    assert main([*files, "--keep-going"]) == 0


def test_the_tables_conform_and_keep_what_could_not_be_replayed(files: list[str], tmp_path: Path) -> None:
    main(files)
    frames = {table.name: pl.read_parquet(tmp_path / "out" / table.name / "*.parquet") for table in REPLAY_TABLES}
    for table in REPLAY_TABLES:
        assert conform(frames[table.name], table).equals(frames[table.name])
    replays = frames["replays"]
    assert replays["is_replayable"].to_list() == [True, True, False, False]
    assert replays["first_difference"].to_list() == [None, 3, None, None]
    assert replays.select("changes", "changes_read_back").row(0) == (1, 0)  # 15 stands there, and no id
    assert replays["reward"].to_list() == [1.0, None, None, None]
    assert replays["final_state_hash"][0] == replays["final_state_hash"][1]
    calls = frames["replayed_calls"]
    assert calls["verdict"].to_list() == ["reproduced"] * 4 + ["differing"]
    assert calls["entities"].to_list() == ["accounts/A-1", None, None, "accounts/A-1", None]
    assert calls["replayed_result"].to_list() == [None] * 4 + ["{'success': True, 'data': 15}"]
    assert frames["replayed_checks"].rows() == [("00000-00000", 1, "Is it 15?", True, None)]


def test_json_prints_the_counts(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main([*files, "--json", "--limit", "2"])
    counts = json.loads(capsys.readouterr().out)
    assert (counts["trajectories"], counts["calls"], counts["differing"]) == (2, 5, 1)
    assert counts["kinds"][0] == {"verdict": "reproduced", "kind": "text", "calls": 4}


def test_trajectories_of_one_scenario_agree_where_they_end_in_the_same_state() -> None:
    ids = ["a", "b", "c", "d", "e", "f"]
    replays = pl.DataFrame(
        {
            "trajectory_id": ids,
            "is_replayable": [True, True, True, True, True, False],
            "final_state_hash": ["x", "x", "x", "y", "x", None],
        }
    )
    tasks = pl.LazyFrame({"trajectory_id": ids, "env_id": ["bank"] * 6, "task_id": ["1", "1", "2", "2", "3", "3"]})
    assert run.agreement(replays, tasks) == {"scenarios_repeated": 2, "scenarios_agreeing": 1}


def test_a_second_run_takes_what_the_first_has_done(files: list[str], tmp_path: Path) -> None:
    main(files)
    first = pl.read_parquet(tmp_path / "out" / "replays" / "*.parquet")
    with patch.object(run, "play", side_effect=AssertionError("played again")):
        main(files)
    assert pl.read_parquet(tmp_path / "out" / "replays" / "*.parquet").equals(first)


def test_a_folder_of_something_else_stays(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    assert main(files) == 2
    assert "not a folder of replays" in capsys.readouterr().err
    assert (tmp_path / "out" / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_replay_without_environments_names_the_options(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files[:3], "--quiet"]) == 2
    assert "--environments and --scenarios" in capsys.readouterr().err


def test_replay_without_the_sandbox_names_what_to_install(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with patch.dict("sys.modules", {"pydantic_monty": None}):
        assert main(files) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "trajectory-notebooks[replay]" in said
