"""What several test folders share: where the real records lie, and a browser with the network cut off."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The same examples each time, and no stopwatch: how fast a shared machine is today is not what the tests are about.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real records written by others; they may not be copied into the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no ../shared/data beside the project: the tests on real records did not run")
    return SHARED_DATA


# Per module, not per session: while Playwright's synchronous API is up an event loop counts as running in this thread,
# and code under test in other modules that starts its own (nbclient) would see it.
@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """A headless Chromium that resolves no name but 127.0.0.1; open a fresh `chromium.new_context()` in each test."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        reason = "no Chromium on the PATH: the browser tests did not run (make browser installs one)"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  half a second that only browser tests pay

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            # Root, as in containers, cannot use Chromium's sandbox; the pages are our own.
            chromium_sandbox=os.geteuid() != 0,
            args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
        )
        yield browser
        browser.close()
