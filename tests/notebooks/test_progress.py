"""Decoding shows how far it is: a widget in a notebook, a plain bar in a terminal, nothing when told to be quiet."""

import json
import os
import subprocess
import sys
import termios
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.builders import trajectory

# A bar is for work of more than a moment; here any work counts as that.
DECODE = """
from analysis import processes
processes.PARALLEL_BYTES = 0
from analysis import load
load({source!r}, jobs=1, progress={progress})
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "trajectories.json"
    path.write_text(json.dumps([trajectory()]), encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_in_a_notebook_it_is_a_widget_and_no_red_box(source: str) -> None:
    cell = nbformat.v4.new_code_cell(DECODE.format(source=source, progress=True) + ";")
    executed = NotebookClient(nbformat.v4.new_notebook(cells=[cell]), kernel_name="python3").execute()
    outputs = executed.cells[0].outputs
    assert [output for output in outputs if "application/vnd.jupyter.widget-view+json" in output.get("data", {})]
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize(
    ("progress", "is_watched", "is_shown"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_a_bar_is_for_terminals_and_not_for_who_wants_quiet(
    source: str, progress: bool, is_watched: bool, is_shown: bool
) -> None:
    code = DECODE.format(source=source, progress=progress)
    here, there = os.openpty()
    termios.tcsetwinsize(there, (24, 80))
    try:
        stderr = there if is_watched else subprocess.PIPE
        ran = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=stderr, check=True)
        os.write(there, b"the end")  # so that reading returns where nothing else was said
        said = os.read(here, 100_000) + (ran.stderr or b"")
    finally:
        os.close(there)
        os.close(here)
    assert (b"decoding: 100%" in said) is is_shown
    assert not ran.stdout
