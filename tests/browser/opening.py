"""A page in Chromium: opened without a network, what it does noted, its marks counted, its accessibility checked."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@dataclass
class Seen:
    """A page that was opened, and everything it did that a page should not."""

    page: "Page"
    requests: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)

    def assert_quiet(self) -> None:
        assert self.requests == []
        assert self.noise == []


@contextmanager
def opened(browser: "Browser", path: Path, first: str = "", **context: Any) -> Iterator[Seen]:
    """The page, drawn, with the network cut off; `first` is a script that runs before any of the page's own."""
    surroundings = browser.new_context(offline=True, **{"viewport": {"width": 1280, "height": 900}} | context)
    page = surroundings.new_page()
    seen = Seen(page)

    def requested(request: "Request") -> None:
        if request.url.split("#")[0] != path.as_uri():
            seen.requests.append(request.url)

    def asked(dialog: "Dialog") -> None:
        seen.noise.append(f"dialog {dialog.message}")
        dialog.dismiss()

    page.on("request", requested)
    page.on("console", lambda message: seen.noise.append(message.text))
    page.on("pageerror", lambda error: seen.noise.append(str(error)))
    page.on("dialog", asked)
    if first:
        page.add_init_script(first)
    page.goto(path.as_uri())
    if context.get("java_script_enabled", True):
        drawn = "() => document.documentElement.dataset.drawn || !document.querySelector('figure.chart')"
        page.wait_for_function(drawn, timeout=30_000)
    try:
        yield seen
    finally:
        surroundings.close()


def marks(page: "Page") -> list[int]:
    """How many marks each chart has drawn that take up room: axes, legends and titles apart."""
    counted: list[int] = page.evaluate(
        """() => [...document.querySelectorAll("figure.chart .view svg")].map((svg) =>
            [...svg.querySelectorAll("[class*=role-mark] > *")].filter((mark) =>
                !mark.closest("[class*=role-axis], [class*=role-legend]") &&
                (mark.getBoundingClientRect().width > 0 || mark.getBoundingClientRect().height > 0)).length)"""
    )
    return counted


def violations(page: "Page", *, everything: bool = False) -> list[str]:
    """What axe-core objects to, by the rules of WCAG 2.2 A and AA, or by all of its rules."""
    page.evaluate(f"{AXE}; 0")
    # Nothing inside a picture is announced, and after five rows of a table the sixth says nothing new.
    where = {"exclude": ["figure.chart svg > *", "tbody tr:nth-child(n+6)"]}
    rules = {} if everything else {"runOnly": {"type": "tag", "values": WCAG}}
    options = {**rules, "resultTypes": ["violations"]}
    found = page.evaluate("(asked) => axe.run(...asked).then((done) => done.violations)", [where, options])
    return [f"{one['id']} ({len(one['nodes'])}): {one['nodes'][0]['html'][:200]}" for one in found]
