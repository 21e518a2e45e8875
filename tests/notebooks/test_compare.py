"""The notebook of compare, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

NOTEBOOK = "90_compare.ipynb"
pytestmark = pytest.mark.slow


def test_one_source_is_compared_by_its_modes(tmp_path: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path)
    shown = charts(notebook)
    assert len(shown) == 5
    assert all(0 < rows(chart) <= 2_000 for chart in shown)
    assert "Left: with user; right: without user" in text(notebook)


def test_two_sources_without_a_common_scenario_say_so(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, other=str(shared_data / "tau_bench_airline_gpt4o.json"))
    assert "Nothing to draw: quantity of the scenarios both sides have" in text(notebook)
    assert "Nothing to draw: tool both sides offer" in text(notebook)
    assert "tau_bench_airline" in text(notebook), "its environment is listed as lost"
    assert len(charts(notebook)) == 3


def test_a_source_of_one_mode_has_no_other_half(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"))
    assert text(notebook).count("Nothing to draw") == 3
