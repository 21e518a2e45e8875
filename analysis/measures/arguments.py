"""Argument validity: each call against that record's own JSON Schema of the tool."""

import polars as pl

from analysis.measures.calls import rate_columns
from analysis.measures.clusters import placed, shares
from analysis.measures.expressions import share_of
from analysis.schema import ARGUMENTS_CLASSES, TOOL_CALLS, Column, Table

# The order in which charts and tables name them: sound, the schema's fault, the call's faults, not checkable.
VERDICTS = ("valid", "over_required", *ARGUMENTS_CLASSES[1:])
_VERDICT = Column(
    "verdict",
    pl.Enum(VERDICTS),
    "class of the arguments; over_required = a required argument is missing and the result is ok all the same",
)
_CALLS = Column("calls", pl.UInt32(), "calls of this class", unit="calls")

CLASSES = Table(
    "argument_classes",
    "mode and class of arguments",
    (
        TOOL_CALLS["traj_type"],
        _VERDICT,
        _CALLS,
        Column("mode_calls", pl.UInt32(), "calls of the mode, unreadable blocks included", unit="calls"),
        *rate_columns("class_rate", "of the mode's calls"),
    ),
    key=("traj_type", "verdict"),
)

BREACHES = Table(
    "argument_breaches",
    "tool and class of arguments other than valid",
    (
        TOOL_CALLS["env_id"],
        TOOL_CALLS["tool_name"],
        _VERDICT,
        _CALLS,
        Column("tool_breaches", pl.UInt32(), "calls of the tool that are not valid", unit="calls"),
        Column("tool_calls", pl.UInt32(), "calls of the tool", unit="calls"),
        Column("breach_share", pl.Float64(), "of the tool's calls; null over fewer than 20", nullable=True),
    ),
    key=("env_id", "tool_name", "verdict"),
)

FORMS = Table(
    "argument_forms",
    "form and state of arguments",
    (
        TOOL_CALLS["arguments_form"],
        TOOL_CALLS["arguments_state"],
        Column("calls", pl.UInt32(), "calls", unit="calls"),
        Column("call_share", pl.Float64(), "of all calls; null over fewer than 20", nullable=True),
    ),
    key=("arguments_form", "arguments_state"),
)


def classes(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Count calls per class of arguments and mode.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per (traj_type, verdict) that occurs, in the order of VERDICTS, conforming to CLASSES. The denominator
        is every call of the mode, a block that could not be read among them; calls sum to it.
    """
    judged = placed(tool_calls, trajectories).with_columns(verdict=verdict())
    counted = shares(judged, ["traj_type"], "verdict", ("calls", "mode_calls", "class_rate"))
    return CLASSES.select(counted.sort("traj_type", "verdict"))


def breaches(tool_calls: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """Find the tools with most calls that are not valid.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        top: tools kept.

    Returns:
        One row per (env_id, tool_name, verdict) other than valid and unchecked, most breaches first, conforming to
        BREACHES; tool_name is null for blocks that could not be read.
    """
    tool = ["env_id", "tool_name"]
    is_breach = ~pl.col("verdict").is_in(["valid", "unchecked"])
    counted = (
        tool_calls.group_by(*tool, verdict=verdict())
        .agg(calls=pl.len())
        .with_columns(
            tool_calls=pl.col("calls").sum().over(tool),
            tool_breaches=pl.col("calls").filter(is_breach).sum().over(tool),
        )
        .filter(is_breach)
        .with_columns(breach_share=share_of(pl.col("calls"), pl.col("tool_calls")))
        .sort("tool_breaches", *tool, "verdict", descending=[True, False, False, False], nulls_last=True)
        .filter(pl.struct(tool).rle_id() < top)
    )
    return BREACHES.select(counted)


def forms(tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Count how the record holds arguments, and what they parse to.

    Args:
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row per (arguments_form, arguments_state) that occurs, most frequent first, conforming to FORMS; shares
        sum to 1.
    """
    by = ["arguments_form", "arguments_state"]
    counted = (
        tool_calls.group_by(by)
        .agg(calls=pl.len())
        .with_columns(call_share=share_of(pl.col("calls"), pl.col("calls").sum()))
        .sort("calls", *by, descending=[True, False, False])
    )
    return FORMS.select(counted)


def verdict() -> pl.Expr:
    """The class of a call's arguments, with "missing required but the result is ok" as its own."""
    is_over_required = (pl.col("arguments_class") == "missing_required") & (pl.col("outcome") == "ok")
    return (
        pl.when(is_over_required)
        .then(pl.lit("over_required"))
        .otherwise(pl.col("arguments_class").cast(pl.String))
        .cast(pl.Enum(VERDICTS))
    )
