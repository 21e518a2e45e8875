"""Reports: declared in `reports/suite.toml`, executed by papermill, exported to one offline HTML file each.

`suite` reads the declaration and checks parameters before anything runs · `run` executes, exports and keeps the output
folder honest · `folder` is that folder, with the index that links all pages · `failures` says what went wrong and with
which exit status · `engine` starts kernels warm · `exporter` makes the page.

Nothing slow is imported here: the exporter is nbconvert's to load and does without papermill, which takes seconds.
"""

import analysis.imports  # noqa: F401  before nbformat, whose import it shortens
