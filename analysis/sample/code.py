"""An environment's class as Python source: what the sibling set holds beside its tools. It is text, and never run."""

from collections.abc import Mapping
from textwrap import indent

from analysis.sample.description import Description, Effect, Entity, Rule
from analysis.sample.tools import PYTHON_TYPES, Tool


def class_name(description: Description) -> str:
    """`lending library` is implemented by `LendingLibrarySystem`."""
    words = "".join(c if c.isalnum() else " " for c in description.title)
    return "".join(word.capitalize() for word in words.split()) + "System"


def class_head(description: Description) -> str:
    """The record types, and the class up to the end of its constructor."""
    types = "\n\n\n".join(_record_type(entity) for entity in description.entities.values())
    held = "\n".join(
        f"        # {entity.about}\n        self.{entity.many}: Dict[str, {entity.type_name}Info] = {{}}"
        for entity in description.entities.values()
    )
    return (
        f"from typing import Any, Dict, List, TypedDict\n\n\n{types}\n\n\n"
        f'class {class_name(description)}:\n    """{description.title.capitalize()}."""\n\n'
        f'    def __init__(self):\n{held}\n        self.current_date: str = ""\n'
    )


def class_code(description: Description, tools: Mapping[str, Tool]) -> str:
    """The whole class: head and a method for each tool."""
    methods = "\n".join(indent(method_code(description, tool), "    ") for tool in tools.values())
    return f"{class_head(description)}\n{methods}"


def method_code(description: Description, tool: Tool) -> str:
    """One tool as a method, its docstring included."""
    types = "".join(
        f", {p.name}: {PYTHON_TYPES[p.kind].replace(' or None', '')}" + (f" = {p.default!r}" if p.is_optional else "")
        for p in tool.parameters
    )
    body = indent(_body(description, tool), "    ")
    docstring = indent(f'"""\n{tool.docstring}\n"""', "    ")
    return f"def {tool.name}(self{types}) -> dict:\n{docstring}\n{body}\n"


def _record_type(entity: Entity) -> str:
    lines = [f"    {entity.id_column}: str"]
    lines += [f"    {f.column}: {PYTHON_TYPES[f.kind].replace(' or None', '')}" for f in entity.fields.values()]
    lines += [f"    {entity.state_name}: str  # {', '.join(entity.states)}"] if entity.states else []
    return f"class {entity.type_name}Info(TypedDict):\n" + "\n".join(lines)


def _body(description: Description, tool: Tool) -> str:
    entity, records = tool.entity, f"self.{tool.entity.many}"
    if tool.kind == "get":
        return f"{_lookup(entity)}\n{_found('dict(record)')}"
    if tool.kind == "tally":
        state = f'record["{entity.state_name}"]'
        return (
            f"counts: Dict[str, int] = {{}}\nfor record in {records}.values():\n"
            f"    counts[{state}] = counts.get({state}, 0) + 1\n{_found('counts')}"
        )
    if tool.is_query:
        return _found(_selection(tool, records))
    if tool.kind == "create":
        return _creation(description, tool, records)
    checks = _checks(description, tool)
    return f"{_lookup(entity)}\n{checks}{_change(description, tool)}\n{_done(f'{entity.words} changed')}"


def _found(expression: str) -> str:
    return f'return {{"success": True, "data": {expression}}}'


def _done(message: str) -> str:
    return f'return {{"success": True, "message": "{message.capitalize()}"}}'


def _failed(error: str) -> str:
    return f'    return {{"success": False, "error": {error!r}}}\n'


def _lookup(entity: Entity) -> str:
    missing = _failed(f"{entity.words.capitalize()} not found").rstrip()
    return f"record = self.{entity.many}.get({entity.id_column})\nif record is None:\n{missing}"


def _selection(tool: Tool, records: str) -> str:
    column = tool.field.column if tool.field else tool.entity.state_name
    condition = {
        "list": "True",
        "search": f'text.lower() in r["{column}"].lower()',
        "floor": f'r["{column}"] >= min_{column}',
    }.get(tool.kind, f'r["{column}"] == {column}')
    return f"[r for r in {records}.values() if {condition}]" + ("[:limit]" if tool.kind == "search" else "")


