"""Decode a source into a folder of tables: units in parallel, resumed where a run was killed, finished by a rename."""

import errno
import logging
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from tqdm.auto import tqdm

from analysis import sources
from analysis.records.rules import BY_ID
from analysis.schema import FINDINGS, RECORD_TABLES, REJECTED
from analysis.tables import cache
from analysis.tables.decode import Receipt, decode_unit
from analysis.tables.target import write, write_bytes

logger = logging.getLogger(__name__)

ATTEMPTS = 3
# The output cannot be written: trying again would not help, and the user must know.
OUTPUT_ERRORS = frozenset({errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.EROFS})
# Below this many bytes a second process costs more to start than it saves.
PARALLEL_BYTES = 24 << 20


def build(source: str, files: list[sources.File], *, jobs: int = 0, dask: str = "", progress: bool = True) -> Path:
    """Tables of a source, from the cache or decoded into it.

    Args:
        source: what the user typed, for the manifest.
        files: what it was located as.
        jobs: processes; 0 for as many as there are cores.
        dask: address of a Dask scheduler to run on instead.
        progress: show a bar for work that takes longer than a moment.

    Returns:
        The folder: `<table>/part-*.parquet` and `manifest.json`.
    """
    digest = cache.content_hash(files)
    done = cache.root() / "tables" / f"{digest[:32]}-{cache.DECODER}"
    if not (done / "manifest.json").exists():
        working = done.with_suffix(".partial")
        receipts = run(sources.plan(files), str(working), jobs=jobs, dask=dask, progress=progress)
        finish(working, source, files, digest, receipts)
        publish(working, done)
    return done


def run(units: list[sources.Unit], target: str, *, jobs: int, dask: str = "", progress: bool = True) -> list[Receipt]:
    """Decode every unit that has no receipt yet; a file whose lines mislead is read again by brackets."""
    receipts = [receipt for unit in units if (receipt := _receipt(target, unit)) is not None]
    had = {receipt.shard for receipt in receipts}
    missing = [unit for unit in units if unit.shard not in had]
    size = sum(unit.end - unit.start for unit in missing)
    with _bar(len(units), len(had), progress and size > PARALLEL_BYTES) as bar:
        for receipt in _map(missing, target, jobs if size > PARALLEL_BYTES else 1, dask):
            receipts.append(receipt)
            bar.update(1)
    wrong = {receipt.file for receipt in receipts if receipt.is_cut_wrong}
    if wrong:
        receipts = [receipt for receipt in receipts if receipt.file not in wrong]
        for path, parts in _by_file([unit for unit in units if unit.name in wrong]).items():
            logger.info("%s: lines do not start records; read by brackets", path)
            for unit in parts:
                _forget(target, unit)
            again = decode_unit(sources.whole(parts[0], max(unit.end for unit in parts)), target)
            again.by_brackets = True
            receipts.append(again)
    return sorted(receipts, key=lambda receipt: receipt.shard)


def _map(units: list[sources.Unit], target: str, jobs: int, dask: str) -> Iterator[Receipt]:
    if dask:
        from distributed import Client  # noqa: PLC0415  (an optional extra)

        # Dask tries again by itself: after an error, and on another worker after one is lost.
        with Client(dask) as client, client.get_executor(retries=ATTEMPTS - 1) as executor:
            yield from _collect(executor, units, target, attempts=1)
        return
    jobs = min(jobs or _cores(), len(units))
    if jobs <= 1:
        for unit in units:
            yield decode_unit(unit, target)
        return
    left = {unit.shard: unit for unit in units}
    for _ in range(ATTEMPTS):
        # A worker that dies takes the whole pool with it, the innocent units too: begin a new pool with what is left.
        with _pool(jobs) as executor:
            for receipt in _collect(executor, list(left.values()), target, attempts=ATTEMPTS):
                del left[receipt.shard]
                yield receipt
        if not left:
            return
    for unit in left.values():
        # Some unit kills whoever reads it. Each in a pool of its own, so that the blame falls on the right one.
        yield _alone(unit, target)


def _alone(unit: sources.Unit, target: str) -> Receipt:
    receipts: list[Receipt] = []
    for attempt in range(1, ATTEMPTS + 1):
        with _pool(1) as executor:
            receipts.extend(_collect(executor, [unit], target, attempts=1 if attempt == ATTEMPTS else 2))
        if receipts:
            break
    return receipts[0]


def _collect(executor: Executor, units: list[sources.Unit], target: str, *, attempts: int) -> Iterator[Receipt]:
    """Receipts as they come; a unit that fails is given up only at its last attempt, else left out.

    No record makes `decode_unit` raise: what does is the machine's fault.
    """
    futures: dict[Future[Receipt], sources.Unit] = {executor.submit(decode_unit, unit, target): unit for unit in units}
    for future in as_completed(futures):
        unit, error = futures[future], future.exception()
        if error is None:
            yield future.result()
        elif isinstance(error, OSError) and error.errno in OUTPUT_ERRORS:
            raise error
        elif attempts == 1:
            yield give_up(unit, target, f"{type(error).__name__}: {error}"[:300])


