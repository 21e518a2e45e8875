"""Names near a misspelt one, for messages."""

from collections.abc import Iterable

# Up to here a message lists all names there are rather than how many.
FEW = 12


def nearest(word: str, names: Iterable[str], *, most: int = 3) -> list[str]:
    """The names most like the word, best first; capitals and punctuation count little.

    >>> nearest("env7", ["env_1_sft", "env_17_sft", "env_7_sft"], most=1)
    ['env_7_sft']
    >>> nearest("cals", ["trajectories", "tool_calls"])
    ['tool_calls']
    >>> nearest("planet", ["trajectories", "tool_calls"])
    []
    """
    from rapidfuzz import fuzz, process, utils  # noqa: PLC0415  only on the way to a message

    found = process.extract(
        word, sorted(set(names)), scorer=fuzz.WRatio, processor=utils.default_process, score_cutoff=60, limit=20
    )
    # Where parts fit several names alike, the one that is as a whole most like the word is meant.
    ranked = sorted((-score, -fuzz.ratio(word.lower(), name.lower()), name) for name, score, _ in found)
    return [name for *_, name in ranked[:most]]


def hint(word: str, names: Iterable[str]) -> str:
    """The end of a message about a name that does not exist.

    >>> hint("tool_cals", ["trajectories", "tool_calls"])
    'nearest: tool_calls'
    >>> hint("planet", ["trajectories", "tool_calls"])
    'there are tool_calls, trajectories'
    """
    known = sorted(set(names))
    if near := nearest(word, known):
        return f"nearest: {', '.join(near)}"
    if not known:
        return "there are none"
    return f"there are {', '.join(known)}" if len(known) <= FEW else f"there are {len(known):,} others"
