"""JSON's strings are taken out as bytes exactly, or not at all."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.jsontext import unescaped

STRING = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('"\\/\b\n\tu0a\u201c\U0001f600'))


@given(text=STRING, is_ascii=st.booleans(), escapes_slashes=st.booleans())
def test_a_strings_text_is_what_json_reads_or_nothing(text: str, is_ascii: bool, escapes_slashes: bool) -> None:
    written = json.dumps(text, ensure_ascii=is_ascii)
    written = written.replace("/", "\\/") if escapes_slashes else written
    assert unescaped(written.encode()) in (text.encode(), b"")


@given(value=st.recursive(STRING | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(STRING, inner)))
def test_json_in_json_as_the_publisher_writes_it_is_taken_out(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    controls = any(f"\\u00{number:02x}" in text for number in range(32))
    expected = b"" if controls else text.encode()
    assert unescaped(msgspec.Raw(json.dumps(text, ensure_ascii=False).encode())) == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("before", ["", "x" * 5000])
@pytest.mark.parametrize("written", [r'"\u0022"', r'"\\\/"', r'"\\\u006e"', r'"\ud83d\ude00"', "null", "[1]", "12"])
def test_escapes_that_bytes_do_not_know_and_other_values_are_left_to_a_json_reader(written: str, before: str) -> None:
    written = f'"{before}{written[1:]}' if written.startswith('"') else written
    assert unescaped(written.encode()) == b""


@pytest.mark.filterwarnings("error")
def test_where_warnings_are_errors_such_escapes_are_left_to_a_json_reader() -> None:
    assert unescaped(json.dumps("x" * 5000 + "\u2014").encode()) == b""
