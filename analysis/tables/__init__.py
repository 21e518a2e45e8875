"""Trajectories -> conformed Parquet parts, written while decoding and cached by content; lazy handles on them."""

from analysis.tables.handle import Tables, load
from analysis.tables.output import write_tables

__all__ = ["Tables", "load", "write_tables"]
