"""The sibling sets' tables: small, decoded in one go, cached by the contents of all the files given."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from analysis import schema, sources, visible
from analysis.files import equal_folder
from analysis.records import siblings
from analysis.schema import ENVIRONMENTS, SCENARIOS, TRAJECTORIES, Table
from analysis.tables import cache, intact, places

logger = visible.logger(__name__)

HUB, NONE = "hub", "none"
# Rows on the left, the catalogue they belong to, and the columns that name them there.
JOINS: tuple[tuple[Table, Table, list[str]], ...] = (
    (TRAJECTORIES, ENVIRONMENTS, ["env_id"]),
    (TRAJECTORIES, SCENARIOS, ["env_id", "task_id"]),
    (SCENARIOS, ENVIRONMENTS, ["env_id"]),
)


class SiblingTables(NamedTuple):
    """The folder of the sibling tables, "" when there are none, and for the manifest what they were made of."""

    folder: str = ""
    sources: tuple[dict[str, Any], ...] = ()


def decoded(source: str, environments: str, scenarios: str) -> SiblingTables:
    """Tables of the sibling sets, from the cache or decoded into it.

    Args:
        source: what they are siblings of. The release, where it comes from the hub, brings the hub's: one of those that
            cannot be had is said and done without. No other source asks the hub by itself.
        environments, scenarios: sources, several separated by commas, either may hold either kind; "hub" for the
            release's on the hub, "none" for none.

    Raises:
        sources.SourceError: what was asked for cannot be read, or no row is an environment or a scenario.
    """
    is_release = sources.is_release(source)
    located = {}
    for asked, on_hub in ((environments, sources.RELEASE_ENVIRONMENTS), (scenarios, sources.RELEASE_SCENARIOS)):
        for name in _names(asked or (HUB if is_release else NONE), on_hub):
            located[name] = sources.locate(name) if asked else _locate_if_there(name)
    located = {name: files for name, files in located.items() if files}
    if not located:
        return SiblingTables()
    folder = _folder([file for files in located.values() for file in files])
    return SiblingTables(str(folder), tuple(_described(name, files, source) for name, files in located.items()))


def joins(tables: str, key: str, beside: str) -> list[dict[str, Any]]:
    """How many keys find their row in the sibling sets, and which do not; said out loud when some fail.

    Args:
        tables: folder of the record tables.
        key: names their contents; what was counted is remembered under it.
        beside: folder of the sibling tables, "" for none.

    Returns:
        A dict a join that has rows on both sides: `rows`, `of` and `by` name it; `keys` different ones on the left,
        `missing` of them in the catalogue, `examples` of these.
    """
    if not beside:
        return []
    remembered = f"{beside}/joins-{key}.json"
    try:
        checked = msgspec.json.decode(places.read_bytes(remembered), type=list[dict[str, Any]])
    except (OSError, msgspec.MsgspecError):
        checked = [row for join in JOINS if (row := _joined(tables, beside, *join)) is not None]
        with suppress(OSError):  # a cache that cannot be written to
            places.write_bytes(remembered, msgspec.json.encode(checked))
    for join in checked:
        if join["missing"]:
            logger.warning(
                "%s: %d of %d different %s are not among the %s given: %s; do they belong together?",
                *(join["rows"], join["missing"], join["keys"], " and ".join(join["by"]), join["of"]),
                ", ".join(join["examples"]),
            )
    return checked


def _joined(tables: str, beside: str, left: Table, right: Table, by: list[str]) -> dict[str, Any] | None:
    catalogue = places.scan(f"{beside}/{right.name}").select(by).collect()
    keys = places.scan(f"{beside if left is SCENARIOS else tables}/{left.name}").select(by).drop_nulls().unique()
    keys_here = keys.collect()
    if catalogue.is_empty() or keys_here.is_empty():
        return None
    missing = keys_here.join(catalogue, on=by, how="anti").sort(by)
    named = {"rows": left.name, "of": right.name, "by": by}
    examples = [" ".join(row) for row in missing.head(3).rows()]
    return named | {"keys": keys_here.height, "missing": missing.height, "examples": examples}


def _names(asked: str, on_hub: str) -> list[str]:
    names = [name.strip() for name in asked.split(",") if name.strip() not in ("", NONE)]
    return [each for name in names for each in (on_hub.split(",") if name == HUB else [name])]


def _locate_if_there(name: str) -> list[sources.File]:
    try:
        return sources.locate(name)
    except sources.SourceError as error:
        logger.warning("%s Going on without it.", error)
        return []


def _described(name: str, files: list[sources.File], source: str) -> dict[str, Any]:
    is_bundled = source == "sample" and name.startswith(str(cache.root()))
    return {
        "source": source if is_bundled else name,
        "files": [{"name": file.name, "bytes": file.size} for file in files],
        "content_hash": cache.content_hash(files),
        "revision": next((file.revision for file in files if file.revision), None),
    }


def _folder(files: list[sources.File]) -> Path:
    digest = hashlib.sha256(" ".join(cache.content_hash([file]) for file in files).encode()).hexdigest()
    done = cache.root() / "siblings" / f"{digest[:32]}-{cache.DECODER}"
    if not intact.holds(done, schema.SIBLING_TABLES):
        intact.discard(done)
        rows = _read(files)
        frames = {table.name: _frame(getattr(rows, table.name), table) for table in schema.SIBLING_TABLES}
        with equal_folder(done) as beside:
            places.write({f"{beside}/{name}/part-00000.parquet": frame for name, frame in frames.items()})
    return done


def _read(files: list[sources.File]) -> siblings.SiblingRows:
    rows = siblings.empty()
    for unit in sources.plan(files):
        for raw in sources.read_unit(unit):
            if isinstance(raw, sources.Damage):
                rows.rejected.append(f"{raw.origin}: {raw.reason}")
            else:
                siblings.read(raw.data, raw.origin, rows)
    sources.refuse_changed(files)
    for reason in rows.rejected[:5]:
        logger.warning("sibling set: %s", reason)
    if not rows.environments and not rows.scenarios:
        raise sources.SourceError(f"{files[0].name}: no row is an environment or a scenario")
    return rows


def _frame(rows: list[tuple[Any, ...]], table: schema.Table) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=table.schema, orient="row") if rows else table.empty()
    repeats = frame.height - frame.n_unique(table.key) if rows else 0
    if repeats:
        logger.warning(
            "%s: %d of %d rows repeat an earlier %s", table.name, repeats, frame.height, ", ".join(table.key)
        )
    return frame.unique(table.key, keep="first", maintain_order=True)
