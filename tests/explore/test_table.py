"""What the table is given to show."""

import polars as pl
import pytest

from analysis.explore import widgets
from tests.explore.people import HOSTILE, frame


@pytest.fixture(scope="module")
def runs() -> pl.DataFrame:
    return frame()


def test_environments_sort_naturally_by_a_column_that_is_not_shown(runs: pl.DataFrame) -> None:
    ids = pl.Series(["env_10", "env_2", "env_1", "env_2"])
    shown = widgets.shown(runs.with_columns(env_id=ids))
    assert shown[widgets.PLACE].to_list() == [2, 1, 0, 1]
    kinds = widgets._kinds(shown)
    at = {name: place for place, name in enumerate(shown.columns)}
    assert {"targets": at[widgets.PLACE], "visible": False} in kinds
    assert {"targets": at["environment"], "orderData": [at[widgets.PLACE]]} in kinds


def test_long_tasks_are_cut_and_columns_without_a_value_left_out(runs: pl.DataFrame) -> None:
    long = runs.with_columns(task=pl.lit("x" * 500), task_id=pl.lit(None, pl.String))
    shown = widgets.shown(long)
    assert shown["task"].unique().to_list() == ["x" * widgets.TASK_SHOWN + "…"]
    assert "scenario" not in shown.columns
    exact = runs.with_columns(task=pl.lit("x" * widgets.TASK_SHOWN))
    assert not widgets.shown(exact)["task"].str.ends_with("…").any()


def test_nothing_is_shown_of_nothing(runs: pl.DataFrame) -> None:
    shown = widgets.shown(runs.clear())
    assert shown.is_empty()
    assert "trajectory" in shown.columns


def test_no_string_of_the_source_reaches_what_the_browser_evaluates(runs: pl.DataFrame) -> None:
    table = widgets.RunTable(lambda _: None)
    table.show(runs)
    given = table.widget._dt_args
    evaluated = str(given.get("keys_to_be_evaluated", "")) + str(given["columnDefs"])
    assert HOSTILE not in evaluated
    assert "function" not in evaluated
    assert "<img" not in given["data_json"]
    assert "&lt;img" in given["data_json"]
