"""Overview: what a source is, how much of it keeps the contract, and what its `steps` count."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from analysis.measures.calls import rate_columns
from analysis.measures.clusters import counted, placed
from analysis.measures.expressions import rated
from analysis.schema import END_CLASSES, FINDINGS, TRAJECTORIES, Column, Table

_TRAJ_TYPE = TRAJECTORIES["traj_type"]
_RECORDS = Column("records", pl.UInt32(), "records kept", unit="records")
CANDIDATES = {"assistant_messages": "assistant messages", "tool_calls": "tool calls", "tool_messages": "tool messages"}

SUMMARY = Table(
    "overview_summary",
    "source",
    (
        Column("kept", pl.UInt32(), "records kept", unit="records"),
        Column("rejected", pl.UInt32(), "records that could not be read", unit="records"),
        Column("conversations", pl.UInt32(), "records kept of the mode with a user", unit="records"),
        Column("non_conversations", pl.UInt32(), "records kept of the mode without", unit="records"),
        Column("environments", pl.UInt32(), "environments that records name", unit="environments"),
        Column("scenarios", pl.UInt32(), "scenarios that records name", unit="scenarios"),
        Column("conversation_steps", pl.Float64(), "median steps with a user", unit="steps", nullable=True),
        Column("non_conversation_steps", pl.Float64(), "median steps without", unit="steps", nullable=True),
        Column("calls", pl.UInt32(), "calls, including unreadable blocks", unit="calls"),
        Column("errors", pl.UInt32(), "calls whose result is an error", unit="calls"),
        Column("judged", pl.UInt32(), "calls whose result is ok or an error", unit="calls"),
        Column("unknown", pl.UInt32(), "calls whose result says neither", unit="calls"),
        Column("sound", pl.UInt32(), "records without a finding", unit="records"),
    ),
    key=("kept",),
)

RULES = Table(
    "overview_rules",
    "rule of the contract",
    (
        FINDINGS["rule"],
        Column("sentence", pl.String(), "what a sound record does"),
        Column("remedy", pl.String(), "what to do about one that does not"),
        Column("records_breaking", pl.UInt32(), "records with at least one finding of the rule", unit="records"),
        Column("findings", pl.UInt32(), "findings of the rule", unit="findings"),
        _RECORDS,
        Column("record_share", pl.Float64(), "records breaking the rule / records kept", nullable=True),
    ),
    key=("rule",),
)

SOUND = Table(
    "overview_sound",
    "mode",
    (
        _TRAJ_TYPE,
        Column("sound_records", pl.UInt32(), "records without a finding", unit="records"),
        _RECORDS,
        *rate_columns("sound_share", "records without a finding over records kept"),
    ),
    key=("traj_type",),
)

STEPS = Table(
    "overview_steps",
    "mode and candidate for what `steps` counts",
    (
        _TRAJ_TYPE,
        Column("candidate", pl.Enum(list(CANDIDATES.values())), "what `steps` may count"),
        Column("matches", pl.UInt32(), "records whose `steps` equals the count", unit="records"),
        Column("declared", pl.UInt32(), "records that declare `steps`", unit="records"),
        *rate_columns("match_rate", "matches over records that declare `steps`"),
    ),
    key=("traj_type", "candidate"),
)

COMPOSITION = Table(
    "overview_composition",
    "mode, dialect and end class",
    (
        _TRAJ_TYPE,
        TRAJECTORIES["dialect"],
        Column("end_class", pl.Enum(END_CLASSES), "how the record ends"),
        _RECORDS,
        Column("all_records", pl.UInt32(), "records kept, in all", unit="records"),
        Column("record_share", pl.Float64(), "of all records kept"),
    ),
    key=("traj_type", "dialect", "end_class"),
)

REASONS = Table(
    "overview_rejected",
    "reason for which a record was rejected",
    (
        Column("reason", pl.String(), "why it could not be read"),
        Column("records", pl.UInt32(), "records rejected for it", unit="records"),
        Column("first_origin", pl.String(), "where the first of them stands"),
    ),
    key=("reason",),
)

PASSED_OVER = Table(
    "overview_passed_over",
    "file of the source's folder that was not read",
    (
        Column("name", pl.String(), "the file, or the part of one, below the source"),
        Column("fate", pl.Enum(("no data", "lost")), "taken for no data of this source, or data that cannot be read"),
        Column("reason", pl.String(), "why"),
    ),
)


def summary(
    trajectories: pl.LazyFrame, tool_calls: pl.LazyFrame, findings: pl.LazyFrame, rejected: pl.LazyFrame
) -> pl.LazyFrame:
    """What was read and what the records are, in one row.

    Args:
        trajectories: conforms to TRAJECTORIES.
        tool_calls: conforms to TOOL_CALLS.
        findings: conforms to FINDINGS.
        rejected: conforms to REJECTED.

    Returns:
        One row, conforming to SUMMARY; none for a source without any record.
    """
    is_talk, steps = pl.col("traj_type") == "conversation", pl.col("assistant_messages")
    outcome = pl.col("outcome")
    records = trajectories.select(
        kept=pl.len(),
        conversations=is_talk.sum(),
        non_conversations=(~is_talk).sum(),
        environments=pl.col("env_id").drop_nulls().n_unique(),
        scenarios=pl.struct("env_id", "task_id").filter(pl.col("task_id").is_not_null()).n_unique(),
        conversation_steps=steps.filter(is_talk).median(),
        non_conversation_steps=steps.filter(~is_talk).median(),
    )
    calls = tool_calls.select(
        calls=pl.len(),
        errors=(outcome == "error").sum(),
        judged=(outcome != "unknown").sum(),
        unknown=(outcome == "unknown").sum(),
    )
    others = [rejected.select(rejected=pl.len()), _breaking(trajectories, findings).select(breaking=pl.len())]
    row = pl.concat([records, calls, *others], how="horizontal")
    sound = pl.col("kept") - pl.col("breaking")
    return SUMMARY.select(row.with_columns(sound=sound).filter(pl.col("kept") + pl.col("rejected") > 0))


def rules(trajectories: pl.LazyFrame, findings: pl.LazyFrame, contract: Iterable[tuple[str, str, str]]) -> pl.LazyFrame:
    """Count findings and records per rule of the contract.

    Args:
        trajectories: conforms to TRAJECTORIES.
        findings: conforms to FINDINGS; those of other trajectories are left out.
        contract: the rules: id, sentence, remedy.

    Returns:
        One row per rule, the most broken first, conforming to RULES; a rule nobody breaks is a row of zeros. A finding
        of a rule the contract does not list is kept, with an empty sentence.
    """
    listed = pl.LazyFrame(
        [tuple(rule) for rule in contract],
        schema={"rule": pl.String(), "sentence": pl.String(), "remedy": pl.String()},
        orient="row",
    )
    broken = (
        findings.join(trajectories, on="trajectory_id", how="semi")
        .group_by("rule")
        .agg(findings=pl.len(), records_breaking=pl.col("trajectory_id").n_unique())
    )
    counted = (
        listed.join(broken, on="rule", how="full", coalesce=True, validate="1:1")
        .join(trajectories.select(records=pl.len()), how="cross")
        .with_columns(pl.col("findings", "records_breaking").fill_null(0), pl.col("sentence", "remedy").fill_null(""))
        .filter(pl.col("records") > 0)
        .with_columns(record_share=rated("records_breaking", "records", "record_share")["record_share"])
    )
    return RULES.select(counted.sort("records_breaking", "findings", "rule", descending=[True, True, False]))


def sound(trajectories: pl.LazyFrame, findings: pl.LazyFrame) -> pl.LazyFrame:
    """Share of records without a finding, per mode.

    Args:
        trajectories: conforms to TRAJECTORIES.
        findings: conforms to FINDINGS.

    Returns:
        One row per mode, conforming to SOUND; the share is null over fewer than 20 records.
    """
    broken = _breaking(trajectories, findings).select("trajectory_id", is_broken=True)
    records = placed(trajectories.join(broken, on="trajectory_id", how="left"), trajectories)
    counts = {"sound_records": pl.col("is_broken").is_null().sum(), "records": pl.len()}
    modes = counted(records, ["traj_type"], counts, {"sound_share": ("sound_records", "records")})
    return SOUND.select(modes.sort("traj_type"))


def steps_candidates(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Compare the declared `steps` with three things it may count.

    Args:
        trajectories: conforms to TRAJECTORIES; records that declare no steps are left out.

    Returns:
        One row per (traj_type, candidate), conforming to STEPS; the rate is null over fewer than 20 records.
    """
    index = ["traj_type", "steps", "cluster"]
    declared = (
        placed(trajectories.filter(pl.col("steps").is_not_null()), trajectories)
        .select(*index, *CANDIDATES)
        .unpivot(on=list(CANDIDATES), index=index, variable_name="column", value_name="count")
        .with_columns(candidate=pl.col("column").replace_strict(CANDIDATES, return_dtype=STEPS["candidate"].dtype))
    )
    counts = {"matches": (pl.col("steps") == pl.col("count").cast(pl.Int64)).sum(), "declared": pl.len()}
    matched = counted(declared, ["traj_type", "candidate"], counts, {"match_rate": ("matches", "declared")})
    return STEPS.select(matched.sort("traj_type", "candidate"))


