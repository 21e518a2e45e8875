"""Records chosen, split and written for other people's tools: chat rows, ShareGPT, Alpaca with history, Parquet, raw.

`where` reads the condition, `split` deals scenarios to train and validation, `shapes` turns one record into rows,
`files` writes them, `run` does it all in one pass over the source.
"""

from analysis.export.errors import ExportError
from analysis.export.masks import rules_of
from analysis.export.on_demand import choosable_of
from analysis.export.repeat import read_request
from analysis.export.run import ExportRequest, export
from analysis.export.shapes import FORMATS
from analysis.export.subset import Limits
from analysis.export.where import chosen

__all__ = [
    "FORMATS",
    "ExportError",
    "ExportRequest",
    "Limits",
    "choosable_of",
    "chosen",
    "export",
    "read_request",
    "rules_of",
]
