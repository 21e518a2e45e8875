"""The table over the pages of `--each`: how much there is of each value, and how sound it is."""

import polars as pl

from analysis.report.folder import Group, Overview
from analysis.report.jobs import Job
from analysis.tables import Tables


def overview_of(column: str, data: Tables, jobs: list[Job]) -> Overview:
    """One line per value of the column: how much there is of it, how sound it is, and how its steps are spread."""
    width = 2
    value = pl.col(column).cast(pl.String).alias("value")
    steps = pl.col("assistant_messages")
    breached = data.findings.select("trajectory_id").unique().with_columns(is_breached=True)
    counted = (
        data.trajectories.join(breached, on="trajectory_id", how="left")
        .group_by(value)
        .agg(
            trajectories=pl.len(),
            with_findings=pl.col("is_breached").sum(),
            tool_calls=pl.col("tool_calls").sum(),
            quantiles=pl.concat_list(steps.quantile(part, "linear") for part in (0, 0.25, 0.5, 0.75, 1)),
            spread=steps // width,
        )
    )
    outcomes = (
        data.tool_calls.select("trajectory_id", "outcome")
        .join(data.trajectories.select("trajectory_id", value), on="trajectory_id")
        .group_by("value")
        .agg(errors=(pl.col("outcome") == "error").sum(), judged=pl.col("outcome").is_in(["ok", "error"]).sum())
    )
    told = counted.join(outcomes, on="value", how="left").with_columns(pl.col("errors", "judged").fill_null(0))
    rows = {row["value"]: row for row in told.collect().iter_rows(named=True)}
    last = max(max(row["spread"]) for row in rows.values())
    groups = []
    for name in dict.fromkeys(job.group for job in jobs if job.group is not None):
        row = rows[name]
        counts = ("trajectories", "with_findings", "tool_calls", "judged", "errors")
        bars = [row["spread"].count(bin_) for bin_ in range(last + 1)]
        groups.append(
            Group(name, **{count: row[count] for count in counts}, quantiles=tuple(row["quantiles"]), bars=bars)
        )
    return Overview(column, f"trajectories by steps, 0 to {(last + 1) * width - 1}, {width} a bar", groups)
