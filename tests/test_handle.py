"""What a handle says of itself, in a terminal and in a notebook, and what it answers to a misspelt name."""

import copy
import hashlib
import json
import pickle
import shutil
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from analysis import load
from analysis.schema import BASE_TABLES, RECORD_TABLES
from analysis.tables import Tables, write_tables
from tests.builders import decode, step, trajectory

HOSTILE = "</code></summary><script>alert(1)</script><img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """The elements a piece of HTML makes, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def sample() -> Tables:
    return load("sample", progress=False)


@pytest.fixture
def broken(tmp_path: Path) -> Tables:
    """Three records kept and one that no reader can read."""
    bank = [step(tool="get_user"), step(tool="transfer", error="no funds")]
    good = [trajectory(f"t{n}", env_id="bank", steps=bank) for n in range(3)]
    return decode(*good, {"messages": HOSTILE}, folder=tmp_path)


def test_the_text_names_every_table_with_its_rows_and_every_column_with_its_unit_and_meaning(sample: Tables) -> None:
    words = " ".join(repr(sample).split())
    for table in BASE_TABLES:
        rows = getattr(sample, table.name).select(pl.len()).collect().item()
        assert f"{table.name}: {rows:,} rows, one per {table.grain}" in words
        for column in table:
            parts = (column.name, str(column.dtype.base_type()), column.unit or "", column.meaning)
            assert " ".join(filter(None, parts)) in words
    assert "420 records in = 420 kept + 0 rejected. Synthetic" in words


def test_the_text_fits_a_terminal(sample: Tables) -> None:
    assert max(map(len, repr(sample).splitlines())) <= 120


def test_the_notebook_shows_the_same_folded_a_table_each(sample: Tables) -> None:
    shown = Tags(sample._repr_html_())
    assert shown.tags.count("details") == len(BASE_TABLES)
    for table in BASE_TABLES:
        for column in table:
            assert column.meaning in shown.words
    assert "one per tool call, with its result's outcome beside it" in shown.words


def test_what_was_rejected_is_counted_and_the_first_are_named_with_their_reasons(broken: Tables) -> None:
    shown = Tags(broken._repr_html_())
    ((origin, reason),) = broken.rejected.select("origin", "reason").collect().rows()
    for words in (repr(broken), shown.words):
        assert "4 records in = 3 kept + 1 rejected" in words
        assert origin in words
        assert reason in words


def test_a_selection_is_named_and_counted(sample: Tables) -> None:
    chosen = sample.where(traj_type="conversation", env_id="env_7_sft")
    rows = chosen.trajectories.select(pl.len()).collect().item()
    for words in (repr(chosen), Tags(chosen._repr_html_()).words):
        assert "Selected: traj_type = conversation, env_id = env_7_sft" in words
        assert f"{rows:,} rows, one per record" in words


def test_tables_that_need_sibling_sets_say_how_to_give_them(broken: Tables) -> None:
    assert "scenarios: none given: load(…, environments=…, scenarios=…) reads the sibling sets" in repr(broken)


def test_strings_of_the_source_are_shown_as_text(tmp_path: Path) -> None:
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    data = decode(trajectory(), {"messages": HOSTILE}, folder=folder)
    shown = Tags(data._repr_html_())
    assert not {"script", "img"} & set(shown.tags)
    assert "<img src=x onerror=alert(1)>" in shown.words


def test_a_handle_whose_tables_were_removed_still_shows_what_it_was(broken: Tables) -> None:
    shutil.rmtree(broken.folder)
    assert "trajectories: its files cannot be read; load the source again" in repr(broken)
    assert "load the source again" in broken._repr_html_()


@pytest.mark.parametrize("table", BASE_TABLES, ids=lambda table: table.name)
def test_every_table_is_a_lazy_frame_of_its_schema(sample: Tables, table: object) -> None:
    name = table.name  # type: ignore[attr-defined]
    frame = getattr(sample, name)
    assert isinstance(frame, pl.LazyFrame)
    assert frame.collect_schema() == table.schema  # type: ignore[attr-defined]
    assert sample.table(name).collect_schema() == frame.collect_schema()


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [("tool_cals", "tool_calls"), ("trajectory", "trajectories"), ("wehre", "where"), ("Findings", "findings")],
)
def test_a_misspelt_table_or_method_names_the_nearest(sample: Tables, wrong: str, nearest: str) -> None:
    with pytest.raises(AttributeError, match=f"no table or method '{wrong}'; nearest: {nearest}"):
        getattr(sample, wrong)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("tols",), r"there is no table 'tols'; nearest: tools"),
        (("tool_calls", "tool_name", "outcom"), r"tool_calls has no column 'outcom'; nearest: outcome"),
        (("rejected", "zzz"), r"rejected has no column 'zzz'; there are byte_offset, origin, reason"),
    ],
)
def test_misspelt_names_of_tables_and_columns_name_the_nearest(
    sample: Tables, names: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        sample.table(*names)


def test_a_misspelt_column_of_a_lazy_frame_is_answered_by_polars_with_the_nearest(sample: Tables) -> None:
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match='Did you mean "tool_name"'):
        sample.tool_calls.filter(pl.col("tool_nmae") == "x").collect()


def test_the_calls_of_a_tool_are_found_and_a_misspelt_tool_names_the_nearest(sample: Tables) -> None:
    calls = sample.calls_of("cancel_order").collect()
    assert calls["tool_name"].unique().to_list() == ["cancel_order"]
    assert calls.height == sample.tool_calls.collect().filter(pl.col("tool_name") == "cancel_order").height
    with pytest.raises(ValueError, match="there is no tool 'cancelorder' in sample; nearest: cancel_order"):
        sample.calls_of("cancelorder")


def test_a_tool_that_is_offered_and_never_called_has_no_calls_and_is_no_mistake(tmp_path: Path) -> None:
    data = decode(trajectory(steps=[step(tool="get")], tools=["get", "set"]), folder=tmp_path)
    assert data.calls_of("set").collect().is_empty()


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"traj_type": "conversatoin"}, "there is no traj_type 'conversatoin' in sample; nearest: conversation"),
        ({"env_id": "ENV-7"}, "there is no env_id 'ENV-7' in sample; nearest: env_7_sft"),
        ({"env_id": "planet"}, r"there is no env_id 'planet' in sample; there are \d+ others"),
    ],
)
def test_a_misspelt_selection_names_the_nearest(sample: Tables, selection: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample.where(**selection)


def test_a_handle_is_copied_and_pickled_like_any_value(sample: Tables) -> None:
    assert copy.copy(sample) == sample
    assert pickle.loads(pickle.dumps(sample)) == sample
    assert {table.name for table in RECORD_TABLES} <= set(dir(sample))


def test_a_path_is_as_good_as_its_text(tmp_path: Path) -> None:
    data = decode(trajectory(), folder=tmp_path)
    assert load(tmp_path / "trajectories.json", progress=False).manifest == data.manifest


def test_a_source_of_one_file_has_its_sha256_and_others_have_none(tmp_path: Path) -> None:
    one, both, written = tmp_path / "one.json", tmp_path / "both", tmp_path / "tables"
    one.write_text(json.dumps([trajectory("a"), trajectory("b")]), encoding="utf-8")
    both.mkdir()
    for name in ("a.json", "b.json"):
        shutil.copy(one, both / name)
    write_tables(str(one), written, progress=False)
    assert load(str(one), progress=False).sha256() == hashlib.sha256(one.read_bytes()).hexdigest()
    assert load(str(both), progress=False).sha256() == ""
    one.unlink()
    assert load(str(written), progress=False).sha256() == ""
