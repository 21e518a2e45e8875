"""The tables of one source as LazyFrames, with the manifest that says where they come from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from analysis import schema, sources
from analysis.nearest import hint
from analysis.records.model import Trajectory
from analysis.schema import Table
from analysis.tables import describe, places, subsets
from analysis.tables.huggingface import datasets_of
from analysis.tables.origins import Origins, Rows

BY_NAME = {table.name: table for table in schema.BASE_TABLES}


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
        return self._with_own_columns(schema.TRAJECTORIES)

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
        return self._with_own_columns(schema.TOOL_CALLS)

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

        >>> from analysis import load
        >>> data = load("sample").where(traj_type="conversation")
        >>> data.trajectories.select(pl.col("traj_type").unique()).collect().to_series().to_list()
        ['conversation']
        >>> data.where(env_id="env7")
        Traceback (most recent call last):
        ValueError: there is no env_id 'env7' in sample; nearest: env_7_sft, env_1_sft, env_2_sft

        Raises:
            ValueError: no such mode, environment or trajectory; the message names the nearest.
        """
        values = {"traj_type": traj_type, "env_id": env_id, "trajectory_id": trajectory_id}
        selection = {column: value for column, value in values.items() if value != ""}
        for column, value in selection.items():
            scanned = self._of_subset(self._scan(schema.TRAJECTORIES)).select(
                pl.col(column).cast(pl.String).unique().drop_nulls()
            )
            names = scanned.collect().to_series().to_list()
            modes = schema.MODES if column == "traj_type" else ()
            if value not in names and value not in modes:
                near = hint(str(value), names or modes)
                raise ValueError(f"there is no {column} {value!r} in {self.source}; {near}")
        return replace(self, selection={**self.selection, **selection})

    def table(self, name: str, *columns: str) -> pl.LazyFrame:
        """A table by its name, or only some of its columns.

        >>> from analysis import load
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

        >>> from analysis import load
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

    def to_datasets(self) -> dict[str, Any]:
        """The tables as `datasets.Dataset`s, by name, in memory: for code that takes what the hub's library loads.

        A selection gives its rows only. Enum columns become texts; every other dtype stays. What a row and each column
        means stands in `info.description`. Tables have different columns, which splits of one `DatasetDict` may not
        have, so this is a plain dict; `push_to_hub(repository, config_name=name)` makes each a configuration.

        >>> from analysis import load
        >>> calls = load("sample").to_datasets()["tool_calls"]  # doctest: +SKIP
        >>> calls.filter(lambda call: call["outcome"] == "error").num_rows  # doctest: +SKIP
        """
        return datasets_of({table: self.table(table.name) for table in schema.BASE_TABLES})

    def read(self, trajectory_ids: Iterable[str]) -> list[Trajectory]:
        """Read whole trajectories, texts included, from the source again; in the order asked for.

        Raises:
            KeyError: no such trajectory.
            sources.SourceError: the source is no longer what was loaded.
        """
        return self._origins.trajectories(trajectory_ids)

    def derive(self, table: Table, rows: Rows, *, key: str) -> pl.LazyFrame:
        """A table that needs the texts: a second pass over the source, cached beside the others.

        Args:
            table: what the rows conform to; its first column is trajectory_id.
            rows: the rows of one trajectory, without trajectory_id.
            key: what else the rows depend on, such as a tokenizer.
        """
        return self._narrowed(self._origins.derived(table, rows, key=key))

    def units(self) -> list[sources.Unit]:
        """The parts of the source that can be read apart, as they were decoded.

        Raises:
            sources.SourceError: the source is no longer what was loaded, or only its tables are here.
        """
        return self._origins.units()

    def raw_records(self) -> Iterator[tuple[str, sources.Raw]]:
        """Every record of the source again, as its bytes, with the id it has or would have in the tables.

        Raises:
            sources.SourceError: the source is no longer what was loaded, or only its tables are here.
        """
        return self._origins.raw_records()

    def layouts(self) -> set[tuple[str, bytes]]:
        """How the source's files hold their records: (container, what a record's line starts with)."""
        return self._origins.layouts()

    def files(self) -> list[sources.File]:
        """The source's files, as they were when it was loaded.

        Raises:
            sources.SourceError: the source is no longer what was loaded, or only its tables are here.
        """
        return self._origins.files()

    def sha256(self) -> str:
        """SHA-256 of the source's file; "" where it is not one file, or not here as it was loaded."""
        return self._origins.sha256()

    @property
    def _origins(self) -> Origins:
        return Origins(self.source, self.manifest)

    def _scan(self, table: Table) -> pl.LazyFrame:
        return places.scan(f"{self.folder}/{table.name}")

    def _selected(self, table: Table) -> pl.LazyFrame:
        return self._narrowed(self._scan(table))

    def _with_own_columns(self, table: Table) -> pl.LazyFrame:
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
