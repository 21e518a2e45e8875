"""Reasoning in brief: how often an assistant message has any, and how long it is."""

import polars as pl

from analysis.brief import Headline, by_mode, is_much, total
from analysis.wording import BOTH_MODES, count, modes_side_by_side, rate


def in_brief(summary: pl.DataFrame) -> list[Headline]:
    """Say how often an assistant message has reasoning, and how long it is.

    Args:
        summary: conforms to reasoning.SUMMARY.

    Returns:
        Two headlines; a mode without reasoning has a dash for its length. Attention is asked for where some reasoning
        is missing, not where a source has none at all.
    """
    messages, without = total(summary, "assistant_messages"), total(summary, "without_reasoning")
    longest = summary["max_chars"].max()
    return [
        Headline(
            rate(messages - without, messages),
            "assistant messages with reasoning",
            f"{count(messages - without)} of {count(messages)}",
            f"Assistant messages without reasoning: {count(without)} of {count(messages)}. A model trained on them "
            "learns to leave it out."
            if is_much(without, messages) and without < messages
            else None,
        ),
        Headline(
            modes_side_by_side(by_mode(summary, "p50_chars")),
            "characters of reasoning, median",
            "no message has any"
            if longest is None
            else f"over the messages that have any; the longest has {count(longest)}; {BOTH_MODES}",  # type: ignore[arg-type]
        ),
    ]
