"""The rows behind the index's switches: what a page needs to count what `export` would leave, without texts or names.

Rows stand in the order in which `export` takes records with seed 0, so that limits keep the same ones.
"""

import shlex
from typing import Any

import polars as pl

from analysis import export
from analysis.export.subset import scenario_columns, turn
from analysis.tables import Tables

# Of more, a page would be larger than a mail takes.
MOST = 20_000


def rows_of(data: Tables) -> dict[str, Any] | None:
    """Columns by name, a value a trajectory, and the command that the switches complete; None of too many to send."""
    rows = export.choosable_of(data, "is_copy loops tokens")
    if not 0 < rows.height <= MOST:
        return None
    ordered = rows.sort(pl.col("trajectory_id").map_elements(turn, pl.String))
    columns = ordered.select(
        copy=pl.col("is_copy").cast(pl.UInt8),
        loops=(pl.col("loops") > 0).cast(pl.UInt8),
        failed=(pl.col("failed_calls") > 0).cast(pl.UInt8),
        calls=pl.col("tool_calls"),
        tokens=pl.col("tokens"),
        environment=pl.col("env_id").rank("dense"),
        mode=pl.col("traj_type").cast(pl.String).rank("dense"),
        scenario=pl.struct(*scenario_columns()).rank("dense"),
        reward=pl.when(pl.col("total_reward").is_finite()).then(pl.col("total_reward")),
    )
    command = f"python -m analysis export {shlex.quote(data.source)} kept/ --format raw"
    return {"command": command, "columns": columns.to_dict(as_series=False)}
