"""What the notebooks really show keeps the published schemas: every chart's data and every table, on the sample."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import polars as pl
import pytest

from analysis import show
from analysis.charts.figure import around
from analysis.reference import json_schema
from analysis.schema import Table
from analysis.wording import MODES
from tests.notebooks.run import NOTEBOOKS

pytestmark = pytest.mark.slow

SHOWN = [path for path in sorted(NOTEBOOKS.glob("[!.]*.ipynb")) if path.stem[:2] < "95"]

Rows = list[dict[str, Any]]


def as_measured(row: dict[str, Any]) -> dict[str, Any]:
    """The same row with its mode as the measure has it, not as pages name it."""
    modes = {name: mode for mode, name in MODES.items()}
    return {**row, "traj_type": modes[row["traj_type"]]} if "traj_type" in row else row


class Screen:
    """Stands where a notebook's outputs go, and keeps the rows."""

    def __init__(self) -> None:
        self.charts: list[tuple[str, Rows]] = []
        self.tables: list[tuple[Table, Rows]] = []

    def chart(self, figure: Any) -> None:
        facts = around(figure)
        assert facts
        result = facts.declared.result
        # A layer may bring lines of its own, a diagonal or a filter's edges: they are no rows of the result.
        datasets = [
            rows for rows in figure.to_dict().get("datasets", {}).values() if rows and set(rows[0]) == set(result.names)
        ]
        assert datasets or facts.empty, f"{result.name}: a chart draws something else than its result"
        self.charts += [(result.name, [as_measured(row) for row in rows]) for rows in datasets]

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
