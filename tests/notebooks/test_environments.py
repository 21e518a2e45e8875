"""The notebook of environments, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

NOTEBOOK = "80_environments.ipynb"
pytestmark = pytest.mark.slow


def test_the_sample_fills_every_figure(tmp_path: Path) -> None:
    shown = charts(execute(NOTEBOOK, tmp_path))
    assert len(shown) == 2
    assert all(0 < rows(chart) <= 2_000 for chart in shown)


def test_siblings_named_by_path_are_read(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(
        NOTEBOOK,
        tmp_path,
        source=str(shared_data / "envscaler_runner_fc.json"),
        environments=str(shared_data / "envscaler_environment.json"),
        scenarios=str(shared_data / "envscaler_rl_scenarios.json"),
    )
    assert len(charts(notebook)) == 2
    assert "n = 3 scenarios with checks" in str(charts(notebook)[1]["title"])


def test_without_siblings_it_says_which_parameters_name_them(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"))
    assert charts(notebook) == []
    assert "tools an environment, median" not in text(notebook), "no headlines of nothing"
    assert "name the sibling sets in the parameters environments and scenarios" in text(notebook)
