"""Notebooks from papermill's own command line, as a launcher calls it."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.notebooks.run import NOTEBOOKS, charts, text

pytestmark = pytest.mark.slow


def papermill(notebook: str, target: Path, *flags: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "papermill", str(NOTEBOOKS / notebook), str(target), "--no-progress-bar"]
    # From another folder than the project's: whoever launches it need not know where it lies.
    return subprocess.run([*command, *flags], cwd=target.parent, capture_output=True, text=True, check=False)


def test_parameters_survive_every_flag_that_brings_them(tmp_path: Path) -> None:
    (tmp_path / "given.yaml").write_text("seed: 3\ntop: 99\n", encoding="utf-8")
    target = tmp_path / "executed.ipynb"
    flags = ["-f", "given.yaml", "-y", "traj_type: conversation", "-r", "env_id", "env_7_sft", "-p", "top", "3"]
    ran = papermill("20_step_lengths.ipynb", target, *flags)
    assert ran.returncode == 0, ran.stderr
    executed = nbformat.read(target, as_version=4)
    (injected,) = [cell.source for cell in executed.cells if "injected-parameters" in cell.metadata.get("tags", [])]
    lines = set(injected.splitlines()[1:])
    assert lines == {"seed = 3", "top = 3", 'traj_type = "conversation"', 'env_id = "env_7_sft"'}
    assert "traj_type = conversation, env_id = env_7_sft" in text(executed)
    assert charts(executed)


def test_every_trap_is_named_in_one_message_of_the_first_cells_and_nothing_is_read(tmp_path: Path) -> None:
    target = tmp_path / "executed.ipynb"
    flags = ["-p", "source", "007", "-p", "traj_type", "None", "-p", "top", "1e3", "-r", "seed", "5", "-p", "tpo", "30"]
    ran = papermill("20_step_lengths.ipynb", target, *flags)
    assert ran.returncode == 1
    assert "ParameterError: tpo: no such parameter; nearest: top" in ran.stderr
    for message in (
        "source: 7 is a number, not text",
        "traj_type: None, not text",
        "top: 1000.0 is a number with a point, not a whole number",
        "seed: '5' is text, not a whole number",
    ):
        assert message in ran.stderr
    executed = nbformat.read(target, as_version=4)
    assert sum(bool(cell.get("execution_count")) for cell in executed.cells) <= 3
    assert not charts(executed)
