"""One trajectory played again: its calls in their order, the state they leave, and the checks of its scenario."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from analysis.canonical import canonical
from analysis.records.jsontext import loads
from analysis.records.model import Call, Trajectory
from analysis.records.values import is_word_in
from analysis.replay.compare import Answer, Names, Verdict, masked, verdict
from analysis.replay.driver import DRIVER
from analysis.replay.lowering import Lowered, lower
from analysis.replay.sandbox import WORLDS, NotReplayableError, Sandbox, Session
from analysis.replay.worlds import Check, Environment, Scenario

# Exceptions of the sandbox's own limits: of the code they say nothing.
_LIMITS = {
    "RecursionError": "recursed too deeply",
    "MemoryError": "ran out of memory",
    "TimeoutError": "ran out of time",
}


class Changes(NamedTuple):
    """Entities of the state, as `attribute/key`, that a call made, changed and removed."""

    made: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return self.made + self.changed + self.removed


@dataclass
class PlayedCall:
    """A call beside its replay."""

    name: str | None
    verdict: Verdict
    changes: Changes
    answer: Answer
    is_read_back: bool = False


@dataclass
class CheckResult:
    """What a check says of the final state: True, False, or None with the reason where it cannot be asked."""

    item: str
    is_passed: bool | None
    reason: str = ""


@dataclass
class Played:
    """What a replay came to."""

    calls: list[PlayedCall] = field(default_factory=list)
    checks: list[CheckResult] = field(default_factory=list)
    final_state_hash: str = ""


def play(sandbox: Sandbox, environment: Environment, scenario: Scenario, trajectory: Trajectory) -> Played:
    """Play a trajectory's calls on its environment, from its scenario's initial state.

    Raises:
        NotReplayableError: the environment cannot be run here, or used up a limit.
    """
    lowered = lowered_code(environment.code)
    with ExitStack() as stack:
        worlds = WORLDS if lowered.is_volatile else WORLDS[:1]
        plays = [_Play(stack.enter_context(sandbox.session(world)), lowered) for world in worlds]
        for one in plays:
            one.start(environment.class_name, scenario.initial)
        played = Played(list(_calls(trajectory, plays, lowered)))
        _read_back(played.calls)
        played.final_state_hash = _hash([one.state() for one in plays])
        played.checks = [_check(plays[0], check, scenario) for check in scenario.checks]
    return played


@lru_cache(maxsize=256)
def lowered_code(code: str) -> Lowered:
    """Code lowered once."""
    return lower(code)


class _Play:
    """An environment's instance in one session."""

    def __init__(self, session: Session, lowered: Lowered) -> None:
        self.session = session
        self.lowered = lowered
        self.names: list[str] = list(lowered.attributes)

    def start(self, class_name: str, initial: dict[str, Any]) -> None:
        self.names = list(dict.fromkeys([*self.lowered.attributes, *initial]))
        if not class_name.isidentifier():
            raise NotReplayableError(f"the environment's class is named {class_name[:60]!r}")
        self.session.run(self.lowered.source + DRIVER)
        self.session.run(
            f"_replay_env = _replay_start({class_name}, _replay_config)\n"
            "_replay_before = _replay_read(_replay_names)\nNone",
            _replay_config=initial,
            _replay_names=self.names,
        )

    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        return Answer(*self._texts("_replay_call(_replay_tool, _replay_arguments)", name, arguments))

    def changes(self) -> Changes:
        found = self.session.run("_replay_changes(_replay_names)")
        return Changes(*(tuple(str(key) for key in part) for part in found))

    def state(self) -> dict[str, str]:
        read = self.session.run("_replay_read(_replay_names)")
        return {str(key): str(value) for key, value in read.items()}

    def _texts(self, code: str, name: str, arguments: dict[str, Any]) -> list[str]:
        answer = self.session.run(code, _replay_tool=name, _replay_arguments=arguments)
        if not (isinstance(answer, list) and len(answer) == 3 and all(isinstance(text, str) for text in answer)):
            raise NotReplayableError("the environment's code took the place of what plays it")
        if answer[0] == "raised" and answer[1] in _LIMITS:
            raise NotReplayableError(_LIMITS[answer[1]])
        return answer


