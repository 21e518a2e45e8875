"""The notebook of duplicates, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

NOTEBOOK = "75_duplicates.ipynb"
pytestmark = pytest.mark.slow


def test_the_sample_fills_every_figure(tmp_path: Path) -> None:
    shown = charts(execute(NOTEBOOK, tmp_path))
    assert len(shown) == 1
    assert all(0 < rows(chart) <= 2_000 for chart in shown)


def test_four_trials_a_scenario_are_compared(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"))
    assert len(charts(notebook)) == 1
    assert "300 in the same mode" in str(charts(notebook)[0]["title"])  # 50 tasks, 4 trials: 6 pairs each


def test_an_empty_selection_says_so_in_place_of_the_chart(tmp_path: Path, shared_data: Path) -> None:
    talks = str(shared_data / "tau_bench_airline_gpt4o.json")
    notebook = execute(NOTEBOOK, tmp_path, source=talks, traj_type="non_conversation")
    assert charts(notebook) == []
    assert "Nothing to draw" in text(notebook)
