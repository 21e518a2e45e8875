"""A broken record costs only itself, whatever byte of it breaks, in every layout; the next is found in linear time."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis import sources
from analysis.sources.containers import lines, window
from analysis.sources.containers.brackets import by_brackets
from analysis.sources.containers.unit import Slice
from tests.conftest import SHARED_DATA
from tests.growth import is_linear

Record = dict[str, Any]
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": [1, {"y": 2}]}'}}


def chat(n: int, size: int = 1) -> Record:
    messages = [
        {"role": "user", "content": f'No. {n}: {{"a": [1, "]}}\\n {{"]}} “q” ,{{' * size},
        {"role": "assistant", "content": None, "tool_calls": [CALL, CALL | {"id": "c2"}]},
        {"role": "tool", "content": '[{"id": 1}, {"id": 2}]'},
    ]
    return {"messages": messages, "tools": [{"name": "f"}, {"name": "g"}], "n": n}


# Objects inside of the second begin as it does; the last holds JSON in texts, as the release does.
KINDS: dict[str, Callable[[int], Record]] = {
    "chat": chat,
    "same first key inside": lambda n: {
        "id": n,
        "history": [{"id": k, "role": "user"} for k in range(3)],
        "m": {"id": 3},
    },
    "JSON in texts": lambda n: {"traj_type": "a", "tools": '[{"name": "f"}]', "messages": '[{"role": "user"}]', "n": n},
    "large": lambda n: chat(n, size=60),
}
# What stands before the records, between and behind them, and how each is written.
LAYOUTS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "one line": ("[", ", ", "]", {}),
    "no spaces": ("[", ",", "]", {"separators": (",", ":")}),
    "indent 0": ("[\n", ",\n", "\n]", {"indent": 0}),
    "indent 2": ("[\n  ", ",\n  ", "\n]", {"indent": 2}),
    "indent 4": ("[\n    ", ",\n    ", "\n]", {"indent": 4}),
    "JSON Lines": ("", "\n", "\n", {}),
    "a record a line of an array": ("[\n", ",\n", "\n]", {}),
    "one after another": ("", "\n", "\n", {"indent": 2}),
    "wrapped": ('{"tasks": [{"id": 1}], "simulations": [', ", ", '], "info": {"a": [1]}}', {}),
    "wrapped, indent 2": ('{\n  "samples": [\n    ', ",\n    ", "\n  ]\n}", {"indent": 2}),
}
BYTES = [bytes([byte]) for byte in b'"{}[],:\\\n x0\x00\xff']


def written(layout: str, rows: list[Record]) -> tuple[bytes, list[bytes], bytes, bytes]:
    before, between, behind, how = LAYOUTS[layout]
    indent = before.rpartition("\n")[2] if how.get("indent") else ""
    texts = [json.dumps(row, **how).replace("\n", f"\n{indent}").encode() for row in rows]
    return before.encode(), texts, between.encode(), behind.encode()


def read(path: Path) -> tuple[list[Record], int, list[sources.Damage]]:
    """(whole records, how many are broken, damage): read as a run does, which doubts lines where a record breaks."""
    (unit,) = sources.plan(sources.locate(str(path)))
    items = [*sources.read_unit(unit)]
    raws = [item for item in items if isinstance(item, sources.Raw)]
    if any(value(raw) is None and sources.is_cut_wrong(unit, raw) for raw in raws):
        items = [*sources.read_unit(sources.whole(unit, path.stat().st_size))]
        raws = [item for item in items if isinstance(item, sources.Raw)]
    whole = [record for raw in raws if (record := value(raw)) is not None]
    return whole, len(raws) - len(whole), [item for item in items if isinstance(item, sources.Damage)]


def value(raw: sources.Raw) -> Record | None:
    try:
        record = json.loads(raw.data)
    except ValueError:
        return None
    return record if isinstance(record, dict) and not raw.broken else None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read_whole_when_nothing_is_broken(tmp_path: Path, layout: str) -> None:
    for kind in KINDS.values():
        rows = [kind(n) for n in range(5)]
        before, texts, between, behind = written(layout, rows)
        (tmp_path / "x.json").write_bytes(before + between.join(texts) + behind)
        assert read(tmp_path / "x.json") == (rows, 0, [])


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(kind=st.sampled_from([*KINDS]), victim=st.integers(0, 4), where=st.floats(0, 1, exclude_max=True))
def test_one_quote_or_bracket_missing_rejects_one_record_of_five(
    tmp_path: Path, layout: str, kind: str, victim: int, where: float
) -> None:
    rows = [KINDS[kind](n) for n in range(5)]
    before, texts, between, behind = written(layout, rows)
    places = [place for place, byte in enumerate(texts[victim]) if byte in b'"{}[]']
    place = places[int(where * len(places))]
    texts[victim] = texts[victim][:place] + texts[victim][place + 1 :]
    (tmp_path / "x.json").write_bytes(before + between.join(texts) + behind)
    whole, broken, damage = read(tmp_path / "x.json")
    assert (len(whole) + broken, damage) == (5, [])
    assert [row for n, row in enumerate(rows) if n != victim] == [row for row in whole if row in rows]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_byte_at_either_end_of_a_record_costs_another(tmp_path: Path, layout: str) -> None:
    rows = [chat(n) for n in range(5)]
    path, lost = tmp_path / "x.json", []
    for victim in (0, 1, 4):
        others = [row for row in rows if row["n"] != victim]
        for harm in (b"", *BYTES):
            for place in (0, 1, -2, -1):
                before, texts, between, behind = written(layout, rows)
                head, tail = texts[victim][:place], texts[victim][place:]
                for what, text in (
                    ("for another", head + harm + tail[1:]),
                    ("more", head + harm + tail),
                ):
                    path.write_bytes(before + between.join([*texts[:victim], text, *texts[victim + 1 :]]) + behind)
                    whole, _, _ = read(path)
                    if [row for row in whole if row in others] != others:
                        lost.append((victim, harm, place, what))
    assert lost == []


@pytest.mark.parametrize("layout", ["indent 0", "indent 2", "indent 4"])
def test_a_first_record_that_looks_like_a_message_costs_no_other(tmp_path: Path, layout: str) -> None:
    rows = [KINDS["same first key inside"](n) for n in range(5)]
    before, texts, between, behind = written(layout, rows)
    inner = texts[0].index(b"{", 1)
    texts[0] = texts[0][:inner] + b"]" + texts[0][inner + 1 :]
    (tmp_path / "x.json").write_bytes(before + between.join(texts) + behind)
    assert read(tmp_path / "x.json") == (rows[1:], 1, [])


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    kind=st.sampled_from([*KINDS]),
    victim=st.integers(0, 4),
    where=st.floats(0, 1, exclude_max=True),
    harm=st.sampled_from(["less", "more", "other"]),
    byte=st.sampled_from(BYTES),
    block=st.sampled_from([60, 300, 1500, 4 << 20]),
)
def test_any_broken_byte_of_a_record_costs_no_other(
    tmp_path: Path, layout: str, kind: str, victim: int, where: float, harm: str, byte: bytes, block: int
) -> None:
    rows = [KINDS[kind](n) for n in range(5)]
    before, texts, between, behind = written(layout, rows)
    text, place = texts[victim], int(where * len(texts[victim]))
    rest = text[place:] if harm == "more" else text[place + 1 :]
    texts[victim] = text[:place] + (b"" if harm == "less" else byte) + rest
    (tmp_path / "x.json").write_bytes(before + between.join(texts) + behind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "BLOCK_BYTES", block)
        patch.setattr(lines, "STRIDE_BYTES", block)
        whole, broken, _ = read(tmp_path / "x.json")
    others = [row for n, row in enumerate(rows) if n != victim]
    assert [row for row in whole if row in others] == others
    # Of the broken one two parts at most, of which a brace more made the second.
    assert 5 <= len(whole) + broken <= 6


def test_a_quote_missing_in_records_of_megabytes_rejects_one(tmp_path: Path) -> None:
    rows = [chat(n, size=30_000) for n in range(4)]
    texts = [json.dumps(row).encode() for row in rows]
    for victim, place in ((0, 2), (1, len(texts[1]) - 200), (3, len(texts[3]) // 2)):
        quote = texts[victim].index(b'"', place)
        parts = [*texts]
        parts[victim] = texts[victim][:quote] + texts[victim][quote + 1 :]
        (tmp_path / "x.json").write_bytes(b"[" + b", ".join(parts) + b"]")
        whole, broken, _ = read(tmp_path / "x.json")
        assert broken == 1
        assert whole == [row for n, row in enumerate(rows) if n != victim]


@pytest.fixture
def faults() -> Path:
    folder = SHARED_DATA.parent / "cases" / "faults"
    if not folder.is_dir():
        pytest.skip("no ../shared/cases beside the project: the tests on its faults did not run")
    return folder


def test_five_records_of_which_one_lacks_a_quote_are_four_and_one(faults: Path) -> None:
    whole, broken, damage = read(faults / "one_quote_missing_in_one_of_five.json")
    assert (len(whole), broken, damage) == (4, 1, [])


# What repeats, and what stands before it: each was, or could be, searched again from every one of its places.
GROWTH = {
    "objects that do not close": (b'[{"messages":[', b'{"x":1,'),
    "arrays that do not close": (b"", b"["),
    "texts that look like objects": (b'[{"messages":["', b'{"x":1,'),
    "whole objects behind a break": (b'[{"messages":[x', b',{"x":1}'),
    "starts of records": (b"[", b'{"messages":,'),
    "wrappers in wrappers": (b"", b'{"data":['),
    "conversations that do not end": (b"", b'[{"role":'),
    "braces too many": (b"[", b'{"id":1,}},'),
    "numbers that only Python takes": (b"[", b'{"a":[NaN,'),
    "white space": (b"[", b"  \n ,"),
    "escapes": (b"[", b'{"\\'),
}


@pytest.mark.parametrize("shape", GROWTH)
def test_the_time_for_broken_text_grows_with_its_length(shape: str) -> None:
    before, again = GROWTH[shape]

    def cut(text: bytes) -> None:
        for _ in by_brackets(Slice("x.json", "x.json", "brackets", 0, len(text)), io.BytesIO(text)):
            pass

    assert is_linear(cut, lambda size: before + again * (size // len(again)), 10_000)
