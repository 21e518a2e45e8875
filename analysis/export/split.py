"""Train and validation, dealt by scenario or environment: runs of one scenario are never on both sides.

Groups are put in the order of a hash of seed and name, so that a group that is added moves few others.
"""

import hashlib
from typing import Literal

import polars as pl

from analysis.export.errors import ExportError
from analysis.measures.duplicates import task_pairs

By = Literal["scenario", "environment"]
TRAIN, VALIDATION = "train", "validation"


def deal(trajectories: pl.DataFrame, share: float, by: By, seed: int) -> dict[str, str]:
    """Which split each trajectory is in.

    Args:
        trajectories: the chosen rows of TRAJECTORIES.
        share: of the trajectories that validation should hold; 0 for no validation. As near as whole groups allow, at
            least one group on each side.
        by: what is never split. A run without a task_id is of the scenario of its task text.
        seed: another seed deals other groups.

    Raises:
        ExportError: a record names no group, or there are fewer than two.
    """
    ids = trajectories.get_column("trajectory_id")
    if not share:
        return dict.fromkeys(ids, TRAIN)
    if not 0 < share < 1:
        raise ExportError(f"--validation {share}: a share between 0 and 1")
    scenario = pl.concat_str(pl.col("env_id").fill_null(""), pl.coalesce("task_id", "task"), separator="\n")
    groups = trajectories.select(scenario if by == "scenario" else pl.col("env_id")).to_series()
    if groups.null_count():
        other = "--by environment" if by == "scenario" else "--by scenario"
        raise ExportError(
            f"--by {by}: {groups.null_count():,} of {len(groups):,} records name none; use {other}, or leave them out "
            f"(--where '{'task_id' if by == 'scenario' else 'env_id'} IS NOT NULL')"
        )
    held_out = _held_out(groups, share, seed)
    if not held_out:
        raise ExportError(f"--by {by}: {groups.n_unique():,} different; two at least are needed to split")
    return {id_: VALIDATION if group in held_out else TRAIN for id_, group in zip(ids, groups, strict=True)}


def leaks(trajectories: pl.DataFrame, splits: dict[str, str]) -> pl.DataFrame:
    """Scenarios on different sides whose tasks read nearly the same: rows of `duplicates.TASK_PAIRS`."""
    pairs = task_pairs(trajectories.lazy()).collect()
    side = [pairs.get_column(end).replace_strict(splits, return_dtype=pl.String) for end in ("left_id", "right_id")]
    return pairs.filter(side[0] != side[1])


def _held_out(groups: pl.Series, share: float, seed: int) -> set[str]:
    sizes = groups.value_counts(name="records").rows()
    dealt = sorted(sizes, key=lambda row: hashlib.sha256(f"{seed}\n{row[0]}".encode()).digest())
    if len(dealt) < 2:
        return set()
    target = share * len(groups)
    held, records = {dealt[0][0]}, dealt[0][1]
    for name, size in dealt[1:-1]:
        if abs(records + size - target) >= abs(records - target):
            break
        held.add(name)
        records += size
    return held
