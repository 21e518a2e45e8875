"""`load(source)`: decode a source, or find it decoded, and hand out its tables."""

from dataclasses import replace
from typing import Any

from analysis.sources import address
from analysis.tables import cache, memory, siblings, subsets
from analysis.tables.against import held_against
from analysis.tables.build import build
from analysis.tables.crew import Crew
from analysis.tables.handle import Tables
from analysis.tables.locate import SAMPLE, Located, locate, passed_over, tables_at
from analysis.tables.manifest import manifest_of


def load(
    source: object = "sample",
    *,
    environments: str = "",
    scenarios: str = "",
    jobs: int = 0,
    dask: str = "",
    progress: bool = True,
    keep_unread: bool = False,
    replay: bool = False,
    against: str = "",
) -> Tables:
    """Decode a source, or find it decoded, and hand out its tables.

    >>> import polars as pl
    >>> data = load("sample")
    >>> data.tool_calls.select(pl.col("env_id").n_unique()).collect().item()
    14
    >>> load("sampel")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    SourceError: sampel: no such file or folder; near it: sample

    Args:
        source: a file, a glob, a folder, an fsspec address, `hub:OWNER/NAME[@REVISION][:FILE]`, `sample`, or what
            `write_tables` wrote, which is read lazily from where it is. A NAME.subset.toml that was saved from
            notebooks/explore.ipynb is a part of its source. Several of these in a list are read together. Also records
            that are held in memory: a list of dicts, a Polars or pandas frame, a `Dataset`, `DatasetDict` or
            `IterableDataset`; they are kept as a file in the cache, which is then the source.
        environments: the sibling set of environments, named the same way; "hub" for the release's, "none" for none.
            Without it the sample brings its own, and the release, when it comes from the hub, the hub's.
        scenarios: the sibling sets of scenarios, SFT or RL, in the same way; several separated by commas.
        jobs: processes to decode with; 0 for as many as there are cores.
        dask: address of a Dask scheduler to decode on instead.
        progress: show a bar for work of more than a moment.
        keep_unread: keep, with a finding, records of which calls or texts could not be read, instead of rejecting them.
        against: another set to hold the source against, named as a source is: trajectories, or a benchmark's tasks and
            tools. `reference` has what it holds, and `compared` what the source does.
        replay: play the recorded calls again in a sandbox, as `python -m analysis replay` does; `replays`,
            `replayed_calls` and `replayed_checks` are empty without. Needs environments and scenarios.

    Raises:
        sources.SourceError: there is nothing to read; the message names the remedy.
        TypeError: the source is nothing that records can be read from.
    """
    crew = Crew(jobs=jobs, dask=dask, progress=progress, keep_unread=keep_unread)
    name = memory.source_of(source)
    data = (_subset if subsets.is_subset(name) else _tables)(name, environments, scenarios, crew)
    if against:
        data = held_against(data, _tables(against, "none", "none", crew))
    if not replay:
        return data
    from analysis.replay.run import replayed  # noqa: PLC0415  the sandbox, for whoever asks for it

    return replayed(data, environments, scenarios, jobs=jobs, dask=dask, progress=progress)


def _tables(source: str, environments: str, scenarios: str, crew: Crew) -> Tables:
    manifest = tables_at(source)
    is_written = manifest is not None
    if manifest is not None:
        folder = address.plain(source).rstrip("/")
    else:
        located = locate(source, environments, scenarios)
        environments, scenarios = located.environments, located.scenarios
        survey = located.survey()
        with cache.keeping_unread(crew.keep_unread):
            folder = build(survey.files, crew)
        manifest = _named(folder, source, located)
        manifest |= passed_over(survey, manifest)
    beside = siblings.decoded(source, environments, scenarios)
    if beside.folder or not is_written:
        joins = siblings.joins(folder, cache.key(manifest), beside.folder)
        manifest |= {"siblings": list(beside.sources), "joins": joins}
    return Tables(source, folder, manifest, beside.folder or (folder if manifest.get("siblings") else ""))


def _named(folder: str, source: str, located: Located) -> dict[str, Any]:
    """The manifest of tables in the cache. That knows contents, not names: the same bytes may have had another one."""
    return (manifest_of(folder) or {}) | {"source": source, "located": located.path, "synthetic": source == SAMPLE}


def _subset(file: str, environments: str, scenarios: str, crew: Crew) -> Tables:
    part = subsets.read(file)
    whole = _tables(part.source, environments, scenarios, crew)
    subsets.check(part, whole.manifest, whole.trajectories)
    named = {"source": file, "subset": part.words(whole.manifest["kept"]), "subset_hash": part.records_hash}
    return replace(whole, source=file, manifest=whole.manifest | named, subset=part)
