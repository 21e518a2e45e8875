"""Closed streams, odd variables, names and limits: with what it finds, a command works, or says why in one line."""

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import sample
from analysis.cli import main as command_line
from analysis.parameters import ParameterError
from analysis.report import kernels, limits, provenance
from analysis.tables import cache
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="streams and limits as POSIX has them")

CONSOLE = "from analysis.__main__ import console; console()"
NOT_UTF8 = os.fsdecode(b"n\xff.json")
Ended = tuple[int, str, str]
Command = Callable[..., Ended]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    sample.write(folder / "set.json", trajectories=4, environments=2, seed=5)
    return folder


@pytest.fixture
def command(place: Path) -> Command:
    """Run a command in a shell, so that streams can be closed: exit status, stdout, stderr."""

    def run(*words: str, streams: str = "", **variables: str) -> Ended:
        done = subprocess.run(
            ["sh", "-c", f'"$@" {streams}', "sh", sys.executable, "-c", CONSOLE, *words],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TRAJECTORY_CACHE": str(place / "cache"), **variables},
            capture_output=True,
            text=True,
            check=False,
            errors="surrogateescape",
        )
        return done.returncode, done.stdout, done.stderr

    return run


# Streams


@pytest.mark.parametrize(
    ("streams", "source", "status"),
    [
        (">&-", "set.json", 0),
        ("<&- >&- 2>&-", "set.json", 0),
        ("2>&-", "none.json", 2),
        ("2>/dev/full", "none.json", 2),
    ],
)
def test_a_closed_stream_changes_no_exit_status(
    command: Command, place: Path, streams: str, source: str, status: int
) -> None:
    ended, _, err = command("tables", source, "closed", "--quiet", streams=streams)
    assert ended == status
    assert err.count("\n") <= 1
    if status == 0:
        assert {path.read_bytes()[:4] for path in (place / "closed").rglob("*.parquet")} == {b"PAR1"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no full device")
def test_a_full_standard_output_is_named(command: Command) -> None:
    ended = command("sample", "one.json", "--trajectories", "1", "--environments", "1", streams=">/dev/full")
    assert ended == (6, "", "analysis: standard output: No space left on device; free some space and run again\n")


def test_what_a_narrow_stream_cannot_write_is_escaped(command: Command) -> None:
    status, out, err = command("tables", "--help", PYTHONIOENCODING="ascii")
    assert (status, err) == (0, "")
    assert r"0 all records kept \xb7 1 some rejected" in out


# Names


@pytest.mark.parametrize("is_there", [True, False])
def test_a_place_to_write_that_is_not_utf8_is_refused_in_one_line(
    command: Command, place: Path, is_there: bool
) -> None:
    if is_there:
        (place / NOT_UTF8).mkdir()
    status, out, err = command("tables", "set.json", NOT_UTF8, "--quiet")
    if is_there:
        (place / NOT_UTF8).rmdir()
    assert (status, out) == (2, "")
    assert err == "analysis: n<DCFF>.json: a name that is not UTF-8; rename the file or folder, or link it\n"


def test_a_source_that_is_not_utf8_is_read(command: Command, place: Path) -> None:
    (place / NOT_UTF8).write_bytes((place / "set.json").read_bytes())
    status, out, err = command("tables", NOT_UTF8, "tables", "--quiet")
    (place / NOT_UTF8).unlink()
    assert (status, err) == (0, "")
    assert out == "tables: 4 records in = 4 kept + 0 rejected\n"
    assert json.loads((place / "tables" / "manifest.json").read_bytes())["files"][0]["name"] == "n\\xff.json"


@pytest.mark.parametrize(
    "words",
    [
        ["tables", "set.json", "~/o"],
        ["export", "set.json", "~/o", "--format", "raw"],
        ["card", "set.json", "~/o", "--tables", "~/t"],
        ["sample", "~/o", "--siblings", "~/s"],
        ["check", "set.json", "--gate", "~/g", "--sarif", "~/s"],
        ["report", "--out", "~/o", "--executed", "~/e", "--suite", "~/s"],
    ],
    ids=lambda words: words[0],
)
def test_a_tilde_is_the_home_folder_in_every_option_that_is_a_path(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    options = vars(command_line.parse(words)).values()
    assert not [value for value in map(str, options) if value.startswith("~")]
    assert len([value for value in map(str, options) if value.startswith("/home/ada/")]) == str(words).count("~")


@pytest.mark.parametrize(
    "words",
    [
        ["tables", " ", "out"],
        ["export", "", "out", "--format", "raw"],
        ["replay", "", "out"],
        ["card", "set.json", ""],
        ["check", "set.json", "--sarif", ""],
        ["report", "set.json", "--out", " "],
        ["sample", ""],
    ],
    ids=lambda words: words[0],
)
def test_a_blank_name_is_refused(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status: object = command_line.main(words)
    except SystemExit as end:
        status = end.code
    assert (status, list(tmp_path.iterdir())) == (2, [])


@pytest.mark.parametrize("variable", ["TRAJECTORY_CACHE", "XDG_CACHE_HOME"])
def test_a_tilde_is_the_home_folder_in_every_variable_that_is_a_path(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRAJECTORY_CACHE", raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv(variable, "~/kept")
    assert cache.root().is_relative_to("/home/ada/kept")


# Variables


@pytest.mark.parametrize("value", ["yesterday", "1.5", "9" * 30])
def test_a_date_that_is_no_number_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    with pytest.raises(ParameterError, match=r"SOURCE_DATE_EPOCH is '.*', not seconds"):
        provenance._date()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("HTTPS_PROXY", "http://[::1"),
        ("HF_HUB_DOWNLOAD_TIMEOUT", "soon"),
        ("HF_TOKEN", "schlüssel"),
    ],
)
def test_a_setting_the_hub_cannot_be_asked_with_is_one_line(command: Command, variable: str, value: str) -> None:
    closed = {"HF_ENDPOINT": "https://127.0.0.1:9", "NO_PROXY": ""}
    status, out, err = command("tables", "hub:nobody/nothing", "hub", "--quiet", **(closed | {variable: value}))
    assert (status, out) == (2, "")
    assert err.startswith("analysis: hub:nobody/nothing: the hub cannot be ")
    assert err.count("\n") == 1


def test_a_cache_that_cannot_be_written_says_that_it_is_the_cache(command: Command, place: Path) -> None:
    file = place / "set.json"
    status, out, err = command("tables", "set.json", "out", "--quiet", TRAJECTORY_CACHE=str(file))
    assert (status, out) == (6, "")
    told = f"analysis: {file}/tables: Not a directory; it is in the cache of decoded tables, which "
    assert err == f"{told}TRAJECTORY_CACHE=FOLDER moves\n"


@pytest.mark.parametrize(("mode", "is_told"), [(0o755, False), (0o775, False), (0o777, True)])
def test_a_cache_that_every_user_can_write_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mode: int, is_told: bool
) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path))
    tmp_path.chmod(mode)
    assert command_line.main(["check", "--quantities"]) == 0
    assert ("other users can write to this cache" in capsys.readouterr().err) == is_told


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "; free some space and run again"),
        (errno.EMFILE, "; allow more open files (ulimit -n 1024)"),
        (errno.EACCES, ""),
    ],
)
def test_what_cannot_be_written_promises_no_more_than_is_true(number: int, remedy: str) -> None:
    error = OSError(number, os.strerror(number), "out/manifest.json")
    assert command_line._cannot_write(error) == f"out/manifest.json: {os.strerror(number)}{remedy}"


