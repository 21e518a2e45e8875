"""Replay: what of the recorded calls comes out again, what they changed, whether the scenarios' checks hold.

Recorded calls are played again on the environments' own code, from the scenario's initial state. A result that comes
out otherwise was not returned by this code in this state: the environment, the record or the replayer is another. What
could not be played stands in every denominator that it belongs to.
"""

import polars as pl

from analysis.measures.calls import rate_columns
from analysis.measures.clusters import counted, placed
from analysis.natural import natural_order
from analysis.schema import CHECKS, REPLAYED_CALLS, REPLAYS, TOOL_CALLS, TRAJECTORIES, Column, Table

_TOLD = (
    Column("calls", pl.UInt32(), "calls played", unit="calls"),
    Column("reproduced", pl.UInt32(), "of these, with the recorded result", unit="calls"),
    Column("differing", pl.UInt32(), "of these, with another result", unit="calls"),
    Column("untold", pl.UInt32(), "of these, neither can be told", unit="calls"),
)
# The runner rounds rewards to four digits.
_ROUNDING = 0.00006

SUMMARY = Table(
    "replay_summary",
    "source whose replay was asked for",
    (
        Column("trajectories", pl.UInt32(), "trajectories, replayable or not", unit="trajectories"),
        Column("replayable", pl.UInt32(), "of these, played in the sandbox", unit="trajectories"),
        Column("whole", pl.UInt32(), "of these, with no call that differs", unit="trajectories"),
        Column("all_calls", pl.UInt32(), "calls of all trajectories", unit="calls"),
        *_TOLD,
        Column("changes", pl.UInt32(), "calls that changed the state", unit="calls"),
        Column("changes_read_back", pl.UInt32(), "of these, read again by a later call", unit="calls"),
        Column("checked", pl.UInt32(), "trajectories played whose scenario has checks", unit="trajectories"),
        Column("all_passed", pl.UInt32(), "of these, passing every check", unit="trajectories"),
        Column("checks", pl.UInt32(), "checks of the trajectories played", unit="checks"),
        Column("checks_passed", pl.UInt32(), "of these, that the final state passes", unit="checks"),
        Column("checks_untold", pl.UInt32(), "of these, that could not be asked", unit="checks"),
        Column("rewarded", pl.UInt32(), "trajectories with a recorded and a recomputed reward", unit="trajectories"),
        Column("equal_rewards", pl.UInt32(), "of these, where the two are equal", unit="trajectories"),
    ),
)

REASONS = Table(
    "replay_reasons",
    "reason for which trajectories could not be played",
    (REPLAYS["reason"], Column("trajectories", pl.UInt32(), "trajectories", unit="trajectories")),
    key=("reason",),
)

ENVIRONMENTS = Table(
    "replay_environments",
    "environment with calls played",
    (
        TRAJECTORIES["env_id"],
        *_TOLD,
        *rate_columns("differing_rate", "differing over (reproduced + differing)"),
        Column("judged", pl.UInt32(), "calls that are reproduced or differ", unit="calls"),
    ),
    key=("env_id",),
)

TOOLS = Table(
    "replay_tools",
    "tool with a call that differs",
    (
        TRAJECTORIES["env_id"],
        TOOL_CALLS["tool_name"],
        *_TOLD,
        Column("first", pl.String(), "the first such call, as trajectory and call"),
    ),
    key=("env_id", "tool_name"),
)

KINDS = Table(
    "replay_kinds",
    "way in which replayed results agree or differ",
    (
        REPLAYED_CALLS["verdict"],
        REPLAYED_CALLS["kind"],
        Column("calls", pl.UInt32(), "calls", unit="calls"),
        Column("call_share", pl.Float64(), "of the calls played"),
        Column("all_calls", pl.UInt32(), "calls played", unit="calls"),
    ),
    key=("verdict", "kind"),
)

CHANGES = Table(
    "replay_changes",
    "tool that changed the state",
    (
        TRAJECTORIES["env_id"],
        TOOL_CALLS["tool_name"],
        Column("changes", pl.UInt32(), "calls that changed the state", unit="calls"),
        Column("read_back", pl.UInt32(), "of these, read again by a later call", unit="calls"),
        Column("made", pl.UInt32(), "entities made", unit="entities"),
        Column("changed", pl.UInt32(), "entities changed", unit="entities"),
        Column("removed", pl.UInt32(), "entities removed", unit="entities"),
        Column("all_changes", pl.UInt32(), "calls that changed the state, of all tools", unit="calls"),
    ),
    key=("env_id", "tool_name"),
)

