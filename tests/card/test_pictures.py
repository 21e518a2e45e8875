"""Pictures are drawn of any data, hold no script, and are the same bytes each time."""

from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from analysis.card import pictures
from analysis.charts import tool_usage as charts
from analysis.measures.tool_usage import BUSIEST
from tests.card import reading
from tests.card.conftest import Played

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = ("svg", "g", "path", "rect", "line", "text", "tspan")


def usage(*names: str) -> dict[str, Any]:
    row = dict.fromkeys(BUSIEST.names, 30) | {"usage_rate": 0.5, "usage_rate_low": 0.4, "usage_rate_high": 0.6}
    rows = [{**row, "env_id": name, "tool_name": name, "call_share": 0.1, "all_call_share": 0.1} for name in names]
    found: dict[str, Any] = charts.usage(pl.DataFrame(rows, schema=BUSIEST.schema)).to_dict()
    return found


def test_the_card_shows_every_picture_that_lies_beside_it(played: Played) -> None:
    shown = [str(t.attrs["src"]) for t in reading.tokens(played.card) if t.type == "image"]
    assert sorted(shown) == [f"statistics/{name}.svg" for name in ("endings", "environments", "steps", "tools")]
    assert {played.folder / path for path in shown} == set((played.folder / "statistics").iterdir())


def test_every_picture_is_described_by_what_it_shows(played: Played) -> None:
    for image in (t for t in reading.tokens(played.card) if t.type == "image"):
        drawn = ElementTree.parse(played.folder / str(image.attrs["src"]))
        texts = "".join("".join("".join(part.itertext()).split()) for part in drawn.iter(f"{SVG}text"))
        words = "".join("".join(child.content for child in image.children or ()).split())
        assert words
        assert words in texts


def test_pictures_are_small(played: Played) -> None:
    for path in (played.folder / "statistics").iterdir():
        assert path.stat().st_size < 60_000


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a&b\"c'd", "]]>", "{{datum.x}}", "'+alert(1)+'"])
def test_a_hostile_name_is_drawn_as_text(name: str) -> None:
    # Two tools: one alone is told in a sentence.
    drawn = ElementTree.fromstring(pictures.svg(usage(name, "other")))
    assert {part.tag.removeprefix(SVG) for part in drawn.iter()} <= set(SHAPES)
    assert not [key for part in drawn.iter() for key in part.attrib if key.startswith("on") or key.endswith("href")]
    assert any(name in "".join(part.itertext()) for part in drawn.iter(f"{SVG}text"))


# The engine that draws would take the whole process with it.
@pytest.mark.parametrize("character", ["\0", "\x1b", "\ud800", "\ufffe", "\uffff", "\x85"])
def test_a_character_that_no_picture_can_hold_is_replaced(character: str) -> None:
    drawn = pictures.svg({**usage("tool"), "title": {"text": f"a{character}b", "subtitle": ""}})
    assert "a\ufffdb" in drawn
    ElementTree.fromstring(drawn)


def test_the_same_chart_is_the_same_bytes() -> None:
    spec = usage("a", "b")
    assert pictures.svg(spec) == pictures.svg(usage("a", "b"))


def test_a_chart_is_left_as_it_was() -> None:
    spec = usage("a")
    before = repr(spec)
    pictures.on_paper(spec)
    assert repr(spec) == before


def test_a_picture_is_dark_on_white_whatever_page_it_stands_on() -> None:
    assert "currentColor" not in str(pictures.on_paper(usage("a")))
    assert pictures.on_paper(usage("a"))["config"]["background"] == "#ffffff"
