"""The data dictionary: every table and column with what is declared of it, and the questions that use it."""

import polars as pl
import pytest

from analysis import schema
from analysis.measures import claims
from analysis.records.rules import RULES
from analysis.reference import dictionary, method, words
from analysis.schema import TOOL_CALLS, TRAJECTORIES, Column, Table, conform

DECLARED = {value.name: value for value in vars(schema).values() if isinstance(value, Table)}


def used(table: Table) -> dict[str, str | None]:
    return dict(dictionary.columns(table).select("column", "used_by").iter_rows())


def test_every_table_of_the_schema_is_in_the_dictionary() -> None:
    assert {table.name: table for table in dictionary.KEPT} == DECLARED


@pytest.mark.parametrize("table", dictionary.KEPT, ids=lambda table: table.name)
def test_every_column_stands_with_its_meaning_unit_and_whether_it_may_be_null(table: Table) -> None:
    told = conform(dictionary.columns(table), dictionary.COLUMNS)
    assert told.select("column", "unit", "nullable", "meaning").rows() == [
        (column.name, column.unit, column.nullable, column.meaning) for column in table
    ]


def test_the_frames_conform_to_what_they_declare() -> None:
    for frame, table in (
        (dictionary.tables(), dictionary.TABLES),
        (dictionary.rules(), dictionary.RULES),
        (dictionary.claims(), dictionary.CLAIMS),
    ):
        assert conform(frame, table).equals(frame)


def test_a_question_uses_the_columns_it_cannot_do_without_and_no_others() -> None:
    assert used(TOOL_CALLS)["error"] == "outcomes, masks"
    assert used(TOOL_CALLS)["arguments_class"] == "arguments"
    assert used(TRAJECTORIES)["task"] == "duplicates, rewards"
    # Every question looks at modes or environments; where a record stands in its file is for readers of records.
    assert used(TRAJECTORIES)["origin"] is None
    assert "tool_usage" in str(used(TRAJECTORIES)["tools_offered"])


def without_each_column(measure: method.Measure) -> set[tuple[str, str]]:
    """What a measure needs, by leaving out one column after another."""
    needed = set()
    kept = {table.name for table in dictionary.KEPT}
    for settings in dictionary.choices(measure):
        given = {argument: dictionary.table(name).empty().lazy() for argument, name in measure.takes.items()}
        for argument, name in measure.takes.items():
            for column in dictionary.table(name).names if name in kept else ():
                try:
                    measure.function(**settings, **{**given, argument: given[argument].drop(column)}).collect_schema()
                except pl.exceptions.PolarsError:
                    needed.add((name, column))
    return needed


@pytest.mark.parametrize("question", ["outcomes", "compare", "sequences", "training_budget"])
def test_columns_left_out_together_tell_the_same_as_one_after_another(question: str) -> None:
    (asked,) = [one for one in method.questions() if one.name == question]
    needed = [without_each_column(measure) for measure in asked.measures]
    assert [dictionary.needs([measure]) for measure in asked.measures] == needed
    assert dictionary.needs(asked.measures) == set().union(*needed)


def test_results_of_measures_are_tables_too() -> None:
    assert dictionary.table("tool_usage_busiest").grain == "tool among the most called"
    with pytest.raises(KeyError, match="no_such"):
        dictionary.table("no_such")


def test_rules_and_claims_are_those_that_are_checked() -> None:
    assert dictionary.rules().rows() == [tuple(rule) for rule in RULES]
    assert dictionary.claims().height == len(list(claims.published()))


def test_an_enum_is_told_by_its_values() -> None:
    assert dictionary.dtype(TOOL_CALLS["outcome"]) == "Enum: ok, error, unknown"
    assert dictionary.dtype(TOOL_CALLS["step"]) == "UInt32"


def test_markdown_holds_every_table_rule_and_claim() -> None:
    page = words.dictionary_page()
    for table in dictionary.KEPT:
        assert f"\n## {table.name}\n\nOne row per {table.grain}." in page
    assert page.count("\n| ") >= sum(len(table.columns) for table in dictionary.KEPT) + len(RULES)


def test_a_cell_of_markdown_cannot_end_its_row_or_begin_a_tag() -> None:
    odd = Table("odd", "thing", (Column("what", pl.String(), "text"),))
    grid = words.grid(pl.DataFrame({"what": ["a | b\n<b>*c*</b> [d](e)"]}), odd)
    assert grid.splitlines() == ["| what |", "| --- |", r"| a \| b \<b\>\*c\*\</b\> \[d\](e) |"]


@pytest.mark.parametrize("width", [40, 72, 200])
def test_a_terminal_is_filled_and_never_overrun(width: int) -> None:
    lines = words.described(TOOL_CALLS, width).splitlines()
    assert max(map(len, lines)) <= max(width, words.NARROWEST)
    assert lines[0].startswith("tool_calls: One row per tool call")
    assert "  arguments_form" in lines
    assert "      String (may be null)" in lines
