"""The notebooks of overview, tool usage, step lengths and coverage, executed: one environment, and nothing at all."""

from pathlib import Path

import pytest

from tests.notebooks.run import charts, execute, rows, text

pytestmark = pytest.mark.slow

# Notebook, charts of one environment, charts of an empty selection, sentences in place of the others.
EXPECTED = [
    ("00_overview.ipynb", 5, 1, 4),  # what was published is known without any record
    ("10_tool_usage.ipynb", 7, 0, 7),
    ("20_step_lengths.ipynb", 6, 0, 6),
    ("30_coverage.ipynb", 2, 0, 3),  # one environment is spread over nothing: no Lorenz curve
]


@pytest.mark.parametrize(("notebook", "drawn", "left", "said"), EXPECTED, ids=[row[0] for row in EXPECTED])
def test_one_environment_is_enough(notebook: str, drawn: int, left: int, said: int, tmp_path: Path) -> None:
    executed = execute(notebook, tmp_path, env_id="env_7_sft")
    shown = charts(executed)
    assert len(shown) == drawn
    assert all(0 < rows(chart) <= 2_000 for chart in shown)
    assert "env_id = env_7_sft" in text(executed), "the provenance names the selection"


@pytest.mark.parametrize(("notebook", "drawn", "left", "said"), EXPECTED, ids=[row[0] for row in EXPECTED])
def test_an_empty_selection_says_so_in_place_of_charts(
    notebook: str, drawn: int, left: int, said: int, tmp_path: Path, shared_data: Path
) -> None:
    talks = str(shared_data / "tau_bench_airline_gpt4o.json")
    executed = execute(notebook, tmp_path, source=talks, traj_type="non_conversation")
    assert len(charts(executed)) == left
    assert text(executed).count("Nothing to draw") == said
