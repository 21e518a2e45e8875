"""The suite's own pages, made as the command line makes them, opened in Chromium with the network cut off.

A page is opened once: what is done to it in one test, the next undoes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.reference import dictionary, method
from analysis.report.suite import read_suite
from tests.browser.opening import Seen, marks, opened, violations
from tests.conftest import ROOT, Suite, report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# The method and the dictionary are about the project: nothing of them can be narrowed to a part of the sample.
REFERENCE = ("95_method", "96_dictionary")
# The sample has no rewards.
NAMES = ["index", *(one.name for one in read_suite() if one.name not in ("77_overlap", "82_replay", "87_rewards"))]
# Of real records these; the sample gets every report of the suite.
REAL = ("00_overview", "10_tool_usage", "20_step_lengths", "30_coverage")
KB = 1024
LARGEST_PAGE = 700 * KB


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def seen(chromium: "Browser", sample_suite: Suite, name: str) -> Iterator[Seen]:
    with opened(chromium, sample_suite.html / f"{name}.html") as page:
        yield page


def test_a_page_is_drawn_offline_in_silence(seen: Seen) -> None:
    drawn = marks(seen.page)
    assert all(drawn), f"a chart without a mark: {drawn}"
    seen.assert_quiet()


def test_a_page_says_that_its_records_are_made_up(seen: Seen) -> None:
    assert "synthetic sample" in seen.page.inner_text("body").lower()[:300]


def test_a_page_tells_no_path_of_this_machine_and_is_no_larger_than_a_mail_takes(
    sample_suite: Suite, name: str
) -> None:
    path = sample_suite.html / f"{name}.html"
    html = path.read_text(encoding="utf-8")
    assert str(ROOT) not in html
    charts = html.count('<figure class="chart"')
    assert path.stat().st_size <= (600 * KB if charts <= 10 else LARGEST_PAGE), charts


def test_axe_finds_nothing_on_a_page(seen: Seen, name: str) -> None:
    """In light; what the dark does to every kind of piece, test_pages asks of the page that holds them all."""
    assert violations(seen.page, everything=name in REFERENCE) == []


def test_a_page_is_narrowed_in_silence(seen: Seen, name: str) -> None:
    """By the first and last value of each choice a page offers; what has no row of it says so and draws nothing."""
    choices = seen.page.locator(".filters select").all()
    assert bool(choices) == (name not in ("index", *REFERENCE))
    for select in choices:
        values = list(select.locator("option").evaluate_all("all => all.map((one) => one.value)"))
        for value in (values[1], values[-1], values[0]):
            select.select_option(value)
            seen.page.wait_for_function("() => document.documentElement.dataset.work !== 'drawing'")
            assert all(marks(seen.page)), f"narrowed to {value}"
    seen.assert_quiet()


def test_a_page_fits_a_phone(seen: Seen) -> None:
    seen.page.set_viewport_size({"width": 320, "height": 640})
    # The page waits a moment for the window to rest before it draws anew.
    seen.page.wait_for_timeout(250)
    seen.page.wait_for_function("() => document.documentElement.dataset.work !== 'drawing'")
    assert seen.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    seen.assert_quiet()


def test_the_reference_and_the_index_lead_to_each_other(chromium: "Browser", sample_suite: Suite) -> None:
    with opened(chromium, sample_suite.html / "index.html") as seen:
        seen.page.click("a:text('Method')")
        seen.page.click("nav.suite a:text('Data dictionary')")
        assert seen.page.inner_text("h1") == "Data dictionary"
        seen.page.click("nav.suite a:text('All reports')")
        assert seen.page.url.endswith("/index.html")


def test_every_measure_and_every_table_has_a_heading_and_its_columns(chromium: "Browser", sample_suite: Suite) -> None:
    with opened(chromium, sample_suite.html / "95_method.html") as seen:
        headings, captions = texts(seen.page, "main :is(h2, h3)"), texts(seen.page, "caption")
    for question in method.questions():
        assert question.title in headings
        for measure in question.measures:
            assert f"{question.name}.{measure.name}" in headings
            assert f"{question.name}.{measure.name}: columns of {measure.result.name}" in captions
    with opened(chromium, sample_suite.html / "96_dictionary.html") as seen:
        for table in dictionary.KEPT:
            caption = seen.page.locator(f"caption:text-is('Columns of {table.name}')")
            body = seen.page.locator("table", has=caption)
            assert body.locator("tbody td:first-child").all_text_contents() == table.names


def texts(page: "Page", selector: str) -> set[str]:
    return {text.removesuffix("#").strip() for text in page.locator(selector).all_inner_texts()}


def test_real_records_pages_are_drawn_offline_in_silence(
    chromium: "Browser", tmp_path: Path, shared_data: Path
) -> None:
    for path in report(str(shared_data / "tau_bench_airline_gpt4o.json"), tmp_path, *REAL).pages:
        assert path.stat().st_size <= LARGEST_PAGE
        with opened(chromium, path) as seen:
            assert all(marks(seen.page)), path.name
            seen.assert_quiet()
