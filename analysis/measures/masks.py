"""What a mask would cost: assistant messages from which nothing would be learned, and their supervised tokens.

The rules are those of `export --mask`: the message's only call fails (`errors`), has no result (`unrun`), or was made
before with the same result (`repeats`). Tables hold no texts of results: here a result is the same where it is as long,
says the same of the call, and opens with the same error, so that an export masks at most as many.
"""

import polars as pl

from analysis.measures import samples
from analysis.measures.calls import argument_key, trajectory_key
from analysis.schema import FEWEST_FOR_A_RATE, Column, Table

RULES = ("errors", "unrun", "repeats", "any")

PRICE = Table(
    "mask_price",
    "rule of a mask, and all of them together",
    (
        Column("rule", pl.Enum(RULES), "errors, unrun, repeats as `export --mask` has them; any of them"),
        Column("messages", pl.UInt32(), "assistant messages it would take", unit="messages"),
        Column("all_messages", pl.UInt32(), "assistant messages", unit="messages"),
        Column("supervised", pl.UInt64(), "supervised tokens it would take", unit="tokens"),
        Column("all_supervised", pl.UInt64(), "supervised tokens", unit="tokens"),
        Column("supervised_share", pl.Float64(), "of all supervised tokens; null under 20 messages", nullable=True),
    ),
    key=("rule",),
)


def price(tokens: pl.LazyFrame, tool_calls: pl.LazyFrame, findings: pl.LazyFrame) -> pl.LazyFrame:
    """Count what a mask would take from the loss.

    Args:
        tokens: conforms to TOKENS.
        tool_calls: conforms to TOOL_CALLS.
        findings: conforms to FINDINGS.

    Returns:
        One row per rule, conforming to PRICE; none without a supervised token.
    """
    place = ["trajectory_id", "message"]
    marked = messages(tool_calls, findings)
    turns = samples.supervised(tokens).join(marked, on=place, how="left", validate="1:1")
    taken = {rule: pl.col(rule).fill_null(False) for rule in RULES[:-1]}
    taken["any"] = pl.any_horizontal(*taken.values())
    n, all_ = pl.len(), pl.col("supervised").sum()
    rows = [
        turns.select(
            rule=pl.lit(rule, pl.Enum(RULES)),
            messages=is_taken.sum(),
            all_messages=n,
            supervised=pl.col("supervised").filter(is_taken).sum(),
            all_supervised=all_,
            supervised_share=pl.when(n >= FEWEST_FOR_A_RATE).then(pl.col("supervised").filter(is_taken).sum() / all_),
        )
        for rule, is_taken in taken.items()
    ]
    return PRICE.select(pl.concat(rows).filter(pl.col("all_supervised") > 0))


def messages(tool_calls: pl.LazyFrame, findings: pl.LazyFrame) -> pl.LazyFrame:
    """`errors`, `unrun` and `repeats` of each message that makes one call, by `trajectory_id` and `message`."""
    one_turn = findings.filter(pl.col("rule") == "unanswered_by_design").select("trajectory_id").unique()
    is_answered = pl.col("result_message").is_not_null()
    result = ["result_chars", "outcome", "error"]
    same = ["trajectory", "tool_name", "arguments_key", *result]
    seen = tool_calls.with_columns(
        trajectory=trajectory_key(),
        arguments_key=argument_key(pl.col("arguments").fill_null("{}")),
        together=pl.len().over("trajectory_id", "message"),
    )
    first = pl.col("message").min().over(same)
    return (
        seen.with_columns(repeats=is_answered & pl.col("tool_name").is_not_null() & (pl.col("message") > first))
        .filter(pl.col("together") == 1)
        .join(one_turn.with_columns(is_one_turn=True), on="trajectory_id", how="left")
        .select(
            "trajectory_id",
            "message",
            "repeats",
            errors=pl.col("outcome") == "error",
            unrun=~is_answered & pl.col("is_one_turn").is_null(),
        )
    )
