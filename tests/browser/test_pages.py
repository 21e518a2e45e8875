"""What a colleague opens from a mail: drawn without a network, safe whatever the data hold, readable for everyone.

The hostile pages are made from a source that plants CASES 19 and 20 wherever a record has room for a text, through the
real notebooks, and from one notebook that plants them wherever a page has room for one.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import nbformat
import polars as pl
import pytest
from pypdf import PdfReader

from analysis import show
from analysis.charts.figure import Drawn, figure
from analysis.markup import clean
from analysis.report.page import render
from analysis.report.request import ReportRequest
from analysis.report.run import run
from analysis.schema import Column, Table
from tests import builders
from tests.browser.opening import Seen, marks, opened, violations
from tests.outputs import notebook as notebook_of
from tests.outputs import shown

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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
KB = 1024
LINK = "https://data.example/set"

# Where the keyboard must be able to go.
STOPS = "a[href], button, select, input, summary, [tabindex='0']"

# Nothing unfolded, narrowed or searched for, nobody anywhere.
AS_IT_WAS = """() => {
    document.querySelectorAll("main details[open]").forEach((one) => { one.open = false; });
    for (const field of document.querySelectorAll(".filters select, input[type=search]")) {
        if (field.tagName === "SELECT" ? field.selectedIndex > 0 : field.value) {
            field.value = field.tagName === "SELECT" ? field.options[0].value : "";
            field.dispatchEvent(new Event("input", { bubbles: true }));
            field.dispatchEvent(new Event("change", { bubbles: true }));
        }
    }
    document.activeElement.blur();
    scrollTo({ top: 0, behavior: "instant" });
}"""

# Every position a page has for a text. The strings arrive as a parameter: a position of its own.
EVERYTHING = {
    "parameters": 'source: str = "sample"  # ignored\nwords: str = "[]"  # JSON list of texts\n',
    "imports": """
import json
import altair as alt
import polars as pl
from analysis import load, show
from analysis.charts.figure import Drawn, figure
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
draw = figure(RESULT, definition=" ".join(texts))(
    lambda frame, i: Drawn(alt.Chart(frame).mark_bar().encode(
        x=alt.X("calls:Q", title=texts[i]), y=alt.Y("tool_name:N", title=texts[0], sort=None),
        color=alt.Color("env_id:N", title=texts[1], legend=alt.Legend(orient="bottom", columns=1)),
        tooltip=[alt.Tooltip("tool_name:N", title=texts[i]), alt.Tooltip("calls:Q", title="calls")],
    ), texts[i], texts[1])
)
""",
    "words": """
show.headlines([show.Headline(text, text, text) for text in texts])
for text in texts:
    show.notice(text)
show.table(frame, RESULT, caption=texts[0], definition=texts[1])
print("\\n".join(texts))
""",
    "charts": "for i in range(len(texts)):\n    show.chart(draw(frame, i))\n",
    "transcripts": """
ids = data.trajectories.select("trajectory_id").collect().to_series().to_list()[:len(texts)]
environments = data.trajectories.select("env_id").collect().to_series().to_list()[:len(texts)]
show.table(pl.DataFrame({"trajectory_id": ids, "env_id": environments}), RESULT, caption="Shown below")
show.transcripts(data.read(ids), ids, texts)
""",
    "provenance": "show.provenance(data)",
}


def written(words: str) -> str:
    """A text as a page shows it: what has no glyph as U+FFFD, white space run together."""
    return " ".join(clean(words).split())


def missing(texts: Iterable[str], place: str) -> list[str]:
    """The texts that do not stand in a place; of a long one its beginning is asked for."""
    found = written(place)
    return [words for words in texts if written(words)[:200] not in found]


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


def made(source: Path, home: Path, **asked: Any) -> Path:
    """The folder of the pages that are made of a source."""
    result = run(
        ReportRequest(source=str(source), out=home / "html", executed=home / "executed", progress=False, **asked)
    )
    assert result.status == 0, result.failures
    return home / "html"


@pytest.fixture(scope="module")
def hostile_pages(hostile_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite's first four reports on the hostile source."""
    return made(hostile_source, tmp_path_factory.mktemp("hostile"), only=tuple(SUITE))


