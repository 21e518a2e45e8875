"""Warm kernels: as fresh as cold ones, and a crash costs one notebook."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import fsspec
import nbformat
import papermill
import pytest
from jupyter_client.channels import HBChannel
from nbclient.exceptions import CellTimeoutError
from papermill.engines import NotebookExecutionManager
from papermill.iorw import papermill_io

from analysis.report import kernels
from analysis.report.run import _own_loop
from tests.conftest import ROOT
from tests.waiting import is_running, process_id, until

pytestmark = pytest.mark.slow


def notebook(*cells: Any) -> Any:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = [nbformat.v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    return nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": kernel})


def execute(folder: Path, *cells: str, **options: Any) -> list[str]:
    """What the cells print, executed through papermill's own door."""
    source = folder / f"{time.monotonic_ns()}.ipynb"
    nbformat.write(notebook(*cells), source)
    done = papermill.execute_notebook(
        str(source), str(source), engine_name="warm_kernel", progress_bar=False, **options
    )
    return ["".join(output.get("text", "")).strip() for cell in done.cells for output in cell.outputs]


@pytest.fixture(autouse=True)
def _no_kernel_left_over() -> Iterator[None]:
    yield
    kernels.kill_all()


def test_papermills_command_line_takes_the_engine_and_addresses(tmp_path: Path) -> None:
    parameters = nbformat.v4.new_code_cell("x = 1", metadata={"tags": ["parameters"]})
    nbformat.write(notebook(parameters, "import sys; print(x, 'altair' in sys.modules)"), tmp_path / "in.ipynb")
    command = [
        str(Path(sys.executable).parent / "papermill"),
        *(f"file://{tmp_path}/{name}.ipynb" for name in ("in", "out")),
    ]
    done = subprocess.run(
        [*command, "--engine", "warm_kernel", "-p", "x", "7"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    outputs = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1].outputs
    assert outputs[0].text == "7 True\n", "with the slow packages there before the first cell"


def test_a_notebook_comes_from_an_address_and_goes_to_one() -> None:
    with fsspec.open("memory://notebooks/in.ipynb", "w", encoding="utf-8") as file:
        nbformat.write(notebook("print('été')"), file)
    addresses = ("memory://notebooks/in.ipynb", "memory://notebooks/done.ipynb")
    papermill.execute_notebook(*addresses, engine_name="warm_kernel", progress_bar=False)
    with fsspec.open(addresses[1], encoding="utf-8") as file:
        assert nbformat.read(file, as_version=4).cells[0].outputs[0].text == "été\n"
    there = {f"memory:///notebooks/{name}.ipynb" for name in ("in", "done")}
    assert set(papermill_io.listdir("memory://notebooks")) == there


def test_a_notebook_sees_nothing_of_the_one_before(tmp_path: Path) -> None:
    first = execute(
        tmp_path,
        "import os, colorsys; colorsys.rgb_to_hsv = None; x = 1; os.environ['LEFT'] = 'over'; print(os.getpid())",
    )
    second = execute(
        tmp_path,
        "import os, colorsys; print('x' in globals(), colorsys.rgb_to_hsv is None, 'LEFT' in os.environ, os.getpid())",
    )
    *seen, pid = second[0].split()
    assert seen == ["False", "False", "False"]
    assert pid != first[0]


def test_polars_works_in_a_forked_kernel(tmp_path: Path) -> None:
    cell = (
        "import polars as pl\n"
        "frame = pl.DataFrame({'a': [1, 1, 2] * 50_000}).lazy()\n"
        "print(frame.group_by('a').len().sort('a').collect()['len'].to_list())"
    )
    assert execute(tmp_path, cell, execution_timeout=60) == ["[100000, 50000]"]


def test_the_server_has_one_thread_when_it_forks() -> None:
    """Forking with threads can leave a lock held for ever: nothing preloaded may start one."""
    modules = "; ".join(f"import {name}" for name in kernels.PRELOAD)
    counted = subprocess.run(
        [sys.executable, "-c", f"import os; {modules}; print(len(os.listdir('/proc/self/task')))"],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert counted.stdout.strip() == "1"


def test_what_a_notebook_leaves_for_its_end_is_done(tmp_path: Path) -> None:
    told = tmp_path / "end"
    execute(tmp_path, f"import atexit, pathlib; atexit.register(pathlib.Path({str(told)!r}).touch)")
    assert told.exists()


def test_the_notebook_is_saved_while_it_runs_but_not_at_every_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks at a hanging run sees how far it came; whoever waits for thirty quick cells does not wait for sixty
    saves."""
    save = create_autospec(NotebookExecutionManager.save, side_effect=NotebookExecutionManager.save)
    monkeypatch.setattr(NotebookExecutionManager, "save", save)
    execute(tmp_path, *["1"] * 30, "import time; time.sleep(1.2)", "2")
    assert 3 <= save.call_count <= 6, "begun, after the long cell, ended"


def test_no_thread_but_the_notebooks_own_uses_its_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat's socket was closed by one thread while another sent on it: a run in forty crashed."""
    start = create_autospec(HBChannel.start)
    monkeypatch.setattr(HBChannel, "start", start)
    assert execute(tmp_path, "print('beats not')") == ["beats not"]
    start.assert_not_called()


def test_kernels_at_once_lose_no_output_and_end_when_they_are_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in ten was killed after 2.5 s: its app had closed what its control thread still sent through."""
    sent = create_autospec(kernels._Process.send_signal, side_effect=kernels._Process.send_signal)
    monkeypatch.setattr(kernels._Process, "send_signal", sent)

    def one(number: int) -> list[str]:
        with _own_loop():
            return execute(tmp_path, f"print({number})", f"print('and', {number})")

    with ThreadPoolExecutor(3) as pool:
        said = list(pool.map(one, range(24)))
    assert said == [[str(number), f"and {number}"] for number in range(24)]
    assert {call.args[1] for call in sent.call_args_list} <= {signal.SIGINT}


@pytest.mark.parametrize(
    ("signum", "said"),
    [(signal.SIGKILL, "died before replying"), (signal.SIGSTOP, "didn't respond in 1 seconds")],
    ids=["dies", "hangs"],
)
def test_a_kernel_that_does_not_come_up_is_told_and_left_behind(
    signum: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch, started = kernels.WarmProvisioner.launch_kernel, []

    async def launch_and_hurt(self: Any, cmd: list[str], **kwargs: Any) -> Any:
        told = await launch(self, cmd, **kwargs)
        started.append(self.pid)
        os.kill(self.pid, signum)
        return told

    monkeypatch.setattr(kernels.WarmProvisioner, "launch_kernel", launch_and_hurt)
    with pytest.raises(RuntimeError, match=said):
        execute(tmp_path, "print('never')", start_timeout=1)
    assert not is_running(started[0])
    assert not kernels.WarmProvisioner.running


def test_a_cell_over_its_time_limit_is_stopped_and_its_kernel_with_it(tmp_path: Path) -> None:
    with pytest.raises(CellTimeoutError):
        execute(
            tmp_path,
            f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))",
            "time.sleep(90)",
            execution_timeout=2,
        )
    pid = int((tmp_path / "pid").read_text())
    assert not is_running(pid)
    assert execute(tmp_path, "print('next')") == ["next"]


def test_kernels_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    """A run that is killed outright must not leave kernels behind that go on reading and writing."""
    told = tmp_path / "pid"
    script = tmp_path / "run.py"
    script.write_text(
        "import sys, pathlib\n"
        "from tests.test_engine import execute\n"
        f"execute(pathlib.Path({str(tmp_path)!r}), "
        f'"import os, time, pathlib; pathlib.Path({str(told)!r}).write_text(str(os.getpid())); time.sleep(120)")\n'
    )
    run = subprocess.Popen([sys.executable, str(script)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    pid = process_id(told)
    assert is_running(pid)
    run.send_signal(signal.SIGKILL)
    run.wait()
    until(lambda: not is_running(pid))
