"""The sibling sets' tables: small, decoded in one go, cached by the contents of all the files given."""

import hashlib
import logging
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from analysis import schema, sources
from analysis.records import siblings
from analysis.tables import cache
from analysis.tables.target import write

logger = logging.getLogger(__name__)


def build(environments: str, scenarios: str) -> Path | None:
    """Tables of the sibling sets given, one Parquet file each; None when none is given.

    Args:
        environments, scenarios: sources; several are separated by commas. Either may hold either kind.

    Raises:
        sources.SourceError: a source cannot be read, or none of its rows is an environment or a scenario.
    """
    named = [name.strip() for given in (environments, scenarios) for name in given.split(",") if name.strip()]
    if not named:
        return None
    files = [file for name in named for file in sources.locate(name)]
    digest = hashlib.sha256(" ".join(cache.content_hash([file]) for file in files).encode()).hexdigest()
    done = cache.root() / "siblings" / f"{digest[:32]}-{cache.DECODER}"
    if not done.exists():
        done.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=done.parent, prefix=".siblings."))
        rows = _read(files)
        for table in schema.SIBLING_TABLES:
            write(str(beside / f"{table.name}.parquet"), _frame(getattr(rows, table.name), table).write_parquet)
        try:
            beside.rename(done)
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
    return done


def _read(files: list[sources.File]) -> siblings.SiblingRows:
    rows = siblings.empty()
    for unit in sources.plan(files):
        for raw in sources.read_unit(unit):
            if isinstance(raw, sources.Raw):
                siblings.read(raw.data, raw.origin, rows)
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
