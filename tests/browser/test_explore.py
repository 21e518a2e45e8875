"""The notebook to explore with, in a real JupyterLab without a network, driven as a person drives it.

What Python holds is asked in a cell of the notebook, as a person would ask it.
"""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import nbformat
import pytest

from analysis import load
from tests.browser.test_lab import CONTRAST, Lab, jupyter_lab, opened, run_all, save, window
from tests.conftest import ROOT
from tests.explore.people import HOSTILE, records
from tests.waiting import until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Locator, Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTEBOOK = "explore.ipynb"
ENVIRONMENT = "env_13_sft"
# A cell that says what Python holds, between marks that nothing else in the page has.
ASK = "print(f\"<<{view.selected['trajectory_id'].to_list()}|{view.selection.sentence()}|{view.trajectory}>>\")"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("explore")
    folder = home / "notebooks"
    folder.mkdir()
    shutil.copy(ROOT / "notebooks" / NOTEBOOK, folder)
    shutil.copy(ROOT / "notebooks" / "85_transcripts.ipynb", folder)
    (folder / "hostile.json").write_text(json.dumps(records()), encoding="utf-8")
    with jupyter_lab(folder, home, theme="JupyterLab Dark") as running:
        yield running


@pytest.fixture(scope="module")
def page(chromium: "Browser", lab: Lab) -> "Iterator[Page]":
    with window(chromium, lab) as opened_window:
        opened_window.set_viewport_size({"width": 1440, "height": 1600})
        yield opened_window


@contextmanager
def running(page: "Page", lab: Lab, name: str) -> Iterator[None]:
    """The notebook, with all its cells run; saved at the end, so that nobody is asked whether to."""
    with opened(page, name):
        run_all(page)
        yield
        save(page, lab.folder / name)


