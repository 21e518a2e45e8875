"""Trajectories -> conformed Parquet parts, written while decoding and cached by content; lazy handles on them.

A module per stage: `locate` (what a source is) -> `units` (its plan decoded, by a `crew`) -> `summary` (what only the
whole shows) -> `manifest` (the seal) -> `build` (published in the cache) or `output` (where the user says).
`opening` hands out a `handle`; `origins` reads the records behind it again.
"""

from analysis.tables.handle import Tables
from analysis.tables.opening import load
from analysis.tables.output import write_tables

__all__ = ["Tables", "load", "write_tables"]
