"""All trajectories of a source replayed, in several processes, into tables; what a killed run did is not done again."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache as once
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from analysis import records, sources
from analysis.files import equal_folder, whole_folder
from analysis.records.model import Rejected, Trajectory
from analysis.replay import VERSION, rows, worlds
from analysis.replay.play import play
from analysis.replay.sandbox import NotReplayableError, open_sandbox
from analysis.replay.stage import Stage, open_stage
from analysis.schema import REPLAY_TABLES
from analysis.tables import Tables, cache, load, places
from analysis.tables.crew import spread
from analysis.tables.locate import locate
from analysis.tables.origins import raw_records_of

MANIFEST = "replay.json"
# So many trajectories are some seconds of work: what a killed run loses, and a bar moves by.
CHUNK = 500


class Chunk(NamedTuple):
    """Trajectories of one unit that one process replays."""

    unit: sources.Unit
    number: int
    ids: tuple[str, ...]
    scenarios: tuple[str, ...]


def write_replays(
    source: str,
    out: str | Path,
    *,
    environments: str = "",
    scenarios: str = "",
    jobs: int = 0,
    dask: str = "",
    limit: int = 0,
    progress: bool = True,
) -> dict[str, Any]:
    """Replay a source and write `OUT/<table>/part-00000.parquet` of REPLAY_TABLES, and OUT/replay.json.

    Args:
        source, environments, scenarios, jobs, progress: as for `load`; both sibling sets are needed.
        dask: as for `load`; its workers must reach the source and the cache of this machine, on a disk they share.
        out: a folder of this machine, there when it is finished; replays that stand there are replaced.
        limit: only so many trajectories, in their order; 0 for all.

    Returns:
        What replay.json holds: counts, and the reasons of what could not be replayed.

    Raises:
        FileExistsError: OUT holds something else.
        MissingSandboxError: the sandbox is not installed.
        sources.SourceError: there is nothing to read, or no environment or no scenario.
    """
    place = Path(out)
    _refuse_what_is_not_ours(place)
    sources.refuse_inside(place, source)
    with open_sandbox():  # whether it is installed is told before anything is read
        pass
    data = load(source, environments=environments, scenarios=scenarios, jobs=jobs, dask=dask, progress=progress)
    beside = _worlds(source, environments, scenarios)
    frames = _read(_parts(data, beside, jobs=jobs, dask=dask, limit=limit, progress=progress))
    summary = (
        summarise(frames)
        | agreement(frames["replays"], data.trajectories)
        | {"source": source, "replayer": _key(), "siblings": beside.name}
    )
    with whole_folder(place) as working:
        places.write({f"{working}/{name}/part-00000.parquet": frame for name, frame in frames.items()})
        (working / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2))
    return summary


def replayed(
    data: Tables,
    environments: str = "",
    scenarios: str = "",
    *,
    jobs: int = 0,
    dask: str = "",
    progress: bool = True,
) -> Tables:
    """The same tables with those of their replay, from the cache or played into it.

    Raises:
        MissingSandboxError: the sandbox is not installed.
        sources.SourceError: the source has no environment or no scenario.
    """
    with open_sandbox():
        pass
    beside = _worlds(data.source, environments, scenarios)
    parts = _parts(data, beside, jobs=jobs, dask=dask, limit=0, progress=progress)
    if not parts[REPLAY_TABLES[0].name]:
        return data
    return replace(data, replayed_in=str(parts[REPLAY_TABLES[0].name][0].parent.parent))


def summarise(frames: dict[str, pl.DataFrame]) -> dict[str, Any]:
    """Counts over the tables, and the reasons of what could not be replayed, most frequent first."""
    replays = frames["replays"]
    counts = ("calls", "reproduced", "differing", "untold", "changes", "changes_read_back")
    checks = ("checks", "checks_passed", "checks_untold")
    refused = replays.filter(~pl.col("is_replayable"))
    reasons = refused.group_by("reason").len().sort("len", "reason", descending=[True, False])
    kinds = frames["replayed_calls"].group_by("verdict", "kind").len()
    kinds = kinds.sort("verdict", "len", "kind", descending=[False, True, False])
    return {
        "trajectories": replays.height,
        "replayable": int(replays["is_replayable"].sum()),
        **{name: int(replays[name].sum()) for name in (*counts, *checks)},
        "not_replayable_calls": int(refused["calls"].sum()),
        "rewards_compared": replays.drop_nulls(["reward", "reward_recorded"]).height,
        "rewards_equal": int(replays.select(_is_equal_reward().sum()).item()),
        "kinds": [{"verdict": v, "kind": k, "calls": n} for v, k, n in kinds.rows()],
        "reasons": dict(reasons.rows()),
    }


def agreement(replays: pl.DataFrame, trajectories: pl.LazyFrame) -> dict[str, int]:
    """Scenarios that several trajectories played, and those of them that all left in the same state.

    Agreement, and nothing more: trajectories may agree on what is wrong.
    """
    scenario = trajectories.select("trajectory_id", "env_id", "task_id").drop_nulls()
    ends = replays.lazy().filter("is_replayable").join(scenario, on="trajectory_id")
    counts = ends.group_by("env_id", "task_id").agg(n=pl.len(), states=pl.col("final_state_hash").n_unique())
    repeated = counts.filter(pl.col("n") > 1).collect()
    return {"scenarios_repeated": repeated.height, "scenarios_agreeing": repeated.filter(states=1).height}


def _is_equal_reward() -> pl.Expr:
    """The runner rounds to four digits."""
    return (pl.col("reward") - pl.col("reward_recorded")).abs() < 0.00006


def _parts(data: Tables, beside: Path, *, jobs: int, dask: str, limit: int, progress: bool) -> dict[str, list[Path]]:
    """The parts of the replay's tables, in the cache."""
    chunks = list(_chunks(data, limit))
    made_of = f"{cache.key(data.manifest)} {beside.name} {_key()} {limit} {data.narrowing}"
    target = cache.root() / "replays" / hashlib.sha256(made_of.encode()).hexdigest()[:32]
    with ExitStack() as stack:
        count = _bar(stack, sum(len(chunk.ids) for chunk in chunks), shown=progress)
        work = partial(replay_chunk, worlds=beside, target=target)
        for chunk, _ in spread(work, chunks, jobs, dask):
            count(len(chunk.ids))
    return {table.name: [_part(target, table.name, chunk) for chunk in chunks] for table in REPLAY_TABLES}


