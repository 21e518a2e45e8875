"""The notebook of training budget, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

NOTEBOOK = "60_training_budget.ipynb"
pytestmark = pytest.mark.slow


def test_the_sample_fills_every_figure(tmp_path: Path) -> None:
    shown = charts(execute(NOTEBOOK, tmp_path))
    assert len(shown) == 8
    assert all(0 < rows(chart) <= 2_000 for chart in shown)


def test_one_environment_is_enough(tmp_path: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, env_id="env_1_sft", cutoff=4096)
    assert len(charts(notebook)) == 8
    assert "Cut at 4,096 tokens" in text(notebook)


def test_an_estimate_is_labelled_as_one(tmp_path: Path) -> None:
    assert "an estimate, not a tokenizer" in text(execute(NOTEBOOK, tmp_path, tokenizer="estimate"))


def test_records_without_reasoning_say_so_in_place_of_its_charts(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"))
    assert text(notebook).count("Nothing to draw") == 2
    assert len(charts(notebook)) == 6


def test_an_empty_selection_says_so_in_place_of_every_chart(tmp_path: Path, shared_data: Path) -> None:
    talks = str(shared_data / "tau_bench_airline_gpt4o.json")
    notebook = execute(NOTEBOOK, tmp_path, source=talks, traj_type="non_conversation")
    assert charts(notebook) == []
    assert text(notebook).count("Nothing to draw") == 8
