"""The sample replays, and what was planted in it is found: all of it and nothing else.

What is true is told by the engine that played the sample, which shares no line with the classes that the sandbox runs.
"""

import json
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import pytest

from analysis import records, sample
from analysis.records.model import Trajectory
from analysis.replay import worlds
from analysis.replay.play import Played, play
from analysis.replay.stage import open_stage
from analysis.sample.agent import CAREFUL
from analysis.sample.engine import Environment
from analysis.sample.play import record as played_record
from analysis.sample.scenarios import scenario

Record = dict[str, Any]
SIZE = sample.Size(trajectories=60, environments=8, seed=5)
TAMPERINGS = ("nothing", "result", "argument", "missing call", "order")


@cache
def known() -> worlds.Worlds:
    environments, sft, checked = sample.siblings(**SIZE)
    raw = [json.dumps(row).encode() for row in (*environments, *sft, *checked)]
    return worlds.Worlds(
        [one for row in raw for one in worlds.environments_of(row)],
        [one for row in raw for one in worlds.scenarios_of(row)],
    )


def replayed(all_: list[Record]) -> Iterator[tuple[Record, Played]]:
    with open_stage() as stage:
        for row in all_:
            trajectory = records.read(json.dumps(row).encode(), "here")
            assert isinstance(trajectory, Trajectory)
            yield row, play(stage, *known().of(trajectory.env_id, trajectory.task_id), trajectory)


def calls_of(row: Record) -> list[tuple[str, dict[str, Any], str]]:
    messages = json.loads(row["messages"])
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]), messages[place + 1]["content"])
        for place, message in enumerate(messages)
        for call in message.get("tool_calls") or ()
    ]


def start_of(task_id: str) -> tuple[int, int, int]:
    """(index, seed, number) of a task: after those that were played comes one unseen, then those with checks."""
    env_id, number = task_id.split("-task_")
    place, kind = env_id.removeprefix("env_").split("_")
    return int(place) - 1 + (SIZE["environments"] + 1 if kind == "rl" else 0), SIZE["seed"], int(number)


def truth(row: Record) -> tuple[list[bool], Any]:
    """By the sampler's engine: does each call come to the recorded text; the final state."""
    env = scenario(*start_of(row["task_info"]["task_id"])).start()
    agree = []
    for name, arguments, recorded in calls_of(row):
        result = env.call(name, arguments)
        agree.append(repr(result) == recorded or (name not in env.tools and "rror" in recorded))
    return agree, env.state


def tampered(row: Record, how: str, rng: Random) -> Record:
    messages = json.loads(row["messages"])
    places = [n for n, m in enumerate(messages) if m.get("tool_calls") and messages[n + 1]["role"] == "tool"]
    place = rng.choice(places)
    function = messages[place]["tool_calls"][0]["function"]
    if how == "result":
        text = messages[place + 1]["content"]
        letter = rng.choice([n for n, character in enumerate(text) if character.isalnum()])
        messages[place + 1]["content"] = f"{text[:letter]}{'Q' if text[letter] != 'Q' else 'Z'}{text[letter + 1 :]}"
    elif how == "argument":
        arguments = json.loads(function["arguments"])
        name = rng.choice(list(arguments)) if arguments else "extra"
        function["arguments"] = json.dumps({**arguments, name: f"{arguments.get(name)}9"})
    elif how == "missing call":
        del messages[place : place + 2]
    elif how == "order" and len(places) > 1:
        first, second = rng.sample(places, 2)
        messages[first : first + 2], messages[second : second + 2] = (
            messages[second : second + 2],
            messages[first : first + 2],
        )
    return {**row, "messages": json.dumps(messages)}


def test_every_call_of_the_sample_is_reproduced() -> None:
    for row, played in replayed(list(sample.records(**SIZE))):
        assert {call.verdict.judged for call in played.calls} == {"reproduced"}, row["task_info"]["task_id"]


@pytest.mark.parametrize("how", TAMPERINGS)
def test_planted_tampering_is_found_all_and_only_it(how: str) -> None:
    rng = Random(how)
    planted = [tampered(row, how, rng) for row in sample.records(**SIZE)]
    differences = 0
    for row, played in replayed(planted):
        agree, _ = truth(row)
        assert [call.verdict.judged == "reproduced" for call in played.calls] == agree, row["task_info"]["task_id"]
        assert "untold" not in {call.verdict.judged for call in played.calls}
        differences += agree.count(False)
    assert (differences > 0) == (how != "nothing")


def entities(env: Environment) -> dict[str, str]:
    return {f"{many}/{id_}": repr(one) for many, all_ in env.state.items() for id_, one in all_.items()}


def test_changes_and_final_states_are_those_of_the_engine() -> None:
    hashes: dict[str, set[str]] = {}
    for row, played in replayed(list(sample.records(**SIZE))):
        env = scenario(*start_of(row["task_info"]["task_id"])).start()
        for call, (name, arguments, _) in zip(played.calls, calls_of(row), strict=True):
            before = entities(env)
            env.call(name, arguments)
            after = entities(env)
            same = after.keys() & before.keys()
            assert set(call.changes.made) == after.keys() - before.keys()
            assert set(call.changes.removed) == before.keys() - after.keys()
            assert set(call.changes.changed) == {key for key in same if after[key] != before[key]}
        hashes.setdefault(repr((row["task_info"]["task_id"], env.state)), set()).add(played.final_state_hash)
    assert all(len(found) == 1 for found in hashes.values())
    assert len({next(iter(found)) for found in hashes.values()}) == len(hashes)


@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "a change left out"])
def test_checks_come_to_what_they_say_of_the_engines_final_state(is_cut: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.sample.play.habits", lambda *_: CAREFUL)
    checked = {text.task_id: text for text in known().scenarios.values() if text.checks != "[]"}
    verdicts = []
    rows = []
    for task_id in list(checked)[:12]:
        row = played_record(scenario(*start_of(task_id)), "non_conversation")
        row["task_info"] |= {"env_id": task_id.split("-")[0], "task_id": task_id}
        rows.append(tampered(row, "missing call", Random(task_id)) if is_cut else row)
    for row, played in replayed(rows):
        _, final = truth(row)
        for check in played.checks:
            names: dict[str, Any] = {}
            codes = {one.item: one.code for one in worlds.scenario(checked[row["task_info"]["task_id"]]).checks}
            exec(codes[check.item], names)  # the sample's own code
            assert check.is_passed is names["check_func"](final)
            verdicts.append(check.is_passed)
    assert len(verdicts) > 20
    assert is_cut == (False in verdicts)
