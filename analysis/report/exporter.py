"""nbconvert's door to the page: `jupyter nbconvert --to trajectory_report NB.ipynb`, and all that speak nbconvert.

What only a suite knows comes through `resources`, or stands in the notebook's metadata under `trajectory_report`:

    suite       the other pages: (name, title, href)
    provenance  facts for the foot of the page: command, commit, date …; `synthetic` puts the banner up
"""

from typing import Any

import nbformat
from nbconvert.exporters.exporter import Exporter
from traitlets import default

from analysis.report.page import render, title


class TrajectoryReportExporter(Exporter):  # type: ignore[misc]  # nbconvert is not typed
    """One offline HTML file of an executed notebook."""

    export_from_notebook = "Trajectory report"
    output_mimetype = "text/html"

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(
        self, nb: nbformat.NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page of a notebook, and the resources with its title in `resources["title"]`."""
        executed, resources = super().from_notebook_node(nb, resources, **kw)
        given: dict[str, Any] = {"name": resources.get("metadata", {}).get("name", "")}
        if "suite" in resources:
            given["suite"] = [dict(zip(("name", "title", "href"), link, strict=True)) for link in resources["suite"]]
        if "provenance" in resources:
            given["facts"] = dict(resources["provenance"])
        resources["title"] = title(executed) or given["name"]
        return render(executed, given), resources
