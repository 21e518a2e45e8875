"""The page of an executed notebook: one file, safe by construction, with what a reader needs around each chart."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import altair as alt
import nbformat
import polars as pl
import pytest

from analysis import show
from analysis.brief import Headline
from analysis.charts.figure import Drawn, figure
from analysis.report import assets, page
from analysis.report.exporter import TrajectoryReportExporter
from analysis.report.pieces import literals, slug
from analysis.schema import Column, Table
from tests import builders
from tests.outputs import notebook, shown
from tests.test_show import HOSTILE, Elements

RESULT = Table(
    "calls",
    "tool",
    (
        Column("tool_name", pl.String(), "tool called"),
        Column("env_id", pl.String(), "environment"),
        Column("call_share", pl.Float64(), "of all calls"),
    ),
)
FRAME = pl.DataFrame(
    {"tool_name": HOSTILE, "env_id": ["env_10", "env_2"] * 3, "call_share": [1 / 3, 0.1, 0.2, 0.3, 0.0, 1.0]},
    schema=RESULT.schema,
)


@figure(RESULT, definition="Calls of the tool over all calls.")
def bars(frame: pl.DataFrame, title: str = "One tool makes a third of the calls") -> Drawn:
    chart = alt.Chart(frame).mark_bar().encode(x="call_share:Q", y="tool_name:N", tooltip=["tool_name:N"])
    return Drawn(chart, title, "n = 6 tools", height=90)


@figure(RESULT, definition="The same, as steps.")
def stepped(frame: pl.DataFrame) -> Drawn:
    chart = alt.Chart(frame).mark_bar().encode(x="call_share:Q", y="tool_name:N")
    return Drawn(chart, "Steps", (), height=alt.Step(12))


def rendered(*cells: str | list[Any], parameters: str = "", **given: Any) -> str:
    return page.render(notebook(*cells, parameters=parameters), given)


def store(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="store">(.*?)</script>', html, re.DOTALL)
    assert found
    value: dict[str, Any] = json.loads(found[1])
    return value


def charts(*makers: Callable[..., Any]) -> list[Any]:
    return shown(*(lambda maker=maker: show.chart(maker(FRAME)) for maker in makers))


def test_a_page_refers_to_nothing_outside_itself() -> None:
    html = rendered("# T\n\n![x](pic.png) ![y](http://example.org/y.png)", charts(bars))
    found = Elements(html)
    assert not {"link", "iframe", "object", "embed", "img", "base"} & set(found.tags)
    assert not [value for name, value in found.attributes if name in ("src", "srcset", "action", "data")]
    assert "url(" not in assets.style()


def test_only_the_two_scripts_whose_hashes_the_policy_names_can_run() -> None:
    html = rendered("# T", charts(bars))
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1])  # type: ignore[index]
    packed = re.search(r'id="vega"[^>]*>([^<]*)</script>', html)[1]  # type: ignore[index]
    own = re.search(r"<script>(.*?)</script>", html, re.DOTALL)[1]  # type: ignore[index]
    hashes = {
        base64.b64encode(hashlib.sha256(script).digest()).decode()
        for script in (gzip.decompress(base64.b64decode(packed)), own.encode())
    }
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert {word.strip("'").removeprefix("sha256-") for word in directives["script-src"].split()} == hashes
    assert "unsafe" not in policy


def test_a_page_without_charts_carries_no_drawing_library() -> None:
    html = rendered("# T\n\nWords.")
    assert 'id="vega"' not in html
    assert len(html) < 60_000


def test_no_text_ends_the_block_of_data() -> None:
    html = rendered("# T", charts(bars))
    names = next(iter(store(html)["data"].values()))["tool_name"]
    assert names == HOSTILE
    assert "<" not in re.search(r'id="store">(.*?)</script>', html, re.DOTALL)[1]  # type: ignore[index]


def test_hostile_strings_make_no_element_anywhere() -> None:
    data = builders.decode(builders.trajectory(steps=[builders.step(tool=HOSTILE[1], error=HOSTILE[0])]))
    (id_,) = data.trajectories.select("trajectory_id").collect().to_series()
    cells = shown(
        lambda: show.headlines([Headline(*HOSTILE[:3])]),
        lambda: show.notice(HOSTILE[1]),
        lambda: show.table(FRAME, RESULT, caption=HOSTILE[0], definition=HOSTILE[2]),
        lambda: show.chart(bars(FRAME, HOSTILE[1])),
        lambda: show.transcripts(data.read([id_]), [id_], [HOSTILE[0]]),
    )
    cells.append(nbformat.v4.new_output("stream", name="stdout", text="\n".join(HOSTILE)))
    cells.append(nbformat.v4.new_output("error", ename=HOSTILE[0], evalue=HOSTILE[1], traceback=HOSTILE))
    cells.append(nbformat.v4.new_output("display_data", data={"text/html": HOSTILE[1], "text/plain": HOSTILE[0]}))
    html = rendered(
        "# " + HOSTILE[1] + "\n\n" + "\n\n".join(HOSTILE),
        "## " + HOSTILE[3],
        cells,
        parameters=f"source = {HOSTILE[0]!r}",
        title=HOSTILE[1],
        description=HOSTILE[0],
        suite=[{"name": "a", "title": HOSTILE[1], "href": "javascript:alert(1)"}],
        facts={"command": HOSTILE[0]},
    )
    found = Elements(html)
    assert not {"img", "svg", "a comment"} & set(found.tags)
    assert "<b>x" not in html
    assert found.tags.count("script") == 3
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    hrefs = [value or "" for name, value in found.attributes if name == "href"]
    assert not [href for href in hrefs if href.startswith("javascript:")]


def test_html_that_is_not_ours_is_shown_as_its_plain_text() -> None:
    foreign = nbformat.v4.new_output(
        "execute_result", data={"text/html": "<table id='theirs'></table>", "text/plain": "a | b"}, execution_count=1
    )
    html = rendered("# T", [foreign])
    assert "theirs" not in html
    assert "a | b" in html


def test_a_chart_stands_under_its_title_with_definition_and_numbers() -> None:
    html = rendered("# T", charts(bars))
    figure = re.search(r'<figure class="chart" id="figure-1".*?</figure>', html, re.DOTALL)[0]  # type: ignore[index]
    words = Elements(figure).words
    for part in ("One tool makes a third of the calls", "n = 6 tools", "Calls of the tool over all calls.", "33.3 %"):
        assert part in words
    assert "title" not in store(html)["charts"]["figure-1"]["spec"]
    heads = re.findall(r'data-name="(\w+)"', figure)
    assert heads == RESULT.names, "columns stand in the order of their table, whatever order a notebook keeps"


def test_a_chart_that_takes_the_width_of_its_surroundings_brings_none_of_its_own() -> None:
    found = store(rendered("# T", charts(bars, stepped)))["charts"]
    assert all(chart["fluid"] and "width" not in chart["spec"] for chart in found.values())


def test_data_and_configuration_are_written_once() -> None:
    found = store(rendered("# T", charts(bars, stepped, bars)))
    assert len(found["charts"]) == 3
    assert len(found["data"]) == 1
    assert len(found["configs"]) == 1
    assert all(
        "datasets" not in chart["spec"] and "usermeta" not in chart["spec"] for chart in found["charts"].values()
    )


def test_the_summary_stands_first_with_headlines_notices_and_findings() -> None:
    cells = shown(lambda: show.headlines([Headline("42 %", "usage", "of 7")]), lambda: show.notice("Beware."))
    html = rendered("# T\n\nQuestion?", "## Section", [*charts(bars), *cells])
    brief, rest = html.index('id="in-brief"'), html.index('id="section"')
    for part in ("42\u00a0%", "Beware.", '<a href="#figure-1"'):
        assert brief < html.index(part, brief) < rest


def test_what_of_the_headlines_needs_attention_is_noted_once_and_in_the_summary() -> None:
    cells = shown(lambda: show.headlines([Headline("9", "calls", "of 7", f"Beware {HOSTILE[0]}")]))
    html = rendered("# T\n\nQuestion?", cells, "## Section")
    assert html.count("Beware") == 1
    assert html.index('<ul class="attention">') < html.index("Beware") < html.index('id="section"')
    assert HOSTILE[0] not in html


def test_headings_have_anchors_of_their_own() -> None:
    html = rendered("# T", "## Same\n\ntext", "## Same", "## Ünï <b>code</b>")
    assert re.findall(r'<h2 id="([^"]+)"', html) == ["same", "same-2", "uni-b-code-b", "provenance"]
    assert all(f'<a href="#{id_}">' in html for id_ in ("same", "same-2", "uni-b-code-b"))


def test_no_heading_takes_an_anchor_that_the_page_has() -> None:
    data = builders.decode(builders.trajectory("t1"))
    (id_,) = data.trajectories.select("trajectory_id").collect().to_series()
    cells = [*charts(bars), *shown(lambda: show.transcripts(data.read([id_]), [id_]))]
    headings = ["Provenance", "In brief", "Main", "Store", "Vega", "Tip", "Figure 1", "Figure 1 title", f"t-{id_}"]
    html = rendered("# T", *(f"## {heading}" for heading in headings), cells)
    every = re.findall(r'\sid="([^"]+)"', html)
    assert len(every) == len(set(every))


def test_the_title_is_the_first_heading_unless_a_suite_gives_one() -> None:
    assert "<title>First</title>" in rendered("# First\n\nText", "# Second")
    assert "<title>Given</title>" in rendered("# First", title="Given")


def test_provenance_names_source_run_and_parameters() -> None:
    data = builders.decode(builders.trajectory("t1", env_id="bank"))
    html = rendered(
        "# T",
        shown(lambda: show.provenance(data)),
        parameters='source: str = "sample"  # what to read\ntop: int = 20',
        facts={"command": "python -m analysis report x", "records_in": 987_654_321, "date": "2026-01-01"},
    )
    words = Elements(html[html.index('id="provenance"') : html.index("</main>")]).words
    for part in ("1 = 1 + 0", data.manifest["content_hash"], "python -m analysis report x", "2026-01-01"):
        assert part in words
    assert "source = 'sample', top = 20" in words
    assert "987654321" not in words.replace(",", ""), "what the notebook counted is not said twice"


def test_parameters_are_read_and_never_run() -> None:
    assert literals("a: int = 1\nb = 'x'\nc = __import__('os').getcwd()\nd = -2") == {
        "a": 1,
        "b": "x",
        "c": "__import__('os').getcwd()",
        "d": -2,
    }
    assert literals("not python (") == {}


def test_a_synthetic_page_says_so_in_title_banner_and_foot() -> None:
    html = rendered("# T", facts={"synthetic": True})
    assert "(synthetic sample)</title>" in html
    assert html.index('class="banner"') < html.index("<h1")
    assert "Synthetic" not in rendered("# T")


def test_versions_read_as_one_writes_them() -> None:
    html = rendered("# T", facts={"versions": {"polars": "2.1.0", "altair": "6.3.0"}})
    assert "polars 2.1.0, altair 6.3.0" in html


def test_the_suite_is_linked_and_its_own_page_is_marked() -> None:
    links = [{"name": "a", "title": "A", "href": "a b.html"}, {"name": "me", "title": "Me", "href": "me.html"}]
    html = rendered("# T", name="me", suite=links)
    assert '<a href="a%20b.html">A</a>' in html
    assert '<a href="me.html" aria-current="page">Me</a>' in html


def test_names_of_files_and_anchors_are_plain_whatever_they_were() -> None:
    assert slug("../Ünï/<script>") == "uni-script"
    assert slug("שלום") == "section"
    assert len(slug("x" * 500)) <= 60


def test_what_was_printed_stays_and_what_only_concerned_the_run_goes() -> None:
    printed = nbformat.v4.new_output("stream", name="stdout", text="\x1b[31mred\x1b[0m")
    noise = nbformat.v4.new_output("stream", name="stderr", text="100%|####| /home/me/warning")
    html = rendered("# T", [printed, noise])
    assert '<pre tabindex="0">red</pre>' in html
    assert "/home/me" not in html


def test_the_same_notebook_gives_the_same_bytes() -> None:
    made = [rendered("# T", charts(bars, stepped), facts={"date": "2026-01-01"}) for _ in range(2)]
    assert made[0] == made[1]


def test_the_bundle_is_kept_under_the_versions_it_is_made_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path))
    assets.bundle.cache_clear()
    first = assets.bundle()
    (kept,) = (tmp_path / "vega").iterdir()
    kept.write_bytes(kept.read_bytes()[:1000])  # a torn file is built anew, not trusted
    assets.bundle.cache_clear()
    assert assets.bundle() == first
    assets.bundle.cache_clear()


def test_ten_charts_of_usual_size_stay_under_600_kb() -> None:
    frames = [FRAME.sample(40, with_replacement=True, seed=seed) for seed in range(10)]
    outputs = shown(*(lambda frame=frame: show.chart(bars(frame)) for frame in frames))
    html = rendered("# T", outputs)
    assert len(store(html)["data"]) == 10
    assert len(html.encode()) < 600_000


def test_nbconvert_hands_name_suite_and_provenance_through() -> None:
    resources = {
        "metadata": {"name": "10_tools"},
        "suite": [("10_tools", "Tools", "10_tools.html")],
        "provenance": {"commit": "abc123", "synthetic": True},
    }
    html, back = TrajectoryReportExporter().from_notebook_node(notebook("# Tools\n\nWhy?"), resources)
    assert back["title"] == "Tools"
    assert back["output_extension"] == ".html"
    assert 'aria-current="page"' in html
    assert "abc123" in html
    assert "(synthetic sample)" in html
