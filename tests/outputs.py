"""What cells display, as notebooks hold it: made by the real `show`, without a kernel."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import nbformat

from analysis import show


def shown(*cells: Callable[[], None]) -> list[Any]:
    """The outputs that calls of `show` leave in a cell, as nbformat reads them back."""
    outputs: list[Any] = []

    def display(what: Any, *, raw: bool = False, metadata: dict[str, Any] | None = None) -> None:
        data, meta = (what, metadata or {}) if raw else what._repr_mimebundle_()
        outputs.append(nbformat.v4.new_output("display_data", data=data, metadata=meta))

    with patch.object(show, "display", display):
        for cell in cells:
            cell()
    return outputs


def notebook(*cells: str | list[Any], parameters: str = "") -> Any:
    """A notebook: Markdown cells from strings, executed code cells from outputs; written and read once.

    Args:
        cells: in reading order.
        parameters: source of a cell tagged `parameters`, placed first.
    """
    made = [nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})] if parameters else []
    for cell in cells:
        if isinstance(cell, str):
            made.append(nbformat.v4.new_markdown_cell(cell))
        else:
            made.append(nbformat.v4.new_code_cell("show.it()", outputs=cell))
    whole = nbformat.v4.new_notebook(cells=made)
    nbformat.validate(whole)
    return nbformat.reads(nbformat.writes(whole), as_version=4)
