"""Repeats and loops: the same call again, read-only tools apart from changing ones.

These take longer than other measures: each distinct arguments text is parsed once to sort its keys, which Python does
one by one. Over 2.5 million calls with 1.2 million distinct texts that is 2 to 3 s on two cores.
"""

import polars as pl

from analysis.measures.calls import KIND, identity, rate_columns, tool_key, trajectory_key, with_kind
from analysis.measures.clusters import counted, placed
from analysis.schema import TOOL_CALLS, Column, Table

# A loop: a block of at most this many calls, at least so often in a row.
LONGEST_PERIOD = 4
FEWEST_TURNS = 3

_TRAJ_TYPE = TOOL_CALLS["traj_type"]
_REPEATS = Column(
    "repeats",
    pl.UInt32(),
    "calls whose name and canonical arguments occurred before in the trajectory",
    unit="calls",
)

SHARES = Table(
    "repeat_shares",
    "mode and kind of tool",
    (
        _TRAJ_TYPE,
        KIND,
        Column("calls", pl.UInt32(), "calls that name a tool", unit="calls"),
        _REPEATS,
        *rate_columns("repeat_rate", "repeats over calls"),
        Column("idle_repeats", pl.UInt32(), "repeats with no changing call since the earlier one", unit="calls"),
        Column("catalogued_calls", pl.UInt32(), "calls whose kind the catalogue gives", unit="calls"),
    ),
    key=("traj_type", "kind"),
)

TOOLS = Table(
    "repeats_by_tool",
    "tool",
    (
        TOOL_CALLS["env_id"],
        TOOL_CALLS["tool_name"],
        KIND,
        Column("calls", pl.UInt32(), "calls of the tool", unit="calls"),
        _REPEATS,
        *rate_columns("repeat_rate", "repeats over calls"),
    ),
    key=("env_id", "tool_name"),
)

LOOPS = Table(
    "loops",
    "loop: a block of at most four calls, three times or more in a row",
    (
        TOOL_CALLS["trajectory_id"],
        TOOL_CALLS["env_id"],
        _TRAJ_TYPE,
        Column("period", pl.UInt32(), "calls of the block", unit="calls"),
        Column("turns", pl.UInt32(), "times the whole block occurs in a row"),
        Column("first_call", pl.UInt32(), "first call of the loop, from 1"),
        Column("calls", pl.UInt32(), "calls from the first to the last of the loop", unit="calls"),
        Column("errors", pl.UInt32(), "of these, with an error as result", unit="calls"),
        Column("changing_calls", pl.UInt32(), "of these, by tools that change the state", unit="calls"),
        Column("tool_name", pl.String(), "tool the loop starts with"),
    ),
    key=("trajectory_id", "period", "first_call"),
)

LOOPING = Table(
    "looping_trajectories",
    "mode and loop period",
    (
        _TRAJ_TYPE,
        Column("period", pl.UInt32(), "calls of the repeated block; 0 = a loop of any period", unit="calls"),
        Column("loops", pl.UInt32(), "loops of that period"),
        Column("trajectories", pl.UInt32(), "trajectories with one", unit="trajectories"),
        Column("mode_trajectories", pl.UInt32(), "trajectories of the mode with a call", unit="trajectories"),
        *rate_columns("looping_rate", "of the mode's trajectories with a call"),
    ),
    key=("traj_type", "period"),
)


