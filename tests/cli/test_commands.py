"""The command line: what it writes, what it says on stderr, and its exit statuses."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import polars as pl
import pytest

from analysis import sample, schema
from analysis.cli.main import COMMANDS, main, parse
from analysis.parameters import ParameterError
from analysis.report import kernels
from analysis.report import run as report
from analysis.report.failures import Failure
from analysis.report.folder import Entry
from analysis.report.request import ReportRequest
from tests.builders import step, trajectory

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in a folder of its own: exit status, stdout, stderr."""
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> tuple[int, str, str]:
        try:
            status = main([str(word) for word in words])
        except SystemExit as stop:
            status = int(stop.code or 0)
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def written(path: Path, *records: Any) -> Path:
    path.write_text(json.dumps(records, indent=4), encoding="utf-8")
    return path


GOOD = trajectory(env_id="bank", steps=[step(tool="get_user"), step(tool="transfer", error="no funds")])


# tables


def test_a_reader_that_leaves_early_ends_the_run_without_a_word() -> None:
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run(
        [sys.executable, "-m", "analysis", "tables", "--describe", "messages"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (run.returncode, run.stderr) == (141, "")


def test_tables_writes_every_table_and_a_manifest(cli: Run, tmp_path: Path) -> None:
    source = written(tmp_path / "records.json", GOOD, trajectory("t2"))
    status, out, err = cli("tables", source, "out", "--quiet", "--jobs", 1)
    assert (status, out, err) == (0, "out: 2 records in = 2 kept + 0 rejected\n", "")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["records_in"], manifest["kept"], manifest["rejected"]) == (2, 2, 0)
    for table in schema.RECORD_TABLES:
        frame = pl.read_parquet(tmp_path / "out" / table.name / "*.parquet")
        assert frame.schema == table.schema
    calls = pl.read_parquet(tmp_path / "out" / "tool_calls" / "*.parquet")
    assert calls["tool_name"].to_list() == ["get_user", "transfer"]


def test_a_rejected_record_is_said_and_makes_the_status_1_unless_it_is_borne(cli: Run, tmp_path: Path) -> None:
    source = written(tmp_path / "records.json", GOOD, {"messages": "[{"})
    status, out, err = cli("tables", source, "out", "--quiet", "--jobs", 1)
    assert status == 1
    assert "2 records in = 1 kept + 1 rejected" in out
    said, named = err.splitlines()
    assert said == "analysis: 1 of 2 records rejected; out/rejected lists them all with the reasons, beginning with:"
    assert named.startswith("analysis: records.json@")
    assert cli("tables", source, "out", "--quiet", "--jobs", 1, "--keep-going")[0] == 0


def test_a_torn_file_keeps_what_is_whole_and_says_what_is_lost(cli: Run, tmp_path: Path) -> None:
    source = tmp_path / "records.json"
    whole = json.dumps([GOOD, trajectory("t2")], indent=4)
    source.write_text(whole[:-200], encoding="utf-8")
    status, out, err = cli("tables", source, "out", "--quiet", "--jobs", 1)
    assert status == 1
    assert "1 kept" in out
    assert err.startswith("analysis: ")


@pytest.mark.parametrize("text", [None, ""], ids=["missing", "empty"])
def test_a_source_that_cannot_be_read_is_one_line_on_stderr_and_2(cli: Run, tmp_path: Path, text: str | None) -> None:
    source = tmp_path / "records.json"
    if text is not None:
        source.write_text(text)
    status, out, err = cli("tables", source, "out", "--quiet")
    assert (status, out) == (2, "")
    assert err.startswith("analysis: ")
    assert err.count("\n") == 1
    assert "records.json" in err


def test_a_folder_that_holds_something_else_is_not_overwritten(cli: Run, tmp_path: Path) -> None:
    source = written(tmp_path / "records.json", GOOD)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    status, _, err = cli("tables", source, "out", "--quiet")
    assert status == 2
    assert "not empty" in err
    assert (tmp_path / "out" / "letter.txt").read_text() == "dear"


def test_what_cannot_be_written_is_6(cli: Run, tmp_path: Path) -> None:
    source = written(tmp_path / "records.json", GOOD)
    (tmp_path / "file").write_text("")
    status, _, err = cli("tables", source, tmp_path / "file" / "below" / "out", "--quiet")
    assert status == 6
    assert "file" in err
    assert err.count("\n") == 1


# sample


def test_sample_writes_as_many_records_and_the_same_again(cli: Run, tmp_path: Path) -> None:
    words = ("--trajectories", 6, "--environments", 2, "--seed", 3)
    assert cli("sample", "a.json", *words)[0] == 0
    assert cli("sample", "b.json", *words, "--siblings", "siblings")[0] == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert len(json.loads((tmp_path / "a.json").read_text())) == 6
    environments = json.loads((tmp_path / "siblings" / "environments.json").read_text())
    assert {row["env_id"] for row in environments} >= {"env_1_sft", "env_2_sft"}


def test_sample_refuses_an_environment_without_a_trajectory(cli: Run, tmp_path: Path) -> None:
    status, _, err = cli("sample", "a.json", "--trajectories", 2, "--environments", 5)
    assert status == 2
    assert err.startswith("analysis: ")
    assert not (tmp_path / "a.json").exists()


# report


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ReportRequest]:
    """What the command line asks of the suite, which answers that all is well."""
    seen: list[ReportRequest] = []

    def run(request: ReportRequest) -> report.Result:
        seen.append(request)
        return report.Result([], {}, Path("index.html"))

    monkeypatch.setattr(report, "run", run)
    monkeypatch.setattr(kernels, "warm_up", create_autospec(kernels.warm_up))
    return seen


