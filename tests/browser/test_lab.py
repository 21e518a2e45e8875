"""Every notebook in a real JupyterLab, driven as a person drives it: open, Run All, save, and open again elsewhere.

The second look is taken by another server with another identity, in the dark theme: a colleague who was sent the
executed file and has not trusted it.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from tests.conftest import ROOT, Suite
from tests.notebooks.run import charts, outputs
from tests.waiting import until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("[!.]*.ipynb"))
# One of each kind is run here: of tables, of many charts, of transcripts, of nothing to draw, of prose, of widgets; and
# what the suite leaves out unless asked. The others are opened as the suite has executed them, from the same cells and
# in the same kind of kernel.
RUN_HERE = [name for name in NOTEBOOKS if re.match("00|40|77|82|85|87|95|explore", name)]
RUN_BY_THE_SUITE = [name for name in NOTEBOOKS if name not in RUN_HERE]
TOKEN = "only-for-this-test"
TRACKER = "notebook-extension/tracker"
START_S = 60
RUN_ALL_S = 120

# Leaves below a mark group: what Vega drew for the data, without axes, legends and titles.
MARKS = """() => [...document.querySelectorAll('.jp-Notebook .vega-embed svg.marks')].map(
    svg => svg.querySelectorAll('.role-mark path, .role-mark text, .role-mark line, .role-mark image').length)"""

# The lowest contrast of table text and chart text against what lies behind it, by WCAG's formula.
CONTRAST = """() => {
    const rgb = text => (text.match(/[\\d.]+/g) || []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = element => {
        for (let e = element; e; e = e.parentElement) {
            const canvas = e.tagName === 'svg' && e.querySelector(':scope > rect[fill]');
            const paint = canvas ? getComputedStyle(canvas).fill : getComputedStyle(e).backgroundColor;
            const colour = rgb(paint);
            if (colour.length >= 3 && colour[3] !== 0) return colour;
        }
        return [255, 255, 255];
    };
    const ratio = (element, paint) => {
        const [a, b] = [light(rgb(paint)), light(behind(element))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
    };
    const kinds = ['td', 'th', 'p', 'dt', 'dd', 'summary', 'caption', 'code'].map(kind => '.jp-OutputArea ' + kind);
    const cells = [...document.querySelectorAll(kinds.join())]
        .filter(e => e.innerText.trim()).map(e => [e.innerText, ratio(e, getComputedStyle(e).color)]);
    const labels = [...document.querySelectorAll('.vega-embed .role-axis text, .vega-embed .role-title text')]
        .filter(e => e.textContent.trim()).map(e => [e.textContent, ratio(e, getComputedStyle(e).fill)]);
    return [...cells, ...labels].filter(([, value]) => value < 4.5);
}"""


# The pictures of a page of Markdown are there, and each of them is one.
PICTURES = """() => {
    const pictures = [...document.querySelectorAll('.jp-MarkdownViewer img')];
    return pictures.length > 0 && pictures.every(e => e.naturalWidth > 0);
}"""

# Cells of words that are not set from the left.
ASTRAY = """() => [...document.querySelectorAll('.jp-OutputArea .tj td:not(.n)')]
    .filter(e => !['start', 'left'].includes(getComputedStyle(e).textAlign)).map(e => e.innerText)"""

# Labels and values of definition lists that lie over one another, and short words of tables that are broken in two.
MUDDLED = """() => {
    const boxes = list => [...list.querySelectorAll('dt, dd')].map(e => {
        const words = document.createRange();
        words.selectNodeContents(e);
        return [e.innerText, [...words.getClientRects()]];
    });
    const over = (a, b) => a.some(p => b.some(q => Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1
        && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 3));
    // JupyterLab lays out what is in sight, and keeps old places of the rest.
    const laid = css => [...document.querySelectorAll('.jp-OutputArea ' + css)].filter(e => {
        const cell = e.closest('.jp-Cell');
        cell.style.contentVisibility = 'visible';
        return cell.checkVisibility();
    });
    const lists = laid('dl.tj').map(boxes);
    const overlapping = lists.flatMap(list => list.flatMap(([name, one], i) =>
        list.slice(i + 1).filter(([, other]) => over(one, other)).map(([other]) => name + ' / ' + other)));
    const broken = laid('.tj :is(td, th)').flatMap(e => {
        if (!e.firstChild || e.firstChild.nodeType !== 3) return [];
        return [...e.firstChild.data.matchAll(/[a-z]{2,20}/g)].filter(found => {
            const word = document.createRange();
            word.setStart(e.firstChild, found.index);
            word.setEnd(e.firstChild, found.index + found[0].length);
            return new Set([...word.getClientRects()].map(box => Math.round(box.top))).size > 1;
        }).map(found => found[0] + ' of ' + e.innerText);
    });
    return [...overlapping, ...broken];
}"""

# By how many pixels the widest output sticks out of its place.
OVERFLOW = """() => Math.max(...[...document.querySelectorAll('.jp-OutputArea-output')].map(
    e => e.scrollWidth - e.clientWidth))"""


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab that serves `folder`, and keeps in `home` whom it trusts."""

    address: str
    folder: Path
    home: Path

    def trust(self, notebook: str) -> None:
        """Sign a notebook, as `jupyter trust` does."""
        NotebookNotary(data_dir=str(self.home / "jupyter_data")).sign(nbformat.read(self.folder / notebook, 4))


@contextmanager
def jupyter_lab(folder: Path, home: Path, theme: str = "JupyterLab Light") -> Iterator[Lab]:
    """Start JupyterLab on a free port of 127.0.0.1 from a folder that is not the notebooks', set up as by `make lab`.

    Settings, runtime files and the key that signs trusted notebooks live in `home`, so that a person's own are neither
    read nor changed.
    """
    port = free_port()
    places = {
        f"{name}_DIR": str(home / name.lower())
        for name in (
            "JUPYTER_CONFIG",
            "JUPYTER_DATA",
            "JUPYTER_RUNTIME",
            "JUPYTERLAB_SETTINGS",
            "JUPYTERLAB_WORKSPACES",
        )
    }
    # A kernel ends with its tab, so that the last notebook's is not there beside the next one's.
    for plugin, setting in {"apputils-extension/themes": {"theme": theme}, TRACKER: {"kernelShutdown": True}}.items():
        path = home / "jupyterlab_settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(setting), encoding="utf-8")
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1"]
    options = {
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": folder,
        "ServerApp.allow_root": True,
        "IdentityProvider.token": TOKEN,
        "LabApp.app_settings_dir": ROOT / ".jupyter",
    }
    log = home / "log"
    with log.open("w", encoding="utf-8") as output:
        server = subprocess.Popen(
            [*command, *(f"--{name}={value}" for name, value in options.items())],
            cwd=elsewhere,
            env={**os.environ, **places, "IPYTHONDIR": str(home / "ipython")},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for_server(f"http://127.0.0.1:{port}", server, log)
        yield Lab(f"http://127.0.0.1:{port}", folder, home)
    finally:
        end(server)


def end(server: "subprocess.Popen[bytes]", *, group: bool = False) -> None:
    """Ask a server to end, with its group if it has one of its own; then make it.

    JupyterLab, asked while it answers somebody, may shut its kernels down and then wait for ever for one of its threads
    (jupyterlab/jupyterlab#10442): no fault of what was tested.
    """
    send = partial(os.killpg, server.pid) if group else server.send_signal
    send(signal.SIGTERM)
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        send(signal.SIGKILL)
        server.wait(timeout=START_S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def wait_for_server(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    def is_answering() -> bool:
        assert server.poll() is None, log.read_text(encoding="utf-8")
        try:
            urllib.request.urlopen(f"{address}/api", timeout=5).close()
        except OSError:
            return False
        return True

    until(is_answering, f"JupyterLab did not answer within {START_S} s", START_S)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("lab")
    folder = home / "notebooks"
    shutil.copytree(ROOT / "notebooks", folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    with jupyter_lab(folder, home) as running:
        yield running


@pytest.fixture(scope="module")
def colleagues_lab(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with jupyter_lab(lab.folder, tmp_path_factory.mktemp("colleague"), theme="JupyterLab Dark") as running:
        yield running


@contextmanager
def window(chromium: "Browser", lab: Lab) -> "Iterator[Page]":
    """JupyterLab in a fresh browser window, which may ask nobody but this machine."""
    context = chromium.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{lab.address}/lab?token={TOKEN}")
    yield page
    assert not [url for url in asked if not re.match(r"(http://127\.0\.0\.1:|data:|blob:)", url)]
    context.close()


@pytest.fixture(scope="module")
def here(chromium: "Browser", lab: Lab) -> "Iterator[Page]":
    with window(chromium, lab) as page:
        yield page


@pytest.fixture(scope="module")
def there(chromium: "Browser", colleagues_lab: Lab) -> "Iterator[Page]":
    with window(chromium, colleagues_lab) as page:
        yield page


@contextmanager
def opened(page: "Page", notebook: str, *, runs: bool = True) -> Iterator[None]:
    """The notebook by itself in the window, with its kernel ready if it is to run; afterwards its tab is closed."""
    choose(page, "File", "Open from Path…")
    page.locator(".jp-Dialog input").fill(notebook)
    page.locator(".jp-Dialog button.jp-mod-accept").click()
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=START_S * 1000)
    if runs:
        # The notebook's own indicator is idle also before there is a kernel; the status bar names the kernel that is.
        page.locator("#jp-main-statusbar").get_by_text(re.compile(r"Python 3 .*Idle")).wait_for(timeout=START_S * 1000)
    try:
        yield
        assert not page.locator(".jp-Dialog").count(), "JupyterLab asks something, of trust or of a kernel"
    finally:
        choose(page, "File", "Close Tab")
        until(partial(is_closed, page), "the tab was not closed")


def is_closed(page: "Page") -> bool:
    """Whether the notebook is gone; who asks what to do with what has changed in it is told: nothing."""
    if (discard := page.locator(".jp-Dialog").get_by_role("button", name="Discard")).count():
        discard.click()
    return not page.locator(".jp-Notebook").count()


def choose(page: "Page", menu: str, entry: str) -> None:
    page.get_by_role("menuitem", name=menu, exact=True).click(timeout=START_S * 1000)
    page.locator(".lm-Menu-item", has=page.get_by_text(entry, exact=True)).click()


def run_all(page: "Page") -> None:
    """Run > Run All Cells, by the menu; wait until no cell is waiting any more (after an error the rest is dropped)."""
    choose(page, "Run", "Run All Cells")
    deadline = time.monotonic() + RUN_ALL_S
    while not re.search(r"\d", seen := "".join(prompts(page))) or "*" in seen:
        assert not page.locator(".jp-Dialog").count(), f"JupyterLab asks: {page.locator('.jp-Dialog').inner_text()}"
        assert time.monotonic() < deadline, f"Run All took more than {RUN_ALL_S} s: {seen}"
        page.wait_for_timeout(100)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(timeout=START_S * 1000)


def prompts(page: "Page") -> list[str]:
    return page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").all_text_contents()


def save(page: "Page", path: Path) -> dict[str, Any]:
    """Save by the menu, and the notebook as it then stands on the disk, with everything that ran."""
    ran = sum(bool(re.search(r"\d", prompt)) for prompt in prompts(page))
    deadline = time.monotonic() + 30
    while True:
        choose(page, "File", "Save Notebook")
        page.wait_for_timeout(500)
        # JupyterLab writes in place, so that a look at the wrong moment sees half a file.
        with suppress(json.JSONDecodeError):
            saved: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if sum(bool(cell.get("execution_count")) for cell in saved["cells"]) == ran:
                return saved
        assert time.monotonic() < deadline, "the notebook was not saved"


def drawn_marks(page: "Page", charts: int) -> list[int]:
    """Marks of each chart, once all charts stand."""
    marks: list[int] = []

    def are_drawn() -> bool:
        marks[:] = page.evaluate(MARKS)
        return len(marks) >= charts and 0 not in marks

    until(are_drawn, f"{charts} charts in the notebook, some without a mark", pause=0.1)
    return marks


def sentences_in(notebook: dict[str, Any]) -> int:
    """Sentences that stand in place of a chart: nothing to draw, or what a source must hold for it."""
    kinds = [output.get("metadata", {}).get("trajectory", {}).get("kind") for output in outputs(notebook)]
    return kinds.count("notice") + kinds.count("empty")


@pytest.mark.parametrize("notebook", RUN_HERE)
def test_a_notebook_runs_as_it_is_and_draws_the_same_charts_for_whoever_opens_it_later(
    notebook: str, lab: Lab, here: "Page", there: "Page"
) -> None:
    with opened(here, notebook):
        run_all(here)
        executed = save(here, lab.folder / notebook)
        marks = marks_that_can_be_read(here, executed)
        assert here.evaluate(ASTRAY) == [], "words that stand at the right, as numbers do"
    if notebook[0].isdigit():  # else its figures answer to Python: they live as long as the kernel that drew them
        with opened(there, notebook, runs=False):
            assert marks_that_can_be_read(there, executed) == marks


@pytest.mark.parametrize("notebook", RUN_BY_THE_SUITE)
def test_a_notebook_the_suite_executed_draws_the_same_charts_in_light_and_dark(
    notebook: str, sample_suite: Suite, lab: Lab, here: "Page", there: "Page"
) -> None:
    executed = json.loads((sample_suite.executed / notebook).read_text(encoding="utf-8"))
    shutil.copy(sample_suite.executed / notebook, lab.folder)
    lab.trust(notebook)
    with opened(here, notebook, runs=False):
        marks = marks_that_can_be_read(here, executed)
        assert here.evaluate(ASTRAY) == [], "words that stand at the right, as numbers do"
    with opened(there, notebook, runs=False):
        assert marks_that_can_be_read(there, executed) == marks


def marks_that_can_be_read(page: "Page", executed: dict[str, Any]) -> list[int]:
    """Marks of each chart of a notebook that ran without an error or a warning, with its words in order."""
    assert not [output for output in outputs(executed) if output["output_type"] == "error"]
    said = ["".join(output["text"]) for output in outputs(executed) if output.get("name") == "stderr"]
    # The first to count tokens shows how far it is, where that takes more than a moment.
    assert not [text for text in said if "%|" not in text], "red boxes in the notebook"
    source = "".join("".join(cell["source"]) for cell in executed["cells"] if cell["cell_type"] == "code")
    drawn = len(charts(executed))
    assert drawn + sentences_in(executed) >= source.count("show.chart("), "a chart cell displayed nothing"
    marks = drawn_marks(page, drawn)
    assert page.evaluate(CONTRAST) == [], "text too faint to read"
    for width in (700, 1100, 1440):
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_timeout(200)
        assert page.evaluate(MUDDLED) == [], f"words that lie over one another, or are broken, at {width} px"
    return marks


def test_a_handle_shows_its_tables_folded_and_readable_to_whoever_opens_them_later(
    lab: Lab, here: "Page", there: "Page"
) -> None:
    name = "handle.ipynb"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    code = 'from analysis import load\n\nload("sample").where(env_id="env_7_sft")'
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)], metadata=kernel), lab.folder / name
    )
    with opened(here, name):
        run_all(here)
        read_a_table_of_the_handle(here)
        save(here, lab.folder / name)
    with opened(there, name):
        read_a_table_of_the_handle(there)


def read_a_table_of_the_handle(page: "Page") -> None:
    """Unfold one of the tables; what it says can be read, and nothing sticks out of the notebook."""
    output = page.locator(".jp-OutputArea-output .tables")
    output.wait_for(timeout=START_S * 1000)
    assert output.locator("details").count() == 10
    meaning = output.get_by_text("position among the trajectory's calls, from 1")
    assert not meaning.is_visible()
    output.locator("summary", has_text=re.compile(r"^tool_calls\b")).click()
    assert meaning.is_visible()
    assert meaning.evaluate("e => getComputedStyle(e).textAlign") == "left"
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(OVERFLOW) <= 0


def test_make_lab_serves_this_machine_only_asks_for_its_token_and_opens_the_tour(
    chromium: "Browser", tmp_path: Path
) -> None:
    port = free_port()
    command = ["make", "lab", f"VENV={sys.prefix}", "READY=", f"ARGS=--no-browser --ServerApp.port={port}"]
    log = tmp_path / "log"
    places = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    with log.open("w", encoding="utf-8") as output:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **places, "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces")},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    page = chromium.new_page()
    try:
        wait_for_server(f"http://127.0.0.1:{port}", server, log)
        assert addresses_listening(port) == {"127.0.0.1"}
        page.goto(f"http://127.0.0.1:{port}/")
        assert "/login" in page.url
        (printed,) = set(re.findall(rf"http://127\.0\.0\.1:{port}\S*\?token=\w+", log.read_text(encoding="utf-8")))
        page.goto(printed)
        page.locator(".jp-MarkdownViewer h1").wait_for(timeout=START_S * 1000)
        page.wait_for_function(PICTURES, timeout=START_S * 1000)
    finally:
        page.close()
        end(server, group=True)


def addresses_listening(port: int) -> set[str]:
    """Local addresses on which a port of this machine accepts connections, by trying the others it has."""
    own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, family=socket.AF_INET)}
    reached = set()
    for address in own | {"127.0.0.1"}:
        with socket.socket() as probe:
            probe.settimeout(2)
            if probe.connect_ex((str(address), port)) == 0:
                reached.add(str(address))
    return reached
