"""An environment's class as Python source, which replay plays: it answers each call as the engine does.

It is text here, and never run; a test replays every bundled record on it, in the sandbox.
"""

from collections.abc import Mapping
from textwrap import indent

from analysis.sample.arguments import FITTING
from analysis.sample.description import Description, Effect, Entity, Field, Rule
from analysis.sample.tools import PYTHON_TYPES, Parameter, Tool, is_asked

# What every class uses. A refusal is an error that the method answers with.
HELPERS = '''
REQUIRED = "required"


def take(tool, others, *parameters):
    """Refuse arguments that the tool does not take, that are missing, or of another kind."""
    for name in others:
        raise ValueError(f"{tool}() got an unexpected argument '{name}'")
    for name, value, types, kind, values in parameters:
        if value is REQUIRED:
            raise ValueError(f"{tool}() is missing the argument '{name}'")
        if types is None or (kind == "text or nothing" and value is None):
            continue
        if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
            raise ValueError(f"{name} must be {kind.split(' or nothing')[0]}")
        if values and value not in values:
            raise ValueError(f"Invalid {name} '{value}'; it must be one of {', '.join(values)}")


def find(records, record_id, missing):
    """The record of that id."""
    record = records.get(record_id) if isinstance(record_id, str) else None
    if record is None:
        raise ValueError(missing.format(id=record_id))
    return record


def within(name, value, low, high):
    """Refuse a number out of its bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} must be a number")
    if not low <= value <= high:
        raise ValueError(f"{name} must be between {low:g} and {high:g}")


def among(name, value, values):
    """Refuse a value that is none of these."""
    if value not in values:
        raise ValueError(f"Invalid {name} '{value}'; it must be one of {', '.join(values)}")


def next_number(records):
    """One above the highest number among the ids."""
    return max([int("".join([c for c in key if c.isdigit()])) for key in records], default=0) + 1
'''


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
        f"from typing import Any, Dict, List, TypedDict\n\n{HELPERS}\n\n{types}\n\n\n"
        f'class {class_name(description)}:\n    """{description.title.capitalize()}."""\n\n'
        f'    def __init__(self):\n{held}\n        self.current_date: str = ""\n'
    )


def class_code(description: Description, tools: Mapping[str, Tool]) -> str:
    """The whole class: head and a method for each tool."""
    methods = "\n".join(indent(method_code(description, tool), "    ") for tool in tools.values())
    return f"{class_head(description)}\n{methods}"


def method_code(description: Description, tool: Tool) -> str:
    """One tool as a method, its docstring included."""
    taken = "".join(f", {_signature(parameter)}" for parameter in tool.parameters)
    body = indent(f"{_taken(tool)}\n{_body(description, tool)}", "        ")
    docstring = indent(f'"""\n{tool.docstring}\n"""', "    ")
    return (
        f"def {tool.name}(self{taken}, **others) -> dict:\n{docstring}\n    try:\n{body}\n"
        '    except ValueError as refusal:\n        return {"success": False, "error": str(refusal)}\n'
    )


def _record_type(entity: Entity) -> str:
    lines = [f"    {entity.id_column}: str"]
    lines += [f"    {f.column}: {PYTHON_TYPES[f.kind].replace(' or None', '')}" for f in entity.fields.values()]
    lines += [f"    {entity.state_name}: str  # {', '.join(entity.states)}"] if entity.states else []
    return f"class {entity.type_name}Info(TypedDict):\n" + "\n".join(lines)


def _taken(tool: Tool) -> str:
    parameters = "".join(f",\n    {_parameter(parameter)}" for parameter in tool.parameters)
    return f"take({tool.name!r}, others{parameters})"


def _signature(parameter: Parameter) -> str:
    kind = PYTHON_TYPES[parameter.kind].replace(" or None", "")
    return f"{parameter.name}: {kind} = {repr(parameter.default) if parameter.is_optional else 'REQUIRED'}"


def _parameter(parameter: Parameter) -> str:
    types, words = FITTING.get(parameter.kind, ((str,), "text"))
    names = ", ".join(kind.__name__ for kind in types)
    taken = "None" if parameter.kind == "any" else names if len(types) == 1 else f"({names})"
    words += " or nothing" if parameter.kind == "note" else ""
    return f"({parameter.name!r}, {parameter.name}, {taken}, {words!r}, {list(parameter.values)!r})"


def _body(description: Description, tool: Tool) -> str:
    makers = {"create": _creation, "move": _move, "set": _set, "adjust": _adjust, "assign": _assign, "remove": _removal}
    if tool.kind in makers:
        return makers[tool.kind](description, tool)
    return _query(description, tool)


