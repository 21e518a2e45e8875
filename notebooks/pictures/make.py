"""Draw the pictures of the tour: a chart of each of some notebooks, as they come out on the sample.

.venv/bin/python notebooks/pictures/make.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
import papermill

from analysis.card.pictures import svg

HERE = Path(__file__).resolve().parent
NOTEBOOKS = HERE.parent

# Notebook: which of its charts, from 0, and what it is run with.
PICTURES: dict[str, tuple[int, dict[str, Any]]] = {
    "10_tool_usage": (1, {"top": 12}),
    "20_step_lengths": (1, {}),
    "30_coverage": (1, {}),
    "40_call_quality": (6, {}),
    "50_sequences": (2, {"top": 8}),
    "90_compare": (2, {}),
}
WIDTH = 400


def main() -> None:
    for notebook, (chart, parameters) in PICTURES.items():
        picture = draw(charts_of(notebook, parameters)[chart])
        (HERE / f"{notebook}.svg").write_text(picture, encoding="utf-8")
        print(f"{notebook}.svg: {len(picture.encode()):,} bytes")


def charts_of(notebook: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """The specifications that the notebook displays, run on the sample."""
    with TemporaryDirectory() as folder:
        target = Path(folder) / "executed.ipynb"
        papermill.execute_notebook(
            NOTEBOOKS / f"{notebook}.ipynb", target, parameters, kernel_name="python3", progress_bar=False
        )
        cells = nbformat.read(target, as_version=4).cells
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return [data[kind] for data in shown for kind in data if "vegalite" in kind]


def draw(spec: dict[str, Any]) -> str:
    """As on a dataset card, and narrow enough for three in a row."""
    return svg(spec, width=WIDTH)


if __name__ == "__main__":
    main()
