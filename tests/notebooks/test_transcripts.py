"""The notebook of transcripts, executed."""

from pathlib import Path

import pytest

from analysis import load, sample
from analysis.__main__ import main
from tests.notebooks.run import execute, text

NOTEBOOK = "85_transcripts.ipynb"
pytestmark = pytest.mark.slow


def test_real_conversations_are_shown_word_for_word_with_the_reason_they_were_chosen_for(
    tmp_path: Path, shared_data: Path
) -> None:
    shown = text(execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"), each=1))
    for reason in ("most errors", "longest", "most repeated calls", "at random"):
        assert shown.count(reason) >= 2, f"{reason!r} stands in the table and at its transcript"
    assert "Result ·" in shown


def test_an_empty_selection_says_so(tmp_path: Path, shared_data: Path) -> None:
    talks = str(shared_data / "tau_bench_airline_gpt4o.json")
    assert "no rows in this source or selection" in text(
        execute(NOTEBOOK, tmp_path, source=talks, traj_type="non_conversation")
    )


def test_a_page_can_be_had_of_every_trajectory(tmp_path: Path) -> None:
    source = tmp_path / "three.json"
    sample.write(source, trajectories=3, environments=2, seed=1)
    out = tmp_path / "pages"
    asked = ["report", str(source), "--only", "transcripts", "--each", "trajectory_id"]
    assert main([*asked, "--out", str(out), "--executed", str(tmp_path / "executed"), "--quiet"]) == 0
    ids = load(str(source)).trajectories.collect()["trajectory_id"].to_list()
    assert sorted(page.name for page in out.glob("85_*.html")) == [f"85_transcripts--{id_}.html" for id_ in ids]
    for id_ in ids:
        page = (out / f"85_transcripts--{id_}.html").read_text(encoding="utf-8")
        assert [other for other in ids if f'class="transcript" id="t-{other}"' in page] == [id_]
