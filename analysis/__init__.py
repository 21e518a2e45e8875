"""Tables, measures and charts of tool-use trajectories.

    from analysis import load
    data = load("sample")
    data.tool_calls.group_by("outcome").len().collect()

The map: `schema` (the contract) · `sources` (where records come from) · `records` (one raw record -> Trajectory or
Rejected) · `tables` (Trajectories -> Parquet, cached, lazy) · `measures` (LazyFrame -> LazyFrame) · `charts`
(small DataFrame -> alt.Chart) · `show` (what a notebook cell displays) · `transcripts` · `report`.
"""

from analysis.tables import Tables, load

__all__ = ["Tables", "load"]