@pytest.fixture(scope="module")
def planted_page(hostile_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with hostile strings wherever a page has room for one, and ten charts."""
    home = tmp_path_factory.mktemp("planted")
    cells = [nbformat.v4.new_markdown_cell("# Planted\n\n" + "\n\n".join([*HOSTILE[:5], f"[the set]({LINK})"]))]
    for name, source in EVERYTHING.items():
        cells.append(nbformat.v4.new_markdown_cell(f"## {name}"))
        tags = {"tags": ["parameters"]} if name == "parameters" else {}
        cells.append(nbformat.v4.new_code_cell(source, metadata=tags))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), home / "planted.ipynb")
    suite = home / "reports" / "suite.toml"
    suite.parent.mkdir()
    title = json.dumps(HOSTILE[0] + HOSTILE[1])
    suite.write_text(f'[planted]\nnotebook = "planted.ipynb"\ntitle = {title}\ndescription = {title}\n')
    return made(hostile_source, home, suite=suite, parameters={"words": json.dumps(HOSTILE)}) / "planted.html"


CALLS = Table(
    "calls",
    "tool of an environment",
    (
        Column("env_id", pl.String(), "environment"),
        Column("tool_name", pl.String(), "tool called"),
        Column("traj_type", pl.String(), "mode"),
        Column("calls", pl.UInt32(), "how often", unit="calls"),
    ),
)


@figure(CALLS, definition="Calls of the tool in its environment.")
def bars(frame: pl.DataFrame, i: int) -> Drawn:
    colour = alt.Color("traj_type:N", title=f"mode {i}")
    chart = alt.Chart(frame).mark_bar().encode(x=alt.X("calls:Q", title=f"calls {i}"), y="tool_name:N", color=colour)
    return Drawn(chart, f"Finding {i}", "n = 40 tools")


@pytest.fixture(scope="module")
def long_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty cells, each with a chart of forty bars of its own, as a notebook of `show.chart` leaves them."""

    def frame(i: int) -> pl.DataFrame:
        rows = [(f"env_{j % 4}", f"tool {j}", ("conversation", "non_conversation")[j % 2], i + j) for j in range(40)]
        return pl.DataFrame(rows, schema=CALLS.schema, orient="row")

    cells = [shown(partial(show.chart, bars(frame(i), i))) for i in range(1, 31)]
    path = tmp_path_factory.mktemp("long") / "long.html"
    path.write_text(render(notebook_of("# Thirty charts", *cells)), encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=[*SUITE, "index"])
def hostile(chromium: "Browser", hostile_pages: Path, request: pytest.FixtureRequest) -> Iterator[Seen]:
    """A page of the hostile source."""
    with opened(chromium, hostile_pages / f"{request.param}.html") as seen:
        yield seen


@pytest.fixture(scope="module")
def planted_window(chromium: "Browser", planted_page: Path) -> Iterator[Seen]:
    with opened(chromium, planted_page) as seen:
        yield seen


@pytest.fixture
def planted(planted_window: Seen) -> Seen:
    """The planted page, opened once for all, and again as it was then: nothing unfolded, narrowed, searched for."""
    page = planted_window.page
    page.emulate_media(color_scheme="light", forced_colors="none", reduced_motion="no-preference")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate(AS_IT_WAS)
    page.mouse.move(0, 0)
    drawn(page)
    return planted_window


@pytest.fixture(scope="module")
def long(chromium: "Browser", long_page: Path) -> Iterator[Seen]:
    with opened(chromium, long_page) as seen:
        yield seen


def drawn(page: "Page") -> None:
    """Wait until the charts stand; the page waits a moment for a window that was resized to rest."""
    page.wait_for_timeout(250)
    page.wait_for_function("() => document.documentElement.dataset.work !== 'drawing'")


def unfold(page: "Page") -> None:
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.wait_for_timeout(200)


def test_hostile_records_are_text_on_every_page(hostile: Seen) -> None:
    unfold(hostile.page)
    hostile.assert_quiet()
    assert hostile.page.locator("img, main b:text-is('x'), iframe, object, embed").count() == 0
    assert hostile.page.locator("a[href^='javascript:' i]").count() == 0
    if "tool_usage" in hostile.page.url:
        words = hostile.page.locator("body").inner_text()
        assert HOSTILE[0] in words
        assert HOSTILE[1] in words


def test_charts_of_hostile_names_are_not_empty(hostile: Seen) -> None:
    """A name with dots and brackets that is parsed as a path draws nothing."""
    assert min(marks(hostile.page), default=1) > 0
    assert marks(hostile.page) or "index" in hostile.page.url


def test_every_link_within_the_page_leads_somewhere(hostile: Seen, hostile_pages: Path) -> None:
    dead = hostile.page.evaluate(
        """() => [...document.querySelectorAll("a[href^='#']")].map((link) => link.hash.slice(1))
            .filter((id) => !document.getElementById(decodeURIComponent(id)))"""
    )
    assert dead == []
    for href in hostile.page.eval_on_selector_all("nav.suite a", "all => all.map(a => a.getAttribute('href'))"):
        assert (hostile_pages / href).is_file(), href


def test_every_hostile_string_is_text_in_every_position(planted: Seen) -> None:
    page = planted.page
    unfold(page)
    places = (
        "figcaption h3", "figcaption .subtitle", ".findings-list", ".headlines .value", ".headlines .meaning",
        ".attention", ".definition", ".table tbody", ".twin tbody", ".twin thead", ".filters option", ".text pre",
        ".transcript .reason", ".transcript .turns",
    )  # fmt: skip
    asked = dict.fromkeys(places, HOSTILE) | {
        ".text pre": [words for words in HOSTILE if "\x1b" not in words],  # a printed colour is no text
        ".provenance dd": HOSTILE[:5],  # a parameter is quoted as Python quotes it
        "figcaption .subtitle": HOSTILE[1:2], "caption": HOSTILE[:1], ".twin thead": HOSTILE[:1],
        "nav.suite": [HOSTILE[0] + HOSTILE[1]],
    }  # fmt: skip
    for place, texts in asked.items():
        assert missing(texts, " ".join(page.locator(place).all_text_contents())) == [], place
    assert "<img src=x onerror=alert(1)>.json" in page.locator(".provenance dd").first.inner_text(), "a file's name"
    # Titles of axes and labels of legends as they are; labels of the axis are cut where there is no room.
    drawn = " ".join(page.locator("figure.chart svg text").all_text_contents())
    assert missing([words[:12] for words in HOSTILE], drawn) == []
    titles = page.locator("figure.chart svg .role-axis-title text").all_text_contents()
    assert missing([words[:60] for words in HOSTILE], " ".join(titles)) == []
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.locator("a[href^='javascript:' i]").count() == 0
    bars_drawn = "all => all.map((bar) => bar.getBoundingClientRect().width)"
    lengths = page.eval_on_selector_all("figure.chart svg .role-mark.mark-rect path", bars_drawn)
    assert len(lengths) == 10 * len(HOSTILE)
    assert min(lengths) > 5, "no title or label takes the room that the bars need"
    planted.assert_quiet()


def test_a_tooltip_shows_hostile_names_and_headings_as_text(planted: Seen) -> None:
    for i, heading in enumerate(HOSTILE):
        bar = planted.page.locator(f"#figure-{i + 1} .view svg .role-mark.mark-rect path").nth(i)
        bar.scroll_into_view_if_needed()
        bar.hover()
        planted.page.wait_for_selector("#tip:not([hidden])")
        tip = planted.page.locator("#tip")
        assert missing([heading], " ".join(tip.locator("dt").all_text_contents())) == []
        assert missing([heading], " ".join(tip.locator("dd").all_text_contents())) == []
        planted.page.keyboard.press("Escape")
        assert tip.is_hidden()
    planted.assert_quiet()


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
    assert planted_page.read_text(encoding="utf-8").count('<figure class="chart"') == 10
    assert max(page.stat().st_size for page in [planted_page, *hostile_pages.glob("*.html")]) <= 600 * KB


LIGHTS: list[dict[str, Any]] = [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"forced_colors": "active"}]