def _query(description: Description, tool: Tool) -> str:
    entity = tool.entity
    every = f"self.{entity.many}.values()"
    if tool.kind == "get":
        return _data(f"dict({_found(description, entity, entity.id_column)})")
    if tool.kind == "tally":
        states = f'states = [record["{entity.state_name}"] for record in {every}]\n'
        return states + _data(f"{{state: states.count(state) for state in {list(entity.states)!r}}}")
    column = tool.field.column if tool.field else entity.state_name
    condition = {
        "list": "",
        "search": f' if text.casefold() in record["{column}"].casefold()',
        "floor": f' if record["{column}"] >= min_{column}',
    }.get(tool.kind, f' if record["{column}"] == {column}')
    records = f"[dict(record) for record in {every}{condition}]"
    if tool.kind == "search":
        return _data(f"{records}[:limit]")
    if tool.kind == "floor":
        return _data(f'sorted({records}, key=lambda record: -record["{column}"])')
    parent = ""
    if tool.kind == "of" and tool.field:
        parent = f"{_found(description, description.entities[tool.field.to], column)}\n"
    return parent + _data(records)


def _data(expression: str) -> str:
    return f'return {{"success": True, "data": {expression}}}'


def _done(description: Description, message: str) -> str:
    """What a change answers with: the record, or a message, an f-string's text."""
    if description.style and description.style.returns_record:
        return _data("dict(record)")
    return f'return {{"success": True, "message": f"{message}"}}'


def _found(description: Description, entity: Entity, record_id: str) -> str:
    """The source for the record of an id, or its refusal in the style's words."""
    assert description.style is not None, "names are settled before code is written"
    missing = description.style.not_found.replace("{One}", entity.words.capitalize()).replace("{one}", entity.one)
    return f"find(self.{entity.many}, {record_id}, {missing!r})"


def _record(description: Description, entity: Entity) -> str:
    return f"record = {_found(description, entity, entity.id_column)}\n"


def _value(description: Description, entity: Entity, path: str, record: str = "record") -> str:
    """The source for a field of the record (`fee`), or of one it refers to (`member.fee`)."""
    head, _, rest = path.partition(".")
    if rest:
        parent = description.entities[head]
        found = _found(description, parent, f'{record}["{entity.fields[head].column}"]')
        return _value(description, parent, rest, found)
    return f'{record}["{entity.state_name if head == "status" else entity.fields[head].column}"]'


def _checks(description: Description, entity: Entity, rules: tuple[Rule, ...]) -> str:
    return "".join(
        f"# {rule.text}\nif {_broken(description, entity, rule)}:\n    raise ValueError({rule.error!r})\n"
        for rule in rules
    )


def _broken(description: Description, entity: Entity, rule: Rule) -> str:
    """The source of an expression that is true when the rule is broken."""
    if rule.count:
        counted = description.entities[rule.count]
        parent = entity.id_column if entity.key == rule.by else entity.fields[rule.by].column
        state = f' and other["{counted.state_name}"] in {list(rule.states)!r}' if rule.states else ""
        same = f'other["{counted.fields[rule.by].column}"] == record["{parent}"]{state}'
        return f"len([other for other in self.{counted.many}.values() if {same}]) > {float(rule.at_most or 0)!r}"
    value = _value(description, entity, rule.check)
    broken = [f"{value} not in {list(rule.among)!r}"] if rule.among else []
    for bound, sign in ((rule.at_least, ">="), (rule.at_most, "<=")):
        if bound is not None:
            limit = _value(description, entity, bound[1:]) if isinstance(bound, str) else repr(bound)
            broken.append(f"not {value} {sign} {limit}")
    return " or ".join(broken)


def _effects(description: Description, entity: Entity, effects: tuple[Effect, ...]) -> str:
    lines = []
    for effect in effects:
        target = _value(description, entity, effect.set or effect.add)
        if effect.add:
            lines.append(f"{target} = round({target} + {_amount(description, entity, effect.amount)}, 2)\n")
        else:
            lines.append(f"{target} = {'self.current_date' if effect.to == '$today' else repr(effect.to)}\n")
    return "".join(lines)


def _amount(description: Description, entity: Entity, amount: float | str) -> str:
    if not isinstance(amount, str):
        return f"({amount!r})"
    value = _value(description, entity, amount.removeprefix("-"))
    return f"(-{value})" if amount.startswith("-") else value


def _bounds(field: Field, value: str) -> str:
    if field.kind in ("number", "integer"):
        return f"within({field.column!r}, {value}, {field.low!r}, {field.high!r})\n"
    return f"among({field.column!r}, {value}, {list(field.values)!r})\n" if field.kind == "choice" else ""


