"""The user's side of a conversation: one part at a time, here forgetting a detail, there wanting to see first."""

from dataclasses import dataclass
from random import Random

from analysis.sample.goals import Goal
from analysis.sample.words import phrases

STOP = "###STOP###"


@dataclass(frozen=True)
class Turn:
    """One thing the user says, and what the agent is to do about it.

    `does`: look (only look things up), all (look and act), act (act on what was found), ask (something is missing: the
    agent has to ask for it), thank (nothing).
    """

    does: str
    thought: str
    says: str
    goal: Goal


def script(goals: tuple[Goal, ...], rng: Random, *, is_brief: bool = False) -> list[Turn]:
    """What the user says, goal after goal, up to the closing turn. A brief user says each part in one turn."""
    sees_first, forgets, thanks = (0.0, 0.0, 0.0) if is_brief else (0.55, 0.3, 0.25)
    said = phrases().turns
    turns: list[Turn] = []
    for goal in goals:
        lead = said["next"] if turns else said["first"]
        if goal.looks and goal.acts and goal.look_for and rng.random() < sees_first:
            turns.append(_turn("look", said["see"], goal.look_for, goal, rng))
            lead = said["go"]
            kind = "act"
        else:
            kind = "all"
        if goal.acts and goal.detail and rng.random() < forgets:
            turns.append(_turn("ask", lead, goal.core, goal, rng))
            detail = _turn(kind, said["detail"], goal.detail, goal, rng)
            turns.append(Turn(kind, rng.choice(phrases().thoughts["detail"]).format(x=goal.detail), detail.says, goal))
        else:
            turns.append(_turn(kind, lead, goal.ask, goal, rng))
        if rng.random() < thanks:
            turns.append(_turn("thank", said["thanks"], "", goal, rng))
    return turns


def ending(rng: Random) -> tuple[str, str]:
    """The closing thought and turn."""
    thought = rng.choice(phrases().thoughts["stop"])
    return thought, STOP if rng.random() < 0.9 else f"That's all, thanks! {STOP}"


def inverted(thought: str, says: str) -> str:
    """A user turn as the simulator wrote it."""
    return f"# Thought:  \n{thought}\n\n# Reply:  \n{says}"


def _turn(does: str, forms: tuple[str, ...], words: str, goal: Goal, rng: Random) -> Turn:
    says = rng.choice(forms).format(x=words, X=words[:1].upper() + words[1:])
    return Turn(does, rng.choice(phrases().thoughts[does]).format(x=words), says, goal)
