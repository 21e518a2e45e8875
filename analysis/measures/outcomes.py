"""Outcomes of calls: error rates with and without the weaker rules, where they arise, and what the errors say."""

import polars as pl

from analysis.measures.calls import rate_columns, trajectory_key
from analysis.measures.clusters import counted, placed
from analysis.measures.expressions import FEWEST_FOR_TENTHS, tenth
from analysis.natural import natural_order
from analysis.schema import OUTCOME_RULES, TOOL_CALLS, Column, Table

_COUNTS = (
    Column("calls", pl.UInt32(), "calls", unit="calls"),
    Column("errors", pl.UInt32(), "calls whose result is an error", unit="calls"),
    Column("judged", pl.UInt32(), "calls whose result is ok or an error", unit="calls"),
    Column("unknown", pl.UInt32(), "calls whose result says neither", unit="calls"),
    *rate_columns("error_rate", "errors over (ok + errors)"),
)
_UNKNOWN = Column("unknown_share", pl.Float64(), "unknown over all calls")

MODES = Table("outcomes_by_mode", "mode", (TOOL_CALLS["traj_type"], *_COUNTS, _UNKNOWN), key=("traj_type",))

RULES = Table(
    "outcomes_by_rule",
    "rule that decided the outcome",
    (
        TOOL_CALLS["outcome_rule"],
        Column("ok", pl.UInt32(), "calls it found ok", unit="calls"),
        Column("errors", pl.UInt32(), "calls it found to be errors", unit="calls"),
        Column("unknown", pl.UInt32(), "calls it left unknown", unit="calls"),
        Column("call_share", pl.Float64(), "calls it decided, of all calls"),
        Column(
            "cumulative_error_rate",
            pl.Float64(),
            "errors over (ok + errors) by this rule and the stronger ones before it",
            nullable=True,
        ),
    ),
    key=("outcome_rule",),
)

ENVIRONMENTS = Table(
    "outcomes_by_environment", "environment", (TOOL_CALLS["env_id"], *_COUNTS, _UNKNOWN), key=("env_id",)
)

TOOLS = Table(
    "outcomes_by_tool",
    "tool",
    (TOOL_CALLS["env_id"], TOOL_CALLS["tool_name"], *_COUNTS),
    key=("env_id", "tool_name"),
)

POSITIONS = Table(
    "outcomes_by_position",
    "mode and tenth of the trajectory",
    (
        TOOL_CALLS["traj_type"],
        Column("tenth", pl.UInt32(), "place among the trajectory's calls, in tenths, from 1"),
        *_COUNTS,
    ),
    key=("traj_type", "tenth"),
)

TEMPLATES = Table(
    "error_templates",
    "error message with ids and numbers folded",
    (
        Column("template", pl.String(), "message with times, ids and numbers folded into <time>, <id>, <n>"),
        Column("errors", pl.UInt32(), "errors with this message", unit="calls"),
        Column("all_errors", pl.UInt32(), "errors of the source", unit="calls"),
        Column("error_share", pl.Float64(), "of all errors"),
        Column("trajectories", pl.UInt32(), "trajectories that meet it", unit="trajectories"),
        Column("tools", pl.UInt32(), "tools that answer with it", unit="tools"),
        Column("environments", pl.UInt32(), "environments where it occurs", unit="environments"),
        Column("example", pl.String(), "the message as it stands, first in order of the alphabet"),
    ),
    key=("template",),
)