CHECKED = Table(
    "replay_checks",
    "check of a scenario that was asked",
    (
        TRAJECTORIES["env_id"],
        TRAJECTORIES["task_id"],
        CHECKS["check"],
        Column("item", pl.String(), "the check's sentence"),
        Column("asked", pl.UInt32(), "trajectories whose final state it was asked of", unit="trajectories"),
        Column("failed", pl.UInt32(), "of these, that do not pass it", unit="trajectories"),
        Column("first", pl.String(), "the first that does not pass it"),
    ),
    key=("env_id", "task_id", "check"),
)

AGREEMENT = Table(
    "replay_agreement",
    "mode, or both together",
    (
        Column("mode", pl.Enum(("conversation", "non_conversation", "both")), "mode of the trajectories compared"),
        Column("scenarios", pl.UInt32(), "scenarios that several trajectories played", unit="scenarios"),
        Column("agreeing", pl.UInt32(), "of these, where all end in the same state", unit="scenarios"),
    ),
    key=("mode",),
)

DIFFERENCES = Table(
    "replay_differences",
    "call whose result came out otherwise",
    (
        REPLAYS["trajectory_id"],
        TRAJECTORIES["env_id"],
        TOOL_CALLS["call"],
        TOOL_CALLS["step"],
        TOOL_CALLS["tool_name"],
        REPLAYED_CALLS["kind"],
        REPLAYED_CALLS["replayed_result"],
    ),
    key=("trajectory_id", "call"),
)


def summary(replays: pl.LazyFrame) -> pl.LazyFrame:
    """What was played, and what came of it.

    Args:
        replays: conforms to REPLAYS.

    Returns:
        One row, conforming to SUMMARY; none where no replay was asked for.
    """
    played = pl.col("is_replayable")
    of_played = {
        name: pl.col(name).filter(played).sum()
        for name in ("calls", "reproduced", "differing", "untold", "changes", "changes_read_back")
    }
    has_checks = played & (pl.col("checks") > 0)
    both = pl.col("reward").is_not_null() & pl.col("reward_recorded").is_not_null()
    row = replays.select(
        trajectories=pl.len(),
        replayable=played.sum(),
        whole=(played & (pl.col("differing") == 0)).sum(),
        all_calls=pl.col("calls").sum(),
        **of_played,
        checked=has_checks.sum(),
        all_passed=(has_checks & (pl.col("checks") == pl.col("checks_passed"))).sum(),
        **{name: pl.col(name).filter(played).sum() for name in ("checks", "checks_passed", "checks_untold")},
        rewarded=both.sum(),
        equal_rewards=(both & ((pl.col("reward") - pl.col("reward_recorded")).abs() < _ROUNDING)).sum(),
    )
    return SUMMARY.select(row.filter(pl.col("trajectories") > 0))