@pytest.mark.slow
def test_a_temporary_folder_that_is_too_deep_for_sockets_kills_no_report(command: Command, place: Path) -> None:
    deep = place / ("d" * 120)
    deep.mkdir()
    words = ["--only", "96_dictionary", "--out", "html", "--executed", "executed", "--quiet"]
    assert command("report", "set.json", *words, TMPDIR=str(deep)) == (0, "1 of 1 reports made: html/index.html\n", "")
    assert list(deep.iterdir()) == []


# Files and modules of others


HOSTILE = {
    "no TOML": b"x = [",
    "no UTF-8": b"\xff\xfe\x00",
    "empty": b"",
    "deep": b"a = " + b"[" * 5000 + b"]" * 5000,
    "other": b"report = 5",
    "escapes": b'["\\u001b[31m"]\nx = 1',
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    "words",
    [
        ["report", "set.json", "--suite", "odd.toml"],
        ["check", "set.json", "--gate", "odd.toml"],
        ["check", "odd.subset.toml"],
    ],
    ids=["suite", "gate", "subset"],
)
def test_a_file_that_is_no_declaration_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: list[str], content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kernels, "warm_up", lambda: None)
    sample.write("set.json", trajectories=1, environments=1, seed=5)
    for name in ("odd.toml", "odd.subset.toml"):
        Path(name).write_bytes(content)
    assert command_line.main([*words, "--quiet"]) == 2
    said = capfd.readouterr()
    assert (said.out, said.err.count("\n"), "\x1b" in said.err) == ("", 1, False)
    assert said.err.startswith("analysis: odd.")


