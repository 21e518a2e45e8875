"""Assistant messages that a mask takes from the loss: they stay in the context, and nothing is learned from them.

- `errors`: the message's only call fails
- `unrun`: its only call has no result; single turns, which nothing runs by design, are no such records
- `repeats`: its only call was made before, with the same arguments and the same result

A call that recovers from an error is none of these, and stays. A message of several calls is never masked: some of them
may be worth learning.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from analysis.export.errors import ExportError
from analysis.measures.calls import canonical_arguments
from analysis.nearest import hint
from analysis.records.model import Call, Trajectory

RULES = ("errors", "unrun", "repeats")


def rules_of(text: str) -> tuple[str, ...]:
    """The rules of `errors,unrun`, each once.

    Raises:
        ExportError: there is no such rule.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in RULES:
            raise ExportError(f"--mask {text}: there is no rule {name!r}; {hint(name, RULES)}")
    return names


def masked(trajectory: Trajectory, rules: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Positions of the messages that a mask takes, each with the rules that take it."""
    is_one_turn = any(finding.rule == "unanswered_by_design" for finding in trajectory.findings)
    found: dict[int, tuple[str, ...]] = {}
    before: set[tuple[str, str, str]] = set()
    for message, calls in groupby(trajectory.calls, key=lambda call: call.message):
        together = list(calls)
        if len(together) == 1 and trajectory.messages[message].role == "assistant":
            broken = _broken(trajectory, together[0], before, is_one_turn=is_one_turn)
            if took := tuple(rule for rule in broken if rule in rules):
                found[message] = took
        before |= {known for call in together if (known := _with_result(trajectory, call)) is not None}
    return found


def _broken(
    trajectory: Trajectory, call: Call, before: set[tuple[str, str, str]], *, is_one_turn: bool
) -> Iterator[str]:
    if call.outcome == "error":
        yield "errors"
    if call.result_message is None and not is_one_turn:
        yield "unrun"
    if _with_result(trajectory, call) in before:
        yield "repeats"


def _with_result(trajectory: Trajectory, call: Call) -> tuple[str, str, str] | None:
    """A call and the text of its result; None of one without name or result, which repeats nothing."""
    if call.name is None or call.result_message is None:
        return None
    told = trajectory.messages[call.result_message].content if call.result_text is None else call.result_text
    return call.name, canonical_arguments(call.arguments or ""), told
