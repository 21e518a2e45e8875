"""Worker processes: a caller's script needs no guard, and where none can be started the work is done all the same."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import spawn
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import load, processes, sample
from analysis.records import values
from analysis.records.model import Trajectory
from analysis.schema import VALUES
from analysis.sources.containers import plan
from analysis.tables import write_tables
from tests.waiting import is_running, until

SCRIPT = """
from analysis import load
from analysis.records import values
from analysis.records.model import Trajectory
from analysis.schema import VALUES
from analysis import processes
from analysis.sources.containers import plan

plan.UNIT_BYTES, processes.PARALLEL_BYTES = 40_000, 0
processes.cores = lambda: 2
manifest = load({source!r}, progress=False).manifest
print("once", manifest["records_in"], manifest["kept"], manifest["rejected"])
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set nobody has decoded yet: what the tests' common cache holds would start no worker."""
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "set.json"
    sample.write(path, trajectories=12, environments=3, seed=5)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("way", ["a file", "standard input"])
def test_a_script_that_calls_load_at_its_top_is_run_once_and_loses_nothing(
    source: Path, tmp_path: Path, way: str
) -> None:
    text = SCRIPT.format(source=str(source))
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(script) if way == "a file" else "-"],
        input=None if way == "a file" else text,
        env=os.environ | {"TRAJECTORY_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert run.stdout == "once 12 12 0\n"
    assert run.stderr == ""


COMMAND = """
import sys
from analysis import processes

processes.PARALLEL_BYTES, processes.cores = 40_000, lambda: 2
real = processes.workers


def started(jobs):
    print(jobs, "polars" in sys.modules)
    return real(jobs)


processes.workers = started
from analysis.cli.main import main

sys.exit(main(["tables", *sys.argv[1:]]))
"""


@pytest.mark.slow
def test_a_command_starts_its_workers_before_it_imports_polars_and_says_nothing_of_them(
    source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run = subprocess.run(
        [sys.executable, "-c", COMMAND, source, out, "--quiet"],
        env=os.environ | {"TRAJECTORY_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert run.stdout == f"2 False\n{out}: 12 records in = 12 kept + 0 rejected\n"
    assert run.stderr == ""


class Watched(ThreadPoolExecutor):
    """Threads that keep what they were given to do, and whether they were shut down."""

    def __init__(self) -> None:
        super().__init__(2)
        self.given: list[str] = []
        self.is_down = False

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        self.given.append(work.__name__)
        return super().submit(work, *arguments, **named)

    def shutdown(self, *arguments: Any, **named: Any) -> None:
        self.is_down = True
        super().shutdown(*arguments, **named)


def test_tables_are_decoded_by_the_workers_that_are_given_and_these_are_left_running(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 40_000)
    with Watched() as workers:
        manifest = write_tables(str(source), tmp_path / "out", progress=False, workers=workers)
        assert not workers.is_down
    assert workers.given.count("decode_unit") > 1
    assert (manifest["kept"], manifest["rejected"]) == (12, 0)


def test_a_worker_has_one_polars_thread_because_the_workers_are_the_parallelism() -> None:
    with processes.workers(1) as pool:
        assert pool.submit(pl.thread_pool_size).result() == 1


def test_what_is_imported_to_stay_is_walked_by_no_collection() -> None:
    before = gc.get_freeze_count()
    try:
        with processes.importing():
            assert not gc.isenabled()
            made = [[n] for n in range(1000)]
        assert gc.isenabled()
        assert gc.get_freeze_count() - before >= len(made)
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(
    ("megabytes", "asked", "cores", "worth"),
    [(1, 0, 8, 1), (1, 4, 8, 1), (47, 0, 8, 1), (50, 0, 8, 2), (700, 0, 8, 8), (700, 2, 8, 2), (700, 0, 1, 1)],
)
def test_a_set_is_worth_as_many_processes_as_have_enough_to_do(
    monkeypatch: pytest.MonkeyPatch, megabytes: int, asked: int, cores: int, worth: int
) -> None:
    monkeypatch.setattr(processes, "cores", lambda: cores)
    assert processes.worth(megabytes << 20, asked) == worth


def test_where_no_worker_process_starts_this_one_decodes_and_says_so(
    source: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 40_000)
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(processes, "cores", lambda: 2)
    monkeypatch.setattr(processes, "_begin", partial(os._exit, 3))
    manifest = load(str(source), progress=False).manifest
    assert (manifest["records_in"], manifest["kept"], manifest["rejected"]) == (12, 12, 0)
    assert "no worker process" in caplog.text


def test_a_worker_that_is_killed_as_it_starts_is_started_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 40_000)
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(processes, "cores", lambda: 2)
    monkeypatch.setattr(processes, "_begin", partial(die_once, str(tmp_path / "died")))
    manifest = load(str(source), progress=False).manifest
    assert (manifest["records_in"], manifest["kept"], manifest["rejected"]) == (12, 12, 0)
    assert (tmp_path / "died").exists()
    assert caplog.text == ""


def die_once(mark: str) -> None:
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def test_the_same_bytes_under_another_name_are_told_by_that_name(source: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    copy.write_bytes(source.read_bytes())
    first, second = load(str(source), progress=False), load(str(copy), progress=False)
    assert first.manifest["content_hash"] == second.manifest["content_hash"]
    for data, name in ((first, "set.json"), (second, "copy.json")):
        origins = data.trajectories.select("origin").collect().to_series()
        assert origins.str.starts_with(f"{name}@").all()


@pytest.mark.slow
@pytest.mark.parametrize("dies", [False, True])
def test_a_second_pass_in_several_processes_gives_the_rows_of_one(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 40_000)
    one = load(str(source), progress=False).derive(VALUES, values.rows, key="one").collect()
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(processes, "cores", lambda: 2)
    rows = partial(rows_or_death, here=os.getpid()) if dies else values.rows
    several = load(str(source), progress=False).derive(VALUES, rows, key=f"several {dies}").collect()
    assert several.equals(one)
    assert one.height > 0


def rows_or_death(trajectory: Trajectory, here: int) -> Iterator[tuple[Any, ...]]:
    """The rows in the process of the test; in any other, its end."""
    if os.getpid() != here:
        os._exit(9)
    return values.rows(trajectory)


WAITING = """
import multiprocessing, time
from analysis import processes
with processes.workers(2) as pool:
    processes.await_one(pool)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_a_run_that_is_killed_outright_leaves_no_worker_behind() -> None:
    # Its resource tracker outlives it, and complains.
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, stderr=quiet, text=True) as run:
        assert run.stdout is not None
        workers = [int(pid) for pid in run.stdout.readline().split()]
        run.kill()
    assert workers
    until(lambda: not any(map(is_running, workers)))


def test_a_worker_whose_run_is_killed_as_it_starts_says_nothing() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    with processes._silent_orphans():
        words = spawn.get_command_line(tracker_fd=reading, pipe_handle=reading)
    done = subprocess.run(words, pass_fds=[reading], capture_output=True, text=True, check=False)
    os.close(reading)
    assert (done.returncode, done.stderr) == (1, "")
