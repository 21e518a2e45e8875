"""What a result says of its call."""

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.outcome import ERROR_CHARS, judge
from tests.growth import is_linear


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("{'success': True, 'data': []}", ("ok", "success_key", None)),
        ("{'success': False, 'error': 'no funds'}", ("error", "success_key", "no funds")),
        ("""{'success': False, 'error': "it's late"}""", ("error", "success_key", "it's late")),
        ('{"success": false, "error": "no \\"funds\\""}', ("error", "success_key", 'no "funds"')),
        ("{'data': {'success': False}, 'success': True}", ("ok", "success_key", None)),
        ("{'success': True, 'data': \"'success': False\"}", ("ok", "success_key", None)),
        ("{'data': nan, 'when': datetime.datetime(2024, 1, 1), 'success': False}", ("error", "success_key", None)),
        ("{'success': True, 'data': <object at 0x7f00>}", ("ok", "success_key", None)),
        ("success: true\ndata:\n- a: 1", ("ok", "success_key", None)),
        ("success: false\nerror: no such post", ("error", "success_key", "no such post")),
        ('{"error": "bad id"}', ("error", "error_key", "bad id")),
        ("{'error': None, 'rows': [1]}", ("ok", "structured", None)),
        ('{"status": "failed"}', ("error", "error_key", '{"status": "failed"}')),
        ("Error: flight is full", ("error", "error_text", "Error: flight is full")),
        ("Traceback (most recent call last):\n  x", ("error", "error_text", None)),
        ("ValueError: x", ("error", "error_text", "ValueError: x")),
        ('[{"a": 1}]', ("ok", "structured", None)),
        ("{1, 2}", ("ok", "structured", None)),
        ('{"a": [1, 2}', ("unknown", "none", None)),
        ("255.0", ("unknown", "none", None)),
        ("Transfer successful", ("unknown", "none", None)),
        ("No errors were found", ("unknown", "none", None)),
        ("", ("unknown", "none", None)),
    ],
)
def test_the_first_rule_that_speaks_decides(text: str, verdict: tuple[str, str, str | None]) -> None:
    outcome, rule, error = judge(text)
    assert (outcome, rule) == verdict[:2]
    assert error == (verdict[2] if verdict[2] is not None or outcome != "error" else error)
    assert (error is None) == (outcome != "error")


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        """{"note": "he said 'error': 'no such user' and th""",
        """{"note": "a", "rows": [{"text": "{'success': False, 'error': 'no""",
        """{'note': 'it said "error": "gone" and \\'status\\': \\'failed\\'""",
        """["a", "'error': 'x'""",
        """{'error': 'no such us""",
        """{"status": "fai""",
        """{'rows': [], 'error""",
        """{"a": "b'""",
    ],
)
def test_a_result_cut_off_inside_a_string_is_unknown_whatever_the_string_says(text: str) -> None:
    assert judge(text) == ("unknown", "none", None)


def test_what_stands_before_the_cut_decides_as_ever() -> None:
    assert judge("{'success': False, 'error': 'no such us")[:2] == ("error", "success_key")
    assert judge("{'error': 'gone', 'detail': 'it w")[:2] == ("error", "error_key")
    assert judge("{'detail': 'x', 'success': True, 'data': 'it w") == ("ok", "success_key", None)


@given(data=DATA, kept=st.floats(0, 1))
def test_a_cut_makes_no_error_of_what_is_none(data: object, kept: float) -> None:
    result = {"data": data, "note": "'error': 'x', \"error\": \"y\", 'success': False"}
    for text in (repr(result), json.dumps(result)):
        assert judge(text[: int(len(text) * kept)])[0] != "error"


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("inside", ['\\"', "\\'", "\\\\", '"', "'", "a 'b' ", "{[(", "'error': '"])
@pytest.mark.parametrize("start", ["{", "{'success': False, 'error': ", "['a', ", "{'error': "])
def test_a_cut_result_is_judged_in_time_linear_in_its_length(start: str, quote: str, inside: str) -> None:
    assert is_linear(judge, lambda size: f"{start}{quote}a{quote}: {quote}" + inside * (size // len(inside)), 4_000)


@given(success=st.booleans(), data=DATA, error=st.text(min_size=1, max_size=30).map(str.strip).filter(bool))
def test_the_scanner_agrees_with_literal_eval_and_with_json(success: bool, data: object, error: str) -> None:
    result = {"data": data, "success": success} | ({} if success else {"error": error})
    for text in (repr(result), json.dumps(result), json.dumps(result, ensure_ascii=False)):
        outcome, rule, said = judge(text)
        assert (outcome, rule) == ("ok" if success else "error", "success_key")
        if text == repr(result):
            assert ast.literal_eval(text)["success"] is success
            assert success or said == error[:ERROR_CHARS].strip()


@given(st.text(max_size=200))
def test_no_text_raises_and_only_an_error_has_an_error_text(text: str) -> None:
    outcome, _, error = judge(text)
    assert (error is not None) == (outcome == "error")
    assert len(error or "") <= ERROR_CHARS
