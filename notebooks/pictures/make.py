"""Draw the pictures of the tour: a chart of each of some notebooks, as they come out on the sample.

.venv/bin/python notebooks/pictures/make.py
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Any

import nbformat
import papermill
import vl_convert

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
WIDTH, INK, PAPER, FONT = 400, "#24292f", "#ffffff", "Liberation Sans, Arial, Helvetica, sans-serif"


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
    """On paper: dark ink whatever theme the page has around it, and narrow enough for three in a row."""
    on_paper = json.loads(json.dumps(spec).replace("currentColor", INK))
    # Measured in a font that most machines have by this or another name; system-ui is a different one on each.
    on_paper["config"] = {**on_paper.get("config", {}), "background": PAPER, "padding": 16, "font": FONT}
    for part, most in (("text", 56), ("subtitle", 70)):
        on_paper["title"][part] = wrap(" ".join(on_paper["title"][part]), most)
    if isinstance(on_paper.get("width"), int | float):
        on_paper["width"] = WIDTH
    return str(vl_convert.vegalite_to_svg(on_paper))


if __name__ == "__main__":
    main()
