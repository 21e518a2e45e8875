"""Searching a transcript: every hit found, marked, unfolded and listed, and nothing let through as markup."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.explore import reading
from analysis.markup import text
from tests.builders import decode, step, trajectory
from tests.explore.people import HOSTILE

LONG = "x" * 8_000 + " needle at the end"


@pytest.fixture(scope="module")
def page() -> str:
    steps = [
        step("look", arguments={"for": "Needle"}, result=LONG, reasoning="A needle\n in a  haystack."),
        step(says=HOSTILE),
    ]
    (record,) = decode(trajectory(steps=steps)).read(["00000-00000"])
    return reading.page(record, "00000-00000")


def shown(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


def test_every_hit_is_marked_in_order_whatever_the_case_and_however_deep(page: str) -> None:
    html, hits = reading.find(page, "needle", "hit")
    assert [hit.anchor for hit in hits] == ["hit-1", "hit-2", "hit-3"]
    assert re.findall(r'<mark id="(hit-\d)">(\w+)</mark>', html) == [
        ("hit-1", "needle"),
        ("hit-2", "Needle"),
        ("hit-3", "needle"),
    ]
    assert hits[2].after == " at the end", "what a page cuts is searched here"


def test_what_holds_a_hit_is_unfolded_and_the_rest_stays_folded(page: str) -> None:
    assert page.startswith("<details open")
    assert page.count("<details open") == 1
    html, _ = reading.find(page, "haystack", "hit")
    assert '<details open class="reasoning">' in html
    assert html.count("<details open") == 2
    assert html.count("<details") == page.count("<details")


def test_a_space_stands_for_any_white_space(page: str) -> None:
    _, hits = reading.find(page, "needle in a haystack", "hit")
    assert [hit.found for hit in hits] == ["needle\n in a  haystack"]


@pytest.mark.parametrize("words", ["", "  ", "nowhere to be found"])
def test_nothing_found_changes_nothing(page: str, words: str) -> None:
    assert reading.find(page, words, "hit") == (page, [])


@pytest.mark.parametrize("words", ["<img", "onerror=alert(1)>", "&lt;", "class=", "details", "</script>", "'", ".*"])
def test_markup_is_searched_as_text_and_stays_text(page: str, words: str) -> None:
    html, hits = reading.find(page, words, "hit")
    assert len(hits) == shown(page).lower().count(words.lower())
    assert shown(html) == shown(page)
    assert not re.search(r"<(img|script)", html)
    assert not re.search(r"<(img|script)", reading.listed(hits, words))


def test_the_list_says_how_often_and_leads_to_each(page: str) -> None:
    _, hits = reading.find(page, "needle", "hit")
    listed = reading.listed(hits, "needle")
    assert "found 3 times" in listed
    assert re.findall(r'href="#(hit-\d)"', listed) == ["hit-1", "hit-2", "hit-3"]
    assert "is nowhere in this trajectory" in reading.listed([], "zebra")
    assert reading.listed([], " ") == ""
    many = reading.listed(hits * 50, "needle")
    assert many.count("<li>") == reading.MOST_LISTED
    assert "The first 100 are listed." in many


@given(st.text(max_size=60), st.text(min_size=1, max_size=3))
def test_any_text_is_searched_without_loss(content: str, words: str) -> None:
    html = f"<details><summary>s</summary><p>{text(content)}</p></details>"
    found, hits = reading.find(html, words, "hit")
    assert shown(found) == shown(html)
    assert found.count("<mark") == len(hits)