def give_up(unit: sources.Unit, target: str, reason: str) -> Receipt:
    """A unit that failed ATTEMPTS times is one named rejection, so that in = kept + rejected still holds."""
    origin = f"{unit.name}@{unit.start}"
    why = f"bytes {unit.start:,}-{unit.end:,} could not be read in {ATTEMPTS} attempts: {reason}"
    receipt = Receipt(unit.shard, unit.name, 1, 0, 1, {}, {}, [(origin, why)])
    for table in RECORD_TABLES:
        frame = table.empty()
        if table is REJECTED:
            frame = pl.DataFrame([(origin, unit.start, why)], schema=table.schema, orient="row")
        write(f"{target}/{table.name}/part-{unit.shard:05d}.parquet", frame.write_parquet)
    write_bytes(f"{target}/units/{unit.shard:05d}.json", msgspec.json.encode(receipt))
    return receipt


def finish(
    target: Path, source: str, files: list[sources.File], digest: str, receipts: list[Receipt]
) -> dict[str, Any]:
    """What only the whole source shows: repeated scenarios, tool sets once, and the manifest."""
    _repeated_tasks(target)
    _distinct_tool_sets(target)
    manifest = {
        "source": source,
        "files": [{"name": file.name, "bytes": file.size} for file in files],
        "bytes": sum(file.size for file in files),
        "content_hash": digest,
        "revision": next((file.revision for file in files if file.revision), None),
        "dialects": dict(sorted(sum((Counter(r.dialects) for r in receipts), Counter()).items())),
        "records_in": sum(receipt.records_in for receipt in receipts),
        "kept": sum(receipt.kept for receipt in receipts),
        "rejected": sum(receipt.rejected for receipt in receipts),
        "damage": [{"origin": origin, "reason": reason} for r in receipts for origin, reason in r.damage],
        "by_brackets": sorted({receipt.file for receipt in receipts if receipt.by_brackets}),
        "unknown_keys": dict(sorted(sum((Counter(r.unknown_keys) for r in receipts), Counter()).items())),
        "decoder": cache.DECODER,
        "versions": {name: version(name) for name in ("polars", "msgspec", "jsonschema-rs")}
        | {"python": sys.version.split()[0]},
    }
    write_bytes(str(target / "manifest.json"), msgspec.json.format(msgspec.json.encode(manifest), indent=2))
    return manifest


def publish(working: Path, done: Path) -> None:
    """Rename a finished folder into place; where another run was first, its equal stays."""
    try:
        working.rename(done)
    except OSError:
        if not done.exists():
            raise
        shutil.rmtree(working, ignore_errors=True)


def _repeated_tasks(target: Path) -> None:
    trajectories = pl.scan_parquet(target / "trajectories" / "part-*.parquet")
    times = pl.len().over("traj_type", "task_id")
    repeats = trajectories.filter(pl.col("task_id").is_not_null(), times > 1).select(
        "trajectory_id",
        rule=pl.lit(BY_ID["repeated_task"].id),
        message=pl.lit(None, pl.UInt32),
        detail=pl.format("{} of {} as {}", times, pl.col("task_id").str.head(200), pl.col("traj_type").cast(pl.String)),
    )
    frame = FINDINGS.select(repeats.sort("trajectory_id")).collect()
    write(str(target / "findings" / "repeats.parquet"), frame.write_parquet)


def _distinct_tool_sets(target: Path) -> None:
    """Units see the same tool sets; the table holds each once."""
    parts = sorted((target / "tools").glob("part-*.parquet"))
    if len(parts) > 1:
        frame = pl.scan_parquet(parts).unique(["tool_set", "tool_name"]).sort("tool_set", "tool_name").collect()
        write(str(parts[0]), frame.write_parquet)
        for part in parts[1:]:
            write(str(part), frame.clear().write_parquet)


def _receipt(target: str, unit: sources.Unit) -> Receipt | None:
    try:
        return msgspec.json.decode(Path(f"{target}/units/{unit.shard:05d}.json").read_bytes(), type=Receipt)
    except (OSError, msgspec.MsgspecError):
        return None


def _forget(target: str, unit: sources.Unit) -> None:
    for table in RECORD_TABLES:
        Path(f"{target}/{table.name}/part-{unit.shard:05d}.parquet").unlink(missing_ok=True)
    Path(f"{target}/units/{unit.shard:05d}.json").unlink(missing_ok=True)


def _by_file(units: list[sources.Unit]) -> dict[str, list[sources.Unit]]:
    parts: dict[str, list[sources.Unit]] = {}
    for unit in units:
        parts.setdefault(unit.path, []).append(unit)
    return parts


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _pool(jobs: int) -> Iterator[Executor]:
    # One Polars thread a worker: the workers are the parallelism. Spawned, because a fork of Polars' threads can hang.
    before = os.environ.get("POLARS_MAX_THREADS")
    os.environ["POLARS_MAX_THREADS"] = "1"
    try:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor:
            yield executor
    finally:
        if before is None:
            del os.environ["POLARS_MAX_THREADS"]
        else:
            os.environ["POLARS_MAX_THREADS"] = before


@contextmanager
def _bar(total: int, initial: int, shown: bool) -> Iterator[Any]:
    with tqdm(total=total, initial=initial, disable=not shown, desc="decoding", unit="part") as bar:
        yield bar
