"""Trajectories -> conformed Parquet parts, written while decoding and cached by content; lazy handles on them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Tables:
    """The base tables of one source as LazyFrames, with the manifest that says where they come from."""

    source: str
    folder: Path
    manifest: dict[str, Any] = field(repr=False)

    @property
    def trajectories(self) -> pl.LazyFrame:
        raise NotImplementedError


def load(source: str = "sample", *, environments: str = "", scenarios: str = "") -> Tables:
    """Decode a source, or find it decoded, and hand out its tables."""
    raise NotImplementedError
