"""The gate from a pipeline: the command line, the GitHub action, the pre-commit hook."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from analysis.cli.main import main
from tests.builders import step, trajectory

ROOT = Path(__file__).parents[2]
GATE = """
[[threshold]]
quantity = "error_rate"
at_most = 0.3
why = "weak agents teach weakly"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gate, a set that keeps it and one that does not."""
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    good, bad = step(tool="get_user"), step(tool="get_user", error="no such user")
    for name, steps in (("good one", [good, good, good, bad]), ("bad", [good, bad])):
        record = trajectory("t1", env_id="bank", steps=steps)
        Path(f"{name}.json").write_text(json.dumps([record]), encoding="utf-8")
    Path("gate.toml").write_text(GATE, encoding="utf-8")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["check", *words, "--quiet"])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_set_that_keeps_its_gate_exits_with_0_and_shows_value_and_denominator(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = told(capsys, "good one.json", "--gate", "gate.toml")
    assert status == 0
    assert " ".join(out.split()) == "quantity value of bound holds error_rate 1 of 4 at most 30 %"
    assert "bounds that hold: 1 of 1" in err


def test_a_set_that_does_not_exits_with_1_and_says_which_bound(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = told(capsys, "bad.json", "--gate", "gate.toml")
    assert status == 1
    assert "FALLS SHORT  error_rate" in out
    assert "bounds that hold: 0 of 1; that fall short: 1" in err


def test_json_holds_each_source_with_its_checks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capsys, "good one.json", "bad.json", "--gate", "gate.toml", "--json")
    outcomes: list[dict[str, Any]] = json.loads(out)
    assert status == 1
    assert [(o["source"], [c["verdict"] for c in o["checks"]]) for o in outcomes] == [
        ("good one.json", ["holds"]),
        ("bad.json", ["falls short"]),
    ]
    assert outcomes[1]["checks"][0]["why"] == "weak agents teach weakly"


def test_a_baseline_is_another_source(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capsys, "bad.json", "--gate", "gate.toml", "--baseline", "good one.json")
    assert status == 1
    assert "error_rate, baseline" in out
    assert "was 25.0 %" in out


def test_sarif_has_a_run_a_source(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "good one.json", "bad.json", "--gate", "gate.toml", "--sarif", "found.sarif")
    log = json.loads((folder / "found.sarif").read_text(encoding="utf-8"))
    assert [run["properties"]["source"] for run in log["runs"]] == ["good one.json", "bad.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.json"], "none.json"),
        (["bad.json", "--gate", "none.toml"], "none.toml"),
        ([], "needs a SOURCE"),
    ],
)
def test_what_cannot_run_exits_with_2(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    status, out, err = told(capsys, *words)
    assert (status, out) == (2, "")
    assert said in err


@pytest.fixture(params=["array", "lines", "folder", "parquet", "parquet rows"])
def nothing(request: pytest.FixtureRequest, folder: Path) -> str:
    """A source that holds no record."""
    Path("nothing").mkdir()
    if request.param == "parquet":
        pl.DataFrame(schema={"messages": pl.String, "tools": pl.String}).write_parquet("nothing/a.parquet")
    elif request.param == "parquet rows":
        pl.DataFrame(schema={"id": pl.Int64}).write_parquet("nothing/a.parquet")
    elif request.param != "folder":
        Path("nothing/a.json").write_text("[]" if request.param == "array" else "\n\n", encoding="utf-8")
    return "nothing"


@pytest.mark.parametrize("baseline", [[], ["--baseline", "good one.json"]])
def test_a_source_from_which_nothing_is_read_is_no_pass(
    nothing: str, capsys: pytest.CaptureFixture[str], baseline: list[str]
) -> None:
    status, out, err = told(capsys, nothing, *baseline)
    assert (status, out) == (2, "")
    assert "nothing" in err
    assert err.count("\n") == 1


def test_a_baseline_from_which_nothing_is_read_is_no_baseline(nothing: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capsys, "good one.json", "--gate", "gate.toml", "--baseline", nothing)
    assert (status, out) == (2, "")


def test_a_source_of_which_no_limit_is_known_is_no_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("talk.json").write_text(json.dumps([trajectory("t1", env_id="bank")]), encoding="utf-8")
    status, _, err = told(capsys, "talk.json", "--gate", "gate.toml")
    assert status == 2
    assert "bounds that hold: 0 of 1; that fall short: 0; not known: 1 (error rate); no limit is known" in err


def test_the_exit_line_and_json_tell_what_is_not_known(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    coverage = GATE + '[[threshold]]\nquantity = "environment_coverage"\nat_least = 1'
    Path("gate.toml").write_text(coverage, encoding="utf-8")
    status, out, err = told(capsys, "good one.json", "--gate", "gate.toml", "--json")
    assert status == 0
    assert "bounds that hold: 1 of 2; that fall short: 0; not known: 1 (environment coverage)" in err
    (outcome,) = json.loads(out)
    assert (outcome["verdict"], outcome["counts"]) == ("holds", {"holds": 1, "falls short": 0, "not known": 1})
    Path("gate.toml").write_text(coverage + "\nmust_be_known = true", encoding="utf-8")
    assert told(capsys, "good one.json", "--gate", "gate.toml")[0] == 1


def test_the_quantities_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--quantities"]) == 0
    assert "error_rate" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(("source", "status"), [("good one.json", 0), ("bad.json", 1)])
def test_the_actions_command_runs_as_it_stands(folder: Path, source: str, status: int) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step_ = action["runs"]["steps"][-1]
    given = {"source": source, "gate": "gate.toml", "baseline": "", "sarif": "found it.sarif"}
    assert given.keys() == action["inputs"].keys()
    values = {name: given[value.split("inputs.")[1].rstrip(" }")] for name, value in step_["env"].items()}
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step_["run"]],
        env=os.environ | values | {"PATH": beside},
        check=False,
    )
    assert run.returncode == status
    assert json.loads((folder / "found it.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"


@pytest.mark.slow
def test_the_pre_commit_hooks_entry_takes_the_changed_files(folder: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    python, *words = shlex.split(hook["entry"])
    assert (python, hook["language"]) == ("python", "python")
    command = [sys.executable, *words, "--gate", "gate.toml", "good one.json", "bad.json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "bad.json: bounds that hold: 0 of 1" in run.stderr
