"""Words: prompts, reasoning and replies, composed from an environment's own vocabulary. All texts are ours."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from analysis.sample.agent import Act
from analysis.sample.description import Description
from analysis.sample.engine import Result
from analysis.sample.goals import Goal
from analysis.sample.toolbox import constraints
from analysis.sample.tools import Tool
from analysis.sample.wording import articled, shown
from analysis.sample.words import phrases


class Writer:
    """Writes an agent's thoughts and replies for one run."""

    def __init__(
        self,
        description: Description,
        tools: Mapping[str, Tool],
        today: str,
        rng: Random,
        *,
        size: float,
        spread: float,
    ) -> None:
        self.tools = tools
        self.rng = rng
        self.size = size
        self.spread = spread
        self.fixed = {"title": description.title, "today": today}
        self.rules = constraints(description, tools)
        self.names = list(tools)
        self.entities = {key: _entity_words(entity) for key, entity in description.entities.items()}
        self.pool = list(self.entities.values())
        self.calls = 0

    def think(self, opening: str, plan: str, words: Mapping[str, str]) -> str:
        """One message's reasoning: what was seen, what comes to mind, what is done next."""
        rng = self.rng
        wanted = self.size * rng.lognormvariate(0, self.spread)
        context = {
            "tool": rng.choice(self.names),
            **rng.choice(self.pool),
            **self.fixed,
            **words,
            "count": str(self.calls),
        }
        first = rng.choice(phrases().openings[opening]).format_map(context)
        last = rng.choice(phrases().plans[plan]).format_map(context)
        parts, length, pool = [first], len(first) + len(last), 0
        order: list[str] = []
        while length < wanted:
            if not order:
                order = rng.sample(phrases().musings, len(phrases().musings))
                pool += 1
                if pool > 1:
                    parts.append(f"\n\n{rng.choice(phrases().fillers)}")
            context["rule"] = rng.choice(self.rules)
            context["other"] = rng.choice(self.names)
            if pool > 1 or rng.random() < 0.3:
                context.update(rng.choice(self.pool))
            sentence = order.pop().format_map(context)
            parts.append(f"\n\n{sentence}" if rng.random() < 0.2 else sentence)
            length += len(sentence)
        parts.append(f"\n\n{last}" if length > 300 else last)
        return " ".join(parts).replace(" \n", "\n")

    def words(self, goal: Goal, act: Act | None, last: Act | None, result: Result | None, said: str) -> dict[str, str]:
        """What the sentences may speak of."""
        words = {"goal": goal.ask or "go on", "subject": goal.subject or "this", "said": said, "args": ""}
        at_hand = act or last
        tool = self.tools.get(at_hand.name) if at_hand else None
        if tool is not None:
            words |= self.entities[tool.entity.key]
        if act is not None:
            words |= {"tool": act.name, "args": _arguments(act.arguments)}
        if last is not None and result is not None:
            words |= {"last": last.name, "error": str(result.get("error", "")), "found": _found(result)}
        return words


def _entity_words(entity: Any) -> dict[str, str]:
    return {
        "one": entity.words,
        "a_one": articled(f"a {entity.words}"),
        "A_one": articled(f"A {entity.words}"),
        "many": entity.many_words,
        "prefix": entity.prefix,
        "state": entity.state_name.replace("_", " ") if entity.states else "record",
        "states": ", ".join(entity.states) or "not recorded",
        "about": entity.about,
        "fields": ", ".join(field.column for field in entity.fields.values()),
    }


def _arguments(arguments: Mapping[str, Any]) -> str:
    if not arguments:
        return ""
    listed = ", ".join(f"{name} = {given}" for name, given in arguments.items() if not isinstance(given, dict))
    return f" with {listed}" if listed else " with the whole record"


def _found(result: Result) -> str:
    data = result.get("data")
    if isinstance(data, list):
        return {0: "the list is empty", 1: "there is exactly one"}.get(len(data), f"there are {len(data)} of them")
    if isinstance(data, dict):
        return "the record is there: " + ", ".join(f"{name} {given}" for name, given in list(data.items())[:4])
    return str(result.get("message", "no data came back")).rstrip(".")


def _outcome(result: Result) -> str:
    """What a change says of itself; where it returns the record, the record's last fields."""
    data = result.get("data")
    if not isinstance(data, dict):
        return _found(result)
    return "it now reads " + ", ".join(f"{name.replace('_', ' ')} {shown(v)}" for name, v in list(data.items())[-3:])


def system_prompt(description: Description, tools: Mapping[str, Tool], *, is_conversation: bool) -> str:
    """The agent's system message: how to work, and the environment's introduction."""
    listed = "\n".join(f"- {rule}" for rule in constraints(description, tools))
    return (
        f"{phrases().partner_prompt if is_conversation else phrases().worker_prompt}\n\n"
        "This is the environment you work in:\n# Environment Information\n\n"
        f"## Brief Introduction:  \n{description.introduction}\n\n## Environment Rules / Constraints:  \n{listed}"
    )


def answer(
    goal: Goal, looked: Sequence[Result], acted: Sequence[Result], rng: Random, *, is_first_half: bool = False
) -> str:
    """What the agent tells the user about a part: what was found, done or refused."""
    replies = phrases().replies
    parts = []
    if not acted:
        parts.append(_finding(goal, looked, rng))
    done = [_outcome(result) for result in acted if result["success"]]
    refused = [str(result["error"]) for result in acted if not result["success"]]
    if done:
        parts.append(rng.choice(replies["done"]).format(s=goal.subject, m="; ".join(done[:3]) + "."))
    if refused:
        part = "part of it" if done else "this"
        parts.append(f"The environment refused {part}: {'; '.join(dict.fromkeys(refused))}.")
    if is_first_half and rng.random() < 0.6:
        parts.append(rng.choice(replies["check"]))
    elif rng.random() < 0.3:
        parts.append(rng.choice(replies["more"]))
    return "  \n".join(parts)


def _finding(goal: Goal, looked: Sequence[Result], rng: Random) -> str:
    lines = []
    for result in looked:
        data = result.get("data")
        rows = data if isinstance(data, list) else [data] if isinstance(data, dict) else []
        for row in rows[:6]:
            shown_fields = (f"{name.replace('_', ' ')}: {shown(given)}" for name, given in list(row.items())[:5])
            lines.append("- " + ", ".join(shown_fields))
        if not result["success"]:
            lines.append(f"- an error: {result['error']}")
    if not lines:
        return f"I found nothing for {goal.subject}."
    return f"{rng.choice(phrases().replies['found'])} ({goal.subject}):\n" + "\n".join(dict.fromkeys(lines))


def clarification(goal: Goal, rng: Random) -> str:
    """The question for what the user left out."""
    return rng.choice(phrases().replies["clarify"]).format(s=goal.subject)


def courtesy(rng: Random) -> str:
    """A reply to thanks."""
    return rng.choice(phrases().replies["courtesy"])


def closing(rng: Random) -> str:
    """The last word of a run without a user: `Task Completed`, rarely with more around it."""
    return "Task Completed" if rng.random() < 0.88 else rng.choice(phrases().replies["closing"])