def reasons(replays: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """Why trajectories could not be played.

    Args:
        replays: conforms to REPLAYS.
        top: reasons at most.

    Returns:
        Conforms to REASONS, the most frequent first.
    """
    refused = replays.filter(~pl.col("is_replayable")).group_by("reason").agg(trajectories=pl.len())
    return REASONS.select(refused.sort("trajectories", "reason", descending=[True, False]).head(top))


def by_environment(replayed_calls: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """What came out again in each environment.

    Args:
        replayed_calls: conforms to REPLAYED_CALLS.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        Conforms to ENVIRONMENTS, in natural order.
    """
    rows = placed(_with_environment(replayed_calls, trajectories), trajectories)
    counts = {**_counts(), "judged": (pl.col("verdict") != "untold").sum()}
    rates = {"differing_rate": ("differing", "judged")}
    return ENVIRONMENTS.select(counted(rows, ["env_id"], counts, rates).sort(natural_order("env_id")))


def by_tool(replayed_calls: pl.LazyFrame, trajectories: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """The tools whose calls come out otherwise.

    Args:
        replayed_calls: conforms to REPLAYED_CALLS.
        trajectories: conforms to TRAJECTORIES.
        top: tools at most.

    Returns:
        Conforms to TOOLS, those with the most such calls first.
    """
    differs = pl.col("verdict") == "differing"
    place = pl.col("trajectory_id") + pl.lit(" call ") + pl.col("call").cast(pl.String)
    tools = (
        _with_environment(replayed_calls, trajectories)
        .sort("trajectory_id", "call")
        .group_by("env_id", "tool_name", maintain_order=True)
        .agg(**_counts(), first=place.filter(differs).first())
    )
    most = tools.filter(pl.col("differing") > 0).sort(
        "differing", "env_id", "tool_name", descending=[True, False, False]
    )
    return TOOLS.select(most.head(top))


def kinds(replayed_calls: pl.LazyFrame) -> pl.LazyFrame:
    """In which way results agree or differ.

    Args:
        replayed_calls: conforms to REPLAYED_CALLS.

    Returns:
        Conforms to KINDS, by verdict and then the most frequent first.
    """
    counts = replayed_calls.group_by("verdict", "kind").agg(calls=pl.len())
    shares = counts.with_columns(all_calls=pl.col("calls").sum(), call_share=pl.col("calls") / pl.col("calls").sum())
    return KINDS.select(shares.sort("verdict", "calls", "kind", descending=[False, True, False]))


def changes(replayed_calls: pl.LazyFrame, trajectories: pl.LazyFrame, *, top: int = 20) -> pl.LazyFrame:
    """What changed the state, and whether the agent looked at it again.

    Args:
        replayed_calls: conforms to REPLAYED_CALLS.
        trajectories: conforms to TRAJECTORIES.
        top: tools at most.

    Returns:
        Conforms to CHANGES, the tools with the most changes first.
    """
    entities = ("made", "changed", "removed")
    changing = _with_environment(replayed_calls, trajectories).filter(pl.sum_horizontal(*entities) > 0)
    tools = (
        changing.group_by("env_id", "tool_name")
        .agg(
            changes=pl.len(), read_back=pl.col("is_read_back").sum(), **{name: pl.col(name).sum() for name in entities}
        )
        .with_columns(all_changes=pl.col("changes").sum())
    )
    return CHANGES.select(tools.sort("changes", "env_id", "tool_name", descending=[True, False, False]).head(top))


def checks(replayed_checks: pl.LazyFrame, trajectories: pl.LazyFrame, *, top: int = 30) -> pl.LazyFrame:
    """The checks that final states fail.

    Args:
        replayed_checks: conforms to REPLAYED_CHECKS.
        trajectories: conforms to TRAJECTORIES.
        top: checks at most.

    Returns:
        Conforms to CHECKED, those that most trajectories fail first; a check that none fails is left out.
    """
    failed = ~pl.col("is_passed")
    placed_checks = replayed_checks.join(
        trajectories.select("trajectory_id", "env_id", "task_id"), on="trajectory_id", how="left"
    ).drop_nulls("is_passed")
    counts = (
        placed_checks.sort("trajectory_id")
        .group_by("env_id", "task_id", "check", maintain_order=True)
        .agg(
            item=pl.col("item").first(),
            asked=pl.len(),
            failed=failed.sum(),
            first=pl.col("trajectory_id").filter(failed).first(),
        )
    )
    fewest_last = -pl.col("failed").cast(pl.Int64)
    most = counts.filter(pl.col("failed") > 0).sort(fewest_last, *natural_order("env_id"), "task_id", "check")
    return CHECKED.select(most.head(top))


def agreement(replays: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Scenarios that several trajectories played, and whether these end alike.

    Agreement and nothing more: trajectories may agree on what is wrong.

    Args:
        replays: conforms to REPLAYS.
        trajectories: conforms to TRAJECTORIES.

    Returns:
        Conforms to AGREEMENT: a row for each mode, trajectories of that mode only, and one for both together.
    """
    scenario = trajectories.select("trajectory_id", "env_id", "task_id", mode=pl.col("traj_type").cast(pl.String))
    ends = replays.filter("is_replayable").join(scenario, on="trajectory_id").drop_nulls(["env_id", "task_id"])
    each = pl.concat([ends, ends.with_columns(mode=pl.lit("both"))])
    states = each.group_by("mode", "env_id", "task_id").agg(n=pl.len(), states=pl.col("final_state_hash").n_unique())
    repeated = states.filter(pl.col("n") > 1).group_by("mode")
    counts = repeated.agg(scenarios=pl.len(), agreeing=(pl.col("states") == 1).sum())
    return AGREEMENT.select(counts.with_columns(pl.col("mode").cast(AGREEMENT["mode"].dtype)).sort("mode"))


def differences(replayed_calls: pl.LazyFrame, tool_calls: pl.LazyFrame, *, top: int = 50) -> pl.LazyFrame:
    """The calls whose results came out otherwise, in their order.

    Args:
        replayed_calls: conforms to REPLAYED_CALLS.
        tool_calls: conforms to TOOL_CALLS.
        top: calls at most.

    Returns:
        Conforms to DIFFERENCES.
    """
    places = tool_calls.select("trajectory_id", "call", "env_id", "step")
    differing = replayed_calls.filter(pl.col("verdict") == "differing").sort("trajectory_id", "call").head(top)
    return DIFFERENCES.select(differing.join(places, on=["trajectory_id", "call"], how="left", maintain_order="left"))


def _with_environment(replayed_calls: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    return replayed_calls.join(trajectories.select("trajectory_id", "env_id"), on="trajectory_id", how="left")


def _counts() -> dict[str, pl.Expr]:
    verdict = pl.col("verdict")
    each = {name: (verdict == name).sum() for name in ("reproduced", "differing", "untold")}
    return {"calls": pl.len(), **each}