def composition(trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """What the records are: mode, dialect, and how they end.

    Args:
        trajectories: conforms to TRAJECTORIES.

    Returns:
        One row per (traj_type, dialect, end_class) that occurs, conforming to COMPOSITION; shares sum to 1.
    """
    counted = (
        trajectories.group_by("traj_type", "dialect", "end_class")
        .agg(records=pl.len())
        .with_columns(all_records=pl.col("records").sum())
        .with_columns(record_share=pl.col("records") / pl.col("all_records"))
    )
    return COMPOSITION.select(counted.sort("traj_type", "dialect", "end_class"))


def reasons(rejected: pl.LazyFrame, *, top: int = 50) -> pl.LazyFrame:
    """Why records were rejected.

    Args:
        rejected: conforms to REJECTED.
        top: reasons at most.

    Returns:
        Conforms to REASONS, the most frequent first.
    """
    counted = rejected.group_by("reason").agg(records=pl.len(), first_origin=pl.col("origin").min())
    return REASONS.select(counted.sort("records", "reason", descending=[True, False]).head(top))


def passed_over(manifest: Mapping[str, Any]) -> pl.LazyFrame:
    """What stands beside the records and was not read: what only looks like data, then data that is lost.

    Args:
        manifest: of the source; it names 200 files at most.

    Returns:
        Conforms to PASSED_OVER.
    """
    rows = [(each["name"], "no data", each["reason"]) for each in manifest.get("skipped", ())]
    rows += [(each["origin"], "lost", each["reason"]) for each in manifest.get("damage", ())]
    return PASSED_OVER.select(pl.LazyFrame(rows, schema=PASSED_OVER.schema, orient="row"))


def _breaking(trajectories: pl.LazyFrame, findings: pl.LazyFrame) -> pl.LazyFrame:
    """The trajectories with at least one finding."""
    return findings.select("trajectory_id").unique().join(trajectories, on="trajectory_id", how="semi")
