"""The metadata are read by the library of the hub, and say nothing that is not known."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import DatasetCard, DatasetCardData
from hypothesis import given
from hypothesis import strategies as st

from analysis.card import CardRequest, write
from analysis.card.metadata import metadata, size_category, written
from analysis.card.splice import CardError
from analysis.tables import Tables
from tests.builders import decode, trajectory
from tests.card.conftest import Played

HOSTILE = "a: [b] # c\n- 'd' \"e\" {f} &g *h !i |j >k %l @m `n \u2028 \x85 🦉 ---"


@pytest.fixture(scope="module")
def data() -> Tables:
    return decode(trajectory())


def read(text: str) -> dict[str, object]:
    """As the hub's library reads a card, and writes it again."""
    card: Any = DatasetCard(f"---\n{text}---\nMine.\n")
    made: Any = card.data
    assert type(made).__name__ == "DatasetCardData"
    found: dict[str, object] = made.to_dict()
    assert yaml.safe_load(made.to_yaml()) == found
    return found


def test_the_cards_metadata_are_what_the_hubs_library_expects(played: Played) -> None:
    loaded: Any = DatasetCard.load(played.written.card)
    assert loaded.data.to_dict() == {
        "license": "mit",
        "size_categories": ["n<1K"],
        "tags": ["tool-use", "trajectories"],
        "configs": [{"config_name": "default", "data_files": ["data/the runs.json"]}],
    }


def test_what_nobody_said_is_named_and_not_guessed(data: Tables) -> None:
    text = metadata(data)
    assert text.splitlines()[0] == "# To be filled in by the author: pretty_name, license, language"
    assert set(read(text)) == {"size_categories", "tags"}


def test_what_the_author_gives_is_there_and_no_longer_asked_for(data: Tables) -> None:
    text = metadata(data, name="Bank runs", license="mit", languages=["en", "zh"])
    assert "#" not in text
    assert read(text) == {
        "pretty_name": "Bank runs",
        "license": "mit",
        "language": ["en", "zh"],
        "size_categories": ["n<1K"],
        "tags": ["tool-use", "trajectories"],
    }


def test_an_address_of_a_licence_is_a_link(data: Tables) -> None:
    found = read(metadata(data, license="https://example.org/terms"))
    assert (found["license"], found["license_link"]) == ("other", "https://example.org/terms")


def test_keys_that_the_author_wrote_are_neither_repeated_nor_asked_for(data: Tables) -> None:
    text = metadata(data, name="Bank runs", taken={"pretty_name", "license", "tags"})
    assert text.splitlines()[0] == "# To be filled in by the author: language"
    assert set(read(text)) == {"size_categories"}


def test_a_synthetic_set_says_so(data: Tables) -> None:
    played = Tables(data.source, data.folder, {**data.manifest, "synthetic": True})
    assert read(metadata(played))["tags"] == ["tool-use", "trajectories", "synthetic"]


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.just(HOSTILE))
def test_any_name_comes_back_as_it_was_given(data: Tables, name: str) -> None:
    assert yaml.safe_load(metadata(data, name=name)).get("pretty_name", "") == name


def test_a_data_file_is_named_and_no_pattern(data: Tables) -> None:
    configs = read(metadata(data, files=["a[1]*.json"]))["configs"]
    assert configs == [{"config_name": "default", "data_files": ["a[[]1][*].json"]}]


def test_size_categories_are_those_of_the_hubs_library() -> None:
    # Listed in its docstring, nowhere as data.
    known = set(re.findall(r"'([^']*n[<>][^']*)'", str(DatasetCardData.__doc__)))
    assert {size_category(10**n) for n in range(14)} == known


def test_the_authors_keys_are_those_of_the_outermost_level() -> None:
    assert set(written(b'"pretty_name" : x\nnested:\n  license: y\n# tags: z\n')) == {"pretty_name", "nested"}
    assert written(b"a thematic break above, and one below\n") == written(b"") == {}


def test_front_matter_that_is_no_yaml_is_said() -> None:
    with pytest.raises(CardError, match="no YAML"):
        written(b"license: [mit\n")


@pytest.mark.slow
def test_datasets_takes_the_files_that_the_card_names_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "set"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "runs [1].json").write_text(json.dumps([trajectory("t1"), trajectory("t2")]), encoding="utf-8")
    (folder / "other.json").write_text(json.dumps([{"not": "a record"}]), encoding="utf-8")
    write(CardRequest(str(folder / "data"), folder / "README.md", progress=False))
    # In a process of its own: the library takes its folders from the environment when it is imported.
    asked = "import datasets, sys; print(*datasets.load_dataset(sys.argv[1], split='train')['task_info'], sep='\\n')"
    home = {**os.environ, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", asked, str(folder)], capture_output=True, text=True, check=False, env=home
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert [line.count("env_1_sft-t") for line in ran.stdout.splitlines()] == [1, 1]
