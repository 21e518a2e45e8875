"""Tables written where the user says: on this machine beside and renamed, at any other address sealed by the manifest.

A source that this machine has decoded before is copied. Else, where the cache is of no use (a remote address, or a
cluster whose workers do not reach it), units are decoded straight into the place, and a run that is killed there goes
on with the units that are missing.
"""

import os
import shutil
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from analysis import schema, sources
from analysis.files import swap, sweep_beside, to_be_swapped
from analysis.sources import address
from analysis.tables import build, cache, places, receipts, siblings, subsets
from analysis.tables.crew import Crew
from analysis.tables.locate import SAMPLE, locate, passed_over, tables_at
from analysis.tables.manifest import MANIFEST, UNFINISHED, is_unfinished, manifest_of, seal
from analysis.tables.summary import summarise
from analysis.tables.units import decode_units


class _Contents(NamedTuple):
    """What is written: files, their hash, and where tables of them stand already; "" where nowhere."""

    survey: sources.Survey
    digest: str
    ready: str


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
    keep_unread: bool = False,
) -> dict[str, Any]:
    """Write `OUT/<table>/*.parquet` and, last of all, `OUT/manifest.json`; `load(OUT)` reads them.

    Args:
        source, environments, scenarios, jobs, dask, progress, keep_unread: as for `load`.
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
    _refuse_tables(source)
    crew = Crew(jobs=jobs, dask=dask, progress=progress, workers=workers, keep_unread=keep_unread)
    located = locate(source, environments, scenarios)
    sources.refuse_inside(place, located.path)
    survey = located.survey()
    beside = siblings.decoded(source, located.environments, located.scenarios)
    with cache.keeping_unread(keep_unread):
        return _write(source, _contents(survey, place, crew), beside, place, crew)


def _refuse_tables(source: str) -> None:
    if subsets.is_subset(source):
        whole = subsets.read(source).source
        raise sources.SourceError(f"{source}: a part of tables, not records; write {whole}, and load the subset")
    if tables_at(source) is not None:
        raise sources.SourceError(f"{source}: tables already; copy the folder, or name the records they were made of")


def _contents(survey: sources.Survey, place: str, crew: Crew) -> _Contents:
    files = survey.files
    is_cached = not crew.dask and not address.is_remote(place)
    if is_cached and not manifest_of(place):
        build.decode_unhashed(files, crew)
    with build.identified(files, crew if is_cached else crew.alone) as (digest, workers):
        ready = _tables_of(digest, files, place)
        if not ready and is_cached:
            ready = build.decode_hashed(files, digest, replace(crew, workers=workers))
    return _Contents(survey, digest, ready)


def _write(source: str, contents: _Contents, beside: siblings.SiblingTables, place: str, crew: Crew) -> dict[str, Any]:
    working = _working(place, "" if contents.ready else contents.digest[-12:])
    try:
        _begin(working, contents.digest, is_ready=contents.ready == working)
        manifest = _records(contents, working, crew)
        manifest |= {"source": source, "synthetic": source == SAMPLE, "siblings": list(beside.sources)}
        manifest |= passed_over(contents.survey, manifest)
        manifest["joins"] = siblings.joins(working, cache.key(manifest), beside.folder)
        _replace_siblings(beside.folder, working)
        seal(working, manifest)
        _publish(working, place)
    except BaseException:
        if contents.ready and working != place:  # a copy is made again in no time; decoded units stay for the next run
            shutil.rmtree(working, ignore_errors=True)
        raise
    return manifest


def _records(contents: _Contents, working: str, crew: Crew) -> dict[str, Any]:
    """Copy the record tables from where they stand, or decode them; their manifest."""
    if contents.ready:
        _copy(contents.ready, working, [table.name for table in schema.RECORD_TABLES])
        return manifest_of(contents.ready) or {}
    made = decode_units(sources.plan(contents.survey.files), working, crew)
    return summarise(working, contents.survey.files, contents.digest, made)


def _refuse_what_is_not_ours(place: str) -> None:
    is_file = not address.is_remote(place) and Path(place).is_file()
    if is_file or (places.names(place) and not manifest_of(place) and not is_unfinished(place)):
        raise FileExistsError(f"{place}: not empty and not a folder of tables; name another")


def _tables_of(digest: str, files: list[sources.File], place: str) -> str:
    """Where these contents stand decoded by this code: at the place itself, or in the cache; "" when nowhere."""
    there = manifest_of(place) or {}
    is_same = cache.key(there) == cache.name(digest, [file.name for file in files])
    return place if is_same and not there.get("given_up") else build.cached(digest, files)


def _working(place: str, mark: str) -> str:
    if address.is_remote(place):
        return place
    # Absolute: the workers of a cluster were started elsewhere.
    whole = Path(place).absolute()
    sweep_beside(whole)
    return str(whole.with_name(f".{whole.name}.{mark}.partial") if mark else to_be_swapped(whole))


def _begin(working: str, digest: str, *, is_ready: bool) -> None:
    """Say that the place is not finished, and clear it, unless a killed run of the same left its parts there."""
    mark = msgspec.json.encode({"content_hash": digest, "decoder": cache.decoder()})
    if is_ready or (is_unfinished(working) and places.read_bytes(f"{working}/{UNFINISHED}") == mark):
        return
    places.write_bytes(f"{working}/{UNFINISHED}", mark)
    for name in (MANIFEST, receipts.FOLDER, *(table.name for table in schema.BASE_TABLES)):
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


def _publish(working: str, place: str) -> None:
    """Take away what only the making needed, and put a folder of this machine in its place."""
    for name in (receipts.FOLDER, UNFINISHED):
        places.remove(f"{working}/{name}")
    if working == place:
        return
    swap(Path(working), Path(place))
