"""The tables of one source as LazyFrames, with the manifest that says where they come from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from analysis import schema, sources
from analysis.nearest import hint
from analysis.records import compared, private
from analysis.records.model import Trajectory
from analysis.schema import Table
from analysis.tables import choices, describe, places, subsets
from analysis.tables.choices import Choice
from analysis.tables.huggingface import datasets_of
from analysis.tables.origins import Origins, Rows

Names = str | Iterable[str]
BY_NAME = {table.name: table for table in (*schema.BASE_TABLES, *schema.REPLAY_TABLES)}


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
    selection: dict[str, tuple[str, ...]] = field(default_factory=dict)
    subset: subsets.Subset | None = None
    choice: Choice | None = None
    joined: pl.LazyFrame | None = None
    replayed_in: str = ""
    held_against: pl.LazyFrame | None = None

    @property
    def trajectories(self) -> pl.LazyFrame:
        frame = self._selected_by_columns(schema.TRAJECTORIES)
        return (
            frame
            if self.joined is None
            else frame.join(self.joined, on="trajectory_id", how="left", maintain_order="left")
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether these are less than the whole source: a subset, or a selection."""
        return bool(self.subset or self.selection or self.choice)

    @property
    def narrowing(self) -> str:
        """What they are narrowed to, in words; "" for the whole source."""
        parts = [str(self.manifest["subset"])] if self.subset else []
        return ", ".join([*parts, *self.selection_words])

    @property
    def selection_words(self) -> list[str]:
        """How they were selected from the source or subset."""
        parts = [f"{column} = {' or '.join(values)}" for column, values in self.selection.items()]
        return [*parts, self.choice.words] if self.choice else parts

    @property
    def messages(self) -> pl.LazyFrame:
        return self._selected(schema.MESSAGES)

    @property
    def tool_calls(self) -> pl.LazyFrame:
        return self._selected_by_columns(schema.TOOL_CALLS)

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
        return self._of_environment(schema.CHECKS)

    @property
    def replays(self) -> pl.LazyFrame:
        return self._replayed(schema.REPLAYS)

    @property
    def replayed_calls(self) -> pl.LazyFrame:
        return self._replayed(schema.REPLAYED_CALLS)

    @property
    def replayed_checks(self) -> pl.LazyFrame:
        return self._replayed(schema.REPLAYED_CHECKS)

    @property
    def compared(self) -> pl.LazyFrame:
        """Tasks, tools and id-like values, to hold against another set: a second pass over the texts, cached."""
        return self.derive(schema.COMPARED, compared.rows, key=compared.VERSION)

    @property
    def private(self) -> pl.LazyFrame:
        """Secrets and personal data by their form, without the values: a second pass over the texts, cached."""
        return self.derive(schema.PRIVATE, private.rows, key=private.VERSION)

    @property
    def reference(self) -> pl.LazyFrame:
        """The same of the set that `load(…, against=…)` named; empty where none was."""
        return schema.COMPARED.empty().lazy() if self.held_against is None else self.held_against

    def where(
        self,
        choice: pl.Expr | pl.DataFrame | Iterable[str] | None = None,
        *,
        traj_type: Names = "",
        env_id: Names = "",
        trajectory_id: Names = "",
    ) -> "Tables":
        """A selection of the source; what is empty selects all.

        >>> from analysis import load
        >>> data = load("sample").where(traj_type="conversation")
        >>> data.trajectories.select(pl.col("traj_type").unique()).collect().to_series().to_list()
        ['conversation']
        >>> data.where(pl.col("assistant_messages") > 30).narrowing
        'traj_type = conversation, 29 of the 210 trajectories, by (col("assistant_messages")) > (dyn int: 30)'
        >>> data.where(env_id="env7")
        Traceback (most recent call last):
        ValueError: there is no env_id 'env7' in sample; nearest: env_7_sft, env_1_sft, env_2_sft

        Args:
            choice: an expression over the columns of `trajectories`, joined ones too; or trajectory ids; or a frame
                that has them.
            traj_type: a mode, or several.
            env_id: an environment, or several.
            trajectory_id: a trajectory, or several.

        Raises:
            ValueError: no such mode, environment, trajectory or column; the message names the nearest.
        """
        wanted = {"traj_type": traj_type, "env_id": env_id, "trajectory_id": trajectory_id}
        selection = {column: _names(values) for column, values in wanted.items() if _names(values)}
        for column, names in selection.items():
            self._refuse_unknown(column, names)
        data = replace(self, selection={**self.selection, **selection})
        return data if choice is None else replace(data, choice=choices.choose(data.trajectories, choice, self.choice))

    def join(self, frame: pl.DataFrame | pl.LazyFrame, *, on: str = "trajectory_id") -> "Tables":
        """The same tables, with the columns of a frame of your own beside those of `trajectories`.

        >>> from analysis import load
        >>> from polars import DataFrame
        >>> data = load("sample").where(env_id=["env_1_sft", "env_2_sft"])
        >>> data = data.join(DataFrame({"env_id": ["env_1_sft", "env_2_sft"], "risk": ["high", "low"]}), on="env_id")
        >>> data.where(pl.col("risk") == "high").trajectories.select("env_id", "risk").unique().collect().rows()
        [('env_1_sft', 'high')]

        Args:
            frame: at most one row for each value of `on`. Trajectories without one get nulls, and a warning says how
                many they are.
            on: a column of `trajectories` and of the frame: trajectory_id, env_id, task_id, model …

        Raises:
            ValueError: no such column, two rows of the frame for one value, a column that is there already, or no
                trajectory that has a row.
        """
        return replace(self, joined=choices.beside(self.trajectories, frame, on, self.joined))

    def groups(self, by: str) -> "dict[str, Tables]":
        """The parts of these tables that have one value each in a column of `trajectories`, by that value.

        >>> from analysis import load
        >>> {mode: part.trajectories.collect().height for mode, part in load("sample").groups("traj_type").items()}
        {'conversation': 210, 'non_conversation': 210}

        Raises:
            ValueError: no such column.
        """
        column = choices.column(self.trajectories, by)
        values = self.trajectories.select(column.unique().drop_nulls().sort()).collect().to_series().to_list()
        return {str(value): self.where(column == value) for value in values}

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

    def _selected_by_columns(self, table: Table) -> pl.LazyFrame:
        """A table that itself has the columns of the selection."""
        frame = self._of_subset(self._scan(table))
        for column, names in self.selection.items():
            frame = frame.filter(pl.col(column).is_in(names))
        return frame

    def _of_subset(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        for part in (self.subset, self.choice):
            if part is not None:
                frame = frame.filter(pl.col("trajectory_id").is_in(list(part.trajectory_ids)))
        return frame

    def _refuse_unknown(self, column: str, names: tuple[str, ...]) -> None:
        scanned = self._of_subset(self._scan(schema.TRAJECTORIES))
        there = scanned.select(pl.col(column).cast(pl.String).unique().drop_nulls()).collect().to_series().to_list()
        modes = schema.MODES if column == "traj_type" else ()
        for name in names:
            if name not in there and name not in modes:
                raise ValueError(f"there is no {column} {name!r} in {self.source}; {hint(name, there or modes)}")

    def _narrowed(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        if not self.is_narrowed:
            return frame
        return frame.join(self.trajectories.select("trajectory_id"), on="trajectory_id", how="semi")

    def _of_environment(self, table: Table) -> pl.LazyFrame:
        frame = self._sibling(table)
        return frame.filter(pl.col("env_id").is_in(self.selection["env_id"])) if "env_id" in self.selection else frame

    def _replayed(self, table: Table) -> pl.LazyFrame:
        """Tables of a replay, empty unless it was asked for."""
        return (
            self._narrowed(places.scan(f"{self.replayed_in}/{table.name}"))
            if self.replayed_in
            else table.empty().lazy()
        )

    def _sibling(self, table: Table) -> pl.LazyFrame:
        return places.scan(f"{self.siblings}/{table.name}") if self.siblings else table.empty().lazy()


def _names(values: Names) -> tuple[str, ...]:
    return ((values,) if values else ()) if isinstance(values, str) else tuple(dict.fromkeys(map(str, values)))
