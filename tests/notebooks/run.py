"""Running a notebook as the report runs it, and reading what it shows."""

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import papermill

from tests.conftest import ROOT

NOTEBOOKS = ROOT / "notebooks"
VEGA = re.compile(r"application/vnd\.vega-?lite\.")


def execute(name: str, folder: Path, **parameters: Any) -> Any:
    """Execute a notebook with these parameters; papermill raises where a cell does."""
    target = folder / name
    papermill.execute_notebook(
        NOTEBOOKS / name, target, parameters, kernel_name="python3", progress_bar=False, cwd=str(ROOT)
    )
    return nbformat.read(target, as_version=4)


def charts(notebook: Any) -> list[dict[str, Any]]:
    """The specifications of the charts that are shown."""
    found = []
    for output in _outputs(notebook):
        for kind, data in output.get("data", {}).items():
            if VEGA.match(kind):
                found.append(data if isinstance(data, dict) else json.loads(data))
    return found


def text(notebook: Any) -> str:
    """Everything that is shown as HTML, tags taken out."""
    pages = ["".join(output.get("data", {}).get("text/html", "")) for output in _outputs(notebook)]
    return re.sub(r"<[^>]+>", " ", "\n".join(pages))


def rows(chart: dict[str, Any]) -> int:
    return sum(len(values) for values in chart.get("datasets", {}).values())


def _outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
