"""A notebook's parameters: what its cell declares, and whether what came in is that.

Papermill guesses types from the command line (`-p env_id 007` arrives as 7, `-p top 1e3` as 1000.0, `-p x false` as the
text "false"; `-r` passes everything as text), and a name that no cell declares it injects with a line in the log. Each
notebook therefore says `parameters.check(globals())` before it reads anything, and `analysis.report` asks the same
before it runs anything.
"""

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.nearest import hint
from analysis.schema import MODES


class ParameterError(ValueError):
    """A report, parameter or value that does not exist or does not fit; nothing has been read yet."""


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell."""

    name: str
    kind: str
    default: str
    help: str


# What a parameter of this name may be, in any notebook, beyond its type: least and most.
RANGES: dict[str, tuple[float, float]] = {
    "top": (1, math.inf),
    "each": (1, math.inf),
    "min_n": (1, math.inf),
    "cutoff": (1, math.inf),
    "bin_tokens": (1, math.inf),
    "threshold": (0, 1),
    "tool_threshold": (0, 1),
    "seed": (0, 2**63 - 1),
}
# The same for words; the empty one always stands for all.
CHOICES: dict[str, tuple[str, ...]] = {"traj_type": MODES, "model_by": ("model", "file")}

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a finite number",
    "bool": "True or False",
    "NoneType": "None",
}
_GIVEN = {"str": "text", "int": "a number", "float": "a number with a point"}
# Papermill's flag that delivers a value of this kind as it is meant, with an example.
_FLAGS = {"str": "-r {name} VALUE", "bool": "-p {name} True", "int": "-p {name} 5", "float": "-p {name} 0.5"}


def declared(source: str) -> Iterator[Parameter]:
    """The assignments of a parameters cell. Papermill's own inspection loses every line with a second `=` in it."""
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.AnnAssign | ast.Assign):
            continue
        kind = ast.unparse(statement.annotation) if isinstance(statement, ast.AnnAssign) else ""
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else statement.targets
        comment = lines[(statement.end_lineno or 1) - 1].encode()[statement.end_col_offset :].decode()
        default = ast.unparse(statement.value) if statement.value else ""
        for target in targets:
            if isinstance(target, ast.Name):
                yield Parameter(target.id, kind, default, comment.strip().lstrip("# "))


def check(namespace: Mapping[str, Any]) -> None:
    """Refuse parameters that do not fit the cell that declares them, all in one message.

    Args:
        namespace: a notebook's `globals()`. The cells that ran are in its `In`: the one with annotated assignments
            declares, the one that papermill injected names what was asked for.

    Raises:
        ParameterError: a name that no cell declares, a value of another type, out of its range or none of its choices.
    """
    cells = [cell for cell in namespace.get("In", ()) if cell.strip()]
    known = {parameter.name: parameter for cell in cells for parameter in _annotated(cell)}
    unknown = [name for cell in cells for name in _injected(cell) if name not in known]
    problems = [f"{name}: no such parameter; {hint(name, known)}" for name in dict.fromkeys(unknown)]
    problems += _problems(known.values(), namespace)
    if problems:
        raise ParameterError("\n".join(problems))


def problem(parameter: Parameter, value: Any) -> str:
    """What is wrong with a value, and what to write instead; "" when it fits.

    >>> top = Parameter("top", "int", "20", "bars per chart")
    >>> problem(top, 5)
    ''
    >>> problem(top, -5)
    'top: -5 is below 1 (bars per chart; default 20)'
    >>> problem(top, "5")
    "top: '5' is text, not a whole number (bars per chart; default 20); papermill passes one with -p top 5"
    """
    name = parameter.name
    what = "; ".join(filter(None, (parameter.help, f"default {parameter.default}")))
    kinds = _kinds(parameter)
    if not any(_is(kind, value) for kind in kinds):
        wanted = " or ".join(_KINDS.get(kind, f"a {kind}") for kind in kinds)
        flag = _FLAGS.get(kinds[0], "-y '{name}: …'").format(name=name)
        return f"{name}: {_told(value)}, not {wanted} ({what}); papermill passes one with {flag}"
    if name in CHOICES and value and value not in CHOICES[name]:
        return f"{name}: there is no {value!r:.80}; {hint(str(value), CHOICES[name])} ({what})"
    least, most = RANGES.get(name, (-math.inf, math.inf))
    if isinstance(value, int | float) and not least <= value <= most:
        return (
            f"{name}: {value} is {'below ' + str(least) if value < least else f'not within {least} to {most}'} ({what})"
        )
    return ""


def _problems(known: Iterable[Parameter], namespace: Mapping[str, Any]) -> list[str]:
    found = (problem(parameter, namespace[parameter.name]) for parameter in known if parameter.name in namespace)
    return [sentence for sentence in found if sentence]


def _annotated(cell: str) -> list[Parameter]:
    return [parameter for parameter in _parsed(cell) if parameter.kind]


def _injected(cell: str) -> list[str]:
    """Names that papermill assigns in the cell it writes."""
    return [parameter.name for parameter in _parsed(cell)] if cell.lstrip().startswith("# Parameters\n") else []


def _parsed(cell: str) -> list[Parameter]:
    try:
        return list(declared(cell))
    except SyntaxError:  # a cell a person mistyped on the way here
        return []


def _kinds(parameter: Parameter) -> list[str]:
    """The types a parameter may have; without an annotation, its default's."""
    if not parameter.kind:
        return [type(ast.literal_eval(parameter.default)).__name__]
    return ["NoneType" if kind.strip() == "None" else kind.strip() for kind in parameter.kind.split("|")]


def _is(kind: str, value: Any) -> bool:
    if kind == "float":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return type(value).__name__ == kind.partition("[")[0]


def _told(value: Any) -> str:
    kind = _GIVEN.get(type(value).__name__)
    return f"{value!r:.80}" + (f" is {kind}" if kind else "")
