"""The notebook of transcripts, executed."""

from pathlib import Path

import pytest

from tests.notebooks.run import execute, text

NOTEBOOK = "85_transcripts.ipynb"
pytestmark = pytest.mark.slow


def test_real_conversations_are_shown_word_for_word_with_the_reason_they_were_chosen_for(
    tmp_path: Path, shared_data: Path
) -> None:
    shown = text(execute(NOTEBOOK, tmp_path, source=str(shared_data / "tau_bench_airline_gpt4o.json"), each=1))
    for reason in ("most errors: ", "longest: ", "most repeated calls: ", "at random"):
        assert shown.count(reason) == 2, f"{reason!r} stands in the table and at its transcript"
    assert "Result ·" in shown


def test_an_empty_selection_says_so(tmp_path: Path, shared_data: Path) -> None:
    talks = str(shared_data / "tau_bench_airline_gpt4o.json")
    assert "no rows in this source or selection" in text(
        execute(NOTEBOOK, tmp_path, source=talks, traj_type="non_conversation")
    )
