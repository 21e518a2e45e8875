"""Nothing of anybody's data moves a terminal's cursor, colours it, or reorders what it shows."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import visible
from analysis.cli.main import main
from tests.builders import trajectory

HOSTILE = "a\x1b[31mb\x9b2Jc\x07d\u202ee\x7ff\u2028g"


def unseen(text: str) -> list[str]:
    kinds = ("Cc", "Cs", "Zl", "Zp")
    return [one for one in text if one not in "\t\n" and (unicodedata.category(one) in kinds or one in "\u202e\u2066")]


@given(st.text(st.characters(exclude_categories=[])))
def test_no_text_keeps_a_character_that_a_terminal_obeys(text: str) -> None:
    assert not unseen(visible.visible(text))
    assert "\n" not in visible.one_line(text)
    assert json.loads(visible.visible_json(json.dumps(text, ensure_ascii=False))) == json.loads(json.dumps(text))


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_an_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible.visible(text) == text


def test_a_log_message_shows_what_its_texts_hold(caplog: pytest.LogCaptureFixture) -> None:
    visible.logger("analysis.tables").warning("%s: %d of %s", HOSTILE, 3, Path(HOSTILE))
    (message,) = caplog.messages
    assert not unseen(message)
    assert message.startswith("a␛[31mb<9B>2Jc␇d<202E>e␡f<2028>g: 3 of a␛")


@pytest.mark.parametrize(
    "words", [["tables", "{}", "out"], ["check", "{}"], ["export", "{}", "out", "--format", "raw"]]
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_command_shows_names_of_files_and_data(
    words: list[str], exists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    name = "a\x1b[31mb\x9b2Jc\x07d\u202e.json"
    if exists:
        records = [trajectory("t1"), {"what \x1b]0;title\x07": "is this"}]
        Path(name).write_text(json.dumps(records), encoding="utf-8")
    assert main([*(word.format(name) for word in words), "--quiet"]) in (1, 2)
    said = capfd.readouterr()
    assert not unseen(said.out + said.err)
    assert (words[0] == "export" and exists) or "a␛[31mb<9B>2Jc␇d<202E>.json" in said.out + said.err
