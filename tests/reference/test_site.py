"""The documentation of the API: every module is in it, every link leads somewhere, and nothing is fetched."""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

import analysis
from analysis.reference import dictionary, method, site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

# Attributes by which a page makes a browser fetch something; a link it only follows when a reader asks for it.
LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "manifest", "xlink:href"}


@dataclass
class Page(HTMLParser):
    """What a page is linked by, links to, loads and says."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.html = self.path.read_text(encoding="utf-8")
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loads += [value for name, value in given.items() if name in LOADING or (tag == "link" and name == "href")]
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style", ""))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    folder = tmp_path_factory.mktemp("docs")
    # A process of its own: pdoc imports every module, and runs what stands there for type checkers alone.
    command = [sys.executable, "-W", "error::UserWarning", "-m", "analysis.reference.site", str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return {path.relative_to(folder): Page(path) for path in folder.rglob("*.html")}


def test_every_public_module_has_a_page(pages: dict[Path, Page]) -> None:
    package = Path(analysis.__file__).parent
    modules = {path.relative_to(package.parent).with_suffix("") for path in package.rglob("[!_]*.py")}
    modules |= {path.relative_to(package.parent).parent for path in package.rglob("__init__.py")}
    assert {path.with_suffix("") for path in pages} == modules | {Path("index"), *map(Path, site.PAGES)}


def test_every_link_and_anchor_leads_somewhere(pages: dict[Path, Page]) -> None:
    root = next(iter(pages.values())).path.parents[len(next(iter(pages)).parts) - 1]
    by_file = {page.path.resolve(): page for page in pages.values()}
    lost = []
    followed = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            followed += 1
            file = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
            target = by_file.get(file)
            if target is None or (parts.fragment and unquote(parts.fragment) not in target.anchors):
                lost.append(f"{path}: {link}")
    assert followed > 1_000
    assert not lost, f"of {followed:,} links below {root.name}"


def test_the_only_link_that_leaves_names_the_tool(pages: dict[Path, Page]) -> None:
    leaving = {link for page in pages.values() for link in page.links if urlsplit(link).scheme}
    assert leaving <= {"https://pdoc.dev"}


def test_nothing_is_fetched_but_the_search_beside_the_pages(pages: dict[Path, Page]) -> None:
    loads = {load for page in pages.values() for load in page.loads if not load.startswith("data:")}
    assert loads == set()
    for page in pages.values():
        style = " ".join(re.findall(r"<style>(.*?)</style>", page.html, flags=re.DOTALL))
        assert not [url for url in re.findall(r"url\(['\"]?([^)'\"]*)", style) if not url.startswith("data:")]
        assert "@import" not in style
        sources = re.findall(r"script\.src = \"([^\"]*)\"", page.html)
        assert all(re.fullmatch(r"(\.\./)*search\.js", source) for source in sources)


def test_the_dictionary_and_the_method_are_in_it(pages: dict[Path, Page]) -> None:
    told = " ".join(pages[Path("data_dictionary.html")].words)
    for table in dictionary.KEPT:
        assert f"One row per {table.grain.replace('`', '')}" in told
    links = pages[Path("method.html")].links
    for question in method.questions():
        for measure in question.measures:
            assert f"analysis/measures/{question.name}.html#{measure.name}" in links, (
                "a measure leads to its code's page"
            )


def test_a_docstrings_sections_become_lists(pages: dict[Path, Page]) -> None:
    page = pages[Path("analysis/measures/tool_usage.html")]
    assert "Arguments:" in page.html
    assert "tool_calls" in page.html
    assert "Args:" not in page.html


@pytest.mark.browser
def test_the_search_works_offline_and_asks_nobody(pages: dict[Path, Page], chromium: "Browser") -> None:
    tab = chromium.new_context(offline=True).new_page()
    heard: list[str] = []
    tab.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else heard.append(asked.url))
    tab.on("pageerror", lambda error: heard.append(str(error)))
    tab.goto(pages[Path("method.html")].path.as_uri())
    tab.fill("input[type=search]", "normalised_entropy")
    tab.wait_for_selector("main .search-result a[href*='expressions.html#normalised_entropy']")
    assert heard == []


def test_without_a_folder_it_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert site.main([]) == 2
    assert "FOLDER" in capsys.readouterr().err