@pytest.mark.parametrize(("words", "times"), [((), 1), (("--engine", "warm_kernel"), 1), (("--engine", "other"), 0)])
def test_warm_kernels_are_begun_for_their_own_engine_only(
    words: tuple[str, ...], times: int, cli: Run, asked: list[ReportRequest]
) -> None:
    cli("report", *words)
    assert kernels.warm_up.call_count == times  # type: ignore[attr-defined]


def test_report_without_options_is_the_sample(cli: Run, asked: list[ReportRequest]) -> None:
    assert cli("report")[0] == 0
    assert asked == [ReportRequest()]


def test_report_passes_on_what_it_is_given(cli: Run, asked: list[ReportRequest]) -> None:
    words = ["x.json", "--only", "a", "--only", "b", "-p", "top", "3", "-p", "name", "007", "--out", "o", "--jobs", "2"]
    cli("report", *words, "--each", "env_id", "--timeout", "9", "--quiet", "--environments", "e.json")
    assert asked == [
        ReportRequest(
            source="x.json",
            only=("a", "b"),
            parameters={"top": "3", "name": "007"},
            out=Path("o"),
            jobs=2,
            each="env_id",
            timeout=9,
            environments="e.json",
            progress=False,
        )
    ]


def test_parameters_of_one_run_do_not_reach_the_next(cli: Run, asked: list[ReportRequest]) -> None:
    cli("report", "-p", "top", "3")
    cli("report")
    assert [request.parameters for request in asked] == [{"top": "3"}, {}]


