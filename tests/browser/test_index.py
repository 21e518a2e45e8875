"""The index over the pages of many environments, opened in Chromium: sorted by a click or a key, quiet, accessible."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.report.folder import Entry, Folder, Group, Overview
from tests.browser.opening import opened, violations
from tests.test_report import HOSTILE, PROVENANCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SPREAD = (1.0, 4.0, 7.5, 9.0, 19.0)
GROUPS = [
    Group("env_2", 12, 3, 90, 80, 8, SPREAD, [0, 3, 9]),
    Group("env_10", 7, 0, 100, 100, 5, SPREAD, [4, 3, 0]),
    Group(HOSTILE, 1, 1, 3, 3, 1, SPREAD, [1, 0, 0]),
]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    entries = [
        Entry(f"a--{n}", f"Tool usage: {group.value}", "D.", f"a--{n}.html", group=group.value)
        for n, group in enumerate(GROUPS)
    ]
    folder = Folder(tmp_path, PROVENANCE, entries, Overview("env_id", "trajectories by steps", GROUPS))
    folder.begin()
    for entry in entries[:2]:
        folder.make(entry.name, "<!doctype html><title>page</title>")
    folder.fail(entries[2].name, f"the kernel died {HOSTILE}")
    folder.end()
    return folder.index


def environments(page: "Page") -> list[str]:
    return page.locator("table.sortable tbody th").all_inner_texts()


def test_the_overview_is_sorted_by_click_and_key_and_what_is_absent_comes_last(
    chromium: "Browser", index: Path
) -> None:
    with opened(chromium, index) as seen:
        assert environments(seen.page) == ["env_2", "env_10", HOSTILE]
        rate = seen.page.get_by_role("button", name="error rate")
        rate.click()
        assert environments(seen.page) == ["env_2", "env_10", HOSTILE]
        rate.press("Enter")
        assert environments(seen.page) == ["env_10", "env_2", HOSTILE]
        assert seen.page.get_by_role("columnheader", name="error rate").get_attribute("aria-sort") == "ascending"
        seen.page.get_by_role("button", name="env_id").click()
        assert environments(seen.page)[1:] == ["env_2", "env_10"], "2 before 10"
        seen.assert_quiet()


def test_the_index_is_for_everyone(chromium: "Browser", index: Path) -> None:
    for scheme in ("light", "dark"):
        with opened(chromium, index, color_scheme=scheme) as seen:
            assert violations(seen.page) == [], scheme
            assert seen.page.get_by_role("img").first.get_attribute("aria-label") == GROUPS[0].spread
            assert "the kernel died" in seen.page.inner_text(".failures")
            seen.assert_quiet()
    with opened(chromium, index, viewport={"width": 320, "height": 640}, java_script_enabled=False) as seen:
        assert seen.page.get_by_role("link", name="Tool usage of env_2").get_attribute("href") == "a--0.html"
        assert seen.page.locator(".sortable button").count() == 0
    with opened(chromium, index, viewport={"width": 320, "height": 640}) as seen:
        assert seen.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
