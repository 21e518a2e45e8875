"""What the notebooks really show keeps the published schemas: every chart's data and every table, on the sample."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import polars as pl
import pytest

from analysis import show
from analysis.reference import json_schema
from analysis.schema import Table
from tests.notebooks.run import NOTEBOOKS

pytestmark = pytest.mark.slow

SHOWN = [path for path in sorted(NOTEBOOKS.glob("[!.]*.ipynb")) if path.stem[:2] < "95"]

Rows = list[dict[str, Any]]


class Screen:
    """Stands where a notebook's outputs go, and keeps the rows."""

    def __init__(self) -> None:
        self.charts: list[tuple[str, Rows]] = []
        self.tables: list[tuple[Table, Rows]] = []

    def chart(self, figure: Any) -> None:
        spec = figure.to_dict()
        meta = spec["usermeta"]
        own = set(json_schema.published()[meta["table"]].names)
        # A layer may bring lines of its own, a diagonal or a filter's edges: they are no rows of the result.
        datasets = [rows for rows in spec.get("datasets", {}).values() if rows and set(rows[0]) == own]
        assert datasets or "empty" in meta, f"{meta['table']}: a chart draws something else than its result"
        self.charts += [(meta["table"], rows) for rows in datasets]

    def table(self, frame: pl.DataFrame, result: Table, **_: Any) -> None:
        if set(result.names) <= set(frame.columns):
            self.tables.append((result, frame.select(result.names).to_dicts()))


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    kept = Screen()
    monkeypatch.setattr(show, "display", lambda *_, **__: None)
    monkeypatch.setattr(show, "chart", kept.chart)
    monkeypatch.setattr(show, "table", kept.table)
    return kept


@pytest.mark.parametrize("notebook", SHOWN, ids=lambda path: path.stem)
def test_every_row_that_is_drawn_or_listed_keeps_the_schema_of_its_result(notebook: Path, screen: Screen) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    exec(compile(code, str(notebook), "exec"), {})
    for name, rows in screen.charts:
        jsonschema_rs.validate(json_schema.of(json_schema.published()[name]), rows)
    for table, rows in screen.tables:
        jsonschema_rs.validate(json_schema.of(table), rows)
    assert screen.charts or screen.tables
