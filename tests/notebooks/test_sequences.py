"""The notebook of sequences and value flow, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

NOTEBOOK = "50_sequences.ipynb"
pytestmark = pytest.mark.slow


def test_the_sample_fills_every_figure_on_verbs(tmp_path: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path)
    shown = charts(notebook)
    assert len(shown) == 9
    assert all(0 < rows(chart) <= 2_000 for chart in shown)
    assert "environments with different tools" in text(notebook)
    assert "ids in arguments that are grounded" in text(notebook)


def test_one_environment_is_shown_on_its_tools(tmp_path: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, env_id="env_7_sft", min_n=2)
    assert "One environment: a sequence is made of the names of its tools." in text(notebook)
    assert "_" in str(charts(notebook)[2]["title"]), "a sequence of whole tool names"


def test_made_up_card_numbers_of_real_conversations_are_listed(tmp_path: Path, shared_data: Path) -> None:
    notebook = execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"))
    assert len(charts(notebook)) == 9
    assert "credit_card_7334" in text(notebook)


def test_an_empty_selection_says_so_in_place_of_every_chart(tmp_path: Path, shared_data: Path) -> None:
    talks = str(shared_data / "tau_bench_airline_gpt4o.json")
    notebook = execute(NOTEBOOK, tmp_path, source=talks, traj_type="non_conversation")
    assert charts(notebook) == []
    assert text(notebook).count("Nothing to draw") == 9
    assert "no sequence of calls occurs in as many trajectories as required" in text(notebook), (
        "the headlines stand, with a dash"
    )
