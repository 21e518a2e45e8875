"""A small set that is played, its tables and its card, made once."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from analysis import sample
from analysis.card import CardRequest, Written, write
from analysis.tables import Tables, load, write_tables


@dataclass(frozen=True)
class Played:
    """Records, their tables, and the card written beside them."""

    folder: Path
    source: Path
    data: Tables
    written: Written

    @property
    def card(self) -> str:
        return self.written.card.read_text(encoding="utf-8")

    @property
    def records(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.source.read_text(encoding="utf-8"))
        return found

    @property
    def croissant(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "croissant.jsonld").read_text(encoding="utf-8"))
        return found


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("set")
    source = folder / "data" / "the runs.json"
    source.parent.mkdir()
    sample.write(source, trajectories=60, environments=4, seed=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAJECTORY_CACHE", str(tmp_path_factory.mktemp("cache")))
        write_tables(str(source), folder / "tables", jobs=1, progress=False)
        request = CardRequest(
            str(source), folder / "README.md", tables=str(folder / "tables"), license="mit", jobs=1, progress=False
        )
        return Played(folder, source, load(str(source), jobs=1, progress=False), write(request))