@pytest.mark.parametrize("light", LIGHTS, ids=str)
def test_axe_finds_nothing_however_the_page_is_lit(planted: Seen, light: dict[str, Any]) -> None:
    planted.page.emulate_media(**light)
    unfold(planted.page)
    assert violations(planted.page) == []


def test_axe_finds_nothing_on_the_index_however_it_is_lit(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page.with_name("index.html")) as seen:
        for light in LIGHTS:
            seen.page.emulate_media(**light)
            assert violations(seen.page) == [], light


def test_charts_take_the_colours_of_their_surroundings(planted: Seen) -> None:
    """Text in a drawing must be readable in light, dark and forced colours: it is as dark as the text around it."""
    inks = []
    for light in LIGHTS:
        planted.page.emulate_media(**light)
        ink, around = planted.page.evaluate(
            """() => [getComputedStyle(document.querySelector("figure.chart svg text")).fill,
                      getComputedStyle(document.querySelector("figure.chart h3")).color]"""
        )
        assert ink == around
        inks.append(ink)
    assert inks[0] != inks[1]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_scrolls_sideways(planted: Seen, width: int) -> None:
    no_wider_than(planted.page, width)


def test_nor_does_a_page_of_hostile_records(hostile: Seen) -> None:
    for width in WIDTHS if re.search("tool_usage|index", hostile.page.url) else ():
        no_wider_than(hostile.page, width)


