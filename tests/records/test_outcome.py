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


ERRORS = [
    '{"ok": false}',
    "{'ok': False}",
    '{"isError": true}',
    '{"is_error": true}',
    "{'is_error': True, 'content': 'x'}",
    '{"IsError": true}',
    '{"code": 404, "message": "Not found"}',
    "{'code': 500, 'message': 'x'}",
    '{"status_code": "404", "detail": "Not found"}',
    '{"status": 404, "message": "no"}',
    '{"statusCode": 503, "message": "x", "data": null}',
    '{"result": "Error: no such user"}',
    '{"output": "Error: x"}',
    '{"content": "Error: x"}',
    '{"message": "Error: x"}',
    "{'result': \"Error: it's late\"}",
    '{"result": {"error": "x"}}',
    '{"result": {"ok": false}}',
    '[{"error": "x"}]',
    '[{"ok": false}]',
    "[{'success': False, 'error': 'x'}]",
    '[{"type": "text", "text": "Error: x"}]',
    '{"content": [{"type": "text", "text": "Error: x"}], "isError": true}',
    '{"content": [{"type": "text", "text": "Error: x"}]}',
    '{"status": "error", "message": "x"}',
    '{"status": "ERROR"}',
    '{"Status": "Failed", "Message": "x"}',
    '{"error": {"code": 404, "message": "x"}}',
    '{"error": true}',
    '{"error": true, "message": "x"}',
    '{"errors": ["x"]}',
    '{"data": null, "errors": [{"message": "x"}]}',
    '{"result": "{\\"error\\": \\"x\\"}"}',
    "{\"result\": \"{'success': False, 'error': 'x'}\"}",
    "ok: false",
    "ok: false\nmessage: x",
    "isError: true\ncontent: x",
    "status: error\nmessage: x",
    "code: 404\nmessage: Not found",
    "error: no such\ndata: 3",
    "Error: x",
    "ERROR: x",
    "Error 404: Not found",
    "Error 404",
    "Error while parsing",
    "Error executing tool get: x",
    "Error in tool",
    "Error occurred",
    "An error occurred while x",
    "[ERROR] x",
    "[Error: x]",
    "**Error:** x",
    "<error>x</error>",
    "<tool_use_error>x</tool_use_error>",
    "❌ Error: x",
    "Tool error: x",
    "HTTP Error 500: x",
    "Internal Server Error",
    "Error - x",
    "Error",
    "error",
    "Exception: x",
    "Exception in thread",
    "ValueError: x",
    "ValueError('x')",
    "requests.exceptions.HTTPError: 404",
    "KeyError: 3 x",
    "Failed to load",
    "Failure: x",
    "invalid action",
    "Invalid tool name",
    "Error: Invalid action",
    "Error: 3 seats requested, 2 left",
    "Error: 404",
    "Error code: 404",
    "Error code 12: x",
    "Error: failed",
    "Error message: bad",
    "Error invalid id",
    "Error user not found",
    "{'error': 'Error rate too high'}",
    '{"type": "error", "message": "x"}',
    '{"type": "error", "error": {"type": "not_found"}}',
    '{"result": "error", "message": "x"}',
    '{"success": "false"}',
    '{"Success": false}',
    '{"exception": "ValueError: x"}',
    '{"role": "tool", "content": "Error: x"}',
    '{"data": {"success": false, "error": "x"}}',
    '{"error": 404, "message": "Not found"}',
    '{\n  "ok": false\n}',
    '{"message": "Not found", "code": 404}',
    '{"data": {"error": "x"}}',
    '{"response": "Exception: x"}',
    "{'result': 'Traceback (most recent call last):\\n x'}",
    '{"errorMessage": "x"}',
    '{"output": {"status": "error", "message": "x"}}',
    "Error: None of the seats are free",
    "Error: no seats",
    "Error: null pointer",
    "Error, try again",
    "error(404)",
    "Error (code 5): x",
]

DATA_OR_SUCCESS = [
    '{"payment_id": 7, "status": "failed"}',
    "{'payment_id': 7, 'status': 'failed'}",
    '{"error": 0.05, "n": 12}',
    "{'error': 0.05}",
    '{"error": 3}',
    '{"error": "0.05", "n": 1}',
    "{'error': nan}",
    '{"error": "None"}',
    '{"error": "null"}',
    '{"error": "none"}',
    '{"error": ""}',
    '{"error": false}',
    '{"error": "NULL"}',
    '{"error": null}',
    "{'error': None}",
    '{"error": "None", "rows": [1]}',
    '{"error": {}}',
    '{"error": []}',
    '{"error": [ ]}',
    '{"error": [0.1, 0.2]}',
    '{"error": "No error"}',
    '{"Error": "None"}',
    "{'status': 'failed', 'order': {'id': 3}}",
    '[{"payment_id": 7, "status": "failed"}]',
    '[{"id": 1, "status": "failed"}, {"id": 2, "status": "ok"}]',
    '{"ok": true}',
    '{"isError": false}',
    '{"isError": false, "content": "x"}',
    '{"code": 200, "message": "OK"}',
    '{"code": 404, "name": "Area"}',
    '{"code": 404, "message": "hi", "data": {"a": 1}}',
    '{"result": "Error rate: 0.2 %"}',
    '{"message": "Error rates by region: x"}',
    '{"result": "No errors"}',
    '{"errors": 0}',
    '{"errors": []}',
    '{"errors": 3, "rows": 2}',
    '{"result": "ok"}',
    '{"error_rate": 0.2}',
    '{"result": {"payment_id": 7, "status": "failed"}}',
    '{"result": {"error": 0.05, "n": 12}}',
    '{"text": "failed", "id": 1}',
    '{"code": 450, "message": "x", "price": 3}',
    '{"type": "list", "items": [1]}',
    "error: 0.05\nn: 12",
    "error: null\nrows: 3",
    "error: None\nrows: 3",
    "[]",
    "{}",
    '{"error": "", "status": "failed", "id": 3}',
    '{"errors": [], "data": [1]}',
    '{"error":"false"}',
    '{"result": {"error": "None"}}',
    '[{"error": "None"}]',
    '[{"error": 0.5, "n": 3}]',
    '{"error": -1.5e-3}',
    '{"error":1e-05}',
    '{"is_error": false, "error": null}',
]

