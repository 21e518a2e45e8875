"""What a result says of its call."""

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.outcome import ERROR_CHARS, judge


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
