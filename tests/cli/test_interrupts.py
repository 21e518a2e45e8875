"""Ctrl-C and SIGTERM end a command in one line at any moment, and leave nothing behind.

Moments are drawn from when the signals are held, which is before anything of ours but the first lines is imported: what
comes before is Python's own start. The seed is printed, so that a failure can be had again.
"""

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from analysis import files, interrupts, sample
from analysis.report import sockets
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")

LINES = {signal.SIGINT: "analysis: interrupted\n", signal.SIGTERM: "analysis: terminated\n", signal.SIGKILL: ""}
STATUSES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
ONLY = ("--only", "10_tool_usage")
# Whoever starts the tests in the background has Ctrl-C ignored, and a child would inherit that.
DRIVER = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
# Two workers for a set that is worth none.
WORKERS = (
    "from analysis import interrupts, processes; interrupts.watch(); from analysis.sources.containers import plan; "
    "processes.PARALLEL_BYTES, processes.cores, plan.UNIT_BYTES = 1, lambda: 2, 40_000; "
)


@dataclass
class Desk:
    """A source, and folders that begin empty: for what is written, for temporary files, for the cache."""

    folder: Path

    def __post_init__(self) -> None:
        for name in ("tmp", "out", "runtime"):
            (self.folder / name).mkdir(exist_ok=True)

    def words(self, command: str) -> list[str]:
        out = self.folder / "out"
        made = [str(out / "tables")] if command == "tables" else [*ONLY, "--out", str(out / "html")]
        made += [] if command == "tables" else ["--executed", str(self.folder / "executed")]
        return [command, str(self.folder / "set.json"), *made, "--quiet"]

    def start(self, command: str) -> "subprocess.Popen[str]":
        places = {
            "TMPDIR": str(self.folder / "tmp"),
            "TRAJECTORY_CACHE": str(self.folder / "cache"),
            "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime"),
            "SOURCE_DATE_EPOCH": "0",
        }
        text = DRIVER + (WORKERS if command == "tables" else "") + "from analysis.__main__ import console; console()"
        return subprocess.Popen(
            [sys.executable, "-c", text, *self.words(command)],
            cwd=ROOT,
            env={**os.environ, **places},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def strike(self, command: str, number: signal.Signals, after: float) -> None:
        """Send a signal to the command, and to all it has started where a terminal would; hold what must hold."""
        process = self.start(command)
        await_held(process.pid)
        time.sleep(after)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        _, said = process.communicate(timeout=120)
        assert (process.returncode, said) in {(STATUSES[number], LINES[number]), (0, "")}
        if number != signal.SIGKILL:
            assert self.litter() == []

    def litter(self) -> list[str]:
        hidden = [path for path in (self.folder / "out").rglob(".*") if path.name != ".lock"]
        places = ("tmp", "runtime", "executed")
        left = [path for place in places for path in (self.folder / place).glob("*") if path.suffix != ".ipynb"]
        return [str(path.relative_to(self.folder)) for path in hidden + left]

    def finish(self, command: str) -> dict[str, str]:
        """Run the command to its end: hashes of what it has written."""
        process = self.start(command)
        _, said = process.communicate(timeout=300)
        assert (process.returncode, said) == (0, "")
        assert self.litter() == []
        written = sorted(path for path in (self.folder / "out").rglob("[!.]*") if path.is_file())
        return {str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in written}


def await_held(pid: int) -> None:
    """Wait until the process holds Ctrl-C back."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        held = next((line for line in status.splitlines() if line.startswith("SigBlk:")), "SigBlk: 0")
        if int(held.split()[1], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.001)
    raise AssertionError("it never held the signal back")


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a path short enough for sockets, which pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="desk-") as folder:
        yield Path(folder)


@pytest.fixture
def desk(short: Path) -> Desk:
    sample.write(short / "set.json", trajectories=12, environments=3, seed=5)
    return Desk(short)


def test_the_signals_are_held_before_anything_slow_is_imported() -> None:
    asked = "import sys; before = set(sys.modules); import analysis.__main__; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=ROOT)
    slow = {"typing", "re", "pathlib", "argparse", "threading", "polars", "contextlib"}
    assert not slow & set(done.stdout.split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_ends_in_one_line_from_its_first_moment(desk: Desk, number: signal.Signals) -> None:
    for after in (0, 0.02, 0.2):
        desk.strike("tables", number, after)


def test_a_signal_that_was_ignored_from_the_start_stays_ignored(desk: Desk) -> None:
    begin = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from analysis.__main__ import console; "
    end = "import os, analysis.cli.main as m; m.main = lambda: os.kill(os.getpid(), 2) or 7; console()"
    done = subprocess.run([sys.executable, "-c", begin + end], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (7, "")


def test_an_interrupt_removes_what_is_half_written_and_waits_for_what_is_undivided(tmp_path: Path) -> None:
    """In a process of its own: one thread writes a file and a folder, the other one ends all."""
    text = f"""
import os, signal, sys, time
from pathlib import Path
from analysis import files, interrupts
interrupts.watch()
folder = Path({str(tmp_path)!r})
with files.whole(folder / "a.json") as stream, files.whole_folder(folder / "b") as inside:
    stream.write(b"half")
    (inside / "c.json").write_text("half")
    files.beside(folder / "d.ipynb").write_text("half")
    with interrupts.undivided():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.3)
        (folder / "whole").write_text("whole")
    time.sleep(60)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (143, "analysis: terminated\n")
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_is_swapped_in_one_go(tmp_path: Path, is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the two renames there is no folder: an interrupt waits."""
    free: list[bool] = []
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        free.append(taken_elsewhere())
        return real(self, target)

    (tmp_path / "new").mkdir()
    if is_there:
        (tmp_path / "place").mkdir()
    monkeypatch.setattr(Path, "rename", rename)
    files.swap(tmp_path / "new", tmp_path / "place")
    assert free == [False] * (1 + is_there)
    assert taken_elsewhere()


def taken_elsewhere() -> bool:
    """Could another thread end this process now?"""
    from threading import Thread  # noqa: PLC0415

    answers: list[bool] = []

    def ask() -> None:
        answers.append(interrupts._undivided.acquire(blocking=False))
        if answers[-1]:
            interrupts._undivided.release()

    thread = Thread(target=ask)
    thread.start()
    thread.join()
    return answers[0]


# Sockets


def test_a_folder_of_sockets_whose_process_was_killed_is_removed_by_the_next(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "from analysis.report import sockets; print(sockets.folder(), flush=True); import time; time.sleep(60)"
    env = {**os.environ, "TMPDIR": str(short)}
    with subprocess.Popen(
        [sys.executable, "-c", text], env=env, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout
        made = Path(process.stdout.readline().strip())
        assert made.parent == short
        monkeypatch.setattr(sockets, "_bases", lambda: iter([short]))
        sockets.sweep()
        assert made.exists(), "its process lives"
        process.kill()
    sockets.sweep()
    assert not made.exists()


def test_where_the_temporary_folder_is_too_deep_sockets_go_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep, short = tmp_path / ("d" * 100), tmp_path
    deep.mkdir()
    monkeypatch.setattr(sockets, "PATH_BYTES", len(os.fsencode(short)) + 60)
    monkeypatch.setattr(sockets, "_bases", lambda: iter([deep, short]))
    sockets.folder.cache_clear()
    try:
        assert sockets.folder().parent == short
        assert list(deep.iterdir()) == []
    finally:
        sockets.remove()
    assert [path.name for path in short.iterdir()] == [deep.name]


def test_a_sweep_that_is_killed_leaves_a_folder_that_the_next_one_sweeps(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = short / f"{sockets.PREFIX}left"
    made.mkdir()
    for name in (sockets.LOCK, "a-1", "z-1"):
        (made / name).touch()
    monkeypatch.setattr(sockets, "_bases", lambda: iter([short]))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", fails)
        sockets.sweep()
    assert (made / sockets.LOCK).exists()
    sockets.sweep()
    assert not made.exists()


def fails(path: Path, missing_ok: bool = False) -> None:
    raise OSError(path)


# At random moments


def struck_again_and_again(desk: Desk, command: str, times: int, seed: int) -> None:
    print("seed", seed)
    moments = random.Random(seed)
    begin = time.monotonic()
    expected = desk.finish(command)
    took = time.monotonic() - begin
    for number in range(times):
        if number % 2:
            for place in ("cache", "out"):
                subprocess.run(["rm", "-rf", desk.folder / place], check=True)
            (desk.folder / "out").mkdir()
        signalled = moments.choice(list(LINES))
        after = moments.uniform(0, took)
        print(f"{number}: {signalled.name} after {after:.3f} s", flush=True)
        desk.strike(command, signalled, after)
    assert desk.finish(command) == expected


@pytest.mark.slow
@pytest.mark.parametrize("command", ["tables", "report"])
def test_a_command_that_is_struck_at_random_moments_is_silent_and_the_next_makes_the_same(
    desk: Desk, command: str
) -> None:
    struck_again_and_again(desk, command, times=5, seed=random.SystemRandom().randrange(10**6))


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["tables", "report"])
def test_so_it_is_after_fifty(desk: Desk, command: str) -> None:
    struck_again_and_again(desk, command, times=50, seed=random.SystemRandom().randrange(10**6))
