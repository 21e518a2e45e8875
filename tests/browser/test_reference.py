"""The method, the dictionary and the documentation of the API as a colleague opens them: offline, by axe, narrow."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.reference import dictionary, json_schema, method

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PAGES = ("95_method", "96_dictionary")
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The two pages, as the command line makes them."""
    out = tmp_path_factory.mktemp("reference") / "html"
    command = [sys.executable, "-m", "analysis", "report", "sample", "--quiet", "--out", str(out)]
    command += ["--executed", str(out.parent / "executed"), *(word for name in PAGES for word in ("--only", name))]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return out


def opened(chromium: "Browser", path: Path, width: int = 1280) -> tuple["Page", list[str]]:
    page = chromium.new_context(offline=True, viewport={"width": width, "height": 900}).new_page()
    heard: list[str] = []
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else heard.append(asked.url))
    page.on("console", lambda message: heard.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: heard.append(f"error: {error}"))
    page.goto(path.as_uri())
    return page, heard


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_silent_and_axe_finds_nothing(chromium: "Browser", folder: Path, name: str) -> None:
    page, heard = opened(chromium, folder / f"{name}.html")
    # Evaluated, not added as a script: the page's policy lets none in.
    page.evaluate(AXE)
    violations = page.evaluate("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))")
    assert violations == []
    assert heard == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone(chromium: "Browser", folder: Path, name: str) -> None:
    page, _ = opened(chromium, folder / f"{name}.html", width=320)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_pages_and_the_index_lead_to_each_other(chromium: "Browser", folder: Path) -> None:
    page, _ = opened(chromium, folder / "index.html")
    page.click("a:text('Method')")
    page.click("nav.suite a:text('Data dictionary')")
    assert page.inner_text("h1") == "Data dictionary"
    page.click("nav.suite a:text('All reports')")
    assert page.url.endswith("/index.html")


def test_every_measure_and_every_table_has_a_heading_and_its_columns(chromium: "Browser", folder: Path) -> None:
    page, _ = opened(chromium, folder / "95_method.html")
    headings = {text.removesuffix("#").strip() for text in page.locator("main :is(h2, h3)").all_inner_texts()}
    captions = page.locator("caption").all_inner_texts()
    for question in method.questions():
        assert question.title in headings
        for measure in question.measures:
            assert f"{question.name}.{measure.name}" in headings
            assert f"{question.name}.{measure.name}: columns of {measure.result.name}" in captions
    page, _ = opened(chromium, folder / "96_dictionary.html")
    for table in dictionary.KEPT:
        body = page.locator("table", has=page.locator(f"caption:text-is('Columns of {table.name}')"))
        assert body.locator("tbody td:first-child").all_text_contents() == table.names


def test_the_schemas_lie_beside_the_pages(folder: Path) -> None:
    assert {path.stem for path in (folder / "schemas").iterdir()} == set(json_schema.published())
