"""What a cell displays: numbers as a reader wants them, every foreign text as text, outputs tagged for the page."""

from html.parser import HTMLParser
from typing import Any

import altair as alt
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import show
from analysis.brief import Headline
from analysis.charts import theme
from analysis.charts.figure import MAX_ROWS, Drawn, figure
from analysis.markup import CHART_TYPE, LAB_STYLE, clean, grid, shares, text
from analysis.schema import Column, Table
from analysis.wording import cell, percent
from tests import builders
from tests.outputs import shown

USAGE = Table(
    "usage",
    "tool",
    (
        Column("tool_name", pl.String(), "tool called"),
        Column("calls", pl.UInt32(), "how often", unit="calls"),
        Column("error_rate", pl.Float64(), "errors over (ok + errors)", nullable=True),
    ),
)
HOSTILE = ["</script><b>x", "<img src=x onerror=alert(1)>", "<!--", '"><svg onload=alert(1)>', "'a.b[0]:c", "$x$ **y**"]
FRAME = pl.DataFrame(
    {"tool_name": HOSTILE, "calls": [12345, 2, 3, 4, 5, 6], "error_rate": [1 / 3, None, 0.0, 1.0, 0.0001, 0.99999]},
    schema=USAGE.schema,
)


class Elements(HTMLParser):
    """Which elements with which attributes a piece of HTML makes, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_comment(self, data: str) -> None:
        self.tags.append("a comment")

    def handle_data(self, data: str) -> None:
        self.words += data


def html(output: Any) -> str:
    return str(output.data["text/html"]).removeprefix(LAB_STYLE)


def kinds(outputs: list[Any]) -> list[str]:
    return [output.metadata["trajectory"]["kind"] for output in outputs]


def bars(frame: pl.DataFrame) -> Any:
    draw = figure(USAGE, definition="Calls per tool.")(
        lambda f: Drawn(alt.Chart(f).mark_bar().encode(x="calls:Q", y="tool_name:N"), "T", "n = 3")
    )
    return draw(frame)


@pytest.mark.parametrize(
    ("value", "is_share", "words"),
    [
        (None, False, "–"),
        (True, False, "yes"),
        (1234567, False, "1,234,567"),
        (12345.6, False, "12,346"),
        (12.345, False, "12.3"),
        (0.012345, False, "0.0123"),
        (3.0, False, "3"),
        (-0.5, False, "-0.500"),
        (float("nan"), False, "–"),
        (1 / 3, True, "33.3 %"),
        (0.0, True, "0 %"),
        (1.0, True, "100 %"),
        (0.0001, True, "under 0.1 %"),
        (0.99999, True, "over 99.9 %"),
        ([1, 2], False, "1, 2"),
    ],
)
def test_a_value_reads_as_a_reader_wants_it(value: Any, is_share: bool, words: str) -> None:
    assert cell(value, is_share=is_share) == words


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_a_share_that_is_neither_nothing_nor_all_never_reads_as_either(share: float) -> None:
    assert percent(share) not in ("0 %", "0.0 %", "100 %", "100.0 %")


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-3, max_value=1e12))
def test_a_number_loses_less_than_half_a_per_cent_by_rounding(value: float) -> None:
    assert float(cell(value).replace(",", "")) == pytest.approx(value, rel=5e-3)


def test_bounds_are_shares_where_what_they_bound_is_one() -> None:
    names = ["coverage_rate", "coverage_low", "difference", "difference_high", "call_share", "rate_low", "separate"]
    assert shares(names) == {"coverage_rate", "coverage_low", "call_share", "rate_low"}


@given(st.text(alphabet=st.characters(), max_size=60) | st.sampled_from(HOSTILE))
def test_no_text_becomes_an_element_and_every_encoder_takes_it(words: str) -> None:
    found = Elements(f"<p title='{text(words)}'>{text(words)}</p>")
    assert found.tags == ["p"]
    assert found.words == clean(words)
    clean(words).encode("utf-8")


def test_a_table_has_heads_with_units_and_meaning_and_keeps_exact_values_beside_rounded_ones() -> None:
    found = Elements(grid(FRAME.head(1), {c.name: (c.title, c.meaning) for c in USAGE}, "Tools"))
    assert "calls" in found.words
    assert ("title", "errors over (ok + errors)") in found.attributes
    assert "12,345" in found.words
    assert "33.3 %" in found.words
    assert [value for name, value in found.attributes if name == "data-value"] == ["12345", repr(1 / 3)]


def test_a_table_makes_no_element_out_of_its_texts() -> None:
    (output,) = shown(lambda: show.table(FRAME, USAGE, caption=HOSTILE[0], definition=HOSTILE[1]))
    found = Elements(html(output))
    assert set(found.tags) == {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert all(words in found.words for words in HOSTILE)
    assert kinds([output]) == ["table"]


def test_a_long_table_says_how_much_it_leaves_out() -> None:
    (output,) = shown(lambda: show.table(FRAME, USAGE, caption="Tools", rows=2))
    assert html(output).count("<tr>") == 1 + 2
    assert "The first 2 of 6 rows." in Elements(html(output)).words


def test_a_long_text_is_cut_and_its_length_is_said() -> None:
    frame = FRAME.head(1).with_columns(tool_name=pl.lit("x" * 4321))
    (output,) = shown(lambda: show.table(frame, USAGE, caption="Tools"))
    assert "… (4,321 characters)" in html(output)
    assert len(html(output)) < 1500


def test_an_empty_table_says_so_in_its_place() -> None:
    (output,) = shown(lambda: show.table(USAGE.empty(), USAGE, caption="Tools"))
    assert kinds([output]) == ["empty"]
    assert "no rows" in html(output)


def test_a_chart_comes_with_its_definition_under_it() -> None:
    chart, definition = shown(lambda: show.chart(bars(FRAME)))
    assert kinds([chart, definition]) == ["chart", "definition"]
    assert "Calls per tool." in html(definition)


def test_jupyterlab_gets_a_width_it_can_draw_and_the_page_is_told_of_the_container() -> None:
    chart, _ = shown(lambda: show.chart(bars(FRAME)))
    assert chart.data[CHART_TYPE]["width"] == theme.WIDTH
    assert chart.metadata["trajectory"]["width"] == "container"
    assert chart.metadata[CHART_TYPE]["embed_options"]["renderer"] == "svg"


def test_in_place_of_an_empty_chart_stands_the_sentence_that_says_why() -> None:
    (output,) = shown(lambda: show.chart(bars(USAGE.empty())))
    assert kinds([output]) == ["empty"]
    assert "tool – no rows in this source or selection" in html(output)


def test_a_chart_refuses_what_should_have_been_aggregated() -> None:
    frame = pl.DataFrame({"tool_name": ["a"], "calls": [1], "error_rate": [0.0]}, schema=USAGE.schema)
    many = pl.concat([frame] * (MAX_ROWS + 1))
    with pytest.raises(ValueError, match="2,001 rows; aggregate to at most 2,000"):
        bars(many)


def test_a_chart_tells_the_page_what_its_columns_mean() -> None:
    chart, _ = shown(lambda: show.chart(bars(FRAME)))
    meta = chart.data[CHART_TYPE]["usermeta"]
    assert meta["order"] == USAGE.names
    assert meta["columns"]["calls"] == {"title": "calls", "meaning": "how often"}


def test_a_backslash_in_a_tooltip_s_heading_does_not_reach_vega_lite_s_expression_bare() -> None:
    chart = alt.Chart(FRAME).mark_bar().encode(x="calls:Q", tooltip=[alt.Tooltip("calls:Q", title="C:\\users\n\\")])
    (output,) = shown(lambda: show.chart(chart))
    spec = output.data[CHART_TYPE]
    assert spec["encoding"]["tooltip"][0]["title"] == "C:\\\\users \\\\"
    assert spec["config"]["mark"]["aria"] is False


def test_headlines_and_notices_are_text() -> None:
    headline, notice = shown(
        lambda: show.headlines([Headline(*HOSTILE[:3])]), lambda: show.notice(HOSTILE[3] + "\ud83d")
    )
    assert kinds([headline, notice]) == ["headlines", "notice"]
    assert Elements(html(headline)).tags == ["dl", "div", "dt", "dd", "dd"]
    assert Elements(html(notice)).tags == ["p"]
    assert notice.metadata["trajectory"]["sentence"] == HOSTILE[3] + "\ufffd"


def test_what_of_a_headline_needs_attention_stands_under_all_of_them() -> None:
    numbers = [Headline("1", "calls", "of 2", HOSTILE[0]), Headline("2", "tools", "of 3")]
    headline, attention = shown(lambda: show.headlines(numbers))
    assert kinds([headline, attention]) == ["headlines", "attention"]
    assert Elements(html(attention)).tags == ["p"]
    assert attention.metadata["trajectory"]["sentence"] == HOSTILE[0]


def test_no_headline_shows_nothing() -> None:
    assert shown(lambda: show.headlines([])) == []


def test_provenance_adds_up_and_names_the_selection() -> None:
    record = builders.trajectory("t1", env_id="bank", steps=[builders.step(tool="get_user")])
    data = builders.decode(record, {"traj_type": "nonsense"}).where(env_id="bank")
    (output,) = shown(lambda: show.provenance(data))
    facts = output.metadata["trajectory"]["facts"]
    assert facts["records in = kept + rejected"] == "2 = 1 + 1"
    assert facts["selection"] == "env_id = bank"
    assert facts["content hash"] == data.manifest["content_hash"]
    assert not output.metadata["trajectory"]["synthetic"]
    assert "Synthetic" not in html(output)


def test_the_sample_is_called_synthetic_where_nobody_can_miss_it() -> None:
    data = builders.decode(builders.trajectory())
    data.manifest["synthetic"] = True
    (output,) = shown(lambda: show.provenance(data))
    assert output.metadata["trajectory"]["synthetic"]
    assert Elements(html(output)).words.startswith("Synthetic sample:")


def test_records_kept_unread_are_told_with_their_number() -> None:
    data = builders.decode(builders.trajectory())
    data.manifest.update(kept_unread=1, kept=3)
    (output,) = shown(lambda: show.provenance(data))
    assert "not read whole: 1 of 3 records." in output.metadata["trajectory"]["unread"]
    assert "not read whole: 1 of 3 records." in Elements(html(output)).words


def test_transcripts_need_an_id_and_a_reason_for_each() -> None:
    data = builders.decode(builders.trajectory(steps=[builders.step(tool=HOSTILE[1], error=HOSTILE[0])]))
    (id_,) = data.trajectories.select("trajectory_id").collect().to_series()
    with pytest.raises(ValueError, match="1 trajectories, 2 ids"):
        show.transcripts(data.read([id_]), [id_, id_])
    (output,) = shown(lambda: show.transcripts(data.read([id_]), [id_], ["most errors"]))
    found = Elements(html(output))
    assert kinds([output]) == ["transcripts"]
    assert not {"img", "script", "b>x"} & set(found.tags)
    assert HOSTILE[1] in found.words
    assert "most errors" in found.words


def test_a_result_that_came_out_otherwise_stands_beside_the_recorded_one() -> None:
    steps = [builders.step("get", result="{'id': 1}"), builders.step("get", result="{'id': 2}")]
    data = builders.decode(builders.trajectory(steps=steps))
    (id_,) = data.trajectories.select("trajectory_id").collect().to_series()
    anew = pl.DataFrame({"trajectory_id": [id_] * 2, "call": [1, 2], "replayed_result": [None, HOSTILE[0]]})
    (output,) = shown(lambda: show.transcripts(data.read([id_]), [id_], replayed=anew))
    words = Elements(html(output)).words
    assert words.count("played again, otherwise") == 1
    assert words.index("{'id': 2}") < words.index("played again, otherwise") < words.index(HOSTILE[0])
    assert not {"img", "script", "b>x"} & set(Elements(html(output)).tags)


def test_plain_text_stands_for_those_who_see_no_html() -> None:
    (output,) = shown(lambda: show.notice("a < b & c"))
    assert output.data["text/plain"].strip() == "a < b & c"
