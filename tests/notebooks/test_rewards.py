"""The notebook of rewards, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

NOTEBOOK = "87_rewards.ipynb"
pytestmark = pytest.mark.slow


def test_real_rollouts_with_trials_fill_every_figure_but_that_of_checks(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"))
    shown = charts(notebook)
    assert [rows(chart) > 0 for chart in shown] == [True] * 7
    assert "that all 4 trials are, 0.2" in " ".join(shown[1]["title"]["text"])
    assert "No rewards here" not in text(notebook)
    assert "of 200, over 50 scenarios" in text(notebook)
    assert "Scenarios that no trajectory solves: 14 of 50." in text(notebook)


def test_a_source_without_rewards_says_so_and_draws_nothing(tmp_path: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path)
    assert "No rewards here: no trajectory of this source has total_reward" in text(notebook)
    assert charts(notebook) == []
    assert "trajectories with a reward" not in text(notebook), "no headlines of nothing"
