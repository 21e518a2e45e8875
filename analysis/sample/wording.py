"""Calls as a person would ask for them."""

import re
from typing import Any

from analysis.sample.tools import Tool

Arguments = dict[str, Any]


def order(tool: Tool, mention: str) -> str:
    """The imperative for a changing tool, around the words for the record: `declare loan L-1 lost`."""
    words = tool.field.words if tool.field else ""
    if tool.kind == "set":
        return f"change the {words} of {mention}"
    if tool.kind == "adjust" and tool.field:
        return f"{tool.field.adjust.replace('_', ' ')} the {words} of {mention}"
    if tool.kind == "assign":
        return f"move {mention} to another {words}"
    verb = tool.move.verb if tool.move else tool.create.verb if tool.create else tool.entity.remove
    first, _, rest = verb.partition("_")
    return f"{first} {mention} {rest.replace('_', ' ')}".rstrip()


def detail(tool: Tool, arguments: Arguments) -> str:
    """The values a change is given, as an addition to its imperative."""
    return ", ".join(
        f"{name.removesuffix('_id').replace('_', ' ')}: {shown(given)}"
        for name, given in arguments.items()
        if name != tool.entity.id_column
    )


def inquiry(tool: Tool, arguments: Arguments) -> str:
    """What a query is to find out."""
    many, given = tool.entity.many_words, shown(next(iter(arguments.values()), ""))
    state = tool.entity.state_name.replace("_", " ")
    words = tool.field.words if tool.field else ""
    return {
        "get": f"what is on file for {tool.entity.words} {given}",
        "list": f"all {many}",
        "tally": f"how many {many} there are in each {state}",
        "state": f"the {many} whose {state} is {given}",
        "of": f"the {many} of {words} {given}",
        "search": f"the {many} whose {words} contains {given}",
        "floor": f"the {many} with {words} of at least {given}",
        "filter": f"the {many} whose {words} is {given}",
    }[tool.kind]


def shown(given: Any) -> str:
    """A value as a person would write it."""
    if isinstance(given, list):
        return ", ".join(given) or "none"
    if given is None:
        return "nothing"
    if isinstance(given, bool):
        return "yes" if given else "no"
    return f"“{given}”" if isinstance(given, str) and " " in given else str(given)


def articled(text: str) -> str:
    """`a` and `an` as the words after them want it, whatever words were filled in."""
    return re.sub(r"\b([Aa])n? (?=(\w)(\w*))", _article, text)


def _article(found: re.Match[str]) -> str:
    letter, first, rest = found.groups()
    sounds_open = first.lower() in "aeiou" and not f"{first}{rest}".lower().startswith(("uni", "use", "eu", "one"))
    return f"{letter}{'n' if sounds_open else ''} "
