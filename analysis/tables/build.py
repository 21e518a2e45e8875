"""Decode a source into a folder of tables: units in parallel, resumed where a run was killed, sealed by a manifest.

The folder may be a path of this machine or any address that fsspec writes to, as long as the processes that decode, on
this machine or on a cluster, can reach it.
"""

import errno
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import polars as pl

from analysis import processes, sources
from analysis.counted import counted
from analysis.files import UNWRITABLE, publish
from analysis.records.rules import BY_ID
from analysis.schema import FINDINGS, RECORD_TABLES, REJECTED, TOOLS, TRAJECTORIES
from analysis.sources import address
from analysis.tables import cache, places
from analysis.tables.decode import Receipt, decode_unit, put

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

ATTEMPTS = 3
FEW_PARTS = 16  # about the release's size
MANIFEST = "manifest.json"
MISLEADING = "misleading.json"
UNFINISHED = "unfinished.json"


def build(source: str, files: list[sources.File], *, jobs: int = 0, dask: str = "", progress: bool = True) -> str:
    """Tables of a source, from the cache or decoded into it.

    Args:
        source: what the user typed, for the manifest.
        files: what it was located as.
        jobs: processes; 0 for as many as there are cores.
        dask: address of a Dask scheduler to run on instead; its workers must reach the cache folder.
        progress: show a bar for work that takes longer than a moment.

    Returns:
        The folder: `<table>/part-*.parquet` and `manifest.json`.
    """
    if not dask:
        at_first_sight(source, files, jobs=jobs, progress=progress)
    with identified(files, jobs=1 if dask else jobs) as (digest, workers):
        return kept(source, files, digest, jobs=jobs, dask=dask, progress=progress, workers=workers)


def kept(
    source: str,
    files: list[sources.File],
    digest: str,
    *,
    jobs: int,
    dask: str = "",
    progress: bool,
    workers: Executor | None = None,
) -> str:
    """The same of contents whose hash is known, perhaps with workers that have started."""
    done = cache.folder(digest, files)
    if not _is_sealed(done):
        with cache.lock(files):
            if not _is_sealed(done):
                working = done.with_suffix(".partial")
                if len(files) == 1 and cache.begun(files[0]).exists():
                    working = cache.begun(files[0])
                units = sources.plan(files)
                receipts = run(units, str(working.absolute()), jobs=jobs, dask=dask, progress=progress, workers=workers)
                _complete(working, source, files, digest, receipts)
    return _told(done)


def at_first_sight(
    source: str, files: list[sources.File], *, jobs: int, progress: bool, workers: Executor | None = None
) -> None:
    """Decode a file of which the cache has nothing, and hash it meanwhile, not before.

    One process hashes what it reads as it decodes it; beside several, a thread does. Afterwards the hash is remembered,
    and its tables are found by it.
    """
    if not cache.is_news(files):
        return
    with cache.lock(files):
        if not cache.is_news(files):
            return
        file, working = files[0], cache.begun(files[0])
        is_alone = not workers and processes.worth(file.size, jobs) == 1
        with (cache.overhearing if is_alone else cache.beside)(file) as hashed:
            units = sources.plan(files)
            receipts = run(units, str(working.absolute()), jobs=jobs, progress=progress, workers=workers)
            digest = hashed()
        _complete(working, source, files, digest, receipts)
        cache.remember(file, digest)


def _complete(working: Path, source: str, files: list[sources.File], digest: str, receipts: list[Receipt]) -> None:
    seal(str(working), finish(str(working), source, files, digest, receipts))
    publish(working, cache.folder(digest, files))


@contextmanager
def identified(
    files: list[sources.File], *, jobs: int, workers: Executor | None = None
) -> Iterator[tuple[str, Executor | None]]:
    """(hash of the contents, workers): those given, or, where a large file is read, some that start meanwhile."""
    jobs = processes.worth(sum(file.size for file in files), jobs)
    if workers or jobs == 1 or cache.is_remembered(files):
        yield cache.content_hash(files), workers
        return
    with processes.workers(jobs) as started:
        yield cache.content_hash(files), started


def cached(digest: str, files: list[sources.File]) -> str:
    """The folder of the cache that holds the tables of these contents, "" when there is none."""
    done = cache.folder(digest, files)
    return _told(done) if _is_sealed(done) else ""