def shares(
    tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame, trajectories: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Count repeats per mode and kind of tool.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per (traj_type, kind) with a call that names a tool, conforming to SHARES.
    """
    counts = {
        "calls": pl.len(),
        "repeats": pl.col("is_repeat").sum(),
        "idle_repeats": pl.col("is_idle_repeat").sum(),
        "catalogued_calls": pl.col("is_catalogued").sum(),
    }
    repeats = placed(_repeats(tool_calls, environment_tools), trajectories)
    kinds = counted(repeats, ["traj_type", "kind"], counts, {"repeat_rate": ("repeats", "calls")})
    return SHARES.select(kinds.sort("traj_type", "kind"))


def by_tool(
    tool_calls: pl.LazyFrame,
    environment_tools: pl.LazyFrame,
    trajectories: pl.LazyFrame | None = None,
    *,
    top: int = 20,
) -> pl.LazyFrame:
    """Count repeats of the tools repeated most.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.
        top: tools kept.

    Returns:
        One row per (env_id, tool_name) with a repeat, most repeats first, conforming to TOOLS.
    """
    by = ["env_id", "tool_name"]
    counts = {"calls": pl.len(), "repeats": pl.col("is_repeat").sum()}
    repeats = placed(_repeats(tool_calls, environment_tools), trajectories)
    # Of a tool all calls are of one kind.
    tools = (
        counted(repeats, [*by, "kind"], counts, {"repeat_rate": ("repeats", "calls")})
        .filter(pl.col("repeats") > 0)
        .sort("repeats", *by, descending=[True, False, False], nulls_last=True)
        .head(top)
    )
    return TOOLS.select(tools)


def loops(tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame) -> pl.LazyFrame:
    """Find loops: a block of period 1 to 4 repeated at least three times in a row.

    Args:
        tool_calls: conforms to TOOL_CALLS.
        environment_tools: conforms to ENVIRONMENT_TOOLS; may be empty.

    Returns:
        One row per loop, longest first, conforming to LOOPS. A block that is itself a repetition (abab) is counted
        once, at its shortest period; trailing calls of an unfinished block belong to the loop. A period counts messages
        that make a call: calls of one message are a set, and no loop by themselves.
    """
    # Used ten times over; without the cache its arguments would be made canonical each time.
    near = _near_equals(tool_calls).cache()
    spans = pl.concat([_spans(near, period) for period in range(1, LONGEST_PERIOD + 1)])
    # A block that repeats a shorter one is periodic by that as well, over the very same calls.
    shorter = spans.select("first", "last", shorter="period")
    primitive = (
        spans.join(shorter, on=["first", "last"])
        .group_by("period", "first", "last")
        .agg(is_shortest=(pl.col("period") % pl.col("shorter") != 0).sum() == pl.len() - 1)
        .filter("is_shortest")
    )
    members = primitive.with_columns(row=pl.int_ranges("first", pl.col("last") + 1)).explode("row")
    described = (
        with_kind(members.join(near, on="row"), environment_tools)
        .sort("period", "first", "row", "call")
        .group_by("period", "first")
        .agg(
            pl.col("trajectory_id", "env_id", "traj_type", "tool_name").first(),
            first_call=pl.col("call").min(),
            calls=pl.len(),
            messages=pl.col("row").n_unique(),
            errors=(pl.col("outcome") == "error").sum(),
            changing_calls=(pl.col("kind") == "change").sum(),
        )
        .with_columns(turns=pl.col("messages") // pl.col("period"))
        .sort("calls", "trajectory_id", "period", "first_call", descending=[True, False, False, False])
    )
    return LOOPS.select(described)


def looping(loops: pl.LazyFrame, tool_calls: pl.LazyFrame, trajectories: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Count the trajectories that loop.

    Args:
        loops: conforms to LOOPS.
        tool_calls: conforms to TOOL_CALLS.
        trajectories: conforms to TRAJECTORIES, to take runs of one scenario together in intervals; None takes each
            trajectory by itself.

    Returns:
        One row per (traj_type, period) that occurs, and one with period 0 per mode for loops of any period (0 loops
        too), conforming to LOOPING.
    """
    calling = placed(tool_calls.select("trajectory_id", "traj_type").unique(), trajectories)
    found = pl.concat([loops, loops.with_columns(period=pl.lit(0, pl.UInt32))])
    by_run = found.group_by("trajectory_id", "period").agg(loops=pl.len())
    # Every trajectory with a call is a trial of every period that occurs.
    periods = pl.concat([found.select("traj_type", "period"), calling.select("traj_type", period=pl.lit(0, pl.UInt32))])
    runs = (
        calling.join(periods.unique(), on="traj_type")
        .join(by_run, on=["trajectory_id", "period"], how="left", validate="1:1")
        .with_columns(pl.col("loops").fill_null(0))
    )
    counts = {
        "loops": pl.col("loops").sum(),
        "trajectories": (pl.col("loops") > 0).sum(),
        "mode_trajectories": pl.len(),
    }
    rates = {"looping_rate": ("trajectories", "mode_trajectories")}
    return LOOPING.select(counted(runs, ["traj_type", "period"], counts, rates).sort("traj_type", "period"))


def _repeats(tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame) -> pl.LazyFrame:
    """Calls that name a tool, with is_repeat and is_idle_repeat (no changing call since the earlier one).

    Earlier is in an earlier message: calls of one message are made at once.
    """
    row, earlier, tool = pl.col("row"), pl.col("earlier"), pl.col("tool")
    changed = pl.when(pl.col("kind") == "change").then(row).forward_fill()
    named = tool_calls.filter(pl.col("tool_name").is_not_null()).select(
        "env_id", "traj_type", "tool_name", "call", "message", "arguments", key=trajectory_key(), tool=tool_key()
    )
    # The texts go first: sorting them along is what costs.
    identified = (
        named.sort("tool", "call")
        .with_columns(same=identity(((tool == tool.shift(1)) | (tool == tool.shift(-1))).fill_null(False)))
        .drop("arguments", "tool")
    )
    is_same = (pl.col("same") == pl.col("same").shift(1)).fill_null(False)
    is_at_once = is_same & (pl.col("message") == pl.col("message").shift(1))
    return (
        with_kind(identified, environment_tools)
        .sort("key", "call")
        .with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
        # A changing row of an earlier trajectory lies before any earlier call of this one: no group is needed.
        .with_columns(changed_before=changed.shift(1).fill_null(-1))
        .sort("same", "row", nulls_last=True)
        # -1 is none; a call made at once with its equal has whatever that has.
        .with_columns(earlier=pl.when(is_at_once).then(None).when(is_same).then(row.shift(1)).otherwise(-1))
        .with_columns(earlier=earlier.forward_fill())
        .with_columns(is_repeat=earlier >= 0)
        .with_columns(is_idle_repeat=pl.col("is_repeat") & (pl.col("changed_before") <= earlier))
    )


def _near_equals(tool_calls: pl.LazyFrame) -> pl.LazyFrame:
    """Calls of messages that equal one at most LONGEST_PERIOD before or after them: all that a loop can consist of.

    `row` counts the messages that make a call, `same` is a number equal for messages with the same set of calls: sums
    of numbers hang on no order. Calls of one message are made at once, so that a message is one place in a loop.
    """
    rows = (
        tool_calls.select(
            *("trajectory_id", "env_id", "traj_type", "call", "message", "tool_name", "arguments", "outcome"),
            key=trajectory_key(),
            tool=tool_key(),
        )
        .sort("key", "call")
        .with_columns(row=pl.struct("key", "message").rle_id().cast(pl.Int64))
    )
    candidates = _near(rows.group_by("row").agg(same=_sum_of("tool")))
    identified = rows.join(candidates, on="row", how="semi").with_columns(call_same=identity(pl.lit(True)))
    near = _near(identified.group_by("row").agg(same=_sum_of("call_same")))
    return identified.drop("arguments", "call_same").join(near, on="row", how="inner", validate="m:1")


def _sum_of(column: str) -> pl.Expr:
    return pl.when(pl.col(column).null_count() == 0).then(pl.col(column).sum())


def _near(messages: pl.LazyFrame) -> pl.LazyFrame:
    """The messages with an equal at most LONGEST_PERIOD rows away."""
    row, same = pl.col("row"), pl.col("same")
    distances = [d for p in range(1, LONGEST_PERIOD + 1) for d in (p, -p)]
    is_near = [((same == same.shift(d)) & (row == row.shift(d) + d)).fill_null(False) for d in distances]
    return _dense(messages).filter(pl.any_horizontal(is_near))


def _dense(messages: pl.LazyFrame) -> pl.LazyFrame:
    """Every row between the first and the last, so that a shift by one is the message before."""
    ends = messages.select(row=pl.int_ranges(pl.col("row").min(), pl.col("row").max() + 1)).explode(
        "row", empty_as_null=False, keep_nulls=False
    )
    return ends.join(messages, on="row", how="left").sort("row")


def _spans(near: pl.LazyFrame, period: int) -> pl.LazyFrame:
    """First and last row of every stretch in which each call equals the one `period` before it, long enough."""
    row = pl.col("row")
    messages = near.select("same", "row").unique()
    earlier = messages.select("same", row=row + period)
    return (
        messages.join(earlier, on=["same", "row"], how="semi")
        .sort("row")
        .with_columns(stretch=(row != row.shift(1) + 1).fill_null(True).cum_sum())
        .group_by("stretch")
        .agg(first=row.min() - period, last=row.max())
        .filter(pl.col("last") - pl.col("first") + 1 >= FEWEST_TURNS * period)
        .select("first", "last", period=pl.lit(period, pl.Int64))
    )
