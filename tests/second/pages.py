"""What the pages show: the frames of their tables and figures, and their headlines, as the notebooks hand them over."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from analysis import show
from analysis.brief import Headline
from analysis.charts import figure
from analysis.schema import Table


class Shown(NamedTuple):
    """A table or the frame of a figure, and the result it conforms to."""

    result: Table
    frame: pl.DataFrame


class Page(NamedTuple):
    """What one notebook shows of one source."""

    shown: list[Shown]
    headlines: list[Headline]
    titles: list[str]


def page(notebook: Path, source: str) -> Page:
    """Run a notebook's code with another source, and keep what it shows."""
    made = Page([], [], [])
    with pytest.MonkeyPatch.context() as patch, _watching(patch, made):
        names: dict[str, Any] = {}
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), notebook.name, "exec"), names)
                if "parameters" in cell["metadata"].get("tags", ()):
                    names["source"] = source
    return made


@contextmanager
def _watching(patch: pytest.MonkeyPatch, made: Page) -> Iterator[None]:
    drawn: list[pl.DataFrame] = []
    named = figure._with_modes_named

    def keep(frame: pl.DataFrame) -> pl.DataFrame:
        drawn.append(frame)
        return named(frame)

    def chart(one: Any) -> None:
        if drawn:
            made.shown.append(Shown(figure.around(one).declared.result, drawn.pop()))  # type: ignore[union-attr]
            title = one.to_dict(validate=False)["title"]
            lines = [[part] if isinstance(part, str) else part for part in (title["text"], title.get("subtitle", []))]
            made.titles.append(" ".join(part for line in lines for part in line))

    def table(frame: pl.DataFrame, result: Table, **_: Any) -> None:
        made.shown.append(Shown(result, frame))

    patch.setattr(figure, "_with_modes_named", keep)
    patch.setattr(show, "chart", chart)
    patch.setattr(show, "table", table)
    patch.setattr(show, "headlines", made.headlines.extend)
    for name in ("notice", "prose", "transcripts", "provenance", "use_altair"):
        patch.setattr(show, name, lambda *_, **__: None)
    yield