def _told(folder: Path) -> str:
    """The folder; should it lack what could not be read, it is said how that is tried again."""
    if lost := (manifest_of(str(folder)) or {}).get("given_up"):
        parts = counted(lost, "part")
        logger.warning("%s could not be read in %d attempts; to try again, remove %s", parts, ATTEMPTS, folder)
    return str(folder)


def _is_sealed(folder: Path) -> bool:
    return (folder / MANIFEST).exists()


def run(
    units: list[sources.Unit],
    target: str,
    *,
    jobs: int,
    dask: str = "",
    progress: bool = True,
    workers: Executor | None = None,
) -> list[Receipt]:
    """Decode every unit that has no receipt yet; a file whose lines mislead is read again by brackets.

    Raises:
        SourceError: other processes are asked for, and what is read or written is out of their reach.
        OSError: the target cannot be written.
    """
    paths = (slice_.path for unit in units for slice_ in unit.slices)
    private = next((place for place in (target, *paths) if address.is_private(place)), "")
    if private:
        if dask:
            raise sources.SourceError(f"{private}: the workers of {dask} reach no memory:// address; name a shared one")
        jobs, workers = 1, None
    misleading = _misleading(target)
    by_lines = [unit for unit in units if unit.first.name not in misleading]
    receipts = _receipts(target, by_lines)
    had = {receipt.shard for receipt in receipts}
    missing = [unit for unit in by_lines if unit.shard not in had]
    size = sum(unit.size for unit in missing)
    with _bar(len(units), len(had), progress and size > processes.PARALLEL_BYTES) as count:
        for receipt in _map(missing, target, processes.worth(size, jobs), dask, workers):
            receipts.append(receipt)
            count(1)
    found = {receipt.file for receipt in receipts if receipt.is_cut_wrong} - misleading
    if found or misleading:
        misleading |= found
        receipts = [receipt for receipt in receipts if receipt.file not in misleading]
        # Noted before it is acted on: a run that is killed between must not take one file in both ways.
        places.write_bytes(f"{target}/units/{MISLEADING}", msgspec.json.encode(sorted(misleading)))
        receipts.extend(_by_brackets([unit for unit in units if unit.first.name in misleading], target))
    return sorted(receipts, key=lambda receipt: receipt.shard)


def _by_brackets(units: list[sources.Unit], target: str) -> Iterator[Receipt]:
    for path, parts in _by_file(units).items():
        logger.info("%s: lines do not start records; read by brackets", path)
        for unit in parts:
            _forget(target, unit)
        unit = sources.whole(parts[0], max(unit.first.end for unit in parts))
        receipt = decode_unit(unit, target)
        receipt.by_brackets = tuple(slice_.name for slice_ in unit.slices)
        yield receipt


def _map(units: list[sources.Unit], target: str, jobs: int, dask: str, workers: Executor | None) -> Iterator[Receipt]:
    if dask:
        # Dask tries again by itself: after an error, and on another worker after one is lost.
        with _cluster(dask) as client, client.get_executor(retries=ATTEMPTS - 1) as executor:
            yield from _collect(executor, units, target, attempts=1)
        return
    jobs = min(jobs, len(units))
    if jobs <= 1 and not workers:
        for unit in units:
            yield _here(unit, target)
        return
    try:
        yield from _parallel(units, target, jobs, workers)
    except processes.NoWorkersError:
        logger.warning("no worker process can be started here; decoding in this one")
        for unit in units:
            if _receipt(target, unit) is None:
                yield decode_unit(unit, target)


def _parallel(units: list[sources.Unit], target: str, jobs: int, workers: Executor | None) -> Iterator[Receipt]:
    left = {unit.shard: unit for unit in units}
    for attempt in range(ATTEMPTS):
        # A worker that dies takes the whole pool with it, the innocent units too: begin a new pool with what is left.
        with nullcontext(workers) if workers and attempt == 0 else processes.workers(jobs) as executor:
            processes.await_one(executor)
            for receipt in _collect(executor, list(left.values()), target, attempts=ATTEMPTS):
                del left[receipt.shard]
                yield receipt
        if not left:
            return
    for unit in left.values():
        # Some unit kills whoever reads it. Each in a pool of its own, so that the blame falls on the right one.
        yield _alone(unit, target)


