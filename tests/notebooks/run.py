"""Running a notebook as the report runs it, and reading what it shows."""

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import papermill

from analysis.report.kernels import WARM
from tests.conftest import ROOT

NOTEBOOKS = ROOT / "notebooks"
VEGA = re.compile(r"application/vnd\.vega-?lite\.")


def execute(name: str, folder: Path, **parameters: Any) -> Any:
    """Execute a notebook with these parameters in a warm kernel; papermill raises where a cell does."""
    target = folder / name
    papermill.execute_notebook(
        NOTEBOOKS / name, target, parameters, engine_name=WARM, progress_bar=False, cwd=str(ROOT)
    )
    return nbformat.read(target, as_version=4)


def outputs(notebook: Any) -> list[Any]:
    """What its cells show, in order."""
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


def charts(notebook: Any) -> list[dict[str, Any]]:
    """The specifications of the charts that are shown."""
    shown = [data for output in outputs(notebook) for kind, data in output.get("data", {}).items() if VEGA.match(kind)]
    return [data if isinstance(data, dict) else json.loads(data) for data in shown]


def text(notebook: Any) -> str:
    """Everything that is shown as HTML, tags taken out."""
    pages = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs(notebook)]
    return re.sub(r"<[^>]+>", " ", "\n".join(pages))


def rows(chart: dict[str, Any]) -> int:
    return sum(len(values) for values in chart.get("datasets", {}).values())
