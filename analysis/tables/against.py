"""Another set that a source is held against: any source of trajectories, or a benchmark's tasks and tool files."""

from dataclasses import replace

import polars as pl

from analysis import sources
from analysis.records import benchmarks
from analysis.schema import COMPARED
from analysis.tables.handle import Tables
from analysis.wording import count


def held_against(data: Tables, other: Tables) -> Tables:
    """The same tables with `reference`: the tasks, tools and values of another set.

    Its trajectories are read as ever; of what is none, the records of benchmarks are read. `manifest["against"]` says
    how many records were read, and how many not.

    Raises:
        sources.SourceError: not one record of the other set is a trajectory or a benchmark's.
    """
    rows, read = _of_benchmarks(other) if other.manifest["rejected"] else (COMPARED.empty(), 0)
    records_in, kept = other.manifest["records_in"], other.manifest["kept"]
    if not kept + read:
        raise sources.SourceError(
            f"{other.source}: nothing to compare with: none of {count(records_in, 'record')} is a trajectory, or a "
            "task or tool of a benchmark; name such a source"
        )
    about = {
        "source": other.source,
        "content_hash": other.manifest["content_hash"],
        "records_in": records_in,
        "trajectories": kept,
        "benchmark_records": read,
        "not_read": records_in - kept - read,
    }
    parts = [other.compared, rows.lazy()] if kept else [rows.lazy()]
    return replace(data, held_against=pl.concat(parts), manifest=data.manifest | {"against": about})


def _of_benchmarks(other: Tables) -> tuple[pl.DataFrame, int]:
    """Rows of the records that are no trajectory, and how many of these are a benchmark's."""
    kept = set(other.trajectories.select("trajectory_id").collect().to_series())
    made, read = [], 0
    for id_, raw in other.raw_records():
        rows = None if id_ in kept else benchmarks.read(bytes(raw.data))
        if rows is not None:
            made += [(id_, *row) for row in rows]
            read += 1
    return pl.DataFrame(made, COMPARED.schema, orient="row"), read