def _calls(trajectory: Trajectory, plays: list[_Play], lowered: Lowered) -> Iterator[PlayedCall]:
    names = Names()
    for number, call in enumerate(trajectory.calls, start=1):
        try:
            yield _call(trajectory, call, plays, names, lowered)
        except NotReplayableError as error:
            raise NotReplayableError(f"call {number} ({call.name}): {error}") from error


def _call(trajectory: Trajectory, call: Call, plays: list[_Play], names: Names, lowered: Lowered) -> PlayedCall:
    recorded = _recorded(trajectory, call)
    arguments = _arguments(call)
    if call.name is None or arguments is None:
        # The runner runs no call that it cannot read.
        refused = Verdict("reproduced", "refused") if call.outcome == "error" else Verdict("untold", "unreadable")
        return PlayedCall(call.name, refused, Changes(), Answer("absent", "", ""))
    answers = [one.call(call.name, names.translate(arguments, number)) for number, one in enumerate(plays)]
    judged = verdict(recorded, call.outcome, answers, names, has_sets=lowered.has_sets)
    return PlayedCall(call.name, judged, plays[0].changes(), answers[0])


def _recorded(trajectory: Trajectory, call: Call) -> str | None:
    if call.result_message is None:
        return None
    return trajectory.messages[call.result_message].content if call.result_text is None else call.result_text


def _arguments(call: Call) -> dict[str, Any] | None:
    if not (call.arguments or "").strip():
        return {}
    try:
        value = loads(call.arguments or "{}")[0]
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _read_back(calls: list[PlayedCall]) -> None:
    """A change is read back where a later call that changes nothing returns one of the entities it concerns."""
    for place, call in enumerate(calls):
        keys = {entity.partition("/")[2] or entity for entity in call.changes.all}
        later = [other.answer.text for other in calls[place + 1 :] if not other.changes.all]
        call.is_read_back = any(is_word_in(key, text) for key in keys for text in later)


def _hash(states: list[dict[str, str]]) -> str:
    """Of a final state, without the ids and times that every run makes anew."""
    texts = [canonical(state) for state in states]
    return hashlib.sha256(masked(texts[0], texts[-1]).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _check(one: _Play, check: Check, scenario: Scenario) -> CheckResult:
    """Ask a check of the final state; whatever it does to that, the next one is given another copy."""
    try:
        lowered = lowered_code(check.code)
        name = "check_func" if "check_func" in lowered.functions else next(iter(lowered.functions), "")
        if not name:
            raise NotReplayableError("the check has no function")
        given = ", ".join(_given(lowered.functions[name]))
        code = (
            f"{lowered.body}\ninitial_state = _replay_copy.deepcopy(_replay_initial)\n"
            f"final_state = _replay_final(_replay_names)\n_replay_check({name}, {{{given}}})"
        )
        how, kind, text = one.session.run(code, _replay_initial=scenario.initial)
    except NotReplayableError as error:
        return CheckResult(check.item, None, str(error))
    except (TypeError, ValueError):
        return CheckResult(check.item, None, "the check took the place of what asks it")
    if how == "answered":
        return CheckResult(check.item, text == "True")
    # The runner counts a check that raises as failed.
    return CheckResult(check.item, False, f"{kind}: {text}"[:300])


def _given(parameters: tuple[str, ...]) -> Iterator[str]:
    """Arguments by the names of a check's parameters; one alone is the final state whatever it is named."""
    for place, name in enumerate(parameters):
        is_initial = "init" in name or "before" in name or (len(parameters) > 1 and place == 0 and "final" not in name)
        yield f"{name!r}: {'initial_state' if is_initial else 'final_state'}"