def no_wider_than(page: "Page", width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    drawn(page)
    over = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert over <= 0, f"at {width} px: {over} px too wide"
    assert [right for right in widths(page) if right > width] == [], f"at {width} px a chart sticks out"


def widths(page: "Page") -> list[float]:
    ends: list[float] = page.eval_on_selector_all(
        "figure.chart .view svg", "all => all.map((svg) => svg.getBoundingClientRect().right)"
    )
    return ends


def test_without_javascript_every_chart_has_its_table(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page, java_script_enabled=False) as seen:
        figures = seen.page.locator("figure.chart")
        assert figures.count() == 10
        for i in range(10):
            assert figures.nth(i).locator("tbody tr").first.is_visible()
            assert figures.nth(i).get_by_text("needs JavaScript").is_visible()
        transcript = seen.page.locator(".transcript").first
        transcript.locator("summary").first.click()
        assert transcript.locator(".turns").is_visible()
        assert seen.page.locator(".contents a").first.is_visible()
        assert not seen.page.locator(".filters").is_visible(), "what only a script can do is not offered"
        seen.assert_quiet()


def test_a_chart_gives_its_data_as_csv(planted: Seen) -> None:
    with planted.page.expect_download() as download:
        planted.page.locator("figure.chart").first.get_by_role("button", name="CSV").click()
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["calls"] for row in rows] == [str(n) for n in range(1, len(HOSTILE) + 1)]
    assert rows[1]["tool_name"] == HOSTILE[1]
    assert rows[8]["tool_name"].startswith("'="), "a formula must reach a spreadsheet as a text"


def test_a_chart_gives_its_drawing_as_svg_and_png(planted: Seen) -> None:
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with planted.page.expect_download() as download:
            planted.page.locator("figure.chart").nth(1).get_by_role("button", name=kind).click()
        assert Path(download.value.path()).read_bytes().startswith(begins)
    planted.assert_quiet()


def test_a_table_sorts_by_number_and_is_searched(planted: Seen) -> None:
    table = planted.page.locator("main .table table").first
    head = table.locator("th[data-name=calls]")
    head.get_by_role("button").click()
    values = [int(text) for text in table.locator("tbody tr td:nth-child(4)").all_inner_texts()]
    assert head.get_attribute("aria-sort") in ("ascending", "descending")
    assert values == sorted(values, reverse=head.get_attribute("aria-sort") == "descending")
    planted.page.get_by_role("searchbox").first.fill("onerror")
    assert table.locator("tbody tr:visible").count() == 1


def test_the_page_is_filtered_by_mode_in_charts_and_tables_alike(planted: Seen) -> None:
    before = marks(planted.page)
    planted.page.locator("select[data-column=traj_type]").select_option("with user")
    planted.page.wait_for_function("() => document.documentElement.dataset.work !== 'drawing'")
    after = marks(planted.page)
    assert all(2 * now == then for then, now in zip(before, after, strict=True)), (before, after)
    table = planted.page.locator("main .table table").first
    assert table.locator("tbody tr:visible").count() == len(HOSTILE) // 2
    planted.assert_quiet()


def test_a_trajectory_id_leads_to_its_transcript(planted: Seen) -> None:
    link = planted.page.locator("td a[href^='#t-']").first
    anchor = (link.get_attribute("href") or "").removeprefix("#")
    link.click()
    planted.page.wait_for_timeout(200)
    target = planted.page.locator(f"[id='{anchor}']")
    assert target.get_attribute("open") is not None
    assert HOSTILE[0] in target.inner_text()


