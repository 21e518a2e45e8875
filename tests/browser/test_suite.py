"""The suite's own pages, made as the command line makes them, opened in Chromium with the network cut off."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import step, tool, trajectory

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]

REPORTS = ("00_overview", "10_tool_usage", "20_step_lengths", "30_coverage")
HOSTILE = "</script><img src=x onerror=alert(1)>"
LARGEST_PAGE = 700_000
# Marks that carry data; axes, grids and titles have other roles. Counts in place of rates are drawn as text.
MARKS = ", ".join(f"svg g[class*='mark-'].role-mark > {shape}" for shape in ("path", "line", "text"))


def made(folder: Path, source: str, root: Path) -> Path:
    """Run the command line on a source; return the folder of pages."""
    command = [sys.executable, "-m", "analysis", "report", source, "--out", str(folder / "html"), "--jobs", "2"]
    only = [word for name in REPORTS for word in ("--only", name)]
    run = subprocess.run([*command, *only], cwd=root, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "html"


def opened(chromium: "Browser", path: Path) -> tuple["Page", list[str]]:
    """(page, what it should not have done): requests beyond the file, console messages, dialogs, errors."""
    page = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900}).new_page()
    heard: list[str] = []
    page.on(
        "request", lambda request: None if request.url.startswith(("file:", "data:")) else heard.append(request.url)
    )
    page.on("console", lambda message: heard.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: heard.append(f"error: {error}"))

    def dismissed(dialog: Any) -> None:
        heard.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", dismissed)
    page.goto(path.as_uri())
    page.wait_for_function(
        "[...document.querySelectorAll('figure.chart')].every(f => f.querySelector('svg.marks'))", timeout=60_000
    )
    return page, heard


def check(chromium: "Browser", pages: Path) -> None:
    for name in REPORTS:
        path = pages / f"{name}.html"
        assert path.stat().st_size < LARGEST_PAGE
        page, heard = opened(chromium, path)
        figures = page.query_selector_all("figure.chart")
        assert len(figures) >= 2, name
        for figure in figures:
            assert figure.query_selector_all(MARKS), f"{name} drew no mark: {figure.inner_text()[:200]}"
        assert heard == [], name
        page.context.close()


def test_the_sample_s_pages_are_drawn_offline_in_silence(chromium: "Browser", tmp_path: Path, root: Path) -> None:
    pages = made(tmp_path, "sample", root)
    check(chromium, pages)
    for name in REPORTS:
        assert "SYNTHETIC SAMPLE" in opened(chromium, pages / f"{name}.html")[0].inner_text("body").upper()


def test_real_records_pages_are_drawn_offline_in_silence(
    chromium: "Browser", tmp_path: Path, root: Path, shared_data: Path
) -> None:
    check(chromium, made(tmp_path, str(shared_data / "tau_bench_airline_gpt4o.json"), root))


def test_a_hostile_tool_is_shown_as_text(chromium: "Browser", tmp_path: Path, root: Path) -> None:
    records = [
        trajectory(
            f"t{n}",
            env_id=f"env_{n % 3}<b>bold</b>",
            steps=[step(HOSTILE, error=HOSTILE), step("get_user"), step(says="Task Completed")],
            tools=[tool(HOSTILE), tool("get_user"), tool("never")],
        )
        for n in range(30)
    ]
    (tmp_path / "hostile.json").write_text(json.dumps(records), encoding="utf-8")
    pages = made(tmp_path, str(tmp_path / "hostile.json"), root)
    check(chromium, pages)
    page, heard = opened(chromium, pages / "10_tool_usage.html")
    assert HOSTILE in page.inner_text("body")
    assert page.query_selector_all("img[onerror], b:text('bold')") == []
    assert heard == []