def _here(unit: sources.Unit, target: str) -> Receipt:
    """Decode in this process, with as many attempts as another one would have."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return decode_unit(unit, target)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in UNWRITABLE:
                raise
            reason = f"{type(error).__name__}: {error}"[:300]
            logger.warning("%s: attempt %d of %d: %s", unit.first.origin(unit.first.start), attempt, ATTEMPTS, reason)
    return give_up(unit, target, reason)


def _cluster(scheduler: str) -> Any:
    try:
        from distributed import Client  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise sources.SourceError(
            f"{scheduler}: decoding on a cluster needs pip install 'trajectory-notebooks[dask]'"
        ) from None
    try:
        return Client(scheduler)
    except (OSError, ValueError) as error:
        raise sources.SourceError(f"{scheduler}: no Dask scheduler answers there: {error}") from error


def spread(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[Item, Result]]:
    """Each item with what becomes of it, in as many processes as there are cores, as they are done.

    What a process that dies leaves undone, and all where none starts, is done in this one.
    """
    left = dict(enumerate(items))
    jobs = min(processes.cores(), len(items))
    try:
        if jobs > 1:
            with processes.workers(jobs) as executor:
                processes.await_one(executor)
                futures = {executor.submit(work, item): number for number, item in left.items()}
                for future in as_completed(futures):
                    result = future.result()
                    yield left.pop(futures[future]), result
    except (processes.NoWorkersError, BrokenProcessPool):
        logger.warning("a worker process died, or none could be started; the rest is done in this one")
    for item in left.values():
        yield item, work(item)


def _alone(unit: sources.Unit, target: str) -> Receipt:
    receipts: list[Receipt] = []
    for attempt in range(1, ATTEMPTS + 1):
        with processes.workers(1) as executor:
            processes.await_one(executor)
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
        elif isinstance(error, OSError) and error.errno in UNWRITABLE:
            raise error
        elif attempts == 1:
            yield give_up(unit, target, f"{type(error).__name__}: {error}"[:300])


def give_up(unit: sources.Unit, target: str, reason: str) -> Receipt:
    """A unit that failed ATTEMPTS times is one named rejection, so that in = kept + rejected still holds."""
    first, *others = unit.slices
    origin = first.origin(first.start)
    where = f"{'rows' if first.container == 'parquet' else 'bytes'} {first.start:,}-{first.end:,}"
    if others:
        where = f"{len(unit.slices):,} files, from here to {others[-1].name},"
    why = f"{where} could not be read in {ATTEMPTS} attempts: {reason}"
    receipt = Receipt(unit.shard, first.name, 1, 0, 1, {}, {}, [(origin, why)], is_given_up=True)
    rejected = pl.DataFrame([(origin, first.start, why)], schema=REJECTED.schema, orient="row")
    put(receipt, {table.name: table.empty() for table in RECORD_TABLES} | {REJECTED.name: rejected}, target)
    return receipt


def finish(target: str, source: str, files: list[sources.File], digest: str, receipts: list[Receipt]) -> dict[str, Any]:
    """What only the whole source shows: repeated scenarios, tool sets once, and the manifest, to be sealed with.

    Raises:
        SourceError: a file was written to meanwhile; nothing is known by the hash of other bytes.
        OSError: a part is not there any more, or one too many: another run writes to the same place.
    """
    try:
        sources.refuse_changed(files)
    except sources.SourceError:
        places.remove(f"{target}/units")  # a run that is tried again resumes nothing of this one
        raise
    _all_there(target, receipts)
    _repeated_tasks(target)
    _distinct_tool_sets(target)
    return {
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
        "given_up": sum(receipt.is_given_up for receipt in receipts),
        "by_brackets": sorted({name for receipt in receipts for name in receipt.by_brackets}),
        "unknown_keys": dict(sorted(sum((Counter(r.unknown_keys) for r in receipts), Counter()).items())),
        "decoder": cache.DECODER,
        "versions": {
            "polars": pl.__version__,
            "msgspec": msgspec.__version__,
            "jsonschema-rs": version("jsonschema-rs"),
            "python": sys.version.split()[0],
        },
    }


def seal(target: str, manifest: dict[str, Any]) -> None:
    """Write the manifest, the last file of a set: what has one is finished."""
    places.write_bytes(f"{target}/{MANIFEST}", msgspec.json.format(msgspec.json.encode(manifest), indent=2))


def manifest_of(folder: str) -> dict[str, Any] | None:
    """The manifest of a finished set of tables; None where there is none, or one of something else."""
    try:
        manifest = msgspec.json.decode(places.read_bytes(f"{folder}/{MANIFEST}"))
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    ours = {"source", "decoder", "content_hash", "records_in", "kept", "rejected", "by_brackets"}
    return manifest if isinstance(manifest, dict) and ours <= manifest.keys() and cache.key(manifest) else None


def is_unfinished(folder: str) -> bool:
    """Did a run that decodes into this folder begin and not end?"""
    there = places.names(folder)
    return UNFINISHED in there and MANIFEST not in there


def _all_there(target: str, receipts: list[Receipt]) -> None:
    found = {name for name in places.names(f"{target}/{TRAJECTORIES.name}") if name.startswith("part-")}
    if found != {f"part-{receipt.shard:05d}.parquet" for receipt in receipts}:
        raise OSError(errno.EBUSY, "its parts are not those of this run: another one is writing there", target)


def _repeated_tasks(target: str) -> None:
    """Findings of tasks that several trajectories have, a few parts at a time: memory does not grow with the records.

    Eight bytes stand for a task while it is counted. That two tasks of ten million have the same eight is one chance
    in 400,000.
    """
    task = pl.struct("traj_type", "task_id").hash()
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
    """Trajectories whose task is known, a few parts at a time; made anew: a frame that was read holds memory."""
    parts = places.parts(f"{target}/{TRAJECTORIES.name}")
    for start in range(0, len(parts), FEW_PARTS):
        few = address.scan_parquet(parts[start : start + FEW_PARTS])
        yield few.filter(pl.col("task_id").is_not_null())


def _distinct_tool_sets(target: str) -> None:
    """Units see the same tool sets; the table holds each once, in its first part."""
    parts = places.parts(f"{target}/{TOOLS.name}")
    if len(parts) > 1:
        frame = address.scan_parquet(parts).unique(["tool_set", "tool_name"]).sort("tool_set", "tool_name").collect()
        places.write({parts[0]: frame})
        for part in parts[1:]:
            places.remove(part)


def _receipts(target: str, units: list[sources.Unit]) -> list[Receipt]:
    """Receipts of the units that are done."""
    there = set(places.names(f"{target}/units"))
    found = (_receipt(target, unit) for unit in units if f"{unit.shard:05d}.json" in there)
    return [receipt for receipt in found if receipt is not None]


def _receipt(target: str, unit: sources.Unit) -> Receipt | None:
    try:
        return msgspec.json.decode(places.read_bytes(f"{target}/units/{unit.shard:05d}.json"), type=Receipt)
    except (OSError, msgspec.MsgspecError):
        return None


def _misleading(target: str) -> set[str]:
    try:
        return set(msgspec.json.decode(places.read_bytes(f"{target}/units/{MISLEADING}"), type=list[str]))
    except (OSError, msgspec.MsgspecError):
        return set()


def _forget(target: str, unit: sources.Unit) -> None:
    places.remove(f"{target}/units/{unit.shard:05d}.json")
    for table in RECORD_TABLES:
        places.remove(f"{target}/{table.name}/part-{unit.shard:05d}.parquet")


def _by_file(units: list[sources.Unit]) -> dict[str, list[sources.Unit]]:
    parts: dict[str, list[sources.Unit]] = {}
    for unit in units:
        parts.setdefault(unit.first.path, []).append(unit)
    return parts


@contextmanager
def _bar(total: int, initial: int, shown: bool) -> Iterator[Callable[[int], object]]:
    """What counts on a progress bar: so many units more are done."""
    if not shown:
        yield lambda _: None
        return
    from tqdm.auto import tqdm  # noqa: PLC0415  asyncio and more, which workers and quiet runs need not import

    with tqdm(total=total, initial=initial, desc="decoding", unit="part") as bar:
        yield bar.update
