"""Environments, tools and lengths to choose trajectories by, in JupyterLab; the choice comes back as a frame.

    view = explore(load("sample"))
    view                # figures, table, transcript
    view.selected       # what is chosen, as a Polars frame
    view.save("long")   # long.subset.toml: a source for any other notebook

`runs` (what can be chosen by) · `selection` (a choice as a value: expression, frame, sentence) · `facets` (what a
choice would leave) · `figures` (small charts) · `reading` (a transcript, searched) · `widgets` and `view` (JupyterLab).
"""

import analysis.imports  # noqa: F401  # isort: skip  (before Altair, whose import it shortens)
from analysis.explore.selection import Selection
from analysis.explore.view import View
from analysis.tables import Tables

__all__ = ["Selection", "View", "explore"]


def explore(data: Tables) -> View:
    """Look through a source: figures to choose in, a table of what is chosen, transcripts beneath.

    Args:
        data: what `load` gives, or a selection of it.
    """
    return View(data)