def test_a_failed_report_is_said_in_a_line_and_is_the_status(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = {"a": Failure("timeout", "cell In [2] `x`\ntook longer than 5 s")}
    monkeypatch.setattr(report, "run", lambda request: report.Result([], failures, Path("i.html")))
    status, _, err = cli("report")
    assert (status, err) == (4, "analysis: a: cell In [2] `x` took longer than 5 s\n")


def test_a_report_that_was_left_out_is_said_with_the_reason(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        Entry("a", "A", "", "a.html", state="made"),
        Entry("b", "B", "", "b.html", state="skipped", message="why"),
    ]
    monkeypatch.setattr(report, "run", lambda request: report.Result(entries, {}, Path("i.html")))
    assert cli("report") == (0, "b left out: why\n1 of 2 reports made: i.html\n", "")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ParameterError("no parameter"), 2),
        (PermissionError(13, "Permission denied", "o"), 6),
        (KeyboardInterrupt(), 130),
    ],
)
def test_what_stops_a_report_is_a_line_and_a_status_of_its_own(
    cli: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int
) -> None:
    def run(request: ReportRequest) -> report.Result:
        raise error

    monkeypatch.setattr(report, "run", run)
    got, out, err = cli("report")
    assert (got, out) == (status, "")
    assert err.startswith("analysis: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [("report", "-p", "a", "1", "-p", "a", "2"), ("report", "--jobs", "0"), ("report", "--jbos", "1"), ("fly",), ()],
)
def test_a_command_line_that_makes_no_sense_is_refused_with_2(cli: Run, words: tuple[str, ...]) -> None:
    status, _, err = cli(*words)
    assert status == 2
    assert "usage: python -m analysis" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tabels", "x.json", "out"), "no command 'tabels'; nearest: tables"),
        (("export", "x.json", "out", "--fromat", "raw"), "no option --fromat; nearest: --format"),
        (("report", "--jbos", "1"), "no option --jbos; nearest: --jobs"),
        (("check", "--qantities=yes"), "no option --qantities; nearest: --quantities"),
    ],
)
def test_a_misspelt_command_or_option_is_refused_with_the_nearest(cli: Run, words: tuple[str, ...], said: str) -> None:
    status, _, err = cli(*words)
    assert status == 2
    assert said in err


def test_the_beginning_of_an_option_and_what_follows_two_dashes_are_left_to_argparse() -> None:
    options = parse(["tables", "--keep-g", "--", "--jbos.json", "out"])
    assert (options.keep_going, options.source) == (True, "--jbos.json")


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        (["-p", "top", "3"], {"top": "3"}),
        (["-p", "top=3"], {"top": "3"}),
        (["-p", "task=", "-p", "where", "a=b"], {"task": "", "where": "a=b"}),
        (["-p", "where=a=b", "x.json", "-p", "top", "3"], {"where": "a=b", "top": "3"}),
    ],
)
def test_a_parameter_is_a_name_and_a_value_with_or_without_an_equals_sign(
    words: list[str], parameters: dict[str, str]
) -> None:
    assert parse(["report", *words]).parameters == parameters


def test_version_names_the_project_and_its_version(cli: Run) -> None:
    assert cli("--version") == (0, f"trajectory-notebooks {version('trajectory-notebooks')}\n", "")


# help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_examples_the_parser_itself_takes(cli: Run, command: str) -> None:
    status, out, _ = cli(command, "--help")
    assert status == 0
    examples = [line.strip() for line in out.replace("\\\n", " ").splitlines() if "python -m analysis " in line]
    lines = [line.partition("    ")[0] for line in examples if line.startswith("python -m analysis ")]
    assert len(lines) >= 3
    for line in lines:
        words = shlex.split(line.partition(" > ")[0])[3:]
        assert words[0] == command
        assert parse(words).run is COMMANDS[command].run


def test_help_stands_at_once() -> None:
    """The slow packages are imported by the verbs that need them."""
    asked = "import sys; from analysis.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    asked += (
        "print([name for name in ('papermill', 'nbconvert', 'datasets', 'altair', 'polars') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert "examples:" in done.stdout
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("words", [["check"], ["card", "{}/card/README.md"]], ids=lambda words: words[0])
def test_a_file_that_cannot_be_read_is_named_and_costs_a_clean_exit(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text("[[threshold]]\nquantity = 'rejected_share'\nat_most = 0\nwhy = 'so'\n", encoding="utf-8")
    source = tmp_path / "runs"
    source.mkdir()
    sample.write(source / "a.json", trajectories=4, environments=2, seed=5)
    (source / "b.json").symlink_to("nowhere")
    after = [word.format(tmp_path) for word in words[1:]] or ["--gate", str(gate)]
    assert main([words[0], str(source), *after, "--quiet"]) == 1
    assert "analysis: b.json: a link that leads nowhere, or no file\n" in capsys.readouterr().err
    (source / "b.json").unlink()
    assert main([words[0], str(source), *after, "--quiet"]) == 0