def test_narrowing_links_charts_tables_and_transcripts(planted: Seen) -> None:
    page = planted.page
    choice = page.locator("select[data-column=env_id]")
    values = [value for value in choice.locator("option").all_text_contents() if value.startswith("env_")]
    assert values == sorted(values, key=lambda value: int(value.split("_")[1].split(" ")[0]))
    choice.select_option(values[0])
    page.wait_for_function("() => document.querySelectorAll('figure.chart .nothing').length === 10")
    listed = page.locator("table:has(th[data-name=trajectory_id]) tbody tr:visible td:first-child").all_text_contents()
    shown_ids = page.locator(".transcript:visible summary b").all_text_contents()
    assert 0 < len(listed) < len(HOSTILE)
    assert shown_ids == listed
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("() => document.querySelectorAll('figure.chart .view svg').length === 10")
    assert page.locator(".transcript:visible").count() == len(HOSTILE)
    planted.assert_quiet()


def test_the_contents_follow_the_reader_down_and_up(planted: Seen) -> None:
    page = planted.page
    page.emulate_media(reduced_motion="reduce")
    for anchor in ("charts", "words", "transcripts", "provenance", "words"):
        page.evaluate("(id) => document.getElementById(id).scrollIntoView()", anchor)
        page.wait_for_selector(f".contents a[href='#{anchor}'][aria-current]")
        assert page.locator(".contents a[aria-current]").count() == 1
        assert page.locator(f".contents a[href='#{anchor}']").is_visible()


@pytest.mark.parametrize(("asked", "behaviour"), [("reduce", "auto"), ("no-preference", "smooth")])
def test_nothing_moves_for_who_asked_for_no_motion(planted: Seen, asked: Any, behaviour: str) -> None:
    planted.page.emulate_media(reduced_motion=asked)
    assert planted.page.evaluate("() => getComputedStyle(document.documentElement).scrollBehavior") == behaviour
    assert planted.page.evaluate("() => document.getAnimations().length") == 0


def test_everything_is_reached_and_done_with_the_keyboard_alone(chromium: "Browser", planted_page: Path) -> None:
    listening = """
        window.reached = [];
        addEventListener("focusin", ({ target }) => {
            const { outlineStyle, outlineWidth } = getComputedStyle(target);
            const isMarked = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
            window.reached.push([target, isMarked, target.getClientRects().length > 0]);
        });
    """
    with opened(chromium, planted_page, first=listening) as seen:
        page = seen.page
        keys = page.keyboard
        keys.press("Tab")
        assert page.evaluate("() => document.activeElement.className") == "skip"
        keys.press("Enter")
        assert page.evaluate("() => document.activeElement.id") == "main"
        page.evaluate("() => { document.body.tabIndex = -1; document.body.focus(); window.reached = []; }")
        for _ in range(page.locator(STOPS).count() + 2):
            keys.press("Tab")
        missed, unmarked, unseen = page.evaluate(
            """(stops) => {
                const was = new Set(window.reached.map(([target]) => target));
                const words = (one) => one.outerHTML.slice(0, 120);
                const there = [...document.querySelectorAll(stops)].filter((one) => one.checkVisibility());
                return [
                    there.filter((one) => !was.has(one)).map(words),
                    window.reached.filter(([, marked]) => !marked).map(([one]) => words(one)),
                    window.reached.filter(([, , visible]) => !visible).map(([one]) => words(one)),
                ];
            }""",
            STOPS,
        )
        assert (missed, unmarked, unseen) == ([], [], [])
        page.locator(".twin summary").first.focus()
        keys.press("Enter")
        assert page.locator(".twin[open]").count() == 1
        head = page.locator("main .table thead button").last
        head.focus()
        keys.press("Space")
        assert page.locator("main .table th[aria-sort]").count() == 1
        page.locator("select[data-column=traj_type]").focus()
        keys.press("ArrowDown")
        assert "Only with user" in page.locator(".filters [role=status]").inner_text()
        seen.assert_quiet()


def test_the_page_prints_with_every_chart_whole_and_readable(planted: Seen) -> None:
    titles = planted.page.locator("figure.chart h3").count()
    paper = printed(planted)
    whole = " ".join(text for sheet in paper for text, *_ in sheet)
    assert LINK in whole.replace(" ", ""), "a link is spelled: paper cannot be clicked"
    assert planted.page.locator("figure.chart[data-drawn]").count() == titles == 10


