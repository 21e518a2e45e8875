"""One trajectory played again: its calls in their order, the state they leave, and the checks of its scenario."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from analysis.canonical import canonical
from analysis.records.jsontext import loads
from analysis.records.model import Call, Trajectory
from analysis.records.values import is_word_in
from analysis.replay.compare import Answer, Names, Verdict, masked, verdict
from analysis.replay.lowering import Lowered, lower
from analysis.replay.sandbox import NotReplayableError, Session
from analysis.replay.stage import Stage
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


def play(stage: Stage, environment: Environment, scenario: Scenario, trajectory: Trajectory) -> Played:
    """Play a trajectory's calls on its environment, from its scenario's initial state.

    Raises:
        NotReplayableError: the environment cannot be run here, or used up a limit.
    """
    lowered = stage.lowered(environment.code)
    try:
        return _play(stage, environment, scenario, trajectory, at_once=not lowered.is_volatile)
    except NotReplayableError:
        stage.clear()
        if lowered.is_volatile:
            raise
        # Again call by call: the reason names the call.
        return _play(stage, environment, scenario, trajectory, at_once=False)


def _play(
    stage: Stage, environment: Environment, scenario: Scenario, trajectory: Trajectory, *, at_once: bool
) -> Played:
    lowered = stage.lowered(environment.code)
    plays = [
        _Play(session, lowered, scenario, environment.class_name) for session in stage.sessions(environment, lowered)
    ]
    if at_once:
        made = _calls_at_once(trajectory, plays[0])
    else:
        for one in plays:
            one.start()
        made = _calls(trajectory, plays)
    played = Played(list(made))
    _read_back(played.calls)
    played.final_state_hash = _hash([one.state() for one in plays])
    played.checks = [_check(plays[0], check, scenario) for check in scenario.checks]
    if scenario.checks or lowered.is_shared or lowered.is_volatile:
        stage.clear()  # the next play must not meet what this one may have left
    return played


class _Play:
    """An environment's instance in one session."""

    def __init__(self, session: Session, lowered: Lowered, scenario: Scenario, class_name: str) -> None:
        self.session = session
        self.lowered = lowered
        self.initial = scenario.initial
        self.names = list(dict.fromkeys([*lowered.attributes, *scenario.initial]))
        self.final: dict[str, str] | None = None
        if not class_name.isidentifier():
            raise NotReplayableError(f"the environment's class is named {class_name[:60]!r}")
        self.begin = f"_replay_begin({class_name}, _replay_config, _replay_names)"

    def start(self) -> None:
        self.session.run(f"{self.begin}\nNone", _replay_config=self.initial, _replay_names=self.names)

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[Answer, Changes]:
        code = "_replay_made(_replay_tool, _replay_arguments, _replay_names)"
        return _made(self.session.run(code, _replay_tool=name, _replay_arguments=arguments))

    def call_all(self, calls: list[tuple[str, dict[str, Any]]]) -> list[tuple[Answer, Changes]]:
        """The start and all calls in one feed, which is many times as fast as one feed each."""
        code = f"{self.begin}\n_replay_all(_replay_calls, _replay_names)"
        inputs = {"_replay_config": self.initial, "_replay_names": self.names, "_replay_calls": calls}
        *made, final = self.session.run(code, **inputs)
        self.final = {str(name): str(value) for name, value in final.items()}
        return [_made(one) for one in made]

    def state(self) -> dict[str, str]:
        if self.final is None:
            read = self.session.run("_replay_read(_replay_names)")
            self.final = {str(name): str(value) for name, value in read.items()}
        return self.final


def _made(answer: Any) -> tuple[Answer, Changes]:
    """What the driver says of a call. Plain data of this form, or the code has taken the driver's place."""
    try:
        how, name, text, *changes = answer
        is_text = all(isinstance(part, str) for part in (how, name, text))
        made, changed, removed = (tuple(str(key) for key in part) for part in changes)
    except (TypeError, ValueError):
        is_text = False
    if not is_text:
        raise NotReplayableError("the environment's code took the place of what plays it")
    if how == "raised" and name in _LIMITS:
        raise NotReplayableError(_LIMITS[name])
    return Answer(how, name, text), Changes(made, changed, removed)


def _calls_at_once(trajectory: Trajectory, one: _Play) -> Iterator[PlayedCall]:
    """Every call of an environment that makes nothing anew: none of its arguments waits for an earlier result."""
    names = Names()
    read = [(call, _arguments(call)) for call in trajectory.calls]
    made = iter(one.call_all([(call.name, given) for call, given in read if call.name and given is not None]))
    for call, given in read:
        if call.name and given is not None:
            answer, changes = next(made)
            yield _judged(trajectory, call, [answer], changes, names, one.lowered)
        else:
            yield _refused(call)


def _calls(trajectory: Trajectory, plays: list[_Play]) -> Iterator[PlayedCall]:
    names = Names()
    for number, call in enumerate(trajectory.calls, start=1):
        given = _arguments(call)
        if not call.name or given is None:
            yield _refused(call)
            continue
        try:
            made = [one.call(call.name, names.translate(given, place)) for place, one in enumerate(plays)]
        except NotReplayableError as error:
            raise NotReplayableError(f"call {number} ({call.name}): {error}") from error
        yield _judged(trajectory, call, [answer for answer, _ in made], made[0][1], names, plays[0].lowered)


def _judged(
    trajectory: Trajectory, call: Call, answers: list[Answer], changes: Changes, names: Names, lowered: Lowered
) -> PlayedCall:
    judged = verdict(_recorded(trajectory, call), call.outcome, answers, names, has_sets=lowered.has_sets)
    return PlayedCall(call.name, judged, changes, answers[0])


def _refused(call: Call) -> PlayedCall:
    """A call that cannot be read: the runner runs none."""
    judged = Verdict("reproduced", "refused") if call.outcome == "error" else Verdict("untold", "unreadable")
    return PlayedCall(call.name, judged, Changes(), Answer("absent", "", ""))


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
    text = masked(*texts) if len(texts) > 1 else texts[0]
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _check(one: _Play, check: Check, scenario: Scenario) -> CheckResult:
    """Ask a check of the final state; whatever it does to that, the next one is given another copy."""
    try:
        lowered = lower(check.code)
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
