"""The suite's own pages, made as the command line makes them, opened in Chromium with the network cut off."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.opening import marks, opened, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# Of real records these; the sample gets every report of the suite.
REAL = ("00_overview", "10_tool_usage", "20_step_lengths", "30_coverage")
KB = 1024
LARGEST_PAGE = 700 * KB


def made(folder: Path, source: str, root: Path, *only: str) -> list[Path]:
    """Run the command line on a source; return the pages, the index among them."""
    command = [sys.executable, "-m", "analysis", "report", source, "--out", str(folder / "html"), "--jobs", "2"]
    command += ["--executed", str(folder / "executed"), *(word for name in only for word in ("--only", name))]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return sorted((folder / "html").glob("*.html"))


@pytest.fixture(scope="module")
def sample_pages(tmp_path_factory: pytest.TempPathFactory, root: Path) -> list[Path]:
    pages = made(tmp_path_factory.mktemp("sample"), "sample", root)
    assert len(pages) > len(REAL)
    return pages


def test_the_sample_s_pages_are_drawn_offline_in_silence_and_say_what_they_are(
    chromium: "Browser", sample_pages: list[Path]
) -> None:
    for path in sample_pages:
        with opened(chromium, path) as seen:
            drawn = marks(seen.page)
            assert all(drawn), f"{path.name}: a chart without a mark: {drawn}"
            if "Synthetic" in path.read_text(encoding="utf-8"):
                assert "SYNTHETIC SAMPLE" in seen.page.inner_text("body").upper()[:400], path.name
            seen.page.set_viewport_size({"width": 320, "height": 640})
            # The page waits a moment for the window to rest before it draws anew.
            seen.page.wait_for_timeout(250)
            seen.page.wait_for_function("() => document.documentElement.dataset.work !== 'drawing'")
            over = seen.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, f"{path.name}: {over} px too wide for a phone"
            seen.assert_quiet()


def test_axe_finds_nothing_on_any_page_of_the_suite(chromium: "Browser", sample_pages: list[Path]) -> None:
    """In light; what the dark does to every kind of piece, test_pages asks of the page that holds them all."""
    for path in sample_pages:
        with opened(chromium, path) as seen:
            assert violations(seen.page) == [], path.name


def test_a_page_of_ten_charts_weighs_at_most_600_kb(sample_pages: list[Path]) -> None:
    for path in sample_pages:
        charts = path.read_text(encoding="utf-8").count('<figure class="chart"')
        assert path.stat().st_size <= (600 * KB if charts <= 10 else LARGEST_PAGE), (path.name, charts)


def test_every_page_is_narrowed_in_silence(chromium: "Browser", sample_pages: list[Path]) -> None:
    """By the first and last value of each choice a page offers; what has no row of it says so and draws nothing."""
    narrowed = 0
    for path in sample_pages:
        with opened(chromium, path) as seen:
            for select in seen.page.locator(".filters select").all():
                values = list(select.locator("option").evaluate_all("all => all.map((one) => one.value)"))
                for value in (values[1], values[-1]):
                    select.select_option(value)
                    seen.page.wait_for_function("() => document.documentElement.dataset.work !== 'drawing'")
                    assert all(marks(seen.page)), f"{path.name} narrowed to {value}"
                    narrowed += 1
            seen.assert_quiet()
    assert narrowed >= 10


def test_real_records_pages_are_drawn_offline_in_silence(
    chromium: "Browser", tmp_path: Path, root: Path, shared_data: Path
) -> None:
    for path in made(tmp_path, str(shared_data / "tau_bench_airline_gpt4o.json"), root, *REAL):
        assert path.stat().st_size <= LARGEST_PAGE
        with opened(chromium, path) as seen:
            assert all(marks(seen.page)), path.name
            seen.assert_quiet()
