"""The notebook of call quality, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

NOTEBOOK = "40_call_quality.ipynb"
pytestmark = pytest.mark.slow


def test_the_sample_fills_every_figure(tmp_path: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path)
    shown = charts(notebook)
    assert len(shown) == 15
    assert all(0 < rows(chart) <= 2_000 for chart in shown)
    assert "Nothing to draw" not in text(notebook)
    assert "errors that are recovered" in text(notebook)


def test_real_conversations_without_a_breach_say_so_in_place_of_that_chart(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"), top=5)
    assert len(charts(notebook)) == 14
    assert "Nothing to draw: tool and class of arguments other than valid" in text(notebook)
    # 73 results start with "Error", of 920 that can be judged: counted over the raw file.
    assert f"{100 * 73 / 920:.1f}" in str(charts(notebook)[1]["title"])


def test_an_empty_selection_says_so_in_place_of_every_chart(tmp_path: Path, shared_data: Path) -> None:
    talks = str(shared_data / "tau_bench_airline_gpt4o.json")
    notebook = execute(NOTEBOOK, tmp_path, source=talks, traj_type="non_conversation")
    assert charts(notebook) == []
    assert text(notebook).count("Nothing to draw") == 15
    assert "the results of 0 say neither ok nor error" in text(notebook), "the headlines stand, with nought"
