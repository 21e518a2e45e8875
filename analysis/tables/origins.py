"""The records behind tables, read from their source again: whole trajectories, and tables that need the texts."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from analysis import processes, records, schema, sources
from analysis.records.model import Rejected, Trajectory
from analysis.schema import Table
from analysis.sources import address
from analysis.tables import cache, intact, places
from analysis.tables.crew import spread
from analysis.tables.decode import trajectory_id

Rows = Callable[[Trajectory], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True)
class Origins:
    """The source of some tables, by what their manifest says of it."""

    source: str
    manifest: dict[str, Any]

    def files(self) -> list[sources.File]:
        """The source's files, as they were when it was loaded.

        Raises:
            sources.SourceError: the source is no longer what was loaded, or only its tables are here.
        """
        if not self.manifest["located"]:
            named = self.manifest["tables_of"]
            raise sources.SourceError(f"{self.source}: tables without texts, made of {named}; load that where it is")
        files = sources.locate(self.manifest["located"])
        if cache.content_hash(files) != self.manifest["content_hash"]:
            raise sources.SourceError(f"{self.source}: changed since it was loaded; load it again")
        return files

    def sha256(self) -> str:
        """SHA-256 of the source's file; "" where it is not one file, or not here as it was loaded."""
        try:
            files = self.files()
            return address.sha256(files[0].path) if len(files) == 1 else ""
        except sources.SourceError:
            return ""

    def layouts(self) -> set[tuple[str, bytes]]:
        """How the source's files hold their records: (container, what a record's line starts with)."""
        units = self._units(self.files())
        return {(slice_.container, slice_.prefix) for unit in units for slice_ in unit.slices}

    def units(self) -> list[sources.Unit]:
        """The units as they were decoded: what is read apart, by any process.

        Raises:
            sources.SourceError: the source is no longer what was loaded, or only its tables are here.
        """
        return [*self._units(self.files())]

    def raw_records(self, shards: set[int] | None = None) -> Iterator[tuple[str, sources.Raw]]:
        """(trajectory id, record as its bytes) of every record, or of some units'.

        Raises:
            sources.SourceError: the source is no longer what was loaded, or only its tables are here.
        """
        files = self.files()
        for unit in self._units(files):
            if shards is None or unit.shard in shards:
                yield from raw_records_of(unit)
        sources.refuse_changed(files)

    def trajectories(self, trajectory_ids: Iterable[str]) -> list[Trajectory]:
        """Whole trajectories, in the order asked for.

        Raises:
            KeyError: no such trajectory.
            sources.SourceError: the source is no longer what was loaded.
        """
        ids = list(dict.fromkeys(trajectory_ids))
        by_id: dict[str, Trajectory] = {}
        left = set(ids)
        for id_, raw in self.raw_records({int(id_.partition("-")[0]) for id_ in ids}) if left else ():
            if id_ not in left:
                continue
            record = records.read(raw.data, raw.origin, raw.byte_offset, keep_unread=True)
            if not isinstance(record, Rejected):
                by_id[id_] = record
            left.remove(id_)
            if not left:
                break
        missing = [id_ for id_ in ids if id_ not in by_id]
        if missing:
            raise KeyError(f"no trajectory {missing[0]} in {self.source}")
        return [by_id[id_] for id_ in ids]

    def derived(self, table: Table, rows: Rows, *, key: str) -> pl.LazyFrame:
        """A table of all trajectories, cached beside those it belongs to.

        Args:
            table: what the rows conform to; its first column is trajectory_id.
            rows: the rows of one trajectory, without trajectory_id.
            key: what else the rows depend on, such as a tokenizer.
        """
        digest = hashlib.sha256(f"{table.name} {key} {table.schema}".encode()).hexdigest()[:16]
        path = cache.root() / "derived" / cache.key(self.manifest) / f"{table.name}-{digest}.parquet"
        if not intact.is_part(str(path), table):
            intact.discard(path)
            places.write({str(path): schema.conform(self._derive(table, rows), table)})
        return pl.scan_parquet(path, glob=False)

    def _derive(self, table: Table, rows: Rows) -> pl.DataFrame:
        from tqdm.auto import tqdm  # noqa: PLC0415  asyncio and more, which workers need not import

        files = self.files()
        units = [*self._units(files)]
        is_shared = not any(address.is_private(unit.first.path) for unit in units)
        is_spread = is_shared and len(units) > 1 and self.manifest["bytes"] > processes.PARALLEL_BYTES
        is_hidden = True if os.environ.get("TQDM_DISABLE") else None  # None: hidden unless a person watches
        total = int(self.manifest["kept"])
        with tqdm(total=total, desc=table.name, unit="record", delay=2, disable=is_hidden) as bar:
            work = partial(_rows_of_unit, table=table, rows=rows, tick=_nothing if is_spread else bar.update)
            parts: dict[int, pl.DataFrame] = {}
            for unit, (part, trajectories) in spread(work, units) if is_spread else ((u, work(u)) for u in units):
                parts[unit.shard] = part
                bar.update(trajectories if is_spread else 0)
        sources.refuse_changed(files)
        return pl.concat([table.empty(), *(parts[shard] for shard in sorted(parts))])

    def _units(self, files: list[sources.File]) -> Iterator[sources.Unit]:
        """The units as they were decoded: a file read by brackets is one, under its first shard."""
        by_brackets = set(self.manifest["by_brackets"])
        seen = set()
        for unit in sources.plan(files):
            if unit.first.name not in by_brackets:
                yield unit
            elif unit.first.name not in seen:
                seen.add(unit.first.name)
                yield sources.whole(unit, unit.first.end)


def _rows_of_unit(unit: sources.Unit, table: Table, rows: Rows, tick: Callable[[], object]) -> tuple[pl.DataFrame, int]:
    """(rows of a unit's trajectories, how many these are)."""
    made: list[tuple[Any, ...]] = []
    trajectories = 0
    for id_, raw in raw_records_of(unit):
        record = records.read(raw.data, raw.origin, raw.byte_offset, keep_unread=True)
        if not isinstance(record, Rejected):
            made.extend((id_, *row) for row in rows(record))
            trajectories += 1
            tick()
    # With the declared dtypes: inferred from the first rows, a column that starts with nulls would fail later.
    return pl.DataFrame(made, schema=table.schema, orient="row"), trajectories


def raw_records_of(unit: sources.Unit) -> Iterator[tuple[str, sources.Raw]]:
    """(trajectory id, record as its bytes) of every record of a unit."""
    records_only = (raw for raw in sources.read_unit(unit) if isinstance(raw, sources.Raw))
    for row, raw in enumerate(records_only):
        yield trajectory_id(unit.shard, row), raw


def _nothing() -> None:
    """What a worker tells of its progress."""
