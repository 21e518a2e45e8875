"""`load(source)`: the tables of a source as LazyFrames, with the manifest that says where they come from."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from analysis import processes, records, schema, sources
from analysis.files import equal_folder
from analysis.nearest import hint
from analysis.records.model import Rejected, Trajectory
from analysis.schema import Table
from analysis.sources import address
from analysis.tables import build, cache, describe, places, siblings, subsets
from analysis.tables.decode import trajectory_id

BY_NAME = {table.name: table for table in schema.BASE_TABLES}

Rows = Callable[[Trajectory], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True, repr=False)
class Tables:
    """The base tables of one source, or of a selection of it.

    Every table is a property that gives a `pl.LazyFrame` with the columns of `analysis.schema`; the sibling tables are
    empty frames of their schema when no sibling set was given. `manifest` says where the rows come from.
    """

    source: str
    folder: str
    manifest: dict[str, Any]
    siblings: str = ""
    selection: dict[str, str] = field(default_factory=dict)
    subset: subsets.Subset | None = None

    @property
    def trajectories(self) -> pl.LazyFrame:
        return self._chosen(schema.TRAJECTORIES)

    @property
    def is_narrowed(self) -> bool:
        """Whether these are less than the whole source: a subset, or a selection."""
        return self.subset is not None or bool(self.selection)

    @property
    def narrowing(self) -> str:
        """What they are narrowed to, in words; "" for the whole source."""
        parts = [str(self.manifest["subset"])] if self.subset else []
        return ", ".join([*parts, *(f"{column} = {value}" for column, value in self.selection.items())])

    @property
    def messages(self) -> pl.LazyFrame:
        return self._selected(schema.MESSAGES)

    @property
    def tool_calls(self) -> pl.LazyFrame:
        return self._chosen(schema.TOOL_CALLS)

    @property
    def tools(self) -> pl.LazyFrame:
        frame = self._scan(schema.TOOLS)
        if not self.is_narrowed:
            return frame
        return frame.join(self.trajectories.select("tool_set").unique(), on="tool_set", how="semi")

    @property
    def findings(self) -> pl.LazyFrame:
        return self._selected(schema.FINDINGS)

    @property
    def rejected(self) -> pl.LazyFrame:
        return self._scan(schema.REJECTED)

    @property
    def environments(self) -> pl.LazyFrame:
        return self._of_environment(schema.ENVIRONMENTS)

    @property
    def environment_tools(self) -> pl.LazyFrame:
        return self._of_environment(schema.ENVIRONMENT_TOOLS)

    @property
    def scenarios(self) -> pl.LazyFrame:
        return self._of_environment(schema.SCENARIOS)

    @property
    def checks(self) -> pl.LazyFrame:
        checks = self._sibling(schema.CHECKS)
        if "env_id" not in self.selection:
            return checks
        return checks.join(self.scenarios.select("task_id"), on="task_id", how="semi")

    def where(self, *, traj_type: str = "", env_id: str = "", trajectory_id: str = "") -> "Tables":
        """A selection of the source; an empty text selects all.

        >>> data = load("sample").where(traj_type="conversation")
        >>> data.trajectories.select(pl.col("traj_type").unique()).collect().to_series().to_list()
        ['conversation']
        >>> data.where(env_id="env7")
        Traceback (most recent call last):
        ValueError: there is no env_id 'env7' in sample; nearest: env_7_sft, env_1_sft, env_2_sft

        Raises:
            ValueError: no such mode, environment or trajectory; the message names the nearest.
        """
        given = {"traj_type": traj_type, "env_id": env_id, "trajectory_id": trajectory_id}
        chosen = {column: value for column, value in given.items() if value != ""}
        for column, value in chosen.items():
            scanned = self._of_subset(self._scan(schema.TRAJECTORIES)).select(
                pl.col(column).cast(pl.String).unique().drop_nulls()
            )
            names = scanned.collect().to_series().to_list()
            modes = schema.MODES if column == "traj_type" else ()
            if value not in names and value not in modes:
                near = hint(str(value), names or modes)
                raise ValueError(f"there is no {column} {value!r} in {self.source}; {near}")
        return replace(self, selection={**self.selection, **chosen})

    def table(self, name: str, *columns: str) -> pl.LazyFrame:
        """A table by its name, or only some of its columns.

        >>> load("sample").table("tool_calls", "tool_name", "outcome").collect_schema().names()
        ['tool_name', 'outcome']
        >>> load("sample").table("tool_calls", "tool_nmae")
        Traceback (most recent call last):
        ValueError: tool_calls has no column 'tool_nmae'; nearest: tool_name

        Raises:
            ValueError: no such table or column; the message names the nearest.
        """
        if name not in BY_NAME:
            raise ValueError(f"there is no table {name!r}; {hint(name, BY_NAME)}")
        names = BY_NAME[name].names
        for column in columns:
            if column not in names:
                raise ValueError(f"{name} has no column {column!r}; {hint(column, names)}")
        frame: pl.LazyFrame = getattr(self, name)
        return frame.select(columns) if columns else frame

    def calls_of(self, tool_name: str) -> pl.LazyFrame:
        """The calls of one tool, in whatever environment.

        >>> load("sample").calls_of("cancel_odrer")
        Traceback (most recent call last):
        ValueError: there is no tool 'cancel_odrer' in sample; nearest: cancel_order, place_order, cancel_stay

        Raises:
            ValueError: no record offers or calls it; the message names the nearest.
        """
        calls = self.tool_calls.filter(pl.col("tool_name") == tool_name)
        if calls.limit(1).collect().is_empty():
            offered, called = self.tools.select("tool_name"), self.tool_calls.select("tool_name")
            known = pl.concat([offered, called]).unique().drop_nulls().collect().to_series().to_list()
            if tool_name not in known:
                raise ValueError(f"there is no tool {tool_name!r} in {self.source}; {hint(tool_name, known)}")
        return calls

    def __repr__(self) -> str:
        return describe.as_text(self)

    def _repr_html_(self) -> str:
        return describe.as_html(self)

    # Out of the type checker's sight: to it a misspelt table shall stay a mistake.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            known = [own for own in dir(self) if not own.startswith("_")]
            raise AttributeError(f"no table or method {name!r}; {hint(name, known)}")

    def read(self, trajectory_ids: Iterable[str]) -> list[Trajectory]:
        """Read whole trajectories, texts included, from the source again; in the order asked for.

        Raises:
            KeyError: no such trajectory.
            sources.SourceError: the source is no longer what was loaded.
        """
        wanted = list(dict.fromkeys(trajectory_ids))
        shards = {int(id_.partition("-")[0]) for id_ in wanted}
        found: dict[str, Trajectory] = {}
        left = set(wanted)
        for id_, raw in self.raw_records(shards) if left else ():
            if id_ not in left:
                continue
            record = records.read(raw.data, raw.origin, raw.byte_offset)
            if not isinstance(record, Rejected):
                found[id_] = record
            left.remove(id_)
            if not left:
                break
        missing = [id_ for id_ in wanted if id_ not in found]
        if missing:
            raise KeyError(f"no trajectory {missing[0]} in {self.source}")
        return [found[id_] for id_ in wanted]

    def derive(self, table: Table, rows: Rows, *, key: str) -> pl.LazyFrame:
        """A table that needs the texts: a second pass over the source, cached beside the others.

        Args:
            table: what the rows conform to; its first column is trajectory_id.
            rows: the rows of one trajectory, without trajectory_id.
            key: what else the rows depend on, such as a tokenizer.
        """
        digest = hashlib.sha256(f"{table.name} {key} {table.schema}".encode()).hexdigest()[:16]
        path = cache.root() / "derived" / cache.key(self.manifest) / f"{table.name}-{digest}.parquet"
        if not path.exists():
            frame = schema.conform(self._derived(table, rows), table)
            places.write({str(path): frame})
        return self._narrowed(pl.scan_parquet(path, glob=False))

    def raw_records(self, shards: set[int] | None = None) -> Iterator[tuple[str, sources.Raw]]:
        """Every record of the source again, as its bytes, with the id it has or would have in the tables.

        Args:
            shards: read these units only.

        Raises:
            sources.SourceError: the source is no longer what was loaded, or only its tables are here.
        """
        files = self.files()
        for unit in self._units(files):
            if shards is not None and unit.shard not in shards:
                continue
            yield from _raw_records(unit)
        sources.refuse_changed(files)

    def layouts(self) -> set[tuple[str, bytes]]:
        """How the source's files hold their records: (container, what a record's line starts with)."""
        units = self._units(self.files())
        return {(slice_.container, slice_.prefix) for unit in units for slice_ in unit.slices}

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

    def _derived(self, table: Table, rows: Rows) -> pl.DataFrame:
        from tqdm.auto import tqdm  # noqa: PLC0415  asyncio and more, which workers need not import

        files = self.files()
        units = [*self._units(files)]
        is_shared = not any(address.is_private(unit.first.path) for unit in units)
        is_spread = is_shared and len(units) > 1 and self.manifest["bytes"] > processes.PARALLEL_BYTES
        with tqdm(total=int(self.manifest["kept"]), desc=table.name, unit="record", delay=2) as bar:
            work = partial(_derive_unit, table=table, rows=rows, tick=_nothing if is_spread else bar.update)
            parts: dict[int, pl.DataFrame] = {}
            for unit, (part, trajectories) in build.spread(work, units) if is_spread else ((u, work(u)) for u in units):
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

    def _scan(self, table: Table) -> pl.LazyFrame:
        return places.scan(f"{self.folder}/{table.name}")

    def _selected(self, table: Table) -> pl.LazyFrame:
        return self._narrowed(self._scan(table))

    def _chosen(self, table: Table) -> pl.LazyFrame:
        """A table that itself has the columns of the selection."""
        frame = self._of_subset(self._scan(table))
        for column, value in self.selection.items():
            frame = frame.filter(pl.col(column) == value)
        return frame

    def _of_subset(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        if self.subset is None:
            return frame
        return frame.filter(pl.col("trajectory_id").is_in(list(self.subset.trajectory_ids)))

    def _narrowed(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        if not self.is_narrowed:
            return frame
        return frame.join(self.trajectories.select("trajectory_id"), on="trajectory_id", how="semi")

    def _of_environment(self, table: Table) -> pl.LazyFrame:
        frame = self._sibling(table)
        return frame.filter(pl.col("env_id") == self.selection["env_id"]) if "env_id" in self.selection else frame

    def _sibling(self, table: Table) -> pl.LazyFrame:
        return places.scan(f"{self.siblings}/{table.name}") if self.siblings else table.empty().lazy()


def _derive_unit(unit: sources.Unit, table: Table, rows: Rows, tick: Callable[[], object]) -> tuple[pl.DataFrame, int]:
    """(rows of a unit's trajectories, how many these are)."""
    made: list[tuple[Any, ...]] = []
    trajectories = 0
    for id_, raw in _raw_records(unit):
        record = records.read(raw.data, raw.origin, raw.byte_offset)
        if not isinstance(record, Rejected):
            made.extend((id_, *row) for row in rows(record))
            trajectories += 1
            tick()
    # With the declared dtypes: inferred from the first rows, a column that starts with nulls would fail later.
    return pl.DataFrame(made, schema=table.schema, orient="row"), trajectories


def _raw_records(unit: sources.Unit) -> Iterator[tuple[str, sources.Raw]]:
    records_only = (raw for raw in sources.read_unit(unit) if isinstance(raw, sources.Raw))
    for row, raw in enumerate(records_only):
        yield trajectory_id(unit.shard, row), raw


def _nothing() -> None:
    """What a worker tells of its progress."""


def load(
    source: str | Path = "sample",
    *,
    environments: str = "",
    scenarios: str = "",
    jobs: int = 0,
    dask: str = "",
    progress: bool = True,
) -> Tables:
    """Decode a source, or find it decoded, and hand out its tables.

    >>> data = load("sample")
    >>> data.tool_calls.select(pl.col("env_id").n_unique()).collect().item()
    14
    >>> load("sampel")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    SourceError: sampel: no such file or folder; near it: sample

    Args:
        source: a file, a glob, a folder, an fsspec address, `hub:OWNER/NAME[@REVISION][:FILE]`, `sample`, or what
            `write_tables` wrote, which is read lazily from where it is. A NAME.subset.toml that was saved from
            notebooks/explore.ipynb is a part of its source.
        environments: the sibling set of environments, named the same way; "hub" for the release's, "none" for none.
            Without it the sample brings its own, and the release, when it comes from the hub, the hub's.
        scenarios: the sibling sets of scenarios, SFT or RL, in the same way; several separated by commas.
        jobs: processes to decode with; 0 for as many as there are cores.
        dask: address of a Dask scheduler to decode on instead.
        progress: show a bar for work of more than a moment.

    Raises:
        sources.SourceError: there is nothing to read; the message names the remedy.
    """
    source = str(source)
    if subsets.is_subset(source):
        part = subsets.read(source)
        whole = load(
            part.source, environments=environments, scenarios=scenarios, jobs=jobs, dask=dask, progress=progress
        )
        subsets.check(part, whole.manifest, whole.trajectories)
        named = {"source": source, "subset": part.words(whole.manifest["kept"]), "subset_hash": part.records_hash}
        return replace(whole, source=source, manifest=whole.manifest | named, subset=part)
    there = written(source)
    if there is not None:
        folder, manifest = address.plain(source).rstrip("/"), there
    else:
        located, environments, scenarios = locations(source, environments, scenarios)
        folder = build.build(source, sources.locate(located), jobs=jobs, dask=dask, progress=progress)
        # The cache knows contents, not names: the same bytes may have been decoded under another one.
        manifest = build.manifest_of(folder) or {}
        manifest |= {"source": source, "located": located, "synthetic": source == "sample"}
    given = siblings.build(source, environments, scenarios)
    if given.folder or there is None:
        manifest |= {
            "siblings": list(given.sources),
            "joins": siblings.joins(folder, cache.key(manifest), given.folder),
        }
    return Tables(source, folder, manifest, given.folder or (folder if manifest.get("siblings") else ""))


def locations(source: str, environments: str, scenarios: str) -> tuple[str, str, str]:
    """What is to be located for a source and its siblings: the sample brings its own."""
    if source == "sample":
        return _bundled(environments, scenarios)
    return source, environments, scenarios


def written(source: str) -> dict[str, Any] | None:
    """The manifest of a folder that `write_tables` wrote; None when the source is anything else.

    Raises:
        sources.SourceError: the run that wrote it did not finish, or another version wrote it.
    """
    folder = address.plain(source)
    if not (Path(folder).is_dir() or (address.is_remote(folder) and not folder.endswith(sources.SUFFIXES))):
        return None
    manifest = build.manifest_of(folder)
    if manifest is None:
        if build.is_unfinished(folder):
            raise sources.SourceError(f"{source}: unfinished tables; write them again, which goes on where it stopped")
        return None
    for table in schema.RECORD_TABLES:
        with address.reading(source):
            found = places.scan(f"{folder}/{table.name}").collect_schema()
        if found != table.schema:
            raise sources.SourceError(f"{source}: {table.name} has not today's columns; write the tables again")
    origin = str(manifest["source"])
    # Texts are read from the records again. Only on this machine: a manifest that came from elsewhere opens no address.
    located = "" if address.is_remote(origin) or origin.startswith("hub:") else locations(origin, "", "")[0]
    return manifest | {"source": source, "tables_of": origin, "located": located}


def _bundled(environments: str, scenarios: str) -> tuple[str, str, str]:
    """The sample's file and its siblings', played on first use and kept."""
    from analysis import sample  # noqa: PLC0415  the sample's players are nothing to whoever has records

    size = sample.DEFAULT
    folder = cache.root() / "sample" / f"{sample.VERSION}-{size['trajectories']}-{size['environments']}-{size['seed']}"
    if not folder.exists():
        with equal_folder(folder) as beside:
            sample.write(beside / "trajectories.json", **size)
            sample.write_siblings(
                beside, environments=size["environments"], seed=size["seed"], trajectories=size["trajectories"]
            )
    theirs = f"{folder / 'scenarios.json'},{folder / 'rl_scenarios.json'}"
    return str(folder / "trajectories.json"), environments or str(folder / "environments.json"), scenarios or theirs
