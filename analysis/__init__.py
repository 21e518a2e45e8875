"""Tables, measures and charts of tool-use trajectories.

>>> from analysis import load
>>> data = load("sample")  # or a file, a glob, a folder, hub:OWNER/NAME; `data` shows its tables and their columns
>>> sorted(data.tool_calls.select("outcome").unique().collect().to_series())
['error', 'ok']

The map: `schema` (the contract) · `sources` (where records come from) · `records` (one raw record -> Trajectory or
Rejected) · `tables` (Trajectories -> Parquet, cached, lazy) · `measures` (LazyFrame -> LazyFrame) · `charts`
(small DataFrame -> alt.Chart) · `show` (what a notebook cell displays) · `transcripts` · `report`.
"""

TYPE_CHECKING = False  # without typing, which takes longer than all the rest
if TYPE_CHECKING:
    from analysis.tables import Tables, load

__all__ = ["Tables", "load"]


def __getattr__(name: str) -> object:
    """Polars comes with the first table: `--help` and the server that kernels are forked from do without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from analysis import tables  # noqa: PLC0415

    return getattr(tables, name)
