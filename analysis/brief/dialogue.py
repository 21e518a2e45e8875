"""Dialogue in brief: how records end, how often the agent asks, and what a user changes."""

import polars as pl

from analysis.brief import Headline, is_much, only, sums, total, totals
from analysis.measures.dialogue import BROKEN, MARKERS
from analysis.measures.expressions import counted_quantile
from analysis.wording import CONVERSATION, MODES, by_mode, count, decimal, interval, rate, signed


def in_brief(
    ends: pl.DataFrame,
    clarification: pl.DataFrame,
    user_turns: pl.DataFrame,
    calls: pl.DataFrame,
    first_calls: pl.DataFrame,
    paired: pl.DataFrame,
    endings: pl.DataFrame | None = None,
) -> list[Headline]:
    """Say how records end, how often the agent asks, and what a user changes.

    Args:
        ends: conforms to dialogue.ENDS.
        clarification: conforms to dialogue.CLARIFICATION.
        user_turns: conforms to dialogue.USER_TURNS.
        calls: conforms to dialogue.CALLS_PER_TURN.
        first_calls: conforms to dialogue.FIRST_CALLS.
        paired: conforms to dialogue.PAIRED.
        endings: conforms to endings.ENDINGS: what the records end on, with their rewards.

    Returns:
        Eight headlines, in reading order; a dash where there is no conversation or no scenario in both modes.
    """
    return [
        *_endings(ends, endings),
        *_questions(totals(clarification)),
        *_turns(user_turns, only(calls), total(ends, "trajectories", traj_type=CONVERSATION)),
        _first_call(first_calls),
        _difference(only(paired.filter(quantity="assistant messages"))),
    ]


def _endings(ends: pl.DataFrame, endings: pl.DataFrame | None) -> list[Headline]:
    all_, end = total(ends, "trajectories"), pl.col("end_class").cast(pl.String)
    marked, broken = (total(ends, "trajectories", end.is_in(classes)) for classes in (MARKERS, BROKEN))
    modes = {mode: count(total(ends, "trajectories", traj_type=mode)) for mode in MODES}
    return [
        Headline(count(all_), "trajectories", by_mode(modes)),
        Headline(
            rate(marked, all_),
            "records that end with a marker",
            f"{count(marked)} of {count(all_)} say that they are done, have failed or stop; not a label of success",
            _broken_off(broken, all_, endings),
        ),
    ]


def _broken_off(broken: int, all_: int, endings: pl.DataFrame | None) -> str | None:
    """Attention to records that break off; one that hands its user over to a person does not."""
    handed, rewarded, solved = sums(endings.filter("is_hand_over"), *_HANDED) if endings is not None else (0, 0, 0)
    said = []
    if broken > handed:
        said.append(
            "Records that break off (on a call without a result, a result, an error, the step limit, or with nothing): "
            f"{count(broken - handed)} of {count(all_)}."
        )
    if handed:
        earned = f"; {rate(solved, rewarded)} of those with a reward are solved" if rewarded else ""
        said.append(f"Records that end by handing the user over to a person: {count(handed)} of {count(all_)}{earned}.")
    return " ".join(said) or None


_HANDED = ("trajectories", "rewarded", "solved")


def _questions(asked: dict[str, int]) -> list[Headline]:
    asking, conversations = asked["asking_conversations"], asked["conversations"]
    questions, messages = asked["questions"], asked["assistant_messages"]
    return [
        Headline(
            rate(asking, conversations),
            "conversations in which the agent asks a question",
            f"{count(asking)} of {count(conversations)}: an assistant message ends in a question and makes no call",
        ),
        Headline(
            rate(questions, messages),
            "assistant messages that ask a question",
            f"{count(questions)} of {count(messages)} in conversations",
        ),
    ]


def _turns(user_turns: pl.DataFrame, calls: dict[str, float], conversations: int) -> list[Headline]:
    median = user_turns.sort("user_turns").select(counted_quantile("user_turns", "trajectories", 0.5)).item()
    return [
        Headline(
            decimal(median),
            "user messages of a conversation, median",
            f"over {count(conversations, 'conversation')}, including the closing message; maximum "
            f"{count(user_turns['user_turns'].max())}",  # type: ignore[arg-type]
        ),
        Headline(
            decimal(calls["mean_calls"], 2),
            "calls per user turn, mean",
            f"over {count(calls['all_user_turns'] or 0, 'user turn')} with an answer",
        ),
    ]


def _first_call(first_calls: pl.DataFrame) -> Headline:
    all_ = total(first_calls, "trajectories")
    never, at_once = (total(first_calls, "trajectories", step=step) for step in (0, 1))
    return Headline(
        rate(at_once, all_),
        "trajectories that call a tool at once",
        f"{count(at_once)} of {count(all_)} in the first assistant message; {count(never)} never call a tool",
        f"Trajectories without a call: {count(never)} of {count(all_)}." if is_much(never, all_) else None,
    )


def _difference(steps: dict[str, float | None]) -> Headline:
    return Headline(
        signed(steps["difference"]),
        "steps with user, minus steps without",
        "no scenario has trajectories in both modes"
        if steps["difference"] is None
        else f"mean over {count(steps['scenarios'], 'scenario')} in both modes; "
        + interval(steps["difference_low"], steps["difference_high"]),
    )
