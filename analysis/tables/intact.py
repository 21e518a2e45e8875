"""What the cache holds is as it was written; what is damaged, or stands there under its name, is taken away."""

import os
import shutil
import time
from pathlib import Path

import polars as pl

from analysis import visible
from analysis.schema import Table
from analysis.tables import places

logger = visible.logger(__name__)
# What a run that was killed left is gone on with by the next that reads the same; nobody does after so long.
LITTER_S = 7 * 24 * 3600


def holds(folder: Path, tables: tuple[Table, ...]) -> bool:
    """Whether a folder holds these tables, each in parts with its columns."""
    parts = {table: places.parts(f"{folder}/{table.name}") for table in tables}
    return all(held and all(is_part(part, table) for part in held) for table, held in parts.items())


def is_part(path: str, table: Table) -> bool:
    """Whether a file is Parquet with the columns of a table."""
    try:
        return list(pl.read_parquet_schema(path)) == list(table.names)
    except (OSError, pl.exceptions.PolarsError):
        return False


def discard(place: Path) -> None:
    """Take away what is not as it was written, whatever it is, and say so; nothing happens where there is nothing."""
    if not os.path.lexists(place):
        return
    logger.warning("%s: not as it was written; it is made anew", place)
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def sweep(folder: Path) -> None:
    """Remove what runs that were killed began here and nobody went on with for a week."""
    for place in folder.glob("*.partial"):
        if time.time() - place.stat().st_mtime > LITTER_S:
            shutil.rmtree(place, ignore_errors=True)
