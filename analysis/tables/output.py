"""Tables written where the user says: on this machine beside and renamed, at any other address sealed by the manifest.

A source that this machine has decoded before is copied. Else, where the cache is of no use (a remote address, or a
cluster whose workers do not reach it), units are decoded straight into the place, and a run that is killed there goes
on with the units that are missing.
"""

import os
import shutil
import uuid
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import msgspec

from analysis import schema, sources
from analysis.files import swap
from analysis.sources import address
from analysis.tables import build, cache, places, siblings, subsets
from analysis.tables.handle import locations, written


def write_tables(
    source: str,
    out: str | Path,
    *,
    environments: str = "",
    scenarios: str = "",
    jobs: int = 0,
    dask: str = "",
    progress: bool = True,
    workers: Executor | None = None,
) -> dict[str, Any]:
    """Write `OUT/<table>/*.parquet` and, last of all, `OUT/manifest.json`; `load(OUT)` reads them.

    Args:
        source, environments, scenarios, jobs, dask, progress: as for `load`.
        out: a folder of this machine, which is there when it is finished, or any address fsspec writes to, where
            tables are finished when there is a manifest. Tables that are there already are replaced.
        workers: processes to decode in, already started; they are the caller's to shut down.

    Returns:
        The manifest.

    Raises:
        FileExistsError: OUT holds something that is not such a folder.
        sources.SourceError: there is nothing to read, or OUT is out of reach of the processes that should write.
        OSError: OUT cannot be written.
    """
    place = address.plain(os.fspath(out)).rstrip("/")
    _refuse_what_is_not_ours(place)
    if subsets.is_subset(source):
        whole = subsets.read(source).source
        raise sources.SourceError(f"{source}: a part of tables, not records; write {whole}, and load the subset")
    if written(source) is not None:
        raise sources.SourceError(f"{source}: tables already; copy the folder, or name the records they were made of")
    located, environments, scenarios = locations(source, environments, scenarios)
    files = sources.locate(located)
    given = siblings.build(source, environments, scenarios)
    is_kept = not dask and not address.is_remote(place)
    if is_kept and not build.manifest_of(place):
        build.at_first_sight(source, files, jobs=jobs, progress=progress, workers=workers)
    with build.identified(files, jobs=jobs if is_kept else 1, workers=workers) as (digest, started):
        ready = _tables_of(digest, files, place)
        if not ready and is_kept:
            ready = build.kept(source, files, digest, jobs=jobs, progress=progress, workers=started)
    working = _working(place, uuid.uuid4().hex if ready else digest[-12:])
    _begin(working, digest, is_ready=ready == working)
    try:
        if ready:
            manifest = build.manifest_of(ready) or {}
            _copy(ready, working, [table.name for table in schema.RECORD_TABLES])
        else:
            units = sources.plan(files)
            receipts = build.run(units, working, jobs=jobs, dask=dask, progress=progress, workers=workers)
            manifest = build.finish(working, source, files, digest, receipts)
        manifest |= {"source": source, "synthetic": source == "sample", "siblings": list(given.sources)}
        manifest["joins"] = siblings.joins(working, cache.key(manifest), given.folder)
        _replace_siblings(given.folder, working)
        build.seal(working, manifest)
        _end(working, place)
    except BaseException:
        if ready and working != place:  # a copy is made again in no time; decoded units are kept for the next run
            shutil.rmtree(working, ignore_errors=True)
        raise
    return manifest


def _refuse_what_is_not_ours(place: str) -> None:
    is_file = not address.is_remote(place) and Path(place).is_file()
    if is_file or (places.names(place) and not build.manifest_of(place) and not build.is_unfinished(place)):
        raise FileExistsError(f"{place}: not empty and not a folder of tables; name another")


def _tables_of(digest: str, files: list[sources.File], place: str) -> str:
    """Where these contents stand decoded by this code: at the place itself, or in the cache; "" when nowhere."""
    there = build.manifest_of(place) or {}
    is_same = cache.key(there) == cache.name(digest, [file.name for file in files])
    return place if is_same and not there.get("given_up") else build.cached(digest, files)


def _working(place: str, mark: str) -> str:
    if address.is_remote(place):
        return place
    # Absolute: the workers of a cluster were started elsewhere.
    whole = Path(place).absolute()
    return str(whole.with_name(f".{whole.name}.{mark}.partial"))


def _begin(working: str, digest: str, *, is_ready: bool) -> None:
    """Say that the place is not finished, and clear it, unless a killed run of the same left its parts there."""
    mark = msgspec.json.encode({"content_hash": digest, "decoder": cache.DECODER})
    if is_ready or (build.is_unfinished(working) and places.read_bytes(f"{working}/{build.UNFINISHED}") == mark):
        return
    places.write_bytes(f"{working}/{build.UNFINISHED}", mark)
    for name in (build.MANIFEST, "units", *(table.name for table in schema.BASE_TABLES)):
        places.remove(f"{working}/{name}")


def _copy(folder: str, target: str, names: list[str]) -> None:
    for part in (part for name in names if folder != target for part in places.parts(f"{folder}/{name}")):
        places.write_bytes(f"{target}{part.removeprefix(folder)}", places.read_bytes(part))


def _replace_siblings(folder: str, working: str) -> None:
    names = [table.name for table in schema.SIBLING_TABLES]
    if folder:
        _copy(folder, working, names)
        return
    for name in names:
        places.remove(f"{working}/{name}")


def _end(working: str, place: str) -> None:
    """Take away what only the making needed, and put a folder of this machine in its place."""
    for name in ("units", build.UNFINISHED):
        places.remove(f"{working}/{name}")
    if working == place:
        return
    swap(Path(working), Path(place))
