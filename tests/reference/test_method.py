"""The method page: every measure, result and figure is on it, and docstrings say what it needs to say."""

import importlib
import inspect

import polars as pl
import pytest

from analysis.reference import dictionary, docstrings, method, words
from analysis.reference.method import Measure
from analysis.schema import Table

MEASURES = [(question, measure) for question in method.questions() for measure in question.measures]
EVERY = pytest.mark.parametrize("measure", [m for _, m in MEASURES], ids=[f"{q.name}.{m.name}" for q, m in MEASURES])


def test_every_declared_result_is_some_measures_result() -> None:
    # Several measures may share one; none is declared and then forgotten by the docstrings.
    assert {measure.result.name for _, measure in MEASURES} == set(method.results())


def test_a_result_has_a_name_of_its_own() -> None:
    named: dict[str, Table] = {}
    for question in method.questions():
        for value in vars(importlib.import_module(f"analysis.measures.{question.name}")).values():
            if isinstance(value, Table):
                assert named.setdefault(value.name, value) is value


def test_every_figure_is_told_below_the_measure_it_draws() -> None:
    told = {figure.name for _, measure in MEASURES for figure in measure.figures}
    drawn = {figure.name for figures in method._figures().values() for figure in figures}
    assert told == drawn
    assert len(drawn) >= 60


def test_every_notebook_of_a_question_is_named() -> None:
    assert method.NOTEBOOKS is not None
    named = {notebook for question in method.questions() for notebook in question.notebooks}
    # The two pages about the project itself measure nothing.
    assert {path.stem for path in method.NOTEBOOKS.glob("[0-9]*.ipynb")} - named == {"95_method", "96_dictionary"}


def test_questions_stand_in_the_order_of_their_notebooks() -> None:
    names = [question.name for question in method.questions()]
    assert names[:4] == ["claims", "overview", "private", "tool_usage"]
    assert names.index("step_lengths") < names.index("coverage") < names.index("sequences") < names.index("compare")


_FRAMES = (pl.LazyFrame, pl.LazyFrame | None)


@EVERY
def test_a_measures_docstring_says_what_it_takes_and_gives(measure: Measure) -> None:
    parameters = inspect.signature(measure.function).parameters
    assert list(measure.doc.arguments) == list(parameters), "Args names each parameter, in order"
    frames = {name for name, parameter in parameters.items() if parameter.annotation in _FRAMES}
    assert set(measure.takes) == frames, "each frame says to which table it conforms"
    assert measure.doc.summary.endswith((".", "?"))
    assert f"`{measure.result.name}`" in measure.returns


@EVERY
def test_a_measure_can_be_planned_over_empty_tables(measure: Measure) -> None:
    # Else every column would count as one it cannot do without.
    given = {argument: dictionary.table(name).empty().lazy() for argument, name in measure.takes.items()}
    for settings in dictionary.choices(measure):
        assert measure.function(**given, **settings).collect_schema() == measure.result.schema


def test_a_docstring_comes_apart_into_its_sections() -> None:
    doc = docstrings.parse(
        """Count calls: all of them.

        Why it
        matters.

        And how.

        Args:
            calls: conforms to TOOL_CALLS;
                broken lines are one.
            top: rows kept.

        Returns:
            Conforms to COUNTS: in order.

        Raises:
            ValueError: never.
        """
    )
    assert doc.summary == "Count calls: all of them."
    assert doc.text == "Why it matters.\n\nAnd how."
    assert doc.arguments == {"calls": "conforms to TOOL_CALLS; broken lines are one.", "top": "rows kept."}
    assert doc.returns == "Conforms to COUNTS: in order."
    assert docstrings.parse("") == docstrings.Doc()


def test_the_page_holds_every_measure_with_its_columns_and_every_shared_idea() -> None:
    page = words.method_page()
    for question, measure in MEASURES:
        assert f"\n### {question.name}.{measure.name}\n" in page
        for column in measure.result:
            assert words._cell(column.meaning) in page
    for one in method.ideas():
        assert f"\n### {one.name}\n" in page
    assert "Wilson" in page
    assert "conforming to TOOL" not in page, "results go by the name of their table, not of a constant"
