"""`load(source)`: the tables of a source as LazyFrames, with the manifest that says where they come from."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from tqdm.auto import tqdm

from analysis import records, sample, schema, sources
from analysis.records.model import Rejected, Trajectory
from analysis.schema import Table
from analysis.tables import build, cache, siblings
from analysis.tables.decode import trajectory_id
from analysis.tables.places import write

Rows = Callable[[Trajectory], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True)
class Tables:
    """The base tables of one source, or of a selection of it.

    Every table is a property that gives a `pl.LazyFrame` with the columns of `analysis.schema`; the sibling tables are
    empty frames of their schema when no sibling set was given. `manifest` says where the rows come from.
    """

    source: str
    folder: str
    manifest: dict[str, Any] = field(repr=False)
    siblings: str = ""
    selection: dict[str, str] = field(default_factory=dict)

    @property
    def trajectories(self) -> pl.LazyFrame:
        frame = self._scan(schema.TRAJECTORIES)
        for column, value in self.selection.items():
            frame = frame.filter(pl.col(column) == value)
        return frame

    @property
    def messages(self) -> pl.LazyFrame:
        return self._selected(schema.MESSAGES)

    @property
    def tool_calls(self) -> pl.LazyFrame:
        frame = self._scan(schema.TOOL_CALLS)
        for column, value in self.selection.items():
            frame = frame.filter(pl.col(column) == value)
        return frame

    @property
    def tools(self) -> pl.LazyFrame:
        frame = self._scan(schema.TOOLS)
        if not self.selection:
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

    def where(self, *, traj_type: str = "", env_id: str = "") -> "Tables":
        """A selection of the source; an empty text selects all.

        Raises:
            ValueError: no such mode or environment; the message names the nearest.
        """
        chosen = {column: value for column, value in (("traj_type", traj_type), ("env_id", env_id)) if value}
        for column, value in chosen.items():
            known = self._scan(schema.TRAJECTORIES).select(pl.col(column).cast(pl.String).unique().drop_nulls())
            names = known.collect().to_series().to_list()
            modes = ["conversation", "non_conversation"] if column == "traj_type" else []
            if value not in names and value not in modes:
                near = get_close_matches(value, names or modes, n=3, cutoff=0.4)
                hint = f"; nearest: {', '.join(near)}" if near else f"; it has {len(names)} different ones"
                raise ValueError(f"{column} {value!r} does not occur in {self.source}{hint}")
        return replace(self, selection={**self.selection, **chosen})

    def read(self, trajectory_ids: Iterable[str]) -> list[Trajectory]:
        """Read whole trajectories, texts included, from the source again; in the order asked for.

        Raises:
            KeyError: no such trajectory.
            sources.SourceError: the source is no longer what was loaded.
        """
        wanted = list(dict.fromkeys(trajectory_ids))
        shards = {int(id_.partition("-")[0]) for id_ in wanted}
        found: dict[str, Trajectory] = {}
        for id_, trajectory in self._reread(shards):
            if id_ in wanted:
                found[id_] = trajectory
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
            total = int(self.manifest["kept"])
            made: list[tuple[Any, ...]] = []
            for id_, trajectory in tqdm(self._reread(), total=total, desc=table.name, unit="record", delay=2):
                made.extend((id_, *row) for row in rows(trajectory))
            # With the declared dtypes: inferred from the first rows, a column that starts with nulls would fail later.
            frame = schema.conform(pl.DataFrame(made, schema=table.schema, orient="row"), table)
            write(str(path), frame.write_parquet)
        return self._narrowed(pl.scan_parquet(path))

    def raw_records(self, shards: set[int] | None = None) -> Iterator[tuple[str, sources.Raw]]:
        """Every record of the source again, as its bytes, with the id it has or would have in the tables.

        Args:
            shards: read these units only.

        Raises:
            sources.SourceError: the source is no longer what was loaded.
        """
        if not self.manifest["located"]:
            named = self.manifest["tables_of"]
            raise sources.SourceError(f"{self.source}: tables without texts, made of {named}; load that where it is")
        files = sources.locate(self.manifest["located"])
        if cache.content_hash(files) != self.manifest["content_hash"]:
            raise sources.SourceError(f"{self.source}: changed since it was loaded; load it again")
        for unit in self._units(files):
            if shards is not None and unit.shard not in shards:
                continue
            records_only = (raw for raw in sources.read_unit(unit) if isinstance(raw, sources.Raw))
            for row, raw in enumerate(records_only):
                yield trajectory_id(unit.shard, row), raw

    def layouts(self) -> set[tuple[str, bytes]]:
        """How the source's files hold their records: (container, what a record's line starts with)."""
        units = self._units(sources.locate(self.manifest["located"]))
        return {(unit.container, unit.prefix) for unit in units}

    def _reread(self, shards: set[int] | None = None) -> Iterator[tuple[str, Trajectory]]:
        for id_, raw in self.raw_records(shards):
            record = records.read(raw.data, raw.origin, raw.byte_offset)
            if not isinstance(record, Rejected):
                yield id_, record

    def _units(self, files: list[sources.File]) -> Iterator[sources.Unit]:
        """The units as they were decoded: a file read by brackets is one, under its first shard."""
        by_brackets = set(self.manifest["by_brackets"])
        seen = set()
        for unit in sources.plan(files):
            if unit.name not in by_brackets:
                yield unit
            elif unit.name not in seen:
                seen.add(unit.name)
                yield sources.whole(unit, unit.end)

    def _scan(self, table: Table) -> pl.LazyFrame:
        return places.scan(f"{self.folder}/{table.name}")

    def _selected(self, table: Table) -> pl.LazyFrame:
        return self._narrowed(self._scan(table))

    def _narrowed(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        if not self.selection:
            return frame
        return frame.join(self.trajectories.select("trajectory_id"), on="trajectory_id", how="semi")

    def _of_environment(self, table: Table) -> pl.LazyFrame:
        frame = self._sibling(table)
        return frame.filter(pl.col("env_id") == self.selection["env_id"]) if "env_id" in self.selection else frame

    def _sibling(self, table: Table) -> pl.LazyFrame:
        return places.scan(f"{self.siblings}/{table.name}") if self.siblings else table.empty().lazy()


def load(
    source: str = "sample",
    *,
    environments: str = "",
    scenarios: str = "",
    jobs: int = 0,
    dask: str = "",
    progress: bool = True,
) -> Tables:
    """Decode a source, or find it decoded, and hand out its tables.

    Args:
        source: a file, a glob, a folder, an fsspec address, `hub:OWNER/NAME[@REVISION][:FILE]`, or `sample`.
        environments: the sibling set of environments, named the same way; "" for none (the sample brings its own).
        scenarios: the sibling set of scenarios, SFT or RL, named the same way; several separated by commas.
        jobs: processes to decode with; 0 for as many as there are cores.
        dask: address of a Dask scheduler to decode on instead.
        progress: show a bar for work of more than a moment.

    Raises:
        sources.SourceError: there is nothing to read; the message names the remedy.
    """
    written = _written(source)
    if written is not None:
        folder, manifest = source, written
    else:
        located, environments, scenarios = locations(source, environments, scenarios)
        folder = build.build(source, sources.locate(located), jobs=jobs, dask=dask, progress=progress)
        # The cache knows contents, not names: the same bytes may have been decoded under another one.
        manifest = _manifest(folder) | {"source": source, "located": located, "synthetic": source == "sample"}
    given = siblings.build(environments, scenarios)
    if given.folder:
        manifest |= {"siblings": given.sources, "joins": siblings.joins(folder, given.folder)}
    return Tables(source, folder, manifest, given.folder or (folder if manifest.get("siblings") else ""))


def locations(source: str, environments: str, scenarios: str) -> tuple[str, str, str]:
    """What is to be located for a source and its siblings: those that the sample brings, or the release has."""
    if source == "sample":
        return _bundled(environments, scenarios)
    return source, environments, scenarios


def _written(source: str) -> dict[str, Any] | None:
    """The manifest of a folder that `write_tables` wrote; None when the source is anything else.

    Raises:
        sources.SourceError: the run that wrote it did not finish, or another version wrote it.
    """
    return None


def _bundled(environments: str, scenarios: str) -> tuple[str, str, str]:
    """The sample's file and its siblings', played on first use and kept."""
    size = sample.DEFAULT
    folder = cache.root() / "sample" / f"{sample.VERSION}-{size['trajectories']}-{size['environments']}-{size['seed']}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".sample."))
        sample.write(beside / "trajectories.json", **size)
        sample.write_siblings(
            beside, environments=size["environments"], seed=size["seed"], trajectories=size["trajectories"]
        )
        build.publish(beside, folder)
    theirs = f"{folder / 'scenarios.json'},{folder / 'rl_scenarios.json'}"
    return str(folder / "trajectories.json"), environments or str(folder / "environments.json"), scenarios or theirs
