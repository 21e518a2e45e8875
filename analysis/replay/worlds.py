"""What the sibling sets hold that replay needs: classes of environments, initial states and checks of scenarios."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from analysis.records.jsontext import loads
from analysis.replay.sandbox import NotReplayableError


class Check(NamedTuple):
    """A check: its sentence, and its code, which only the sandbox runs."""

    item: str
    code: str


class Environment(NamedTuple):
    """An environment: its class by name, and the code, which only the sandbox runs."""

    env_id: str
    class_name: str
    code: str


class Scenario(NamedTuple):
    """A scenario: the state it starts from, attribute by attribute, and its checks."""

    env_id: str
    task_id: str
    initial: dict[str, Any]
    checks: tuple[Check, ...]


class ScenarioText(NamedTuple):
    """A scenario as it is kept: JSON, read when a trajectory needs it."""

    env_id: str
    task_id: str
    initial: str
    checks: str


def environments_of(raw: bytes) -> Iterator[Environment]:
    """The environments of a raw row of a sibling set: none, one, or, of an object keyed by env_id, many."""
    for key, row in _rows(raw):
        if isinstance(row.get("env_class_code"), str):
            env_id = row.get("env_id") or key
            yield Environment(str(env_id), str(row.get("env_class_name") or ""), row["env_class_code"])


def scenarios_of(raw: bytes) -> Iterator[ScenarioText]:
    """The scenarios of a raw row of a sibling set."""
    for _, row in _rows(raw):
        if "init_config" not in row and "checklist_with_func" not in row:
            continue
        checks = [item for item in _inner(row.get("checklist_with_func"), list) if isinstance(item, dict)]
        pairs = [(str(item.get("check_item") or ""), str(item.get("check_func") or "")) for item in checks]
        initial = _inner(row.get("init_config"), dict)
        yield ScenarioText(str(row.get("env_id")), str(row.get("task_id")), _json(initial), _json(pairs))


def scenario(text: ScenarioText) -> Scenario:
    """A scenario read."""
    checks = tuple(Check(*pair) for pair in loads(text.checks)[0])
    return Scenario(text.env_id, text.task_id, loads(text.initial)[0], checks)


class Worlds:
    """Environments and scenarios, found by a trajectory's ids."""

    def __init__(self, environments: Iterable[Environment], scenarios: Iterable[ScenarioText]) -> None:
        self.environments = {environment.env_id: environment for environment in environments}
        self.scenarios = {(text.env_id, text.task_id): text for text in scenarios}

    def of(self, env_id: str | None, task_id: str | None) -> tuple[Environment, Scenario]:
        """The environment and scenario of a trajectory.

        Raises:
            NotReplayableError: one of the two is not among those given.
        """
        if env_id is None or task_id is None:
            raise NotReplayableError("the record names no environment or no scenario")
        environment = self.environments.get(env_id)
        if environment is None:
            raise NotReplayableError(f"no environment {env_id[:100]} among those given")
        text = self.scenarios.get((env_id, task_id))
        if text is None:
            raise NotReplayableError(f"no scenario {task_id[:100]} of {env_id[:100]} among those given")
        return environment, scenario(text)


def _rows(raw: bytes) -> Iterator[tuple[str | None, dict[str, Any]]]:
    try:
        value = loads(raw)[0]
    except ValueError:
        return
    if not isinstance(value, dict):
        return
    if value and all(isinstance(item, dict) for item in value.values()):
        yield from value.items()
    else:
        yield None, value


def _inner(value: Any, kind: type) -> Any:
    """A value that may stand as a JSON text of itself."""
    if isinstance(value, str):
        try:
            value = loads(value)[0]
        except ValueError:
            return kind()
    return value if isinstance(value, kind) else kind()


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (OverflowError, RecursionError):
        import json  # noqa: PLC0415  integers past 64 bits

        return json.dumps(value)
