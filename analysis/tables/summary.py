"""What only the whole source shows: repeated scenarios, each tool set once, and the counts for the manifest."""

import errno
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import msgspec
import polars as pl

from analysis import sources
from analysis.records.rules import BY_ID
from analysis.schema import FINDINGS, TOOLS, TRAJECTORIES
from analysis.sources import address
from analysis.tables import cache, places, receipts
from analysis.tables.receipts import Receipt

FEW_PARTS = 16  # about the release's size


def summarise(target: str, files: list[sources.File], digest: str, made: list[Receipt]) -> dict[str, Any]:
    """Complete the parts that units left, and sum up their receipts.

    Args:
        target: where the parts are.
        files, digest: what they were made of, and its content hash.
        made: a receipt per unit.

    Returns:
        The manifest, to be sealed with.

    Raises:
        SourceError: a file was written to meanwhile; nothing is known by the hash of other bytes.
        OSError: a part is not there any more, or one too many: another run writes to the same place.
    """
    try:
        sources.refuse_changed(files)
    except sources.SourceError:
        places.remove(f"{target}/{receipts.FOLDER}")  # a run that is tried again resumes nothing of this one
        raise
    _refuse_other_parts(target, made)
    _add_repeated_tasks(target)
    _merge_tool_sets(target)
    return {
        "files": [{"name": file.name, "bytes": file.size} for file in files],
        "bytes": sum(file.size for file in files),
        "content_hash": digest,
        "revision": next((file.revision for file in files if file.revision), None),
        "dialects": _total(receipt.dialects for receipt in made),
        "records_in": sum(receipt.records_in for receipt in made),
        "kept": sum(receipt.kept for receipt in made),
        "rejected": sum(receipt.rejected for receipt in made),
        "kept_unread": sum(receipt.unread for receipt in made),
        "damage": [{"origin": origin, "reason": reason} for receipt in made for origin, reason in receipt.damage],
        "given_up": sum(receipt.is_given_up for receipt in made),
        "by_brackets": sorted({name for receipt in made for name in receipt.by_brackets}),
        "unknown_keys": _total(receipt.unknown_keys for receipt in made),
        "decoder": cache.decoder(),
        "versions": {
            "polars": pl.__version__,
            "msgspec": msgspec.__version__,
            "jsonschema-rs": version("jsonschema-rs"),
            "python": sys.version.split()[0],
        },
    }


def _total(counts: Iterator[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items()))


def _refuse_other_parts(target: str, made: list[Receipt]) -> None:
    there = {name for name in places.names(f"{target}/{TRAJECTORIES.name}") if name.startswith("part-")}
    own = {receipts.part_path(target, TRAJECTORIES.name, receipt.shard).rpartition("/")[2] for receipt in made}
    if there != own:
        raise OSError(errno.EBUSY, "its parts are not those of this run: another one is writing there", target)


def _add_repeated_tasks(target: str) -> None:
    """Findings of tasks that several trajectories have, a few parts at a time: memory does not grow with the records.

    Eight bytes stand for a task while it is counted. That two tasks of ten million have the same eight is one chance
    in 400,000.
    """
    task = pl.struct("traj_type", "env_id", "task_id").hash()
    tasks = pl.concat([scan.select(task=task).collect() for scan in _tasks(target)])
    # In runs of the same, sorted: groups would take twice the memory.
    repeated = tasks.select(pl.col("task").sort().rle()).unnest("task").filter(pl.col("len") > 1)
    if repeated.is_empty():
        return
    for number, scan in enumerate(_tasks(target)):
        repeats = (
            scan.with_columns(task=task)
            .join(repeated.lazy(), left_on="task", right_on="value")
            .select(
                "trajectory_id",
                rule=pl.lit(BY_ID["repeated_task"].id),
                message=pl.lit(None, pl.UInt32),
                detail=pl.format(
                    "{} of {} as {}", "len", pl.col("task_id").str.head(200), pl.col("traj_type").cast(pl.String)
                ),
            )
        )
        frame = FINDINGS.select(repeats.sort("trajectory_id")).collect()
        places.write({f"{target}/{FINDINGS.name}/repeats-{number:05d}.parquet": frame})


def _tasks(target: str) -> Iterator[pl.LazyFrame]:
    """Trajectories whose task is named, a few parts at a time; made anew: a frame that was read holds memory."""
    parts = places.parts(f"{target}/{TRAJECTORIES.name}")
    for start in range(0, len(parts), FEW_PARTS):
        few = address.scan_parquet(parts[start : start + FEW_PARTS])
        yield few.filter(pl.col("task_id").is_not_null())


def _merge_tool_sets(target: str) -> None:
    """Units see the same tool sets; the table holds each once, in its first part."""
    parts = places.parts(f"{target}/{TOOLS.name}")
    if len(parts) > 1:
        frame = address.scan_parquet(parts).unique(["tool_set", "tool_name"]).sort("tool_set", "tool_name").collect()
        places.write({parts[0]: frame})
        for part in parts[1:]:
            places.remove(part)
