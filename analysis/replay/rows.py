"""What became of a replay, as rows of `schema.REPLAY_TABLES`."""

from collections import Counter
from typing import Any, NamedTuple

from analysis.records.model import Trajectory
from analysis.replay.play import Played, PlayedCall
from analysis.replay.sandbox import NotReplayableError

LONGEST_ENTITIES = 500
LONGEST_RESULT = 2_000
Row = tuple[Any, ...]


class ReplayRows(NamedTuple):
    """Rows by table."""

    replays: list[Row]
    replayed_calls: list[Row]
    replayed_checks: list[Row]


def empty() -> ReplayRows:
    return ReplayRows([], [], [])


def add_played(rows: ReplayRows, id_: str, trajectory: Trajectory, played: Played) -> None:
    """Add a trajectory that was replayed."""
    judged = Counter(call.verdict.judged for call in played.calls)
    changing = [call for call in played.calls if call.changes.all]
    passed = [check.is_passed for check in played.checks]
    is_told = bool(passed) and None not in passed
    rows.replays.append(
        (
            *(id_, True, None, len(played.calls)),
            *(judged["reproduced"], judged["differing"], judged["untold"]),
            next((n for n, call in enumerate(played.calls, 1) if call.verdict.judged == "differing"), None),
            *(len(changing), sum(call.is_read_back for call in changing), played.final_state_hash),
            *(len(passed), passed.count(True), passed.count(None)),
            passed.count(True) / len(passed) if is_told else None,
            trajectory.total_reward,
        )
    )
    rows.replayed_calls.extend((id_, number, *_call(call)) for number, call in enumerate(played.calls, 1))
    rows.replayed_checks.extend(
        (id_, number, _text(check.item), check.is_passed, _text(check.reason) or None)
        for number, check in enumerate(played.checks, 1)
    )


def add_refused(rows: ReplayRows, id_: str, trajectory: Trajectory, error: NotReplayableError) -> None:
    """Add a trajectory that could not be replayed: it stays in every denominator, with its reason."""
    calls = len(trajectory.calls)
    row = (id_, False, _text(str(error))[:300], calls, 0, 0, 0, None, 0, 0, None, 0, 0, 0, None)
    rows.replays.append((*row, trajectory.total_reward))


def _call(call: PlayedCall) -> Row:
    changes = call.changes
    entities = ", ".join(changes.all)[:LONGEST_ENTITIES]
    answer = f"{call.answer.name}: {call.answer.text}" if call.answer.name else call.answer.text
    is_recorded = call.verdict.kind == "text" or call.answer.how == "absent"
    return (
        *(call.name, *call.verdict),
        *(len(changes.made), len(changes.changed), len(changes.removed)),
        *(_text(entities) or None, call.is_read_back),
        None if is_recorded else _text(answer[:LONGEST_RESULT]),
    )


def _text(text: str) -> str:
    """A text that Parquet holds: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
