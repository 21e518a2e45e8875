"""`suite.toml` -> the reports it declares, and their notebooks' parameters, checked before anything runs.

Papermill logs an unknown parameter and goes on with the defaults, and takes every value for what it looks like. Here
a name that no notebook knows is refused with the nearest one, and a value becomes what the parameters cell declares.
"""

import ast
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from analysis.nearest import nearest
from analysis.parameters import Parameter, ParameterError, declared, problem

ROOT = Path(__file__).resolve().parents[2]
# A wheel carries the notebooks, the suite and the template inside the package.
BUNDLED = Path(__file__).resolve().parents[1] / "_bundled"
HOME = BUNDLED if BUNDLED.is_dir() else ROOT
SUITE = HOME / "reports" / "suite.toml"

KEYS = {"notebook", "title", "description", "parameters", "needs"}
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Report:
    """One page to be made: a notebook with its parameters.

    `needs` names tables that must not be empty for the notebook to have something to say.
    """

    name: str
    notebook: Path
    title: str
    description: str
    parameters: dict[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


def read_suite(path: Path = SUITE) -> list[Report]:
    """The declared reports, in the order of the file; notebooks are named from the folder above the suite's.

    Raises:
        ParameterError: the file is not such a declaration.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ParameterError(f"{path}: no such suite") from None
    except OSError as error:
        raise ParameterError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or nested past reason
        raise ParameterError(f"{path}: {error}") from None
    if not tables:
        raise ParameterError(f"{path}: declares no report")
    return [_report(name, table, path) for name, table in tables.items()]


def _report(name: str, table: Any, path: Path) -> Report:
    if not isinstance(table, dict) or not {"notebook", "title", "description"} <= table.keys() <= KEYS:
        raise ParameterError(
            f"{path}: [{name}] needs notebook, title and description; it may have parameters and needs, nothing else"
        )
    return Report(
        name=name,
        notebook=path.resolve().parent.parent / table["notebook"],
        title=table["title"],
        description=table["description"],
        parameters=dict(table.get("parameters", {})),
        needs=tuple(table.get("needs", ())),
    )


def choose(reports: list[Report], only: Iterable[str]) -> list[Report]:
    """The reports of these names, or all; `tool_usage` is as good as `10_tool_usage`."""
    short = {report.name.partition("_")[2]: report.name for report in reports if report.name[:1].isdigit()}
    names = {report.name for report in reports}
    wanted = {short.get(name, name) for name in only}
    for name in sorted(wanted - names):
        raise ParameterError(f"no report {name!r}; {_nearest(name, names, 'the suite has')}")
    return [report for report in reports if report.name in wanted or not wanted]


def parameters_of(notebook: Path) -> dict[str, Parameter]:
    """What the notebook's parameters cell declares.

    Raises:
        ParameterError: no such notebook, or no cell tagged `parameters`: papermill would run it with its own values
            and say nothing.
    """
    try:
        cells = nbformat.read(notebook, as_version=4).cells
    except FileNotFoundError:
        raise ParameterError(f"{notebook}: no such notebook") from None
    except (nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        raise ParameterError(f"{notebook}: not a notebook ({type(error).__name__})") from None
    tagged = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    if not tagged:
        raise ParameterError(f"{notebook.name}: no cell is tagged `parameters`, so no value would reach it; tag one")
    try:
        return {parameter.name: parameter for parameter in declared(tagged[0].source)}
    except SyntaxError as error:
        raise ParameterError(f"{notebook.name}: the parameters cell is not Python: {error.msg}") from None


def literal(path: Path) -> str:
    """A path as papermill takes it: braces in one are format fields to it."""
    return str(path).replace("{", "{{").replace("}", "}}")


def resolve(reports: list[Report], given: Mapping[str, str], offered: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Each report's parameters: its own of the suite, over them what is `offered` and what is `given`.

    Args:
        reports: what is to be made.
        given: asked for by name; goes to the notebooks that know it, and at least one must.
        offered: goes to the notebooks that know it, if any.

    Raises:
        ParameterError: an unknown name, with the nearest, or a value that is not of the declared type.
    """
    cells = {report.name: parameters_of(report.notebook) for report in reports}
    known = {name for parameters in cells.values() for name in parameters}
    for name in given:
        if name not in known:
            raise ParameterError(f"no parameter {name!r} in these notebooks; {_nearest(name, known, 'they know')}")
    return {report.name: _values(report, cells[report.name], {**offered, **given}) for report in reports}


def _values(report: Report, known: dict[str, Parameter], asked: dict[str, str]) -> dict[str, Any]:
    for name in report.parameters:
        if name not in known:
            raise ParameterError(f"{report.name}: no parameter {name!r}; {_nearest(name, known, 'it knows')}")
    values = report.parameters | {name: coerce(known[name], text) for name, text in asked.items() if name in known}
    for name, value in values.items():
        if wrong := problem(known[name], value):
            raise ParameterError(f"{report.name}: {wrong}")
    return {name: values[name] for name in known if name in values}


def coerce(parameter: Parameter, text: str) -> Any:
    """The text as the type the parameters cell declares, or, without an annotation, as its default's type.

    Raises:
        ParameterError: it is not one.
    """
    kind = parameter.kind or type(_literal(parameter.default)).__name__
    wanted = kind.replace(" ", "").removesuffix("|None")
    if wanted != kind and text in ("", "None"):
        return None
    try:
        return _as(wanted, text)
    except (ValueError, SyntaxError):
        raise ParameterError(
            f"{parameter.name}: {text!r} is not {kind}; the default is {parameter.default}"
            + (f" ({parameter.help})" if parameter.help else "")
        ) from None


def _as(kind: str, text: str) -> Any:
    if kind == "str":
        return text
    if kind == "bool":
        if text.lower() not in TRUE + FALSE:
            raise ValueError(text)
        return text.lower() in TRUE
    if kind in ("int", "float"):
        return int(text) if kind == "int" else float(text)
    value = ast.literal_eval(text)
    if kind != "NoneType" and type(value).__name__ != kind.partition("[")[0]:
        raise ValueError(text)
    return value


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ""


def _nearest(name: str, names: Iterable[str], those: str) -> str:
    near = nearest(name, names, most=1)
    return f"did you mean {near[0]!r}?" if near else f"{those} {', '.join(sorted(names)) or 'none'}"
