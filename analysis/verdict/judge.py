"""Tables and a gate -> the verdict, with every number counted on what would be left."""

import shlex
from typing import Literal

import msgspec
import polars as pl

from analysis import export, gate
from analysis.gate import Check, Gate
from analysis.gate import text as gate_text
from analysis.measures.step_lengths import PUBLISHED
from analysis.schema import FEWEST_FOR_A_RATE
from analysis.tables import Tables
from analysis.verdict import remedies
from analysis.wording import ABSENT, count, words

Answer = Literal["ready", "ready after these steps", "not ready", "not known"]


class Remains(msgspec.Struct, frozen=True):
    """What is there: counts."""

    trajectories: int
    calls: int
    environments: int
    modes: int


class Step(msgspec.Struct, frozen=True):
    """A condition that leaves out what breaks a bound, and what remains when it and all steps before it are taken."""

    where: str
    mends: str
    left_out: int
    remains: Remains


class Reason(msgspec.Struct, frozen=True):
    """A bound that does not hold: what was counted, what is asked for and why, and what mends it."""

    name: str
    meaning: str
    found: str
    bound: str
    why: str
    mends: str


class Unjudged(msgspec.Struct, frozen=True):
    """A bound that could not be held, and what would allow it."""

    name: str
    meaning: str
    reason: str


class Verdict(msgspec.Struct, frozen=True):
    """The answer and what it rests on.

    Args:
        source: what was judged, with the selection.
        answer: for the gate given; "not known" where no bound can be told, or of fewer than 20 trajectories.
        bounds, held: how many bounds were judged, and how many of them hold.
        there: what the source has.
        reasons: the bounds that do not hold.
        steps: what mends them, in order; each counted on what the ones before it leave.
        command: the export that takes all steps; "" without steps.
        still: after all steps, what would not hold.
        unjudged: bounds that could not be judged.
    """

    source: str
    answer: Answer
    bounds: int
    held: int
    there: Remains
    reasons: list[Reason]
    steps: list[Step]
    command: str
    still: list[Reason]
    unjudged: list[Unjudged]


def judge(data: Tables, bounds: Gate, *, where: str = "", is_own: bool = True) -> Verdict:
    """Hold a source against a gate, take the steps that mend it, and hold what is left again.

    Args:
        data: the tables; the whole source or a selection of it.
        bounds: the gate.
        where: the condition that makes the selection, for the command.
        is_own: the gate was named by a person; else the publisher's bounds are asked of the publisher's records only.

    Raises:
        GateError: nothing was read.
    """
    gate.refuse_unread(data)
    asked = bounds if is_own or _is_publishers(data) else _without_the_publishers(bounds)
    checks = gate.check(data, asked)
    broken = gate.failed(checks)
    conditions = {check.name: remedies.condition(check, asked) for check in broken}
    rows = export.choosable_of(data, " ".join(filter(None, conditions.values())))
    steps = _steps(data, rows, broken, conditions)
    after = gate.check(_after(data, rows, steps), asked) if steps else checks
    still = [check for check in gate.failed(after) if check.name != remedies.EVERY_EXPORT]
    empty = {check.name for check in still if conditions.get(check.name)} - {step.mends for step in steps}
    too_few = 0 < len(rows) < FEWEST_FOR_A_RATE
    return Verdict(
        source=data.source + (f" ({data.narrowing})" if data.narrowing else ""),
        answer="not known" if too_few and not broken else _answer(checks, broken, still),
        bounds=sum(check.verdict != "not known" for check in checks),
        held=sum(check.verdict == "holds" for check in checks),
        there=remains(data),
        reasons=[_reason(check, conditions[check.name], leaves_none=check.name in empty) for check in broken],
        steps=steps,
        command=_command(data.source, [where, *(step.where for step in steps)])
        if steps or "" in conditions.values()
        else "",
        still=[_reason(check, None) for check in still],
        unjudged=[
            *(Unjudged(check.name, check.meaning, check.reason) for check in checks if check.verdict == "not known"),
            *_left_out(bounds, asked),
        ],
    )


def remains(data: Tables) -> Remains:
    """Trajectories, calls, environments and modes of the tables."""
    trajectories = data.trajectories.select(
        n=pl.len(),
        environments=pl.col("env_id").drop_nulls().n_unique(),
        modes=pl.col("traj_type").n_unique(),
    ).collect()
    calls = data.tool_calls.select(pl.len()).collect().item()
    n, environments, modes = trajectories.row(0)
    return Remains(n, calls, environments, modes)


def _answer(checks: list[Check], broken: list[Check], still: list[Check]) -> Answer:
    if not broken:
        return "ready" if gate.outcome(checks) == "holds" else "not known"
    return "not ready" if still else "ready after these steps"


def _steps(data: Tables, rows: pl.DataFrame, broken: list[Check], conditions: dict[str, str | None]) -> list[Step]:
    steps: list[Step] = []
    left = rows
    for check in broken:
        where = conditions[check.name]
        if not where:
            continue
        kept = export.chosen(left.lazy(), where)
        if 0 < kept.height < left.height:
            rest = remains(data.where(kept["trajectory_id"].to_list()))
            steps.append(Step(where, check.name, left.height - kept.height, rest))
            left = kept
    return steps


def _after(data: Tables, rows: pl.DataFrame, steps: list[Step]) -> Tables:
    """The source after all steps."""
    left = export.chosen(rows.lazy(), " AND ".join(step.where for step in steps))
    return data.where(left["trajectory_id"].to_list())


def _reason(check: Check, condition: str | None, *, leaves_none: bool = False) -> Reason:
    mends = (
        remedies.advice(check)
        if condition is None
        else "every export leaves them out"
        if not condition
        else f"no filter: {condition} would leave no trajectory"
        if leaves_none
        else f"leave them out: {condition}"
    )
    value = gate_text.value(check)
    of = f"{count(check.events)} of {count(check.of)}" if check.events is not None and check.of else ""
    found = value if not of or value == of else f"{value}, {of}"
    return Reason(check.name, check.meaning, found if value != ABSENT else check.reason, check.bound, check.why, mends)


def _command(source: str, conditions: list[str]) -> str:
    where = " AND ".join(filter(None, conditions))
    parts = ["python -m analysis export", shlex.quote(source), "kept/ --format raw"]
    # A condition has single quotes of its own: double ones around it are easier to read, where nothing in it means more
    # to a shell.
    quoted = shlex.quote(where) if set(where) & set('"$`\\!') else f'"{where}"'
    return " ".join([*parts, *([f"--where {quoted}"] if where else [])])


def _is_publishers(data: Tables) -> bool:
    """Are these environments named as the publisher names them? Its rules are about those alone."""
    named = data.trajectories.select(pl.col("env_id").str.contains(PUBLISHED).any()).collect().item()
    return bool(named)


def _without_the_publishers(bounds: Gate) -> Gate:
    return msgspec.structs.replace(
        bounds,
        threshold=[one for one in bounds.threshold if one.quantity not in remedies.OF_THE_PUBLISHER],
        finding=[one for one in bounds.finding if one.rule not in remedies.OF_THE_PUBLISHER],
    )


def _left_out(bounds: Gate, asked: Gate) -> list[Unjudged]:
    before = [*(one.quantity for one in bounds.threshold), *(one.rule for one in bounds.finding)]
    after = {*(one.quantity for one in asked.threshold), *(one.rule for one in asked.finding)}
    return [
        Unjudged(name, words(name), "asked of EnvScaler's own records only; --gate FILE asks it of these")
        for name in before
        if name not in after
    ]
