"""Files -> tables in the cache: planned, decoded, summarised, sealed, and published under the name of their contents.

Tables of the same contents are decoded once, by one process at a time; a run that was killed is resumed.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl

from analysis import processes, sources, visible
from analysis.files import publish
from analysis.schema import RECORD_TABLES, TRAJECTORIES
from analysis.tables import cache, intact, places
from analysis.tables.crew import ATTEMPTS, Crew
from analysis.tables.manifest import manifest_of, seal
from analysis.tables.receipts import Receipt
from analysis.tables.summary import summarise
from analysis.tables.units import decode_units
from analysis.wording import count

logger = visible.logger(__name__)


def build(files: list[sources.File], crew: Crew) -> str:
    """Tables of files, from the cache or decoded into it; a cluster's workers must reach the cache folder.

    Returns:
        The folder: `<table>/part-*.parquet` and `manifest.json`.
    """
    if not crew.dask:
        decode_unhashed(files, crew)
    with identified(files, crew.alone if crew.dask else crew) as (digest, workers):
        return decode_hashed(files, digest, replace(crew, workers=workers))


def decode_hashed(files: list[sources.File], digest: str, crew: Crew) -> str:
    """Tables of contents whose hash is known, from the cache or decoded into it."""
    place = cache.folder(digest, files)
    if not _is_sealed(place):
        with cache.lock(files):
            if not _is_sealed(place):
                intact.sweep(place.parent)
                working = place.with_suffix(".partial")
                if len(files) == 1 and cache.begun(files[0]).exists():
                    working = cache.begun(files[0])
                _publish(working, files, digest, _decode(files, working, crew))
    _warn_of_gaps(place)
    return str(place)


def decode_unhashed(files: list[sources.File], crew: Crew) -> None:
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
        is_alone = not crew.workers and crew.processes_for(file.size) == 1
        with (cache.overhearing if is_alone else cache.beside)(file) as hashed:
            receipts = _decode(files, working, crew)
            digest = hashed()
        _publish(working, files, digest, receipts)
        cache.remember(file, digest)


@contextmanager
def identified(files: list[sources.File], crew: Crew) -> Iterator[tuple[str, Executor | None]]:
    """(hash of the contents, workers): the crew's, or, where a large file is read, some that start meanwhile."""
    jobs = crew.processes_for(sum(file.size for file in files))
    if crew.workers or jobs == 1 or cache.is_remembered(files):
        yield cache.content_hash(files), crew.workers
        return
    with processes.workers(jobs) as workers:
        yield cache.content_hash(files), workers


def cached(digest: str, files: list[sources.File]) -> str:
    """The folder of the cache that holds the tables of these contents, "" when there is none."""
    place = cache.folder(digest, files)
    if not _is_sealed(place):
        return ""
    _warn_of_gaps(place)
    return str(place)


def _decode(files: list[sources.File], working: Path, crew: Crew) -> list[Receipt]:
    return decode_units(sources.plan(files), str(working.absolute()), crew)


def _publish(working: Path, files: list[sources.File], digest: str, receipts: list[Receipt]) -> None:
    seal(str(working), summarise(str(working), files, digest, receipts))
    publish(working, cache.folder(digest, files))


def _warn_of_gaps(folder: Path) -> None:
    """Say how to try again, where the tables lack what could not be read."""
    if lost := (manifest_of(str(folder)) or {}).get("given_up"):
        parts = count(lost, "part")
        logger.warning("%s could not be read in %d attempts; to try again, remove %s", parts, ATTEMPTS, folder)


def _is_sealed(folder: Path) -> bool:
    """Whether the tables of some contents are here, as they were written."""
    manifest = manifest_of(str(folder))
    is_ours = manifest is not None and cache.key(manifest) == folder.name
    if is_ours and intact.holds(folder, RECORD_TABLES) and _rows(folder) == manifest["kept"]:  # type: ignore[index]
        return True
    intact.discard(folder)
    return False


def _rows(folder: Path) -> int:
    return int(places.scan(f"{folder}/{TRAJECTORIES.name}").select(pl.len()).collect().item())
