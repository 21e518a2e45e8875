"""How a call goes wrong: versions of a step that the environment is sure to refuse."""

from collections.abc import Callable
from random import Random
from typing import Any

from analysis.sample.engine import Environment
from analysis.sample.tools import Parameter
from analysis.sample.ways import Step

Slip = tuple[str, dict[str, Any]]


def slip(env: Environment, step: Step, rng: Random) -> Slip | None:
    """A wrong version of the step; None if none of the kinds drawn applies to it."""
    for draw in rng.choices([kind for kind, _ in KINDS], [weight for _, weight in KINDS], k=4):
        wrong = draw(env, step, rng)
        if wrong is not None:
            return wrong
    return None


def _given(step: Step, rng: Random) -> list[Parameter]:
    given = [p for p in step.tool.parameters if p.name in step.arguments and not p.is_optional]
    rng.shuffle(given)
    return given


def _with(step: Step, parameter: Parameter, value: Any) -> Slip:
    return step.tool.name, {**step.arguments, parameter.name: value}


def _mistyped_id(env: Environment, step: Step, rng: Random) -> Slip | None:
    """An id that is nearly right and that nothing bears."""
    for parameter in _given(step, rng):
        if parameter.kind == "ref":
            right = step.arguments[parameter.name]
            digits = "".join(character for character in right if character.isdigit())
            wrong = rng.choice((f"{right}0", right.replace("0", "", 1), f"#{digits}", right.swapcase()))
            is_taken = any(wrong in records for records in env.state.values())
            return _with(step, parameter, f"{right}-0" if is_taken else wrong)
    return None


def _missing(env: Environment, step: Step, rng: Random) -> Slip | None:
    for parameter in _given(step, rng):
        return step.tool.name, {k: v for k, v in step.arguments.items() if k != parameter.name}
    return None


def _wrong_record(env: Environment, step: Step, rng: Random) -> Slip | None:
    """The right move on a record that is in no state for it."""
    move, entity = step.tool.move, step.tool.entity
    if move is None:
        return None
    others = [k for k, record in env.records(entity).items() if record[entity.state_name] not in move.start]
    return (step.tool.name, {**step.arguments, entity.id_column: rng.choice(others)}) if others else None


def _other_spelling(env: Environment, step: Step, rng: Random) -> Slip | None:
    for parameter in _given(step, rng):
        if parameter.values:
            return _with(step, parameter, step.arguments[parameter.name].replace("_", " ").title())
    return None


def _text_for_number(env: Environment, step: Step, rng: Random) -> Slip | None:
    for parameter in _given(step, rng):
        if parameter.kind in ("number", "integer"):
            return _with(step, parameter, str(step.arguments[parameter.name]))
    return None


def _one_too_many(env: Environment, step: Step, rng: Random) -> Slip | None:
    return step.tool.name, {**step.arguments, rng.choice(("confirm", "notify", "force")): True}


def _no_such_tool(env: Environment, step: Step, rng: Random) -> Slip | None:
    return f"get_{step.tool.entity.one}_info", dict(step.arguments)


KINDS: tuple[tuple[Callable[[Environment, Step, Random], Slip | None], float], ...] = (
    (_mistyped_id, 30),
    (_missing, 20),
    (_wrong_record, 18),
    (_other_spelling, 14),
    (_text_for_number, 16),
    (_one_too_many, 5),
    (_no_such_tool, 0.5),
)