NO_TEXT = "(no error text)"
# Most specific first; what one has folded holds no digit for the next.
_FOLDS = (
    (r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?", "<time>"),
    (r"\b\d{1,2}:\d{2}(?::\d{2})?\b", "<time>"),
    (r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b", "<id>"),
    (r"0x[0-9A-Fa-f]+", "<id>"),
    (r"\b[\p{L}_][\w\-]*\d[\w\-]*|\b\d[\d\-]*[\p{L}_][\w\-]*", "<id>"),
    (r"[+\-]?\d[\d.,]*\d|[+\-]?\d", "<n>"),
    (r"""(["']?<(?:id|n|time)>["']?)(?:, ["']?<(?:id|n|time)>["']?)+""", "$1, …"),
)
_TEMPLATE_CHARS = 200


def by_mode(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Count outcomes per mode.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per traj_type, conforming to MODES.
    """
    modes = _counted(tool_calls, trajectories, "traj_type").with_columns(
        unknown_share=pl.col("unknown") / pl.col("calls")
    )
    return MODES.select(modes.sort("traj_type"))


def by_rule(tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Count outcomes per rule that decided them, strongest rule first.

    Args:
        tool_calls: conforms to TOOL_CALLS.

    Returns:
        One row per outcome_rule that occurs, conforming to RULES. Each row's cumulative rate leaves out the rules
        after it, so that a rate can be read with or without the weaker ones.
    """
    outcome = pl.col("outcome")
    judged = (pl.col("ok") + pl.col("errors")).cum_sum()
    order = pl.col("outcome_rule").cast(pl.Enum(OUTCOME_RULES))
    counted = (
        tool_calls.group_by(outcome_rule=order)
        .agg(
            ok=(outcome == "ok").sum(),
            errors=(outcome == "error").sum(),
            unknown=(outcome == "unknown").sum(),
            calls=pl.len(),
        )
        .sort("outcome_rule")
        .with_columns(
            call_share=pl.col("calls") / pl.col("calls").sum(),
            cumulative_error_rate=pl.when(judged > 0).then(pl.col("errors").cum_sum() / judged),
        )
    )
    return RULES.select(counted)


def by_environment(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Count outcomes per environment.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per env_id in natural order, conforming to ENVIRONMENTS. Descriptive: an error rate ranks no quality.
    """
    environments = _counted(tool_calls, trajectories, "env_id").with_columns(
        unknown_share=pl.col("unknown") / pl.col("calls")
    )
    return ENVIRONMENTS.select(environments.sort(natural_order("env_id")))


def by_tool(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None, *, top: int = 20) -> pl.LazyFrame:
    """Count outcomes of the tools with most errors.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.
        top: tools kept.

    Returns:
        One row per (env_id, tool_name) with at least one error, most errors first, conforming to TOOLS.
    """
    tools = (
        _counted(tool_calls, trajectories, "env_id", "tool_name")
        .filter(pl.col("errors") > 0)
        .sort("errors", "env_id", "tool_name", descending=[True, False, False], nulls_last=True)
        .head(top)
    )
    return TOOLS.select(tools)


def by_position(tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Follow outcomes along the trajectory.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per (traj_type, tenth) that occurs, conforming to POSITIONS, and none of trajectories of fewer than
        ten calls, which would leave tenths empty. The k-th of n calls stands in the tenth that holds (k - 1/2) / n, its
        midpoint.
    """
    keyed = tool_calls.select("traj_type", "outcome", "call", key=trajectory_key())
    tenths = (
        keyed.join(keyed.group_by("key").agg(n=pl.len()), on="key", how="left")
        .filter(pl.col("n") >= FEWEST_FOR_TENTHS)
        .with_columns(tenth=tenth(pl.col("call"), pl.col("n")))
    )
    return POSITIONS.select(_counted(tenths, trajectories, "traj_type", "tenth").sort("traj_type", "tenth"))


def templates(tool_calls: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """Group error messages by template.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        top: templates kept.

    Returns:
        One row per template, most errors first, conforming to TEMPLATES; an error without text has the template
        "(no error text)".
    """
    errors = tool_calls.filter(pl.col("outcome") == "error").select(
        "env_id", "tool_name", key=trajectory_key(), error=pl.col("error").fill_null(NO_TEXT)
    )
    # Folded once per distinct message: most recur.
    folded = errors.select("error").unique().with_columns(template=template())
    counted = (
        errors.join(folded, on="error")
        .group_by("template")
        .agg(
            errors=pl.len(),
            trajectories=pl.col("key").n_unique(),
            tools=pl.struct("env_id", "tool_name").n_unique(),
            environments=pl.col("env_id").n_unique(),
            example=pl.col("error").min(),
        )
        .with_columns(all_errors=pl.col("errors").sum())
        .with_columns(error_share=pl.col("errors") / pl.col("all_errors"))
        .sort("errors", "template", descending=[True, False])
        .head(top)
    )
    return TEMPLATES.select(counted)


def template() -> pl.Expr:
    """`error` with times, ids (words that hold a digit) and numbers folded, and lists of them shortened."""
    text = pl.col("error").str.replace_all(r"\s+", " ").str.strip_chars()
    for pattern, placeholder in _FOLDS:
        text = text.str.replace_all(pattern, placeholder)
    return text.str.slice(0, _TEMPLATE_CHARS)


def _counted(calls: pl.LazyFrame, trajectories: pl.LazyFrame | None, *by: str) -> pl.LazyFrame:
    outcome = pl.col("outcome")
    counts = {
        "calls": pl.len(),
        "errors": (outcome == "error").sum(),
        "judged": (outcome != "unknown").sum(),
        "unknown": (outcome == "unknown").sum(),
    }
    return counted(placed(calls, trajectories), by, counts, {"error_rate": ("errors", "judged")})