def _value(description: Description, entity: Entity, path: str) -> str:
    """The source for a field of the record (`fee`), or of one it refers to (`member.fee`)."""
    head, _, rest = path.partition(".")
    if rest:
        parent = description.entities[head]
        column = parent.state_name if rest == "status" else parent.fields[rest].column
        return f'self.{parent.many}[record["{entity.fields[head].column}"]]["{column}"]'
    return f'record["{entity.state_name if head == "status" else entity.fields[head].column}"]'


def _condition(description: Description, entity: Entity, rule: Rule) -> str:
    """The source of an expression that is true when the rule is broken."""
    if rule.count:
        counted = description.entities[rule.count]
        parent = entity.id_column if entity.key == rule.by else entity.fields[rule.by].column
        state = f' and r["{counted.state_name}"] in {list(rule.states)!r}' if rule.states else ""
        same = f'r["{counted.fields[rule.by].column}"] == record["{parent}"]{state}'
        return f"sum(1 for r in self.{counted.many}.values() if {same}) > {rule.at_most}"
    value = _value(description, entity, rule.check)
    broken = [f"{value} not in {list(rule.among)!r}"] if rule.among else []
    for bound, sign in ((rule.at_least, "<"), (rule.at_most, ">")):
        if bound is not None:
            limit = _value(description, entity, bound[1:]) if isinstance(bound, str) else f"{bound:g}"
            broken.append(f"{value} {sign} {limit}")
    return " or ".join(broken)


def _checks(description: Description, tool: Tool) -> str:
    entity = tool.entity
    state = f'record["{entity.state_name}"]'
    wrong = (
        f"if {state} not in {list(tool.move.start)!r}:\n{_failed(f'Wrong {entity.state_name}')}" if tool.move else ""
    )
    return wrong + "".join(
        f"# {rule.text}\nif {_condition(description, entity, rule)}:\n{_failed(rule.error)}" for rule in tool.rules
    )


def _effects(description: Description, entity: Entity, effects: tuple[Effect, ...]) -> str:
    lines = []
    for effect in effects:
        target = _value(description, entity, effect.set or effect.add)
        if effect.add:
            amount = effect.amount
            sign = "-" if isinstance(amount, str) and amount.startswith("-") else "+"
            added = _value(description, entity, amount.lstrip("-")) if isinstance(amount, str) else f"{amount}"
            lines.append(f"{target} {sign}= {added}\n")
        else:
            lines.append(f"{target} = {'self.current_date' if effect.to == '$today' else repr(effect.to)}\n")
    return "".join(lines)


def _creation(description: Description, tool: Tool, records: str) -> str:
    entity, create = tool.entity, tool.create
    is_packed = any(parameter.kind == "object" for parameter in tool.parameters)
    listed = ", ".join(f'"{parameter.name}": {parameter.name}' for parameter in tool.parameters)
    given = f"dict({entity.one}_info)" if is_packed else f"{{{listed}}}"
    state = f'record["{entity.state_name}"] = "{entity.states[0]}"\n' if entity.states else ""
    effects = _effects(description, entity, create.effects) if create else ""
    return (
        f'record = {given}\nrecord["{entity.id_column}"] = "{entity.prefix}" + str(len({records}) + 1)\n{state}'
        f'{_checks(description, tool)}{records}[record["{entity.id_column}"]] = record\n{effects}'
        f"{_done(f'{entity.words} added')}"
    )


def _change(description: Description, tool: Tool) -> str:
    entity, move = tool.entity, tool.move
    if move:
        asked = "".join(f'record["{c}"] = {c}\n' for c in (entity.fields[key].column for key in move.asks))
        effects = _effects(description, entity, move.effects)
        return f'{asked}{effects}record["{entity.state_name}"] = "{move.end}"'
    if tool.kind == "remove":
        return f"del self.{entity.many}[{entity.id_column}]"
    value = "amount" if tool.kind == "adjust" else f"new_{tool.column}"
    return f'record["{tool.column}"] {"+=" if tool.kind == "adjust" else "="} {value}'
