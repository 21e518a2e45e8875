"""An export from start to end: choose, deal, write in one pass over the source, and account for every record."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from tqdm.auto import tqdm

from analysis import files, records, sources
from analysis.export import masks, shapes, split, writers
from analysis.export.errors import ExportError, RefusedError
from analysis.export.on_demand import choosable_of, qwen_tokens
from analysis.export.subset import Limits, choose, features_of
from analysis.export.where import chosen, refuse_what_needs_a_replay
from analysis.measures import samples
from analysis.records import private
from analysis.records.model import Rejected
from analysis.schema import PRIVATE_KINDS
from analysis.tables import Tables, load

# Pairs of near-duplicates that the manifest shows; their number stands beside them.
LEAKS_SHOWN = 20
_LLAMAFACTORY: dict[str, dict[str, Any]] = {
    "sharegpt": {
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "system": "system", "tools": "tools"},
    },
    "alpaca-mask-history": {
        "formatting": "alpaca",
        "columns": {
            "prompt": "instruction",
            "query": "input",
            "response": "output",
            "system": "system",
            "history": "history",
        },
    },
}


@dataclass(frozen=True)
class ExportRequest:
    """What to export.

    Args:
        source: as `analysis.load` takes it.
        out: a folder to write; one that an export wrote is replaced, another one is not touched.
        shape: one of `FORMATS`.
        where: a condition over the rows of `where.CHOOSABLE`; "" for all records.
        validation: share of the records to hold out; 0 for none.
        by: what is never split between train and validation.
        seed: of the split.
        jobs: processes to decode with; 0 for as many as there are cores.
        progress: show a bar for work of more than a moment.
        environments, scenarios: the sibling sets, for a replay.
        replay: play the calls again first, for the columns of `where` that only a replay knows.
        against: another set, for the column `overlaps` of `where`.
        against_hash: what its contents have to be; "" for any.
        redact: replace what may be secrets or personal data by its kind, in every text of a row.
    """

    source: str
    out: Path
    shape: str
    where: str = ""
    mask: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    validation: float = 0.0
    by: split.By = "scenario"
    seed: int = 0
    jobs: int = 0
    progress: bool = True
    environments: str = ""
    scenarios: str = ""
    replay: bool = False
    content_hash: str = ""
    redact: bool = False
    against: str = ""
    against_hash: str = ""


def export(request: ExportRequest) -> dict[str, Any]:
    """Write `OUT/train.*`, `OUT/validation.*` when asked for, and `OUT/manifest.json`; beside, then renamed.

    Returns:
        The manifest: records_in = exported + filtered + refused + rejected, and what each of these is.

    Raises:
        ExportError: an unknown format, a condition or a split that cannot be, a folder that holds something else.
        sources.SourceError: the source cannot be read, or changed meanwhile.
    """
    if request.shape not in shapes.FORMATS:
        raise ExportError(f"--format {request.shape}: there are {', '.join(shapes.FORMATS)}")
    if request.redact and shapes.FORMATS[request.shape] is None:
        raise ExportError(f"--redact: {request.shape} writes records as they are; choose another format")
    if request.mask and request.shape not in shapes.MASKABLE:
        raise ExportError(f"--mask: {request.shape} has no place for it; one of {', '.join(shapes.MASKABLE)} has")
    _refuse_what_is_not_ours(request.out)
    sources.refuse_inside(request.out, request.source)
    refuse_what_needs_a_replay(request.where, is_replayed=request.replay)
    data = load(
        request.source,
        environments=request.environments,
        scenarios=request.scenarios,
        jobs=request.jobs,
        progress=request.progress,
        replay=request.replay,
        against=request.against,
    )
    _refuse_another_set(request, data)
    if request.content_hash and request.content_hash != data.manifest["content_hash"]:
        raise ExportError(
            f"{request.source}: its contents are not those of the export to repeat "
            f"(hash {data.manifest['content_hash']}, then {request.content_hash})"
        )
    rows = choosable_of(data, f"{request.where} {request.limits.columns}")
    features = features_of(data.tool_calls) if request.limits.diverse else {}
    trajectories, steps = choose(chosen(rows.lazy(), request.where), request.limits, request.seed, features)
    splits = split.deal(trajectories, request.validation, request.by, request.seed)
    with files.whole_folder(request.out) as folder:
        tally = _write(request, data, splits, folder)
        manifest = _manifest(request, data, trajectories, splits, tally)
        if steps:
            manifest["subset"] = {
                "limits": request.limits.named,
                "seed": request.seed,
                "steps": [step._asdict() for step in steps],
            }
        _write_json(folder / "manifest.json", manifest)
        if request.shape in _LLAMAFACTORY:
            _write_json(folder / "dataset_info.json", _dataset_info(request.shape, tally))
    return manifest


def _refuse_another_set(request: ExportRequest, data: Tables) -> None:
    """A choice that is to be repeated was made against the same set.

    Raises:
        ExportError: it was made against another one, or its set is not named.
    """
    if request.against_hash and data.manifest.get("against", {}).get("content_hash") != request.against_hash:
        raise ExportError(f"--against: not the set of the export to repeat (its hash was {request.against_hash})")


@dataclass
class _Tally:
    """What became of the records of each split (`exported` by id), and what they are written to."""

    outputs: dict[str, writers.Writer]
    exported: dict[str, list[str]]
    rows: Counter[str]
    changes: Counter[str]
    refused: list[tuple[str, str, str]]
    columns: set[str]
    masked: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)


def _write(request: ExportRequest, data: Tables, splits: dict[str, str], folder: Path) -> _Tally:
    names = (split.TRAIN, split.VALIDATION) if request.validation else (split.TRAIN,)
    layouts = data.layouts() if request.shape == "raw" else set()
    outputs = {
        name: writers.writer(request.shape, layouts, folder, name, is_masked=bool(request.mask)) for name in names
    }
    tally = _Tally(outputs, {name: [] for name in names}, Counter(), Counter(), [], set())
    try:
        total = int(data.manifest["records_in"])
        is_hidden = None if request.progress else True  # None: hidden unless a person watches
        bar = tqdm(data.raw_records(), total=total, desc=request.shape, unit="record", delay=2, disable=is_hidden)
        for id_, raw in bar:
            if id_ in splits:
                _add(request, id_, raw, splits[id_], tally)
    finally:
        for output in outputs.values():
            output.close()
    met = sum(map(len, tally.exported.values())) + len(tally.refused)
    if met != len(splits):
        raise sources.SourceError(f"{request.source}: {met:,} of {len(splits):,} records were there; load it again")
    return tally


def _add(request: ExportRequest, id_: str, raw: sources.Raw, name: str, tally: _Tally) -> None:
    masked: dict[int, tuple[str, ...]] = {}
    try:
        rows = list(_rows(request, raw, tally.changes, masked))
    except RefusedError as error:
        tally.refused.append((raw.origin, error.rule, error.detail[:300]))
        return
    for row in rows:
        tally.outputs[name].add(row)
        if isinstance(row, dict):
            tally.columns.update(row)
    tally.exported[name].append(id_)
    tally.masked += [(id_, message, rules) for message, rules in masked.items()]
    tally.rows[name] += len(rows)


def _rows(
    request: ExportRequest, raw: sources.Raw, changes: Counter[str], masked: dict[int, tuple[str, ...]]
) -> Iterator[Any]:
    """The rows of a record; `masked` is told which of its messages a mask takes, and by which rules."""
    convert = shapes.FORMATS[request.shape]
    if convert is None:
        yield raw.data
        return
    trajectory = records.read(raw.data, raw.origin, raw.byte_offset)
    if isinstance(trajectory, Rejected):
        raise RefusedError("unreadable", trajectory.reason)
    made: Counter[str] = Counter()
    masked.update(masks.masked(trajectory, request.mask))
    found: dict[str, int] = {}
    for row in convert(shapes.source(raw.data, trajectory, made, masked if request.mask else None)):
        yield private.redacted(row, found) if request.redact else row
    made.update({f"redacted: {kind}": count for kind, count in found.items()})
    # Only of records that were written: a refusal ends this before.
    changes.update(made)


def _manifest(
    request: ExportRequest, data: Tables, trajectories: pl.DataFrame, splits: dict[str, str], tally: _Tally
) -> dict[str, Any]:
    exported = sum(map(len, tally.exported.values()))
    manifest = {
        "source": request.source,
        "content_hash": data.manifest["content_hash"],
        "revision": data.manifest["revision"],
        "format": request.shape,
        "where": request.where,
        "seed": request.seed,
        "records_in": data.manifest["records_in"],
        "exported": exported,
        "filtered": data.manifest["kept"] - len(splits),
        "refused": len(tally.refused),
        "rejected": data.manifest["rejected"],
        "damage": data.manifest["damage"],
        "rows": sum(tally.rows.values()),
        "splits": {name: _split(name, trajectories, tally) for name in tally.outputs},
        "changes": dict(sorted(tally.changes.items())),
        "refusals": dict(sorted(Counter(rule for _, rule, _ in tally.refused).items())),
        "refused_records": [dict(zip(("origin", "rule", "detail"), row, strict=True)) for row in tally.refused],
        "versions": {"trajectory-notebooks": version("trajectory-notebooks"), "polars": version("polars")},
    }
    if request.against:
        manifest["against"] = data.manifest["against"]
    if request.redact:
        manifest["redacted"] = {kind: tally.changes[f"redacted: {kind}"] for kind in PRIVATE_KINDS}
    if request.mask:
        manifest["mask"] = _masked(request, data, tally)
    if request.validation:
        manifest["split"] = {"validation": request.validation, "by": request.by, "seed": request.seed}
        manifest["leaks"] = _leaks(trajectories, splits)
    return manifest


def _masked(request: ExportRequest, data: Tables, tally: _Tally) -> dict[str, Any]:
    """Messages and supervised tokens that each rule takes, and all of them together, of those exported."""
    exported = [id_ for ids in tally.exported.values() for id_ in ids]
    counts = samples.supervised(qwen_tokens(data)).filter(pl.col("trajectory_id").is_in(exported)).collect()
    schema = {"trajectory_id": pl.String(), "message": pl.UInt32(), "rules": pl.List(pl.String())}
    taken = pl.DataFrame(tally.masked, schema=schema, orient="row").join(
        counts, on=["trajectory_id", "message"], how="left", validate="1:1"
    )
    by_rule = {rule: taken.filter(pl.col("rules").list.contains(rule)) for rule in request.mask}
    return {
        "rules": list(request.mask),
        "messages": {rule: frame.height for rule, frame in by_rule.items()} | {"any": taken.height},
        "supervised_tokens": {rule: frame["supervised"].sum() for rule, frame in by_rule.items()}
        | {"any": taken["supervised"].sum()},
        "of_messages": counts.height,
        "of_supervised_tokens": counts["supervised"].sum(),
    }


def _split(name: str, trajectories: pl.DataFrame, tally: _Tally) -> dict[str, Any]:
    mine = trajectories.filter(pl.col("trajectory_id").is_in(tally.exported[name]))
    return {
        "files": tally.outputs[name].files,
        "records": mine.height,
        "rows": tally.rows[name],
        "scenarios": mine.select("env_id", "task_id").n_unique(),
        "environments": mine.select("env_id").n_unique(),
    }


def _leaks(trajectories: pl.DataFrame, splits: dict[str, str]) -> dict[str, Any]:
    pairs = split.leaks(trajectories, splits)
    shown = pairs.head(LEAKS_SHOWN).select("left_task_id", "right_task_id", "jaccard", "left_id", "right_id")
    return {"near_duplicate_tasks": pairs.height, "shown": shown.to_dicts()}


def _dataset_info(shape: str, tally: _Tally) -> dict[str, Any]:
    """What LlamaFactory looks for in a `dataset_dir`: a column it is promised has to be there."""
    known = _LLAMAFACTORY[shape]
    columns = {role: column for role, column in known["columns"].items() if column in tally.columns}
    return {
        name: {"file_name": writer.files[0], "formatting": known["formatting"], "columns": columns}
        for name, writer in tally.outputs.items()
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2))


def _refuse_what_is_not_ours(out: Path) -> None:
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or _is_export(out))):
        raise ExportError(f"{out}: not empty and not a folder that an export wrote; name another")


def _is_export(folder: Path) -> bool:
    try:
        held = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        return False
    return "format" in held and "exported" in held
