"""Small environments of a few lines, and records whose calls they answer."""

import json
from textwrap import dedent, indent
from typing import Any

from analysis import records
from analysis.records.model import Trajectory
from analysis.replay.play import Played, play
from analysis.replay.sandbox import Limits
from analysis.replay.stage import open_stage
from analysis.replay.worlds import Check, Environment, Scenario
from tests.builders import step, trajectory

QUICK = Limits(seconds=1.0, memory_bytes=64 << 20)


def environment(body: str, *, head: str = "", name: str = "Shop") -> Environment:
    """An environment whose class has these methods; its state is one attribute, `orders`."""
    start = "def __init__(self):\n    self.orders = {}\n"
    code = f"{dedent(head)}\nclass {name}:\n{indent(start + dedent(body), '    ')}"
    return Environment("shop", name, code)


def method(body: str) -> Environment:
    """An environment of one method, `go`."""
    return environment("def go(self, *arguments, **keywords):\n" + indent(dedent(body), "    "))


def scenario(checks: list[str] | None = None, **initial: Any) -> Scenario:
    return Scenario("shop", "shop-1", initial, tuple(Check(f"check {n}", code) for n, code in enumerate(checks or ())))


def recorded(*calls: tuple[str, dict[str, Any], str], **changed: Any) -> Trajectory:
    """A trajectory of (tool, arguments, result)."""
    steps = [step(tool=tool, arguments=arguments, result=result) for tool, arguments, result in calls]
    record = records.read(json.dumps(trajectory("1", env_id="shop", steps=steps, **changed)).encode(), "here")
    assert isinstance(record, Trajectory)
    return record


def replay(world: Environment, record: Trajectory, start: Scenario | None = None, limits: Limits = QUICK) -> Played:
    with open_stage(limits) as stage:
        return play(stage, world, start or scenario(), record)


def kinds(played: Played) -> list[str]:
    return [f"{call.verdict.judged}: {call.verdict.kind}" for call in played.calls]
