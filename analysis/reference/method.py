"""The method: every question with its measures, each with its definition, its result and the figures drawn from it.

A measure is a public function of `analysis.measures` whose docstring says to which `Table` its result conforms. That
sentence is the link between the two, and a test holds it true.
"""

import ast
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

import analysis
from analysis import charts, measures
from analysis.charts.figure import Declared
from analysis.measures import bootstrap, calls, comparisons, expressions, intervals
from analysis.reference import docstrings
from analysis.reference.docstrings import Doc
from analysis.schema import Column, Table

_CONFORMS = re.compile(r"[Cc]onform(?:s|ing) to ((?:\w+\.)?[A-Z][A-Z_]+)")
_PACKAGE = Path(analysis.__file__).parent
# A wheel carries the notebooks inside the package.
NOTEBOOKS = next(
    (path for path in (_PACKAGE / "_bundled" / "notebooks", _PACKAGE.parent / "notebooks") if path.is_dir()), None
)

OUTCOME_RULES_FILE = Path(__file__).with_name("outcome_rules.csv")
OUTCOME_RULES = Table(
    "outcome_rules",
    "material, rule that decides an outcome, and outcome",
    (
        Column("material", pl.String(), "real: records of others; sample: the synthetic sample"),
        Column("rule", pl.String(), "rule that decided"),
        Column("outcome", pl.String(), "what it decided"),
        Column("decided", pl.UInt32(), "labelled results it decided so", unit="results"),
        Column("right", pl.UInt32(), "those whose label says the same", unit="results"),
        Column("labelled", pl.UInt32(), "all results of the material with that label", unit="results"),
        Column("precision", pl.Float64(), "right over decided", nullable=True),
        Column("recall", pl.Float64(), "right over labelled; rules share the results of a label", nullable=True),
    ),
    key=("material", "rule", "outcome"),
)

# Written by `python -m tests.measures.simulation`, held by a nightly test.
INTERVAL_COVERAGE_FILE = Path(__file__).with_name("interval_coverage.csv")
INTERVAL_COVERAGE = Table(
    "interval_coverage",
    "estimate, kind of source, and number of scenarios",
    (
        Column("estimate", pl.String(), "what the interval is of"),
        Column("world", pl.String(), "kind of simulated source; apart: two sides that share no scenario"),
        Column("scenarios", pl.UInt32(), "scenarios of a simulated source", unit="scenarios"),
        Column("held", pl.Float64(), "share of 1,000 simulated sources whose 95 % interval holds the truth"),
    ),
    key=("estimate", "world", "scenarios"),
)


@dataclass(frozen=True)
class Figure:
    """A chart function: its name, what it draws, the definition under it."""

    name: str
    about: str
    definition: str


@dataclass(frozen=True)
class Measure:
    """A function from tables to a declared result."""

    name: str
    home: str
    doc: Doc
    takes: dict[str, str]
    result: Table
    figures: tuple[Figure, ...]
    function: Callable[..., pl.LazyFrame]

    @property
    def returns(self) -> str:
        """What it gives, with the result by the name that its columns and its JSON Schema go by."""
        return _CONFORMS.sub(lambda found: found[0].replace(found[1], f"`{self.result.name}`"), self.doc.returns)


@dataclass(frozen=True)
class Question:
    """A module of measures, and the notebooks that answer it."""

    name: str
    doc: Doc
    measures: tuple[Measure, ...]
    notebooks: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Idea:
    """What several measures compute alike, under one name."""

    name: str
    doc: Doc


@cache
def questions() -> tuple[Question, ...]:
    """Every question, in the order of the notebooks that answer them."""
    drawn = _figures()
    shown = _shown()
    found = [
        Question(
            name,
            docstrings.of(module),
            tuple(_measures(module, drawn)),
            tuple(notebook for notebook, names in shown.items() if name in names),
        )
        for name, module in _modules(measures)
    ]
    asked = [question for question in found if question.measures]
    return tuple(sorted(asked, key=lambda question: (question.notebooks[:1] or ("~",), question.name)))


def ideas() -> list[Idea]:
    """Rates, intervals, spreads and identities that measures share, with the definitions behind them."""
    return [
        Idea(name, docstrings.of(function))
        for module in (expressions, intervals, bootstrap, comparisons, calls)
        for name, function in _public_functions(module)
    ]


def outcome_rules() -> pl.DataFrame:
    """How each rule of outcomes fares against results labelled by hand; conforms to OUTCOME_RULES."""
    counts = pl.read_csv(OUTCOME_RULES_FILE)
    rates = counts.with_columns(
        precision=pl.col("right") / pl.col("decided"),
        recall=pl.when(pl.col("labelled") > 0).then(pl.col("right") / pl.col("labelled")),
    )
    return OUTCOME_RULES.select(rates.lazy()).collect()


def interval_coverage() -> pl.DataFrame:
    """How often intervals hold the truth of sources that were simulated; conforms to INTERVAL_COVERAGE."""
    return INTERVAL_COVERAGE.select(pl.read_csv(INTERVAL_COVERAGE_FILE).lazy()).collect()


@cache
def results() -> dict[str, Table]:
    """Every declared result of a measure, by name."""
    base = {table.name for table in vars(analysis.schema).values() if isinstance(table, Table)}
    found = {
        value.name: value
        for _, module in _modules(measures)
        for value in vars(module).values()
        if isinstance(value, Table) and value.name not in base
    }
    return dict(sorted(found.items()))


def _measures(module: ModuleType, drawn: dict[str, list[Figure]]) -> Iterator[Measure]:
    for name, function in _public_functions(module):
        doc = docstrings.of(function)
        if conforms := _CONFORMS.search(doc.returns):
            result = _resolve(module, conforms[1])
            takes = {
                argument: _resolve(module, of[1]).name
                for argument, words in doc.arguments.items()
                if (of := _CONFORMS.search(words))
            }
            yield Measure(name, module.__name__, doc, takes, result, tuple(drawn.get(result.name, ())), function)


def _resolve(module: ModuleType, name: str) -> Table:
    """The table that a docstring names: of the module itself, of the schema, or `schema.TOOLS`, `tool_usage.TOOLS`."""
    where, _, own = name.rpartition(".")
    homes = [module, analysis.schema]
    if where:
        homes = [analysis.schema if where == "schema" else importlib.import_module(f"analysis.measures.{where}")]
    for home in homes:
        if isinstance(table := getattr(home, own, None), Table):
            return table
    raise LookupError(f"{module.__name__}: a docstring says {name}, and there is no such table")


def _figures() -> dict[str, list[Figure]]:
    """Chart functions by the name of the table they draw."""
    found: dict[str, list[Figure]] = {}
    for question, module in _modules(charts):
        for name, function in _public_functions(module):
            if isinstance(declared := vars(function).get("declared"), Declared):
                about = docstrings.of(function).summary
                figure = Figure(f"{question}.{name}", about, declared.definition)
                found.setdefault(declared.result.name, []).append(figure)
    return found


def _shown() -> dict[str, set[str]]:
    """Questions by the notebook that measures them: what its cells import of `analysis.measures`."""
    found = {}
    for notebook in sorted(NOTEBOOKS.glob("[!.]*.ipynb")) if NOTEBOOKS else ():
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
        names = {alias.name for node in imports if node.module == "analysis.measures" for alias in node.names}
        found[notebook.stem] = names
    return found


def _modules(package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    for info in pkgutil.iter_modules(package.__path__):
        yield info.name, importlib.import_module(f"{package.__name__}.{info.name}")


def _public_functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """In the order in which the module defines them."""
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            yield name, value
