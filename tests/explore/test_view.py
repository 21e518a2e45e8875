"""The view without a browser: who is told what, and what comes back to Python."""

from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from analysis import load
from analysis.explore import explore, widgets
from analysis.explore.figures import PICK, ROWS
from analysis.explore.view import View
from tests.explore.people import HOSTILE, loaded

pytestmark = pytest.mark.slow

# What the browser sends when something is clicked, or dragged over.
CLICK, DRAG = "name", "start"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    return explore(loaded())


@pytest.fixture(autouse=True)
def nothing_chosen(view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    view.select()


def clicked(view: View, column: str, *names: str) -> None:
    """As the chart's widget hears it from the browser."""
    points = [{CLICK: name} for name in names]
    _send(view, column, {"vlPoint": {"or": points}} if points else {}, [{"values": [name]} for name in names])


def dragged(view: View, column: str, *span: float) -> None:
    _send(view, column, {DRAG: list(span)} if span else {}, [])


def _send(view: View, column: str, value: Any, store: list[Any]) -> None:
    figure = next(figure for figure in view._figures.values() if column in figure._rows)
    told = figure.widget._vl_selections
    figure.widget._vl_selections = {**told, PICK + column: {"value": value, "store": store}}


def rows(view: View) -> list[int]:
    return [int(id_.split("-")[1]) for id_ in view.selected["trajectory_id"]]


def figure_rows(view: View, figure: str, column: str) -> Any:
    return getattr(view._figures[figure].widget.params, ROWS + column)


def listed(view: View) -> list[str]:
    frame = view._table.widget.df
    assert frame is not None
    return list(frame["trajectory"])


def test_at_first_everything_is_selected_and_listed(view: View) -> None:
    assert rows(view) == [0, 1, 2, 3]
    assert listed(view) == view.selected["trajectory_id"].to_list()


def test_a_click_comes_back_as_a_frame_and_changes_the_figures_beside_and_the_table(view: View) -> None:
    clicked(view, "env_id", "bank")
    assert rows(view) == [0, 1]
    assert listed(view) == view.selected["trajectory_id"].to_list()
    assert figure_rows(view, "tools_called", "tools_called") == [["look", 2, 2], ["pay", 1, 2]]
    assert [row[:2] for row in figure_rows(view, "env_id", "env_id")] == [["bank", 2], [HOSTILE, 1], ["shop", 1]]
    clicked(view, "tools_called", "pay")
    assert rows(view) == [1]
    clicked(view, "env_id")
    assert rows(view) == [1, 2]


def test_a_drag_takes_the_whole_numbers_under_it_and_a_click_beside_lets_go(view: View) -> None:
    dragged(view, "errors", 0.6, 2.4)
    assert view.selection.ranges == {"errors": (1, 2)}
    assert rows(view) == [1, 2]
    dragged(view, "errors", 2.4, 1.6)
    assert view.selection.ranges == {"errors": (2, 2)}, "dragged from right to left"
    dragged(view, "errors", 1.2, 1.4)
    assert not view.selection.ranges, "no whole number under it"
    dragged(view, "errors", 1.6, 2.4)
    dragged(view, "errors")
    assert rows(view) == [0, 1, 2, 3]


def test_older_rows_that_the_browser_reports_are_sent_again(view: View) -> None:
    before = figure_rows(view, "tools_called", "tools_called")
    clicked(view, "env_id", "bank")
    wanted = figure_rows(view, "tools_called", "tools_called")
    assert wanted != before
    view._figures["tools_called"].widget._params = {ROWS + "tools_called": before}
    assert figure_rows(view, "tools_called", "tools_called") == wanted


def test_choosing_from_python_marks_the_figures_and_replaces_what_was_chosen(view: View) -> None:
    clicked(view, "env_id", "bank")
    view.select("refund", tools_called="pay", errors=(1, 5))
    assert view.selection.sentence() == "calls pay, failed calls 1 to 5, “refund”"
    spec = str(view._figures["tools_called"].widget.spec)
    assert "'value': [{'name': 'pay'}]" in spec
    assert "{'x': [0.5, 5.5]}" in str(view._figures["lengths"].widget.spec)
    assert view._words.value == "refund"
    view._all.click()
    assert rows(view) == [0, 1, 2, 3]
    assert view._words.value == ""


def test_words_typed_choose(view: View) -> None:
    view._words.value = "shop"
    assert rows(view) == [2]
    assert "“shop”" in view._said.value


def test_a_row_chosen_shows_its_transcript_and_words_are_found_in_it(view: View) -> None:
    view._table.widget.selected_rows = [1]
    assert view.trajectory == "00000-00001"
    assert "no funds" in view._page.value
    view._find.value = "refund"
    assert "found 1 time" in view._page.value
    assert "<mark" in view._page.value
    clicked(view, "env_id", "bank")
    assert view._table.widget.selected_rows == [1], "still chosen among fewer rows"
    view._table.widget.selected_rows = [0]
    assert view.trajectory == "00000-00000"
    view._find.value = ""


def test_a_trajectory_can_be_read_from_python_and_one_that_is_not_there_cannot(view: View) -> None:
    view.read("00000-00002")
    assert view._table.widget.selected_rows == [2]
    with pytest.raises(KeyError, match="no trajectory 00009-00000"):
        view.read("00009-00000")


def test_a_source_that_changed_is_said_where_the_transcript_would_stand() -> None:
    data = loaded()
    view = explore(data)
    Path(data.source).write_text("[]", encoding="utf-8")
    view.read("00000-00000")
    assert "changed since it was loaded" in view._page.value


def test_strings_of_the_source_are_text_in_table_transcript_and_sentence(view: View) -> None:
    clicked(view, "env_id", HOSTILE)
    view._table.widget.selected_rows = [0]
    for html in (view._page.value, view._said.value):
        assert "&lt;img src=x" in html
        assert "<img" not in html
    assert "<img" not in view._table.widget._dt_args["data_json"]


def test_a_saved_selection_is_a_source_of_exactly_these(view: View) -> None:
    clicked(view, "tools_called", "pay")
    view._name.value = "payers"
    view._save.click()
    assert "source = &#x27;payers.subset.toml&#x27;" in view._saved.value
    part = load("payers.subset.toml")
    assert part.trajectories.collect()["trajectory_id"].to_list() == ["00000-00001", "00000-00002"]
    assert "(calls pay)" in part.narrowing
    assert_frame_equal(explore(part).selected, view.selected)
    view._save.click()
    assert "there is a subset of that name" in view._saved.value


def test_a_subset_of_a_subset_names_the_source_itself_and_both_choices(view: View) -> None:
    view.select(tools_called="pay").save("payers")
    explore(load("payers.subset.toml")).select(errors=2).save("fewer")
    fewer = load("fewer.subset.toml")
    assert fewer.trajectories.collect()["trajectory_id"].to_list() == ["00000-00002"]
    assert fewer.narrowing.endswith("trajectories.json (calls pay, failed calls 2)")


@pytest.mark.parametrize(("name", "message"), [("", "no name for a subset"), ("../up", "no name for a subset")])
def test_what_cannot_be_saved_is_said_beside_the_button(view: View, name: str, message: str) -> None:
    view._name.value = name
    view._save.click()
    assert message in view._saved.value
    view.select("nowhere")
    with pytest.raises(ValueError, match="nothing is selected"):
        view.save("none")


def test_without_a_kernel_the_output_says_what_it_was(view: View) -> None:
    bundle = view.select(env_id="bank")._repr_mimebundle_()
    assert bundle["text/plain"].startswith("2 of 4 trajectories: environment bank. Run this notebook")
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_an_empty_source_can_be_looked_at() -> None:
    view = explore(loaded().where(traj_type="conversation", env_id="shop"))
    assert view.selected.is_empty()
    assert "<b>0</b> of 0 trajectories" in view._said.value


def test_the_charts_library_is_inside_and_nothing_is_fetched() -> None:
    script = str(widgets.offline_chart()._esm)
    assert "esm.sh" not in script
    assert "cdn.jsdelivr.net" not in script.rsplit("export", maxsplit=1)[-1]
    assert len(script) > 500_000


def test_a_misspelt_value_is_refused_with_the_nearest_and_nothing_changes(view: View) -> None:
    view.select(env_id="bank")
    for facet, value in {"env_id": "bnak", "tools_called": "pya", "traj_type": "conversatoin"}.items():
        with pytest.raises(ValueError, match=f"no trajectory has {facet} '{value}'; (nearest:|there are)"):
            view.select(**{facet: value})
    assert rows(view) == [0, 1]


def test_the_choice_is_tables_at_once(view: View) -> None:
    view.select(tools_called="pay")
    assert view.subset.trajectories.collect()["trajectory_id"].to_list() == view.selected["trajectory_id"].to_list()
    assert view.subset.tool_calls.collect().height == view.selected["tool_calls"].sum()
