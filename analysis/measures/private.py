"""Secrets and personal data: in how many trajectories which kinds are found, by form alone.

Over the derived table PRIVATE: `data.private`. Nothing here is known to be real.
"""

import polars as pl

from analysis.measures.expressions import share_of
from analysis.schema import PRIVATE, PRIVATE_KINDS, Column, Table

SECRETS = ("key", "password")
PERSONAL = ("e-mail", "phone", "card")

KINDS = Table(
    "private_kinds",
    "kind of secret or personal data",
    (
        PRIVATE["kind"],
        Column("trajectories", pl.UInt32(), "trajectories with a find of open form", unit="trajectories"),
        Column("reserved_only", pl.UInt32(), "trajectories whose finds are all of reserved form", unit="trajectories"),
        Column("all_trajectories", pl.UInt32(), "trajectories scanned: the denominator", unit="trajectories"),
        Column("share", pl.Float64(), "with a find of open form, over all; null under 20", nullable=True),
        Column("finds", pl.UInt32(), "finds of open form, distinct within a trajectory and role", unit="finds"),
        Column("reserved_finds", pl.UInt32(), "the same of reserved form", unit="finds"),
        Column("first_id", pl.String(), "the first trajectory with a find of open form", nullable=True),
    ),
    key=("kind",),
)

SUMMARY = Table(
    "private_summary",
    "all trajectories together",
    (
        Column("trajectories", pl.UInt32(), "trajectories scanned: the denominator", unit="trajectories"),
        Column("secret", pl.UInt32(), "with a key or password of open form", unit="trajectories"),
        Column("personal", pl.UInt32(), "with an address or number of open form", unit="trajectories"),
        Column("either", pl.UInt32(), "with either", unit="trajectories"),
        Column("reserved_only", pl.UInt32(), "with finds of reserved form only", unit="trajectories"),
    ),
)


def kinds(private: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count trajectories with each kind of find.

    Args:
        private: conforms to PRIVATE.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per kind, found or not, conforming to KINDS.
    """
    every = pl.LazyFrame({"kind": pl.Series(PRIVATE_KINDS, dtype=PRIVATE["kind"].dtype)})
    finds, id_ = pl.col("finds"), pl.col("trajectory_id")
    counted = private.group_by("kind").agg(
        trajectories=id_.filter(_is_open()).n_unique(),
        any_form=id_.n_unique(),
        finds=finds.filter(_is_open()).sum(),
        reserved_finds=finds.filter(~_is_open()).sum(),
        first_id=id_.filter(_is_open()).min(),
    )
    counts = pl.col("trajectories", "any_form", "finds", "reserved_finds")
    joined = every.join(counted, on="kind", how="left", validate="1:1", maintain_order="left")
    return KINDS.select(
        joined.with_columns(counts.fill_null(0))
        .join(trajectories.select(all_trajectories=pl.len()), how="cross")
        .with_columns(
            reserved_only=pl.col("any_form") - pl.col("trajectories"),
            share=share_of(pl.col("trajectories"), pl.col("all_trajectories")),
        )
    )


def summary(private: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Count trajectories with any find.

    Args:
        private: conforms to PRIVATE.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row, conforming to SUMMARY.
    """
    kind, id_ = pl.col("kind").cast(pl.String), pl.col("trajectory_id")
    counted = private.select(
        secret=id_.filter(_is_open(), kind.is_in(SECRETS)).n_unique(),
        personal=id_.filter(_is_open(), kind.is_in(PERSONAL)).n_unique(),
        either=id_.filter(_is_open()).n_unique(),
        any_form=id_.n_unique(),
    ).with_columns(reserved_only=pl.col("any_form") - pl.col("either"))
    return SUMMARY.select(trajectories.select(trajectories=pl.len()).join(counted, how="cross"))


def _is_open() -> pl.Expr:
    return pl.col("form").cast(pl.String) == "open"
