"""A scripted agent: it pursues goals call by call, reads every result, slips now and then, and mostly recovers."""

from collections.abc import Generator
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from analysis.sample.engine import Environment, Result
from analysis.sample.goals import Goal
from analysis.sample.shelf import Shelf
from analysis.sample.slips import slip
from analysis.sample.tools import ToolKind
from analysis.sample.ways import Step, question

Purpose = Literal["look", "act", "verify", "retry", "recover", "again"]


@dataclass(frozen=True)
class Act:
    """One call the agent decides on, and why."""

    name: str
    arguments: dict[str, Any]
    purpose: Purpose
    goal: Goal


@dataclass(frozen=True)
class Habits:
    """How an agent works: probabilities per call, or per goal."""

    slips: float
    retries: float = 0.2
    gives_up: float = 0.06
    verifies: float = 0.3
    looks_into_refusals: float = 0.4
    looks_again: float = 0.05
    loops: float = 0.004


# Makes exactly the calls that were planned.
CAREFUL = Habits(slips=0, retries=0, verifies=0, looks_into_refusals=0, looks_again=0, loops=0)

Pursuit = Generator[Act, Result, list[Result]]


class Agent:
    """Knows the tools of an environment; `env` is read for what a slip needs, never changed here."""

    def __init__(self, env: Environment, shelf: Shelf, habits: Habits, rng: Random) -> None:
        self.env = env
        self.shelf = shelf
        self.habits = habits
        self.rng = rng

    def look(self, goal: Goal) -> Pursuit:
        """Look up what the goal needs."""
        results = []
        for step in goal.looks:
            results.append((yield from self._attempt(step, "look", goal)))
            if self.rng.random() < self.habits.looks_again:
                yield Act(step.tool.name, step.arguments, "again", goal)
            if self.rng.random() < self.habits.loops:
                yield from self._loop(step, goal)
        return results

    def act(self, goal: Goal) -> Pursuit:
        """Carry out what the goal changes, and sometimes look whether it came out right."""
        results = []
        for step in goal.acts:
            result = yield from self._attempt(step, "act", goal)
            results.append(result)
            if self.rng.random() < (self.habits.verifies if result["success"] else self.habits.looks_into_refusals):
                yield from self._verify(step, goal)
            if not result["success"] and self.rng.random() < self.habits.retries:
                yield Act(step.tool.name, step.arguments, "retry", goal)
        return results

    def _attempt(self, step: Step, purpose: Purpose, goal: Goal) -> Generator[Act, Result, Result]:
        wrong = slip(self.env, step, self.rng) if self.rng.random() < self.habits.slips else None
        if wrong is not None:
            result = yield Act(*wrong, purpose, goal)
            while not result["success"] and self.rng.random() < self.habits.retries:
                result = yield Act(*wrong, "retry", goal)
            if result["success"] or self.rng.random() < self.habits.gives_up:
                return result
            if self.rng.random() < 0.35:
                yield from self._recover(step, goal)
        return (yield Act(step.tool.name, step.arguments, purpose, goal))

    def _recover(self, step: Step, goal: Goal) -> Generator[Act, Result, None]:
        """Look around before the next try."""
        kinds: tuple[ToolKind, ...] = ("state", "search", "list")
        for kind in kinds:
            tool = self.shelf.find(kind, step.tool.entity)
            arguments = question(self.env, tool, self.rng) if tool else None
            if tool and arguments is not None:
                yield Act(tool.name, arguments, "recover", goal)
                return

    def _verify(self, step: Step, goal: Goal) -> Generator[Act, Result, None]:
        getter = self.shelf.find("get", step.tool.entity)
        record_id = step.arguments.get(step.tool.entity.id_column)
        if getter and isinstance(record_id, str):
            yield Act(getter.name, {step.tool.entity.id_column: record_id}, "verify", goal)

    def _loop(self, step: Step, goal: Goal) -> Generator[Act, Result, None]:
        """Go round in a circle: the same one or two queries, three times and more."""
        others = [other for other in goal.looks if other is not step] if self.rng.random() < 0.6 else []
        for _ in range(self.rng.choice((2, 2, 3))):
            for other in (*others[:1], step):
                yield Act(other.tool.name, other.arguments, "again", goal)
