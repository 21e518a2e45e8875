"""Training samples: what each of the two layouts of training_budget makes of a trajectory's tokens.

Shared by the measures of training_budget; a row of TOKENS is a message of a trajectory, by its parts.
"""

import polars as pl

LAYOUTS = ("whole", "per_turn")
_ALL = ("header", "tools", "content", "reasoning", "thought", "call", "result", "template")
# Above any message's position: trajectory and message make one number to order by.
_MOST_MESSAGES = 2**32


def with_mode(tokens: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    return tokens.join(trajectories.select("trajectory_id", "traj_type"), on="trajectory_id", validate="m:1")


def _messages(tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Per message: `full` and `history` tokens, and of an assistant turn the `header` that opens it."""
    whole = pl.sum_horizontal(pl.col(f"{part}_tokens").cast(pl.Int64) for part in _ALL)
    is_turn = pl.col("role") == "assistant"
    return tokens.select(
        "trajectory_id",
        "message",
        is_turn=is_turn,
        full=whole,
        history=whole - pl.col("reasoning_tokens") - pl.col("thought_tokens"),
        header=pl.when(is_turn).then(pl.col("header_tokens").cast(pl.Int64)).otherwise(0),
    )


def supervised(tokens: pl.LazyFrame) -> pl.LazyFrame:
    """`supervised` tokens of each assistant message, by `trajectory_id` and `message`: all but its opening."""
    turn = _messages(tokens).filter("is_turn")
    return turn.select("trajectory_id", "message", supervised=pl.col("full") - pl.col("header"))


def turns(tokens: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Per assistant turn: the sample that trains it, and its place in the whole trajectory.

    `output` are the supervised tokens; `prompt` those since the previous assistant turn, with the opening of this one;
    `length` is that of the sample; `end` is where the turn ends in the rendered trajectory.

    Trajectories go by number here, and sums run over all of them in one go, what stood before a trajectory taken off
    again: millions of rows are ordered and added up that way in a fraction of the time.
    """
    numbered = trajectories.select("trajectory_id", "traj_type").with_row_index("trajectory")
    through, before = pl.col("history").cum_sum(), pl.col("history").cum_sum() - pl.col("history")
    is_first = (pl.col("trajectory") != pl.col("trajectory").shift(1)).fill_null(True)
    start = pl.when(is_first).then(before).forward_fill()
    start_full = pl.when(is_first).then(pl.col("full").cum_sum() - pl.col("full")).forward_fill()
    # What a turn's own prompt begins after: the previous assistant turn, or the start of the trajectory.
    older = pl.when(is_first).then(before).when(pl.col("is_turn").shift(1)).then(through.shift(1)).forward_fill()
    return (
        _messages(tokens)
        .join(numbered, on="trajectory_id", validate="m:1")
        .sort(pl.col("trajectory").cast(pl.Int64) * _MOST_MESSAGES + pl.col("message"))
        .select(
            "trajectory_id",
            "traj_type",
            "is_turn",
            output=pl.col("full") - pl.col("header"),
            prompt=before - older + pl.col("header"),
            length=before - start + pl.col("full"),
            end=pl.col("full").cum_sum() - start_full,
        )
        .filter("is_turn")
    )


def wholes(tokens: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    """Per trajectory with an assistant turn: its `length`, rendered once with every thought."""
    return (
        _messages(tokens)
        .group_by("trajectory_id")
        .agg(length=pl.col("full").sum(), has_turn=pl.col("is_turn").any())
        .filter("has_turn")
        .pipe(with_mode, trajectories)
    )


def sample_lengths(tokens: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    layout = pl.Enum(LAYOUTS)
    columns = ["layout", "trajectory_id", "traj_type", "length"]
    samples = zip(LAYOUTS, (wholes(tokens, trajectories), turns(tokens, trajectories)), strict=True)
    return pl.concat([frame.with_columns(layout=pl.lit(name, layout)).select(columns) for name, frame in samples])


def per_trajectory(tokens: pl.LazyFrame, trajectories: pl.LazyFrame) -> pl.LazyFrame:
    is_turn = pl.col("is_turn").cast(pl.Int64).sort_by("message")
    turns_after = is_turn.sum() - is_turn.cum_sum()
    return (
        _messages(tokens)
        .group_by("trajectory_id")
        .agg(
            turns=is_turn.sum(),
            whole_length=pl.col("full").sum(),
            prefix=(pl.col("history").sort_by("message") * turns_after).sum() + pl.col("header").sum(),
            output=(pl.col("full") - pl.col("header")).filter("is_turn").sum(),
        )
        .filter(pl.col("turns") > 0)
        .pipe(with_mode, trajectories)
    )


def kept_of_last_turn(cutoff: int) -> pl.Expr:
    source, target = pl.col("prompt"), pl.col("output")
    room = (
        pl.when(2 * target < cutoff)
        .then(cutoff)
        .when(2 * source < cutoff)
        .then(cutoff - source)
        .otherwise(cutoff * target // (source + target))
    )
    return pl.min_horizontal(target, room)