def _read(parts: dict[str, list[Path]]) -> dict[str, pl.DataFrame]:
    return {
        table.name: pl.concat([table.empty(), *(pl.read_parquet(path) for path in parts[table.name])])
        for table in REPLAY_TABLES
    }


def replay_chunk(chunk: Chunk, worlds: Path, target: Path) -> None:
    """Replay some trajectories of a unit into parts, unless they are there."""
    paths = {table.name: _part(target, table.name, chunk) for table in REPLAY_TABLES}
    if all(path.exists() for path in paths.values()):
        return
    made = rows.empty()
    kept = worlds / "lowered"
    kept.mkdir(exist_ok=True)
    with open_stage(kept=kept) as stage:
        known = _of(worlds, chunk.scenarios)
        # Every second unit begins at the last environment, so that two processes do not lower the same code.
        is_last_first = (chunk.unit.shard + chunk.number) % 2 == 1
        for id_, trajectory in sorted(
            _trajectories(chunk), key=lambda pair: pair[1].env_id or "", reverse=is_last_first
        ):
            _replay(stage, known, id_, trajectory, made)
    frames = {
        table.name: pl.DataFrame(getattr(made, table.name), schema=table.schema, orient="row").sort(table.key)
        for table in REPLAY_TABLES
    }
    places.write({str(path): frames[name] for name, path in paths.items()})


def _replay(stage: Stage, known: worlds.Worlds, id_: str, trajectory: Trajectory, made: rows.ReplayRows) -> None:
    try:
        played = play(stage, *known.of(trajectory.env_id, trajectory.task_id), trajectory)
    except NotReplayableError as error:
        rows.add_refused(made, id_, trajectory, error)
    else:
        rows.add_played(made, id_, trajectory, played)


def _trajectories(chunk: Chunk) -> Iterator[tuple[str, Trajectory]]:
    left = set(chunk.ids)
    for id_, raw in raw_records_of(chunk.unit):
        if id_ in left:
            left.remove(id_)
            record = records.read(raw.data, raw.origin, raw.byte_offset, keep_unread=True)
            if not isinstance(record, Rejected):
                yield id_, record
        if not left:
            return


