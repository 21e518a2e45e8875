"""What several test folders share: real records, the suite's pages of the sample, a browser without a network."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The same examples each time, and no stopwatch: how fast a shared machine is today is not what the tests are about.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"
SHARED_CASES = ROOT.parent / "shared" / "cases"
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


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """The folder of small inputs that were once misread."""
    if not SHARED_CASES.is_dir():
        pytest.skip("no ../shared/cases beside the project: the tests on these inputs did not run")
    return SHARED_CASES


@pytest.fixture
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own: nothing in it has been decoded yet."""
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path_factory.mktemp("cache")))


@contextmanager
def disk(place: Path, size: str) -> Iterator[Path]:
    """A file system of its own of this size; only root may mount one."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a file system: root has it")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@dataclass(frozen=True)
class Suite:
    """Every report of the suite on one source: a folder of pages, and one of the notebooks they are made of."""

    html: Path
    executed: Path

    @property
    def pages(self) -> list[Path]:
        """The pages, the index among them."""
        return sorted(self.html.glob("*.html"))


def report(source: str, folder: Path, *only: str) -> Suite:
    """Make reports as the command line makes them, from any folder; all of the suite unless some are named."""
    made = Suite(folder / "html", folder / "executed")
    command = [sys.executable, "-m", "analysis", "report", source, "--quiet", "--jobs", "2"]
    command += ["--out", str(made.html), "--executed", str(made.executed)]
    command += [word for name in only for word in ("--only", name)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return made


@pytest.fixture(scope="session")
def sample_suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Every report of the suite on the sample, made once for all workers: nobody may change it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sample_suite"
    with FileLock(f"{folder}.lock"):
        if not (folder / "made").exists():
            folder.mkdir(exist_ok=True)
            report("sample", folder)
            (folder / "made").touch()
    return Suite(folder / "html", folder / "executed")


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