def test_the_command_works_beside_an_analysis_of_the_users_own(place: Path, tmp_path: Path) -> None:
    (tmp_path / "analysis.py").write_text("raise SystemExit('mine')")
    script = tmp_path / "bin" / "trajectories"  # as pip writes it; its own folder comes first, not the user's
    script.parent.mkdir()
    script.write_text("from analysis.__main__ import console\nconsole()")
    done = subprocess.run(
        [sys.executable, str(script), "tables", str(place / "set.json"), "out", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "TRAJECTORY_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "out: 4 records in = 4 kept + 0 rejected\n"), done.stderr


@pytest.mark.slow
def test_reports_are_made_beside_modules_of_the_users_own(command: Command, place: Path) -> None:
    """The server that kernels are forked from imports none of them."""
    for name in ("analysis", "altair"):
        (place / f"{name}.py").write_text("raise SystemExit('mine')")
    script = place / "bin" / "trajectories"
    script.parent.mkdir()
    script.write_text("from analysis.__main__ import console\nconsole()")
    words = ["--only", "96_dictionary", "--out", "beside", "--executed", "executed", "--quiet"]
    done = subprocess.run(
        [sys.executable, str(script), "report", "set.json", *words],
        cwd=place,
        env={**os.environ, "TRAJECTORY_CACHE": str(place / "cache"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    for name in ("analysis", "altair"):
        (place / f"{name}.py").unlink()
    assert (done.returncode, done.stderr) == (0, "")


# Limits


@pytest.mark.parametrize(
    ("soft", "hard", "asked", "affordable"),
    [(96, 96, 3, 3), (100, 100, 8, 3), (64, 4096, 8, 8), (20000, resource.RLIM_INFINITY, 8, 8), (96, 96, 1, 1)],
)
def test_as_many_notebooks_run_at_once_as_the_limit_of_open_files_allows(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, asked: int, affordable: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda which, values: None)
    assert limits.affordable(asked) == affordable


def test_with_too_few_open_files_for_a_kernel_a_report_says_what_to_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (64, 64))
    monkeypatch.setattr(resource, "setrlimit", lambda which, values: None)
    with pytest.raises(ParameterError, match=r"96 files and .* 64.*ulimit -n 1024"):
        limits.affordable(1)


def test_few_open_files_are_enough_for_tables(place: Path) -> None:
    for number in range(80):
        sample.write(place / "many" / f"{number}.jsonl", trajectories=1, environments=1, seed=number)
    text = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); {CONSOLE}"
    done = subprocess.run(
        [sys.executable, "-c", text, "tables", "many", "from many", "--quiet"],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TRAJECTORY_CACHE": str(place / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "from many: 80 records in = 80 kept + 0 rejected\n"
