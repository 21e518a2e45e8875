"""Scenarios: an initial state and a task whose parts can all be done, one after the other."""

import copy
from dataclasses import dataclass
from functools import cache
from random import Random

from analysis.sample.agent import Habits
from analysis.sample.engine import Environment, State
from analysis.sample.goals import Goal, draw
from analysis.sample.naming import environment
from analysis.sample.shelf import Shelf
from analysis.sample.toolbox import toolbox
from analysis.sample.world import people

# No goal takes more than eight calls, so a careful run stays within what the publisher's filter kept: 29 assistant
# messages alone (a call each, and the last word), 39 with a user (a call each, and a reply a goal).
MOST_CALLS = 20
MOST_STEPS = 30


@dataclass(frozen=True)
class Scenario:
    """What an agent is put into. `final` is the state after a faultless run."""

    index: int
    seed: int
    number: int
    today: str
    initial: State
    final: State
    goals: tuple[Goal, ...]

    @property
    def task(self) -> str:
        """The parts of the task, numbered."""
        parts = [f"{i}. {goal.ask[0].upper()}{goal.ask[1:]}." for i, goal in enumerate(self.goals, start=1)]
        return "  \n".join(parts)

    def start(self) -> Environment:
        """The environment in its initial state, to be played."""
        tools = toolbox(self.index, self.seed)
        return Environment(environment(self.index, self.seed), tools, copied(self.initial), self.today)


@cache
def character(index: int, seed: int) -> tuple[Shelf, float]:
    """What is needed of an environment's tools, and how easily an agent slips in it."""
    rng = Random(f"character/{seed}/{index}")
    return Shelf.of(list(toolbox(index, seed).values()), rng), rng.choice((0.01, 0.03, 0.05, 0.07, 0.09, 0.12, 0.16))


def habits(index: int, seed: int) -> Habits:
    """How the agent works in this environment."""
    return Habits(slips=character(index, seed)[1])


def scenario(index: int, seed: int, number: int) -> Scenario:
    """The scenario of that number (from 1) in the environment of that index.

    Its length is drawn so that the calls of a run average about 13 with a long tail, as in the release.
    """
    rng = Random(f"scenario/{seed}/{index}/{number}")
    env = people(environment(index, seed), toolbox(index, seed), rng)
    initial = copied(env.state)
    shelf, slips = character(index, seed)
    budget = min(25.0, max(3.0, rng.gammavariate(6.5, 1.78))) / (1.12 + 1.5 * slips)
    goals: list[Goal] = []
    asks: set[str] = set()
    calls = 0
    for _ in range(80):
        goal = draw(env, shelf, rng)
        if goal is None or (not goal.acts and goal.ask in asks):
            continue
        asks.add(goal.ask)
        goals.append(goal)
        calls += goal.calls
        if (calls >= budget and len(goals) >= 2) or calls >= MOST_CALLS or calls + len(goals) >= MOST_STEPS:
            break
    return Scenario(index, seed, number, env.today, initial, env.state, tuple(goals))


def copied(state: State) -> State:
    """A copy that shares nothing that can change."""
    return copy.deepcopy(state)
