"""The notebook of dialogue, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

NOTEBOOK = "70_dialogue.ipynb"
pytestmark = pytest.mark.slow


def test_the_sample_fills_every_figure(tmp_path: Path) -> None:
    shown = charts(execute(NOTEBOOK, tmp_path))
    assert len(shown) == 6
    assert all(0 < rows(chart) <= 2_000 for chart in shown)


def test_one_mode_alone_has_nothing_to_pair(tmp_path: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, traj_type="non_conversation")
    assert len(charts(notebook)) == 2
    assert text(notebook).count("Nothing to draw") == 4


def test_an_empty_selection_says_so_in_place_of_every_chart(tmp_path: Path, shared_data: Path) -> None:
    talks = str(shared_data / "tau_bench_airline_gpt4o.json")
    notebook = execute(NOTEBOOK, tmp_path, source=talks, traj_type="non_conversation")
    assert charts(notebook) == []
    assert text(notebook).count("Nothing to draw") == 6