def _chunks(data: Tables, limit: int) -> Iterator[Chunk]:
    named = data.trajectories.select("trajectory_id", "task_id", "env_id").sort("trajectory_id")
    # One environment after the other: each is loaded in as few chunks as can be.
    wanted = (named.head(limit) if limit else named).collect().sort("env_id", maintain_order=True)
    units = {unit.shard: unit for unit in data.units()}
    shard = pl.col("trajectory_id").str.split("-").list.first().cast(pl.Int64)
    shards = wanted.sort(shard, maintain_order=True).group_by(shard, maintain_order=True)
    for (shard,), part in shards:
        for number, start in enumerate(range(0, part.height, CHUNK)):
            slice_ = part.slice(start, CHUNK)
            scenarios = tuple(slice_["task_id"].drop_nulls().unique().sort().to_list())
            yield Chunk(units[int(str(shard))], number, tuple(slice_["trajectory_id"].to_list()), scenarios)


def _part(target: Path, table: str, chunk: Chunk) -> Path:
    return target / table / f"part-{chunk.unit.shard:05d}-{chunk.number:05d}.parquet"


def _worlds(source: str, environments: str, scenarios: str) -> Path:
    """Environments and scenarios as Parquet, by the contents of their sources.

    Raises:
        sources.SourceError: none is given, or none is read.
    """
    located = locate(source, environments, scenarios)
    names = [*_names(located.environments, sources.RELEASE_ENVIRONMENTS)]
    names += [*_names(located.scenarios, sources.RELEASE_SCENARIOS)]
    if not (located.environments and located.scenarios):
        raise sources.SourceError("replay needs --environments and --scenarios: classes to run, states to begin with")
    found = [file for name in dict.fromkeys(names) for file in sources.locate(name)]
    digest = hashlib.sha256(f"{cache.content_hash(found)} {_key()}".encode()).hexdigest()[:32]
    folder = cache.root() / "worlds" / digest
    if not folder.exists():
        frames = _world_frames(found)
        with equal_folder(folder) as working:
            places.write({f"{working}/{name}.parquet": frame for name, frame in frames.items()})
    return folder


def _world_frames(found: list[sources.File]) -> dict[str, pl.DataFrame]:
    classes: list[worlds.Environment] = []
    states: list[worlds.ScenarioText] = []
    for unit in sources.plan(found):
        for raw in sources.read_unit(unit):
            if isinstance(raw, sources.Raw):
                data = bytes(raw.data)
                classes.extend(worlds.environments_of(data))
                states.extend(worlds.scenarios_of(data))
    if not classes or not states:
        lacking = "scenario" if classes else "environment"
        raise sources.SourceError(f"{found[0].name}: no {lacking} among the sets given")
    text = pl.String()
    return {
        "environments": pl.DataFrame(classes, schema=dict.fromkeys(worlds.Environment._fields, text), orient="row"),
        "scenarios": pl.DataFrame(states, schema=dict.fromkeys(worlds.ScenarioText._fields, text), orient="row"),
    }


def _of(folder: Path, task_ids: tuple[str, ...]) -> worlds.Worlds:
    """All environments, and the scenarios that some trajectories need."""
    states = pl.scan_parquet(folder / "scenarios.parquet").filter(pl.col("task_id").is_in(list(task_ids))).collect()
    return worlds.Worlds(_environments(folder), [worlds.ScenarioText(*row) for row in states.rows()])


@once
def _environments(folder: Path) -> list[worlds.Environment]:
    return [worlds.Environment(*row) for row in pl.read_parquet(folder / "environments.parquet").rows()]


def _names(given: str, of_release: str) -> Iterator[str]:
    for part in given.split(","):
        name = part.strip()
        if name == "hub":
            yield from (one.strip() for one in of_release.split(","))
        elif name and name != "none":
            yield name


@once
def _key() -> str:
    """Hash of the code that replays: with other code, the same records are replayed anew."""
    room = Path(__file__).parent
    code = b"".join(path.read_bytes() for path in sorted(room.rglob("*.py")))
    return f"{VERSION}-{hashlib.sha256(code).hexdigest()[:12]}"


def _refuse_what_is_not_ours(place: Path) -> None:
    if place.is_file() or (place.is_dir() and any(place.iterdir()) and not (place / MANIFEST).exists()):
        raise FileExistsError(f"{place}: not empty and not a folder of replays; name another")


def _bar(stack: ExitStack, total: int, *, shown: bool) -> Any:
    if not shown:
        return lambda _: None
    from tqdm.auto import tqdm  # noqa: PLC0415  as elsewhere

    return stack.enter_context(tqdm(total=total, desc="replaying", unit="trajectory", delay=2)).update
