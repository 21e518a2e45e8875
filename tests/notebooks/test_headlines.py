"""Every page starts with its headlines: made right after loading, of results that are computed once."""

import ast
import json
from collections import Counter
from typing import Any

import pytest

from tests.notebooks.run import NOTEBOOKS

# The method and the dictionary are about the project and measure nothing.
PAGES = [*sorted(path.name for path in NOTEBOOKS.glob("[0-8]*.ipynb")), "90_compare.ipynb"]
EVERY = pytest.mark.parametrize("notebook", PAGES)


def code(notebook: str) -> list[str]:
    cells = json.loads((NOTEBOOKS / notebook).read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def calls(source: str) -> list[str]:
    """Every call of the code, as it is written."""
    found: list[Any] = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [ast.unparse(node) for node in found]


@EVERY
def test_the_headlines_come_right_after_loading(notebook: str) -> None:
    cells = code(notebook)
    (loading,) = [place for place, source in enumerate(cells) if "= load(" in source]
    showing = [place for place, source in enumerate(cells) if "show.headlines(" in source]
    assert showing == [loading + 1]


@EVERY
def test_no_result_is_computed_twice(notebook: str) -> None:
    collected = Counter(call for source in code(notebook) for call in calls(source) if call.endswith(".collect()"))
    assert collected
    assert [call for call, times in collected.items() if times > 1] == []
