"""Calls as a person would ask for them."""

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
    said = [
        f"{name.removeprefix('new_').removesuffix('_id').replace('_', ' ')} {shown(given)}"
        for name, given in arguments.items()
        if name != tool.entity.id_column
    ]
    link = {"set": "the new", "adjust": "with the", "assign": "the new"}.get(tool.kind, "with")
    return f"{link} {' and '.join(said)}" if said else ""


def inquiry(tool: Tool, arguments: Arguments) -> str:
    """What a query is to find out."""
    many = tool.entity.many_words
    words = " and ".join(f"{name.replace('_', ' ')} {shown(v)}" for name, v in arguments.items() if name != "limit")
    return {
        "get": f"what is on file for {tool.entity.words} {next(iter(arguments.values()), '')}",
        "list": f"all {many}",
        "tally": f"how many {many} there are in each {tool.entity.state_name.replace('_', ' ')}",
    }.get(tool.kind, f"the {many} with {words}")


def shown(given: Any) -> str:
    """A value as a person would write it."""
    if isinstance(given, list):
        return ", ".join(given) or "none"
    if isinstance(given, bool):
        return "yes" if given else "no"
    return f"“{given}”" if isinstance(given, str) and " " in given else str(given)
