"""Published figures in brief: each with its verdict, and why it is not checkable or by how much it differs."""

from typing import Any

import polars as pl

from analysis.measures import claims
from analysis.schema import Column, Table
from analysis.wording import count, mode, signed

EXPLAINED = Table(
    "claims_explained",
    "published figure",
    (
        *(claims.CLAIMS[name] for name in ("quantity", "scope", "statistic", "published", "found", "verdict")),
        Column("reason", pl.String(), "why it is not checkable, or by how much it differs", nullable=True),
        claims.CLAIMS["where_published"],
    ),
)


def explained(figures: pl.DataFrame) -> pl.DataFrame:
    """Give each figure its reason in words, and the modes their names.

    Args:
        figures: conforms to claims.CLAIMS.

    Returns:
        The same rows, conforming to EXPLAINED.
    """
    rows = [{**row, "reason": _reason(row), "scope": mode(row["scope"])} for row in figures.iter_rows(named=True)]
    return pl.DataFrame(rows, schema_overrides=EXPLAINED.schema).select(EXPLAINED.names) if rows else EXPLAINED.empty()


def _reason(row: dict[str, Any]) -> str | None:
    if row["verdict"] == "not checkable":
        return _OBSTACLES.get(row["obstacle"]) or _about(row)
    if row["verdict"] == "equal":
        return None
    return "other bytes" if row["difference"] is None else f"by {signed(row['difference'], 6)}"


_OBSTACLES = {
    claims.SYNTHETIC: "synthetic sample, not the release",
    claims.SUBSET: "only a subset is read",
    claims.NOTHING: "nothing of the kind in this source",
    claims.TEMPLATED_FILE: "the pre-templated file is never read: it is made from this one",
    claims.VOCABULARY: "counted in tokens of another vocabulary; see the training budget",
}


def _about(row: dict[str, Any]) -> str:
    kind, detail = row["obstacle"], row["detail"]
    if kind == claims.ENVIRONMENT:
        return f"only environment {detail} is selected"
    if kind == claims.MODE:
        return f"only trajectories {mode(detail)} are selected"
    if kind == claims.DIALECTS:
        return f"records of another format than the release's: {detail}"
    if kind == claims.NONE_GIVEN:
        return f"no {detail} are given"
    return f"{count(row['size'])} {detail}; the published set has {count(claims.SIZES[detail])}"
