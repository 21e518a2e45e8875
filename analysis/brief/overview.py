"""The overview in brief: what was read, what the records are, and how many of them are sound."""

import polars as pl

from analysis.brief import Headline, only
from analysis.brief.outcomes import failures, unknown_outcomes
from analysis.wording import BOTH_MODES, CONVERSATION, NON_CONVERSATION, count, modes_side_by_side, rate


def in_brief(summary: pl.DataFrame) -> list[Headline]:
    """Say what was read, what the records are, and how many of them are sound.

    Args:
        summary: conforms to overview.SUMMARY.

    Returns:
        Eight headlines, in reading order; none for a source without any record.
    """
    if summary.is_empty():
        return []
    of = only(summary)
    kept, rejected, sound, alone = (of[name] for name in ("kept", "rejected", "sound", "non_conversations"))
    steps = {CONVERSATION: of["conversation_steps"], NON_CONVERSATION: of["non_conversation_steps"]}
    fail = failures(of["errors"], of["judged"])
    return [
        Headline(
            count(kept),
            "records kept",
            f"of {count(kept + rejected)} read; {count(rejected)} rejected",
            f"Records that could not be read: {count(rejected)} of {count(kept + rejected)}." if rejected else None,
        ),
        Headline(count(of["environments"]), "environments", "distinct env_id among the records kept"),
        Headline(count(of["scenarios"]), "scenarios", "distinct scenarios among the records kept"),
        Headline(count(of["conversations"]), "records with user", f"a simulated one; {count(alone)} without user"),
        Headline(modes_side_by_side(steps), "steps, median", f"assistant messages per trajectory; {BOTH_MODES}"),
        Headline(count(of["calls"]), "tool calls", "in the records kept, including unreadable blocks"),
        Headline(
            fail.value,
            fail.label,
            f"{fail.meaning}; {count(of['unknown'])} say neither",
            unknown_outcomes(of["unknown"], of["calls"]),
        ),
        Headline(
            rate(sound, kept),
            "records without a finding",
            f"{count(sound)} of {count(kept, 'record')} kept, without a breach of the contract",
        ),
    ]
