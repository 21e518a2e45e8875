"""Whatever a data set calls its tools, a card shows it as text."""

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.card import markdown
from analysis.card.markdown import Grid
from analysis.markup import clean
from tests.card import reading

HOSTILE = [
    "<script>alert(1)</script>",
    "a|b`c\\|d",
    "`` ` ``",
    "<!-- trajectory-notebooks:end -->",
    "![x](https://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "**b** _i_ ~~s~~ $x$ &lt;b&gt; &amp;",
    "https://evil.example www.evil.example",
    "a\nb\r\n\r\n## c",
    "\\",
    "- a: b # c",
]
STRINGS = st.text(st.characters(exclude_categories=["Cs"])) | st.text("`|\\<>&[]()*_~$! \n-#:.ab")


def shown(words: str) -> str:
    """What is left of a string in one line: its words, without what has no glyph or turns others around."""
    turning = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"), "\ufffd")
    return re.sub("[ \t\n\u2028\u2029]+", " ", clean(words).translate(turning)).strip()


def cell(words: str, *, prose: bool) -> str:
    frame = pl.DataFrame({"name": [words], "calls": [1]})
    table = markdown.table(Grid(frame, {"name": "name", "calls": "calls"}, frozenset(["name"] if prose else [])))
    assert not {token.type for token in reading.tokens(table)} & {*reading.FOREIGN, "image"}
    ((_, (found, calls)),) = reading.tables(table)[""]
    assert calls == "1"
    return found


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("prose", [True, False], ids=["prose", "code"])
def test_a_hostile_string_is_one_cell_that_reads_as_it_stands(words: str, prose: bool) -> None:
    assert cell(words, prose=prose) == shown(words)


@given(STRINGS.filter(lambda words: 0 < len(shown(words)) <= markdown.MOST_CHARS))
def test_any_name_is_one_cell_that_reads_as_it_stands(words: str) -> None:
    assert cell(words, prose=False) == shown(words)


@given(STRINGS)
def test_any_sentence_is_one_cell_that_reads_as_it_stands(words: str) -> None:
    assert cell(words, prose=True) == shown(words)


@given(STRINGS.filter(shown))
def test_any_description_of_a_picture_reads_as_it_stands(words: str) -> None:
    (image,) = (t for t in reading.tokens(markdown.picture(words, "statistics/steps.svg")) if t.type == "image")
    assert image.attrs["src"] == "statistics/steps.svg"
    assert "".join(child.content for child in image.children or ()) == shown(words)


def test_what_looks_like_an_address_is_none() -> None:
    # Extensions of Markdown link bare addresses, even within a sentence.
    assert "://" not in markdown.text("see https://evil.example")
    assert "www." not in markdown.text("see www.evil.example")


def test_a_long_name_is_cut_and_says_how_long_it_is() -> None:
    assert markdown.code("x" * 1_000) == f"`{'x' * 120}… (1,000 characters)`"


def test_a_name_of_nothing_says_so() -> None:
    assert markdown.code(" \n") == "(empty)"


def test_parts_of_a_whole_are_in_per_cent_and_an_absent_value_is_a_dash() -> None:
    frame = pl.DataFrame({"error_rate": [0.125, None], "calls": [1_234, 8]})
    assert markdown.table(Grid(frame, {"calls": "calls", "error_rate": "error rate"})).splitlines() == [
        "| calls | error rate |",
        "| ---: | ---: |",
        "| 1,234 | 12.5\u00a0% |",
        "| 8 | – |",
    ]
