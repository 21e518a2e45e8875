"""What a colleague opens from a mail: drawn without a network, safe whatever the data hold, readable for everyone.

The hostile pages are made from a source that plants CASES 19 and 20 wherever a record has room for a text, through the
real notebooks, and from one notebook that plants them wherever a page has room for one.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterable
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
from analysis.report.run import Request, run
from analysis.schema import Column, Table
from tests import builders
from tests.browser.opening import marks, opened, violations
from tests.conftest import ROOT
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
    cells = [nbformat.v4.new_markdown_cell("# Planted\n\n" + "\n\n".join([*HOSTILE[:5], f"[the set]({LINK})"]))]
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


def test_every_hostile_string_is_text_in_every_position(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        page = seen.page
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true })")
        page.wait_for_timeout(200)
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
        seen.assert_quiet()


def test_a_tooltip_shows_hostile_names_and_headings_as_text(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        for i, heading in enumerate(HOSTILE):
            bar = seen.page.locator(f"#figure-{i + 1} .view svg .role-mark.mark-rect path").nth(i)
            bar.scroll_into_view_if_needed()
            bar.hover()
            seen.page.wait_for_selector("#tip:not([hidden])")
            tip = seen.page.locator("#tip")
            assert missing([heading], " ".join(tip.locator("dt").all_text_contents())) == []
            assert missing([heading], " ".join(tip.locator("dd").all_text_contents())) == []
            seen.page.keyboard.press("Escape")
            assert tip.is_hidden()
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


@pytest.mark.parametrize(
    "surroundings", [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"forced_colors": "active"}]
)
def test_axe_finds_nothing_however_the_page_is_lit(
    chromium: "Browser", planted_page: Path, surroundings: dict[str, str]
) -> None:
    for path in (planted_page, planted_page.with_name("index.html")):
        with opened(chromium, path, **surroundings) as seen:
            seen.page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true })")
            assert violations(seen.page) == [], path.name


def test_no_page_scrolls_sideways(chromium: "Browser", planted_page: Path, hostile_pages: Path) -> None:
    for path in (planted_page, *(hostile_pages / f"{name}.html" for name in ("10_tool_usage", "index"))):
        with opened(chromium, path) as seen:
            for width in WIDTHS:
                seen.page.set_viewport_size({"width": width, "height": 900})
                seen.page.wait_for_timeout(250)
                seen.page.wait_for_function("() => document.documentElement.dataset.work !== 'drawing'")
                over = seen.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
                assert over <= 0, f"{path.name} at {width} px: {over} px too wide"
                wide = [right for right in widths(seen.page) if right > width]
                assert wide == [], f"{path.name} at {width} px: a chart ends at {wide}"


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
        seen.page.locator("select[data-column=traj_type]").select_option("with user")
        seen.page.wait_for_function("() => document.documentElement.dataset.work !== 'drawing'")
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


def test_the_page_prints_with_every_chart_whole_and_readable(
    chromium: "Browser", planted_page: Path, long_page: Path
) -> None:
    """On paper a chart stands under its title on one page, with letters no smaller than seven points."""
    for path, count in ((planted_page, 10), (long_page, 30)):
        with opened(chromium, path, color_scheme="dark") as seen:
            titles = seen.page.locator("figure.chart h3").all_text_contents()
            paper = [words_on(sheet) for sheet in PdfReader(io.BytesIO(seen.page.pdf(format="A4"))).pages]
            drawn = seen.page.eval_on_selector_all("figure.chart", "all => all.map((one) => one.dataset.drawn)")
            assert len(drawn) == count
            seen.assert_quiet()
        whole = " ".join(text for sheet in paper for text, *_ in sheet)
        assert "Search" not in whole, "what only a screen can do is left out"
        if path == long_page:
            for i in range(1, count + 1):
                (sheet,) = [sheet for sheet in map(plain, paper) if re.search(rf"calls {i}\b", sheet)]
                # The title of the chart, of its axis and of its legend stand on one sheet.
                assert re.search(rf"Finding {i}\b", sheet)
                assert re.search(rf"mode {i}\b", sheet)
        else:
            assert LINK in whole.replace(" ", ""), "a link is spelled: paper cannot be clicked"
            assert len(titles) == count
        sizes = [size for sheet in paper for text, size, *_ in sheet if text.strip()]
        assert min(sizes) >= 7
        assert all(0 <= x <= 596 for sheet in paper for text, _, x in sheet if text.strip())


def words_on(sheet: Any) -> list[tuple[str, float, float]]:
    """Every run of text on a printed page: (text, size in points, x in points)."""
    found: list[tuple[str, float, float]] = []

    def visit(text: str, cm: list[float], tm: list[float], _font: Any, size: float) -> None:
        # The vector that points up a letter, through both matrices: turned letters keep its length.
        up = (tm[2] * cm[0] + tm[3] * cm[2], tm[2] * cm[1] + tm[3] * cm[3])
        found.append((text, size * math.hypot(*up), tm[4] * cm[0] + tm[5] * cm[2] + cm[4]))

    sheet.extract_text(visitor_text=visit)
    return found


def plain(sheet: list[tuple[str, float, float]]) -> str:
    return " ".join(" ".join(text for text, *_ in sheet).split())


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


def test_colours_tell_modes_apart_where_the_reader_sets_the_colours(chromium: "Browser", long_page: Path) -> None:
    with opened(chromium, long_page, forced_colors="active") as seen:
        fills = seen.page.eval_on_selector_all(
            "#figure-1 .role-mark.mark-rect path", "all => all.map((bar) => getComputedStyle(bar).fill)"
        )
        assert len(set(fills)) == 2
        seen.assert_quiet()


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


def widths(page: "Page") -> list[float]:
    found: list[float] = page.eval_on_selector_all(
        "figure.chart .view svg", "all => all.map((svg) => svg.getBoundingClientRect().right)"
    )
    return found


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


def test_nothing_moves_for_who_asked_for_no_motion(chromium: "Browser", planted_page: Path) -> None:
    for asked, behaviour in (("reduce", "auto"), ("no-preference", "smooth")):
        with opened(chromium, planted_page, reduced_motion=asked) as seen:
            assert seen.page.evaluate("() => getComputedStyle(document.documentElement).scrollBehavior") == behaviour
            assert seen.page.evaluate("() => document.getAnimations().length") == 0


def test_a_table_is_copied_with_tabs_between_its_cells(chromium: "Browser", long_page: Path) -> None:
    with opened(chromium, long_page) as seen:
        page = seen.page
        page.evaluate("() => navigator.clipboard.writeText = async (words) => { window.copied = words; }")
        page.locator("#figure-3 .twin summary").click()
        page.locator("#figure-3 .twin").get_by_role("button", name="Copy").click()
        lines = page.evaluate("() => window.copied").split("\n")
        assert lines[0].split("\t") == CALLS.names
        assert lines[1].split("\t") == ["env_0", "tool 0", "with user", "3"]
        assert len(lines) == 41


def test_narrowing_links_charts_tables_and_transcripts(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page) as seen:
        page = seen.page
        choice = page.locator("select[data-column=env_id]")
        values = [value for value in choice.locator("option").all_text_contents() if value.startswith("env_")]
        assert values == sorted(values, key=lambda value: int(value.split("_")[1].split(" ")[0]))
        choice.select_option(values[0])
        page.wait_for_function("() => document.querySelectorAll('figure.chart .nothing').length === 10")
        listed = page.locator(
            "table:has(th[data-name=trajectory_id]) tbody tr:visible td:first-child"
        ).all_text_contents()
        shown_ids = page.locator(".transcript:visible summary b").all_text_contents()
        assert 0 < len(listed) < len(HOSTILE)
        assert shown_ids == listed
        page.get_by_role("button", name="Show all").click()
        page.wait_for_function("() => document.querySelectorAll('figure.chart .view svg').length === 10")
        assert page.locator(".transcript:visible").count() == len(HOSTILE)
        seen.assert_quiet()


def test_the_contents_follow_the_reader_down_and_up(chromium: "Browser", planted_page: Path) -> None:
    with opened(chromium, planted_page, reduced_motion="reduce") as seen:
        page = seen.page
        for anchor in ("charts", "words", "transcripts", "provenance", "words"):
            page.evaluate("(id) => document.getElementById(id).scrollIntoView()", anchor)
            page.wait_for_selector(f".contents a[href='#{anchor}'][aria-current]")
            assert page.locator(".contents a[aria-current]").count() == 1
            assert page.locator(f".contents a[href='#{anchor}']").is_visible()


def test_the_sample_says_that_it_is_one(chromium: "Browser", tmp_path: Path) -> None:
    made = run(Request(only=("20_step_lengths",), out=tmp_path, executed=tmp_path / "executed", progress=False))
    assert made.status == 0, made.failures
    for name in ("20_step_lengths", "index"):
        with opened(chromium, tmp_path / f"{name}.html") as seen:
            assert "synthetic sample" in seen.page.locator("body").inner_text().lower()[:300]
            seen.assert_quiet()
    assert str(ROOT) not in (tmp_path / "20_step_lengths.html").read_text(encoding="utf-8")