PLAIN = [
    "Error rate of service: 0.2 %",
    "Error rates by month",
    "Error rate: 0.2 %",
    "ERROR RATE: 0.2",
    "Errors: 0",
    "Errors found: 0",
    "Error handling is done in x",
    "Error log: 3 entries",
    "Error: 0.05",
    "Error: None",
    "error: null",
    "Error margin: 3 %",
    "Error-free run",
    "Exception handling guide",
    "Exceptions: none",
    "Failure rate: 2 %",
    "Failed: 3",
    "Standard error: 0.05",
    "mean_error: 0.05",
    "Error bars show x",
    "Error budget: 12 minutes",
    "Error reporting enabled",
    "No errors were found",
    "Status: shipped",
    "Error correction applied",
    "status: failed\npayment_id: 7",
    "Failure modes: a, b",
    "Errors are listed below",
    "Error analysis: done",
    "Error rate in region A: 0.2 %",
    "Error messages: 3",
    "Error rates are not found to differ",
]


@pytest.mark.parametrize("text", ERRORS)
def test_a_result_that_says_it_failed_is_an_error_in_every_spelling(text: str) -> None:
    assert judge(text)[0] == "error"


@pytest.mark.parametrize("text", DATA_OR_SUCCESS)
def test_data_that_looks_like_a_failure_is_data(text: str) -> None:
    assert judge(text) == ("ok", "structured", None) or judge(text) == ("ok", "success_key", None)


@pytest.mark.parametrize("text", PLAIN)
def test_a_text_about_errors_is_no_error(text: str) -> None:
    assert judge(text) == ("unknown", "none", None)


@pytest.mark.parametrize(
    "part",
    ["error ", "an error ", "[error ", "a.", "Error: 1", "<", "* ", "{'a': [", '[{"a": 1}, ', "error: a\n", "code\t"],
)
def test_a_long_result_is_judged_in_time_linear_in_its_length(part: str) -> None:
    assert is_linear(judge, lambda size: part * (size // len(part)), 4_000)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('{"statusCode": 404, "body": "x"}', "error"),
        ('{"status_code": 503}', "error"),
        ('{"status_code": 200}', "ok"),
        ('{"status_code": 404, "order": 7}', "ok"),
        ('{"failed": true}', "error"),
        ('{"job": 3, "failed": true}', "ok"),
        ("Errors: 0, Warnings: 2", "unknown"),
        ("\x1b[31mError: no such table\x1b[0m", "error"),
        ('"Error: no such user"', "error"),
        ('"an error is a word" and "so is this"', "unknown"),
    ],
)
def test_statuses_colours_and_quotes_are_read_and_counts_are_no_errors(text: str, outcome: str) -> None:
    assert judge(text)[0] == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('[{"error": "no user"}, {"error": "no funds"}]', "error"),
        ('[{"error": "no user"}, {"id": 1}]', "ok"),
        ('{"errcode": 40013, "errmsg": "invalid appid"}', "error"),
        ('{"errno": 0, "errmsg": "ok"}', "ok"),
        ('{"code": "NOT_FOUND", "message": "no such user"}', "error"),
        ('{"code": "EUR", "message": "euro"}', "ok"),
        ('{"success": 0, "message": "no such user"}', "error"),
        ('{"success": 0, "failed": 3}', "ok"),
        ('{"valid": false, "errors": ["too short"]}', "ok"),
        ('{"exit_code": 1, "stdout": ""}', "unknown"),
        ('{"exit_code": 0, "stdout": ""}', "ok"),
        ("[Command finished with exit code 1]", "unknown"),
        ("[null, true]", "ok"),
        ("HTTP/1.1 404 Not Found", "error"),
        ("502 Bad Gateway", "error"),
        ("404 rows", "unknown"),
        ("Failed: 0, passed: 12", "unknown"),
        ("Failed: 404 not found", "error"),
    ],
)
def test_lists_codes_and_lines_of_status_are_judged_as_a_reader_would(text: str, outcome: str) -> None:
    assert judge(text)[0] == outcome
