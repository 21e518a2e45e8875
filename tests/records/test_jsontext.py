"""JSON's strings are taken out as bytes exactly, or not at all."""

import codecs
import json
import warnings
from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records import jsontext
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
    assert unescaped(msgspec.Raw(json.dumps(text, ensure_ascii=False).encode())) == text.encode()


@pytest.mark.parametrize("behind", ["", "x" * 5000])
@pytest.mark.parametrize("before", ["", "x" * 5000])
@pytest.mark.parametrize("written", [r'"\u0022"', r'"\\\/"', r'"\\\u006e"', r'"\ud83d\ude00"', "null", "[1]", "12"])
def test_escapes_that_bytes_do_not_know_and_other_values_are_left_to_a_json_reader(
    written: str, before: str, behind: str
) -> None:
    written = f'"{before}{written[1:-1]}{behind}"' if written.startswith('"') else written
    assert unescaped(written.encode()) == b""


@pytest.mark.parametrize("action", ["ignore", "default", "always", "error"])
def test_whatever_is_made_of_warnings_elsewhere_such_escapes_are_noticed_and_no_warning_is_shown(
    action: Literal["ignore", "default", "always", "error"], recwarn: pytest.WarningsRecorder
) -> None:
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            assert unescaped(rb'"\u0022"') == b""
            assert unescaped(rb'"\n"') == b"\n"
    assert not recwarn.list


def test_where_another_silences_the_warning_between_nothing_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsontext, "_make_escapes_errors", lambda: warnings.simplefilter("ignore"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert unescaped(rb'"\u0022"') == b""


def test_nobody_elses_warnings_become_errors() -> None:
    assert unescaped(rb'"\n"') == b"\n"
    with pytest.warns(DeprecationWarning, match="invalid escape"):
        assert codecs.escape_decode(rb"\/")[0] == rb"\/"
