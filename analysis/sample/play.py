"""Play a scenario in one of the two modes, and write the record as the release holds it."""

import json
from random import Random
from typing import Any, Literal

from analysis.sample import simulator, texts
from analysis.sample.agent import CAREFUL, Act, Agent, Habits, Pursuit
from analysis.sample.engine import Result
from analysis.sample.goals import Goal
from analysis.sample.naming import environment
from analysis.sample.scenarios import Scenario, character, habits
from analysis.sample.toolbox import toolbox
from analysis.sample.words import phrases

Mode = Literal["conversation", "non_conversation"]
Message = dict[str, Any]

# What the publisher's filter kept, in assistant messages; a run outside is played again with fewer slips.
BOUNDS: dict[Mode, tuple[int, int]] = {"non_conversation": (3, 29), "conversation": (5, 39)}
# Characters of reasoning: median, and spread of its logarithm. About 350 tokens and a long tail in the release.
RELEASE_REASONING = (1850.0, 0.88)
SHORT_REASONING = (260.0, 0.7)


class Run:
    """One run in progress: the messages so far, and the environment they were played in."""

    def __init__(self, scenario: Scenario, mode: Mode, habits: Habits, rng: Random, *, release_sizes: bool) -> None:
        description = environment(scenario.index, scenario.seed)
        size, spread = RELEASE_REASONING if release_sizes else SHORT_REASONING
        self.rng = rng
        self.env = scenario.start()
        self.agent = Agent(self.env, character(scenario.index, scenario.seed)[0], habits, rng)
        self.writer = texts.Writer(description, self.env.tools, scenario.today, rng, size=size, spread=spread)
        system = texts.system_prompt(description, self.env.tools, is_conversation=mode == "conversation")
        self.messages: list[Message] = [{"role": "system", "content": system}]
        self.mode = mode
        self.last: tuple[Act, Result] | None = None
        self.said = ""

    @property
    def steps(self) -> int:
        return sum(message["role"] == "assistant" for message in self.messages)

    def hear(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})
        self.said, self.last = text, None

    def say(self, plan: str, goal: Goal, text: str) -> None:
        self._assistant(plan, goal, None, {"content": text})
        self.last = None

    def follow(self, pursuit: Pursuit) -> list[Result]:
        """Send the agent's calls to the environment, and the results back to the agent."""
        try:
            act = next(pursuit)
            while True:
                act = pursuit.send(self._call(act))
        except StopIteration as end:
            results: list[Result] = end.value
            return results

    def _call(self, act: Act) -> Result:
        call = {"function": {"name": act.name, "arguments": json.dumps(act.arguments, ensure_ascii=False)}}
        self._assistant(act.purpose, act.goal, act, {"content": None, "tool_calls": [call]})
        result = self.env.call(act.name, act.arguments)
        if act.name not in self.env.tools and self.mode == "conversation":
            # The runner, not the environment, answers a call to a tool that does not exist, and as a user.
            self.messages.append({"role": "user", "content": "Error: Invalid action"})
            result = {"success": False, "error": "Invalid action"}
        else:
            self.messages.append({"role": "tool", "content": repr(result)})
        self.writer.calls += 1
        self.last = (act, result)
        return result

    def _assistant(self, plan: str, goal: Goal, act: Act | None, rest: Message) -> None:
        message: Message = {"role": "assistant"}
        if self.rng.random() >= 0.006:
            last, result = self.last or (None, None)
            opening = "user" if result is None else "ok" if result["success"] else "error"
            if opening == "user":
                opening = "first" if len(self.messages) == 2 else "thanked" if plan == "courtesy" else "user"
            words = self.writer.words(goal, act, last, result, self.said[:160])
            message["reasoning_content"] = self.writer.think(opening, plan, words)
        self.messages.append({**message, **rest})


def record(scenario: Scenario, mode: Mode, *, release_sizes: bool = False) -> dict[str, Any]:
    """One record of the release's shape: the scenario played in that mode by the environment's agent."""
    for attempt, how in enumerate((habits(scenario.index, scenario.seed), CAREFUL)):
        rng = Random(f"play/{scenario.seed}/{scenario.index}/{scenario.number}/{mode}/{attempt}")
        run = Run(scenario, mode, how, rng, release_sizes=release_sizes)
        is_talk = mode == "conversation"
        user_messages = _converse(run, scenario, is_brief=attempt > 0) if is_talk else _work(run, scenario)
        low, high = BOUNDS[mode]
        if low <= run.steps <= high:
            break
    else:
        raise ValueError(
            f"scenario {scenario.number} of environment {scenario.index}: {run.steps} steps, even with care"
        )
    env_id = f"env_{scenario.index + 1}_sft"
    schemas = [tool.schema for tool in toolbox(scenario.index, scenario.seed).values()]
    return {
        "traj_type": mode,
        "task_info": {"env_id": env_id, "task_id": f"{env_id}-task_{scenario.number}", "task": scenario.task},
        "tools": json.dumps(schemas, ensure_ascii=False),
        "messages": json.dumps(run.messages, ensure_ascii=False),
        "user_messages": json.dumps(user_messages, ensure_ascii=False),
        "steps": run.steps,
    }


def _work(run: Run, scenario: Scenario) -> list[Message]:
    run.hear(scenario.task)
    for goal in scenario.goals:
        run.follow(run.agent.look(goal))
        run.follow(run.agent.act(goal))
    run.say("finish", scenario.goals[-1], texts.closing(run.rng))
    run.messages.append({"role": "user", "content": "Task finished"})
    return []


def _converse(run: Run, scenario: Scenario, *, is_brief: bool) -> list[Message]:
    seen: list[Message] = [
        {"role": "system", "content": phrases().user_prompt.format(task=scenario.task)},
        {"role": "user", "content": f"[Agent] {phrases().greeting}"},
    ]
    looked: list[Result] = []
    for turn in simulator.script(scenario.goals, run.rng, is_brief=is_brief):
        seen.append({"role": "assistant", "content": simulator.inverted(turn.thought, turn.says)})
        run.hear(turn.says)
        plan, reply = _respond(run, turn, looked)
        run.say(plan, turn.goal, reply)
        seen.append({"role": "user", "content": f"[Agent] {reply}"})
    thought, says = simulator.ending(run.rng)
    seen.append({"role": "assistant", "content": simulator.inverted(thought, says)})
    run.hear(says)
    return seen


def _respond(run: Run, turn: simulator.Turn, looked: list[Result]) -> tuple[str, str]:
    """What the agent does about a turn: its last plan, and what it says in the end."""
    goal = turn.goal
    if turn.does == "ask":
        return "clarify", texts.clarification(goal, run.rng)
    if turn.does == "thank":
        return "courtesy", texts.courtesy(run.rng)
    if turn.does != "act":
        looked[:] = run.follow(run.agent.look(goal))
    acted = run.follow(run.agent.act(goal)) if turn.does != "look" else []
    return "reply", texts.answer(goal, looked, acted, run.rng, is_first_half=turn.does == "look")