def with_cells(lab: Lab, name: str, notebook: str = NOTEBOOK, ask: bool = True, **parameters: str) -> str:
    """A copy of a notebook with other parameters and, at the end, the cell that asks."""
    content = json.loads((ROOT / "notebooks" / notebook).read_text(encoding="utf-8"))
    for cell in content["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            lines = "".join(cell["source"]).splitlines()
            given = [f"{parameter} = {value!r}" for parameter, value in parameters.items()]
            cell["source"] = "\n".join([*lines, *given])
    if ask:
        content["cells"].append(nbformat.v4.new_code_cell(ASK, id="ask"))
    (lab.folder / name).write_text(json.dumps(content), encoding="utf-8")
    return name


def held(page: "Page") -> tuple[list[str], str, str]:
    """Ask Python: the ids selected, the choice in words, the trajectory that is read."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").last
    cell.locator(".cm-content").click()
    before = cell.locator(".jp-InputPrompt").inner_text()
    page.keyboard.press("Control+Enter")
    until(lambda: re.search(r"\d", text := cell.locator(".jp-InputPrompt").inner_text()) and text != before)
    (said,) = re.findall(r"<<(.*)>>", cell.locator(".jp-OutputArea-output").inner_text(), flags=re.DOTALL)
    ids, sentence, read = said.split("|")
    return json.loads(ids.replace("'", '"')), sentence, read


def figure(page: "Page", place: int) -> "Locator":
    """Environments, tools, lengths, mode and ending."""
    return page.locator(".tj-explore svg.marks").nth(place)


def click_name(page: "Page", place: int, name: str) -> None:
    figure(page, place).locator(f"path[aria-label^='name: {name};']").click()


def said(page: "Page") -> str:
    return page.locator(".tj-explore .tj-line").first.inner_text()


def listed(page: "Page") -> list[str]:
    """All ids of the table, gathered while it is scrolled from top to bottom."""
    ids: list[str] = page.evaluate(
        """async () => {
            const body = document.querySelector('.tj-explore .dt-scroll-body'), ids = new Set();
            for (let top = 0; ; top += 150) {
                body.scrollTop = top;
                await new Promise(resolve => setTimeout(resolve, 60));
                body.querySelectorAll('tbody tr td:first-child').forEach(cell => ids.add(cell.innerText));
                if (top > body.scrollHeight) return [...ids];
            }
        }"""
    )
    return sorted(ids)


def rows(page: "Page") -> "Locator":
    return page.locator(".tj-explore .dt-scroll-body tbody tr")


def test_choosing_reading_searching_and_keeping_a_part(page: "Page", lab: Lab) -> None:
    with running(page, lab, with_cells(lab, "driven.ipynb")):
        figure(page, 3).wait_for()
        rows(page).first.wait_for()
        everybody, _, _ = held(page)
        assert page.evaluate(CONTRAST) == [], "text too faint to read in the dark theme"

        click_name(page, 0, ENVIRONMENT)
        until(lambda: f"environment {ENVIRONMENT}" in said(page))
        of_environment, sentence, _ = held(page)
        assert sentence == f"environment {ENVIRONMENT}"
        chosen = load("sample").where(env_id=ENVIRONMENT).trajectories.collect()
        assert of_environment == chosen["trajectory_id"].to_list()
        until(lambda: f"{len(of_environment)} trajectories" in page.locator(".dt-info").inner_text())
        assert listed(page) == of_environment

        lengths = figure(page, 2)
        lengths.scroll_into_view_if_needed()
        box = lengths.bounding_box()
        assert box
        page.mouse.move(box["x"] + 100, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + 170, box["y"] + 40, steps=5)
        page.mouse.up()
        until(lambda: ", steps " in said(page))
        part, sentence, _ = held(page)
        (span,) = re.findall(r"steps (\d+) to (\d+)", sentence)
        in_span = chosen.filter(chosen["assistant_messages"].is_between(int(span[0]), int(span[1])))
        assert part == in_span["trajectory_id"].to_list()
        assert 0 < len(part) < len(of_environment)
        until(lambda: rows(page).count() == len(part))
        assert listed(page) == part
        tools = {name for names in _tools(part) for name in names}
        until(lambda: figure(page, 1).locator("path[aria-label^='name: ']").count() == len(tools), "the figure beside")
        counts = page.evaluate(COUNTS)
        assert counts == sorted(counts, reverse=True), "the figure beside is in order"

        rows(page).nth(1).click()
        page.locator(".tj-read .turn").first.wait_for()
        assert held(page)[2] == part[1]
        search = page.get_by_placeholder("Search in this transcript")
        search.fill("SUCCESS")
        search.press("Enter")
        page.locator(".tj-read mark").first.wait_for(state="attached")
        assert {word.lower() for word in page.locator(".tj-read mark").all_inner_texts()} == {"success"}
        hits = page.locator(".tj-read .hits a")
        assert hits.count() == page.locator(".tj-read mark").count() > 0
        hits.last.click()
        until(lambda: page.locator(".tj-read mark").last.evaluate(IN_SIGHT), "the last hit is scrolled to")

        page.get_by_placeholder("Name of a subset").fill("part")
        page.locator(".tj-explore button", has_text="Save").click()
        page.get_by_text("Saved. In any notebook here:").wait_for()
        page.get_by_role("button", name="Select all again").click()
        until(lambda: said(page).startswith("420 of 420"))
        assert held(page)[0] == everybody

    assert load(lab.folder / "part.subset.toml").trajectories.collect()["trajectory_id"].to_list() == part
    again = with_cells(lab, "again.ipynb", "85_transcripts.ipynb", ask=False, source="part.subset.toml")
    with running(page, lab, again):
        assert page.get_by_text(f"{len(part)} of the 420 trajectories of sample").count() > 0
        read = set(page.locator("details.transcript > summary b").all_inner_texts())
        assert read
        assert read <= set(part)


# Trajectories by tool, as the bars stand from top to bottom.
COUNTS = """() => [...document.querySelectorAll('.tj-explore svg.marks')[1]
    .querySelectorAll('path[aria-label^="name: "]')]
    .map(e => [e.getBoundingClientRect().top, +e.ariaLabel.match(/trajectories: ([\\d,]+)/)[1].replace(',', '')])
    .sort((a, b) => a[0] - b[0]).map(pair => pair[1])"""

# Whether an element lies inside the pane that scrolls it.
IN_SIGHT = """element => {
    const [box, pane] = [element, element.closest('.tj-read')].map(e => e.getBoundingClientRect());
    return box.top >= pane.top - 1 && box.bottom <= pane.bottom + 1;
}"""


def _tools(ids: list[str]) -> list[list[str]]:
    calls = load("sample").tool_calls.collect()
    return [calls.filter(calls["trajectory_id"] == id_)["tool_name"].drop_nulls().to_list() for id_ in ids]


def test_strings_of_the_source_stay_text_in_every_part_of_the_view(page: "Page", lab: Lab) -> None:
    ran: list[str] = []

    def note(dialog: "Dialog") -> None:
        ran.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    with running(page, lab, with_cells(lab, "hostile.ipynb", source="hostile.json")):
        rows(page).nth(3).wait_for()
        assert HOSTILE in rows(page).nth(3).inner_text()
        rows(page).nth(3).click()
        page.locator(".tj-read .turn").first.wait_for()
        figure(page, 0).locator("path[aria-label^='name: ']").last.wait_for(state="attached")
        figure(page, 0).locator("path[aria-label^='name: ']").nth(1).hover()
        page.locator("#vg-tooltip-element.visible").wait_for()
        figure(page, 0).locator("path[aria-label^='name: ']").nth(1).click()
        until(lambda: "environment " in said(page))
        page.get_by_placeholder("Search in this transcript").fill("<img")
        page.keyboard.press("Enter")
        page.locator(".tj-read mark").first.wait_for(state="attached")
        assert page.locator("img[src=x]").count() == 0
        assert ran == []


# The chart library is there only after six seconds.
DELAY = """() => {
    delete window.trajectoryCharts;
    let library;
    Object.defineProperty(window, 'trajectoryCharts', {
        configurable: true,
        get: () => library,
        set: loaded => { library = new Promise(resolve => setTimeout(() => resolve(loaded), 6000)); },
    });
}"""


def test_figures_that_start_late_show_what_was_chosen_meanwhile(page: "Page", lab: Lab) -> None:
    name = with_cells(lab, "late.ipynb")
    content = json.loads((lab.folder / name).read_text(encoding="utf-8"))
    content["cells"].insert(-1, nbformat.v4.new_code_cell(f"_ = view.select(env_id={ENVIRONMENT!r})", id="chosen"))
    (lab.folder / name).write_text(json.dumps(content), encoding="utf-8")
    page.evaluate(DELAY)
    with running(page, lab, name):
        page.locator(".tj-late").wait_for()
        assert "not up to date yet" in page.locator(".tj-late").inner_text()
        assert figure(page, 1).count() == 0
        figure(page, 3).wait_for()
        page.locator(".tj-late").wait_for(state="detached")
        part = load("sample").where(env_id=ENVIRONMENT).trajectories.collect()["trajectory_id"].to_list()
        assert held(page)[0] == part
        tools = {tool for names in _tools(part) for tool in names}
        until(lambda: figure(page, 1).locator("path[aria-label^='name: ']").count() == len(tools), "its tools only")
        click_name(page, 0, ENVIRONMENT)
        until(lambda: said(page).startswith("420 of 420"))


def test_names_are_reached_and_chosen_by_keys(page: "Page", lab: Lab) -> None:
    with running(page, lab, with_cells(lab, "keys.ipynb")):
        names = figure(page, 0).locator("path[aria-label^='name: ']")
        names.first.wait_for(state="attached")
        page.locator(".tj-explore [tabindex='0'][aria-label^='name: ']").first.focus()
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        page.keyboard.press("Enter")
        word = label.removeprefix("name: ").split(";")[0]
        until(lambda: f"environment {word}" in said(page))
        until(lambda: page.evaluate("document.activeElement.getAttribute('aria-label')") or "")
        page.keyboard.press("Space")
        until(lambda: said(page).startswith("420 of 420"))