def _creation(description: Description, tool: Tool) -> str:
    entity, create, style = tool.entity, tool.create, description.style
    assert create is not None
    assert style is not None
    form = style.id_form.replace("{prefix}", entity.prefix).replace("{lower}", entity.prefix.lower())
    lines = f'record = {{"{entity.id_column}": {form!r}.format(number=next_number(self.{entity.many}))}}\n'
    lines += "".join(_filled(description, entity, field, is_packed=style.packed) for field in entity.fields.values())
    lines += f'record["{entity.state_name}"] = {entity.states[0]!r}\n' if entity.states else ""
    lines += _checks(description, entity, create.rules)
    lines += f'self.{entity.many}[record["{entity.id_column}"]] = record\n'
    lines += _effects(description, entity, create.effects)
    return lines + _done(description, f"{_id_words(entity)} {create.done}")


def _filled(description: Description, entity: Entity, field: Field, *, is_packed: bool) -> str:
    """One field of a new record: asked for and checked, or as every new record has it."""
    if not is_asked(field):
        return f'record["{field.column}"] = {field.start if field.start != "" else None!r}\n'
    value, lines = field.column, ""
    if is_packed:
        packed = f"{entity.one}_info"
        missing = f"Missing {field.column} in {packed}"
        value = f'{packed}["{field.column}"]'
        lines = f"if {field.column!r} not in {packed}:\n    raise ValueError({missing!r})\n"
    if field.kind == "ref":
        lines += f"{_found(description, description.entities[field.to], value)}\n"
    return f'{lines}{_bounds(field, value)}record["{field.column}"] = {value}\n'


def _id_words(entity: Entity) -> str:
    return f"{entity.words.capitalize()} {{record['{entity.id_column}']}}"


def _move(description: Description, tool: Tool) -> str:
    entity, move = tool.entity, tool.move
    assert move is not None
    asked = [entity.fields[key] for key in move.asks]
    state = f'record["{entity.state_name}"]'
    wrong = f"it can only be {move.done} when {' or '.join(move.start)}"
    lines = _record(description, entity)
    lines += f"if {state} not in {list(move.start)!r}:\n"
    lines += f"    raise ValueError(f\"{entity.words.capitalize()} is {{record['{entity.state_name}']}}; {wrong}\")\n"
    lines += "".join(_bounds(field, field.column) for field in asked)
    lines += _checks(description, entity, move.rules)
    lines += "".join(f'record["{field.column}"] = {field.column}\n' for field in asked)
    note = entity.fields.get(move.note)
    lines += f'if {move.note}:\n    record["{note.column}"] = {move.note}\n' if note else ""
    lines += f"{state} = {move.end!r}\n{_effects(description, entity, move.effects)}"
    return lines + _done(description, f"{_id_words(entity)} {move.done}")


def _set(description: Description, tool: Tool) -> str:
    entity, field = tool.entity, _field(tool)
    value = f"new_{field.column}"
    message = f"{field.words.capitalize()} of {{record['{entity.id_column}']}} set to {{{value}}}"
    change = f'{_bounds(field, value)}record["{field.column}"] = {value}\n'
    return f"{_record(description, entity)}{change}{_done(description, message)}"


def _adjust(description: Description, tool: Tool) -> str:
    entity, field = tool.entity, _field(tool)
    held = f"{{record['{field.column}']:g}}"
    lines = f'{_record(description, entity)}value = round(record["{field.column}"] + amount, 2)\n'
    for sign, word, bound in (("<", "below", field.low), (">", "above", field.high)):
        text = f"The {field.words} can't go {word} {bound:g}; it is {held} now"
        lines += f'if value {sign} {bound!r}:\n    raise ValueError(f"{text}")\n'
    message = f"{field.words.capitalize()} of {{record['{entity.id_column}']}} is now {{value:g}}"
    return f'{lines}record["{field.column}"] = value\n{_done(description, message)}'


def _assign(description: Description, tool: Tool) -> str:
    entity, field = tool.entity, _field(tool)
    parent = description.entities[field.to]
    new = f'{_found(description, parent, f"new_{field.column}")}["{parent.id_column}"]'
    again = f"{entity.words.capitalize()} already belongs to {parent.words} {{new}}"
    message = f"{_id_words(entity)} now belongs to {{new}}"
    return (
        f'{_record(description, entity)}new = {new}\nif record["{field.column}"] == new:\n'
        f'    raise ValueError(f"{again}")\nrecord["{field.column}"] = new\n{_done(description, message)}'
    )


def _removal(description: Description, tool: Tool) -> str:
    entity = tool.entity
    checks = _checks(description, entity, entity.remove_rules)
    return (
        f'{_record(description, entity)}{checks}del self.{entity.many}[record["{entity.id_column}"]]\n'
        f'return {{"success": True, "message": f"{_id_words(entity)} is gone"}}'
    )


def _field(tool: Tool) -> Field:
    assert tool.field is not None, f"{tool.name} acts on a field"
    return tool.field