def test_on_paper_a_chart_stands_under_its_title_on_one_page(long: Seen) -> None:
    sheets = [" ".join(" ".join(text for text, *_ in sheet).split()) for sheet in printed(long)]
    for i in range(1, 31):
        (sheet,) = [sheet for sheet in sheets if re.search(rf"calls {i}\b", sheet)]
        # The title of the chart, of its axis and of its legend stand on one sheet.
        assert re.search(rf"Finding {i}\b", sheet)
        assert re.search(rf"mode {i}\b", sheet)


def printed(seen: Seen) -> list[list[tuple[str, float, float]]]:
    """The page on paper, also where the screen is dark, with letters no smaller than seven points and none cut off."""
    seen.page.emulate_media(color_scheme="dark")
    paper = [words_on(sheet) for sheet in PdfReader(io.BytesIO(seen.page.pdf(format="A4"))).pages]
    seen.assert_quiet()
    runs = [run for sheet in paper for run in sheet if run[0].strip()]
    assert not [text for text, *_ in runs if "Search" in text], "what only a screen can do is left out"
    assert min(size for _, size, _ in runs) >= 7
    assert all(0 <= x <= 596 for *_, x in runs)
    return paper


def words_on(sheet: Any) -> list[tuple[str, float, float]]:
    """Every run of text on a printed page: (text, size in points, x in points)."""
    found: list[tuple[str, float, float]] = []

    def visit(text: str, cm: list[float], tm: list[float], _font: Any, size: float) -> None:
        # The vector that points up a letter, through both matrices: turned letters keep its length.
        up = (tm[2] * cm[0] + tm[3] * cm[2], tm[2] * cm[1] + tm[3] * cm[3])
        found.append((text, size * math.hypot(*up), tm[4] * cm[0] + tm[5] * cm[2] + cm[4]))

    sheet.extract_text(visitor_text=visit)
    return found


def test_colours_tell_modes_apart_where_the_reader_sets_the_colours(long: Seen) -> None:
    long.page.emulate_media(forced_colors="active")
    fills = long.page.eval_on_selector_all(
        "#figure-1 .role-mark.mark-rect path", "all => all.map((bar) => getComputedStyle(bar).fill)"
    )
    assert len(set(fills)) == 2
    long.assert_quiet()


def test_a_table_is_copied_with_tabs_between_its_cells(long: Seen) -> None:
    page = long.page
    page.evaluate("() => navigator.clipboard.writeText = async (words) => { window.copied = words; }")
    page.locator("#figure-3 .twin summary").click()
    page.locator("#figure-3 .twin").get_by_role("button", name="Copy").click()
    lines = page.evaluate("() => window.copied").split("\n")
    assert lines[0].split("\t") == CALLS.names
    assert lines[1].split("\t") == ["env_0", "tool 0", "with user", "3"]
    assert len(lines) == 41


def test_charts_in_view_come_first_none_is_drawn_twice_and_the_page_answers_between_two(
    chromium: "Browser", long_page: Path
) -> None:
    """How long it takes is for the machine to say: order, number and pauses are the page's own."""
    counting = """
        window.drawn = [];
        let answers = 0;
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => { answers += 1; };
        const mark = performance.mark.bind(performance);
        performance.mark = (name) => { window.drawn.push([name, answers]); port2.postMessage(0); return mark(name); };
        addEventListener("DOMContentLoaded", () => document.querySelector("#figure-12").scrollIntoView());
    """
    with opened(chromium, long_page, first=counting, reduced_motion="reduce") as seen:
        drawn = seen.page.evaluate("() => window.drawn")
        names = [name for name, _ in drawn]
        assert sorted(names) == sorted(f"figure-{i}" for i in range(1, 31))
        assert "figure-12" in names[:3], names
        assert [answers for _, answers in drawn] == list(range(30)), "between two charts the page did not answer"
        assert min(marks(seen.page)) >= 40
        seen.page.set_viewport_size({"width": 700, "height": 900})
        seen.page.wait_for_function("() => window.drawn.length === 60")
        assert max(widths(seen.page)) <= 700
        seen.assert_quiet()
    assert long_page.stat().st_size <= 700 * KB
