"""What a colleague opens from a mail: drawn without a network, safe whatever the data hold, readable for everyone.

The hostile pages are made from a source that plants CASES 19 and 20 wherever a record has room for a text, through the
real notebooks, and from one notebook that plants them wherever a page has room for one.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from analysis.report.run import Request, run
from tests import builders
from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page
    from playwright.sync_api import Request as Requested

pytestmark = [pytest.mark.slow, pytest.mark.browser]

HOSTILE = [
    "</script><b>x",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "javascript:alert(1)",
    "**bold** $x$ [link](javascript:alert(1))",
    'a.b[0]:c\'d "e" \\f',
    "{{ 7 * 7 }} {% raw %}",
    "שלום \u202eevil\u202c e\u0301\u0323",
    "=HYPERLINK(1) \x1b[31m \x00",
    "long-" + "x" * 500,
]
SUITE = ["00_overview", "10_tool_usage", "20_step_lengths", "30_coverage"]
WIDTHS = (320, 400, 768, 1280, 1920)
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
KB = 1024

# Every position a page has for a text. The strings arrive as a parameter: a position of its own.
EVERYTHING = {
    "parameters": 'source: str = "sample"  # ignored\nwords: str = "[]"  # JSON list of texts\n',
    "imports": """
import json
import altair as alt
import polars as pl
from analysis import load, show
from analysis.charts import theme
from analysis.schema import Column, Table
texts = json.loads(words)
data = load(source)
RESULT = Table("planted", texts[0], (
    Column("env_id", pl.String(), texts[1]), Column("traj_type", pl.String(), texts[2]),
    Column("tool_name", pl.String(), texts[4]), Column("calls", pl.UInt32(), "calls", unit=texts[0]),
))
frame = pl.DataFrame({
    "env_id": texts, "traj_type": ["conversation", "non_conversation"] * (len(texts) // 2),
    "tool_name": texts, "calls": range(1, len(texts) + 1),
}, schema=RESULT.schema)
draw = theme.figure(RESULT, definition=" ".join(texts))(
    lambda frame, i: alt.Chart(frame).mark_bar().encode(
        x=alt.X("calls:Q", title=texts[i]), y=alt.Y("tool_name:N", title=texts[0], sort=None),
        color=alt.Color("env_id:N", title=texts[1], legend=alt.Legend(orient="bottom", columns=1)),
        tooltip=[alt.Tooltip("tool_name:N", title=texts[1]), alt.Tooltip("calls:Q", title="calls")],
    ).properties(title=alt.Title(texts[i], subtitle=texts[1]), description=texts[i], width="container")
)
""",
    "words": """
show.headlines([show.Headline(text, text, text) for text in texts[:6]])
for text in texts:
    show.notice(text)
show.table(frame, RESULT, caption=texts[0], definition=texts[1])
print("\\n".join(texts))
""",
    "charts": "for i in range(len(texts)):\n    show.chart(draw(frame, i))\n",
    "transcripts": """
ids = data.trajectories.select("trajectory_id").collect().to_series().to_list()[:2]
show.table(pl.DataFrame({"trajectory_id": ids}), RESULT, caption="Shown below")
show.transcripts(data.read(ids), ids, texts[:2])
""",
    "provenance": "show.provenance(data)",
}


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
def opened(browser: "Browser", path: Path, **context: Any) -> Iterator[Seen]:
    """The page, drawn, with the network cut off."""
    surroundings = browser.new_context(offline=True, **{"viewport": {"width": 1280, "height": 900}} | context)
    page = surroundings.new_page()
    seen = Seen(page)

    def requested(request: "Requested") -> None:
        if request.url.split("#")[0] != path.as_uri():
            seen.requests.append(request.url)

    def asked(dialog: "Dialog") -> None:
        seen.noise.append(f"dialog {dialog.message}")
        dialog.dismiss()

    page.on("request", requested)
    page.on("console", lambda message: seen.noise.append(message.text))
    page.on("pageerror", lambda error: seen.noise.append(str(error)))
    page.on("dialog", asked)
    page.goto(path.as_uri())
    if context.get("java_script_enabled", True):
        page.wait_for_function(
            "() => [...document.querySelectorAll('figure.chart .view')].every((view) => view.querySelector('svg'))",
            timeout=30_000,
        )
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


def violations(page: "Page") -> list[str]:
    """What axe-core objects to, by the rules of WCAG 2.2 A and AA."""
    page.evaluate(f"{AXE}; 0")
    found = page.evaluate(
        "(tags) => axe.run(document, { runOnly: { type: 'tag', values: tags } }).then((done) => done.violations)", WCAG
    )
    return [f"{one['id']} ({len(one['nodes'])}): {one['nodes'][0]['html'][:200]}" for one in found]


@pytest.fixture(scope="module")
def hostile_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records that hold hostile strings wherever a record has room for a text; so does the file's name."""
    records = []
    for i in range(2 * len(HOSTILE)):
        evil, other = HOSTILE[i % len(HOSTILE)], HOSTILE[(i + 1) % len(HOSTILE)]
        is_conversation = i % 2 == 0
        steps = [
            builders.step(
                tool=evil, arguments={evil: other}, reasoning=evil, result=repr({"success": True, other: evil})
            ),
            builders.step(tool=other, arguments=other, error=evil),
            *([builders.step(says=evil, user=other)] if is_conversation else []),
        ]
        record = builders.trajectory(
            f"{evil} {i}", env_id=f"env_{i % 3} {evil[:20]}",
            traj_type="conversation" if is_conversation else "non_conversation", steps=steps, tools=[evil, other],
        )  # fmt: skip
        record["task_info"]["task"] = evil
        records.append(record)
    path = tmp_path_factory.mktemp("source") / "a {b} '<img src=x onerror=alert(1)>.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def hostile_pages(hostile_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite's first four reports on the hostile source."""
    out = tmp_path_factory.mktemp("hostile")
    made = run(
        Request(source=str(hostile_source), only=tuple(SUITE), out=out, executed=out / "executed", progress=False)
    )
    assert made.status == 0, made.failures
    return out


@pytest.fixture(scope="module")
def planted_page(hostile_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with hostile strings wherever a page has room for one, and ten charts."""
    home = tmp_path_factory.mktemp("planted")
    (home / "notebooks").mkdir()
    (home / "reports").mkdir()
    cells = [nbformat.v4.new_markdown_cell("# Planted\n\n" + "\n\n".join(HOSTILE[:5]))]
    for name, source in EVERYTHING.items():
        cells.append(nbformat.v4.new_markdown_cell(f"## {name}"))
        cells.append(
            nbformat.v4.new_code_cell(source, metadata={"tags": ["parameters"]} if name == "parameters" else {})
        )
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, home / "notebooks" / "planted.ipynb")
    suite = home / "reports" / "suite.toml"
    title = json.dumps(HOSTILE[0] + HOSTILE[1])
    suite.write_text(f'[planted]\nnotebook = "notebooks/planted.ipynb"\ntitle = {title}\ndescription = {title}\n')
    made = run(
        Request(
            source=str(hostile_source), parameters={"words": json.dumps(HOSTILE)}, suite=suite,
            out=home / "html", executed=home / "executed", progress=False,
        )
    )  # fmt: skip
    assert made.status == 0, made.failures
    return home / "html" / "planted.html"


def test_hostile_records_are_text_on_every_page(chromium: "Browser", hostile_pages: Path) -> None:
    for name in [*SUITE, "index"]:
        with opened(chromium, hostile_pages / f"{name}.html") as seen:
            seen.page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true })")
            seen.page.wait_for_timeout(200)
            seen.assert_quiet()
            assert seen.page.locator("img, main b:text-is('x'), iframe, object, embed").count() == 0, name
            assert seen.page.locator("a[href^='javascript:' i]").count() == 0, name
            if name == "10_tool_usage":
                words = seen.page.locator("body").inner_text()
                assert HOSTILE[0] in words
                assert HOSTILE[1] in words


def test_charts_of_hostile_names_are_not_empty(chromium: "Browser", hostile_pages: Path) -> None:
    """A name with dots and brackets that is parsed as a path draws nothing."""
    for name in SUITE:
        with opened(chromium, hostile_pages / f"{name}.html") as seen:
            assert min(marks(seen.page)) > 0, (name, marks(seen.page))


def test_hostile_strings_are_text_in_every_position(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        page = seen.page
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true })")
        page.wait_for_timeout(200)
        for place in ("figcaption", ".headlines", ".definition", "caption", "tbody", ".transcript", ".provenance"):
            assert HOSTILE[1] in " ".join(page.locator(place).all_inner_texts()), place
        drawn = " ".join(page.locator("figure.chart svg text").all_text_contents())
        assert HOSTILE[1] in drawn
        assert page.locator("img, iframe, object, embed").count() == 0
        assert page.locator("a[href^='javascript:' i]").count() == 0
        assert all(count >= len(HOSTILE) for count in marks(page))
        seen.assert_quiet()


def test_a_tooltip_shows_a_hostile_name_as_text(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        bar = seen.page.locator("figure.chart .view svg [class*=role-mark].mark-rect path").nth(1)
        bar.scroll_into_view_if_needed()
        bar.hover()
        seen.page.wait_for_selector("#tip:not([hidden])")
        assert HOSTILE[1] in seen.page.locator("#tip").inner_text()
        seen.assert_quiet()


def test_the_policy_blocks_a_script_and_a_handler_that_got_in(chromium: "Browser", planted_page: Path) -> None:
    """Escaping is the first wall; should it ever have a hole, the page's own policy is the second."""
    with opened(chromium, planted_page) as seen:
        seen.page.evaluate(
            """() => {
                const script = document.createElement("script");
                script.textContent = "window.broken = 1";
                document.body.append(script);
                const holder = document.createElement("div");
                holder.innerHTML = '<img src="data:x" onerror="window.broken = 1">';
                document.body.append(holder);
            }"""
        )
        seen.page.wait_for_timeout(300)
        assert seen.page.evaluate("() => window.broken") is None
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', planted_page.read_text(encoding="utf-8"))
    assert policy
    directives = dict(part.strip().split(" ", 1) for part in policy[1].replace("&#39;", "'").split(";"))
    assert "unsafe" not in directives["script-src"]
    assert directives["default-src"] == "'none'"


def test_ten_charts_and_their_tables_weigh_at_most_600_kb(planted_page: Path, hostile_pages: Path) -> None:
    assert len(re.findall('<figure class="chart"', planted_page.read_text(encoding="utf-8"))) == 10
    for page in [planted_page, *hostile_pages.glob("*.html")]:
        assert page.stat().st_size <= 600 * KB, f"{page.name}: {page.stat().st_size / KB:.0f} KB"


def test_axe_finds_nothing_in_light_and_dark(chromium: "Browser", planted_page: Path, hostile_pages: Path) -> None:
    for path in (planted_page, *(hostile_pages / f"{name}.html" for name in [*SUITE, "index"])):
        for scheme in ("light", "dark"):
            with opened(chromium, path, color_scheme=scheme) as seen:
                assert violations(seen.page) == [], (path.name, scheme)


def test_no_page_scrolls_sideways(chromium: "Browser", planted_page: Path, hostile_pages: Path) -> None:
    for path in (planted_page, *(hostile_pages / f"{name}.html" for name in [*SUITE, "index"])):
        with opened(chromium, path) as seen:
            for width in WIDTHS:
                seen.page.set_viewport_size({"width": width, "height": 900})
                seen.page.wait_for_timeout(200)
                over = seen.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
                assert over <= 0, f"{path.name} at {width} px: {over} px too wide"


def test_without_javascript_every_chart_has_its_table(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page, java_script_enabled=False) as seen:
        figures = seen.page.locator("figure.chart")
        assert figures.count() == 10
        for i in range(10):
            assert figures.nth(i).locator("tbody tr").first.is_visible()
            assert figures.nth(i).get_by_text("needs JavaScript").is_visible()
        seen.assert_quiet()


def test_a_chart_gives_its_data_as_csv(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        with seen.page.expect_download() as download:
            seen.page.locator("figure.chart").first.get_by_role("button", name="CSV").click()
        text = Path(download.value.path()).read_text(encoding="utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        assert [row["calls"] for row in rows] == [str(n) for n in range(1, len(HOSTILE) + 1)]
        assert rows[1]["tool_name"] == HOSTILE[1]
        assert rows[8]["tool_name"].startswith("'="), "a formula must reach a spreadsheet as a text"


def test_a_chart_gives_its_drawing_as_svg_and_png(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
            with seen.page.expect_download() as download:
                seen.page.locator("figure.chart").nth(1).get_by_role("button", name=kind).click()
            assert Path(download.value.path()).read_bytes().startswith(begins)
        seen.assert_quiet()


def test_a_table_sorts_by_number_and_is_searched(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        table = seen.page.locator("main .table table").first
        head = table.locator("th[data-name=calls]")
        head.get_by_role("button").click()
        values = [int(text) for text in table.locator("tbody tr td:nth-child(4)").all_inner_texts()]
        assert head.get_attribute("aria-sort") in ("ascending", "descending")
        assert values == sorted(values, reverse=head.get_attribute("aria-sort") == "descending")
        seen.page.get_by_role("searchbox").first.fill("onerror")
        assert table.locator("tbody tr:visible").count() == 1


def test_the_page_is_filtered_by_mode_in_charts_and_tables_alike(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        before = marks(seen.page)
        seen.page.locator("select[data-column=traj_type]").select_option("conversation")
        seen.page.wait_for_timeout(1500)
        after = marks(seen.page)
        assert all(2 * now == then for then, now in zip(before, after, strict=True)), (before, after)
        table = seen.page.locator("main .table table").first
        assert table.locator("tbody tr:visible").count() == len(HOSTILE) // 2
        seen.assert_quiet()


def test_a_trajectory_id_leads_to_its_transcript(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        link = seen.page.locator("td a[href^='#t-']").first
        anchor = (link.get_attribute("href") or "").removeprefix("#")
        link.click()
        seen.page.wait_for_timeout(200)
        target = seen.page.locator(f"[id='{anchor}']")
        assert target.get_attribute("open") is not None
        assert HOSTILE[0] in target.inner_text()


def test_every_link_within_the_page_leads_somewhere(chromium: "Browser", hostile_pages: Path) -> None:
    for name in SUITE:
        with opened(chromium, hostile_pages / f"{name}.html") as seen:
            dead = seen.page.evaluate(
                """() => [...document.querySelectorAll("a[href^='#']")].map((link) => link.hash.slice(1))
                    .filter((id) => !document.getElementById(decodeURIComponent(id)))"""
            )
            assert dead == []
            for href in seen.page.eval_on_selector_all("nav.suite a", "all => all.map(a => a.getAttribute('href'))"):
                assert (hostile_pages / href).is_file(), href


def test_the_page_prints_with_every_chart_on_the_paper(chromium: "Browser", hostile_pages: Path) -> None:
    with opened(chromium, hostile_pages / "10_tool_usage.html") as seen:
        seen.page.emulate_media(media="print")
        seen.page.set_viewport_size({"width": 680, "height": 960})  # A4 less its margins, in CSS pixels
        seen.page.wait_for_timeout(300)
        boxes = seen.page.eval_on_selector_all(
            "figure.chart .view svg", "all => all.map((svg) => svg.getBoundingClientRect().right)"
        )
        assert boxes
        assert max(boxes) <= 680
        assert not seen.page.locator("nav.contents, .tools button").first.is_visible()
        assert seen.page.pdf().startswith(b"%PDF")


def test_charts_take_the_colours_of_their_surroundings(chromium: "Browser", planted_page: Path) -> None:
    """Text in a drawing must be readable in light, dark and forced colours: it is as dark as the text around it."""
    script = """() => [getComputedStyle(document.querySelector("figure.chart svg text")).fill,
                       getComputedStyle(document.querySelector("figure.chart h3")).color]"""
    inks = set()
    for context in ({"color_scheme": "light"}, {"color_scheme": "dark"}, {"forced_colors": "active"}):
        with opened(chromium, planted_page, **context) as seen:
            drawn, around = seen.page.evaluate(script)
            assert drawn == around
            inks.add((context.get("color_scheme"), drawn))
    assert len({ink for scheme, ink in inks if scheme}) == 2


def test_the_sample_says_that_it_is_one(chromium: "Browser", tmp_path: Path) -> None:
    made = run(Request(only=("20_step_lengths",), out=tmp_path, executed=tmp_path / "executed", progress=False))
    assert made.status == 0, made.failures
    for name in ("20_step_lengths", "index"):
        with opened(chromium, tmp_path / f"{name}.html") as seen:
            assert "synthetic sample" in seen.page.locator("body").inner_text().lower()[:300]
            seen.assert_quiet()
    assert str(ROOT) not in (tmp_path / "20_step_lengths.html").read_text(encoding="utf-8")
