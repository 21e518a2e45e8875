"""Secrets and personal data: what is found by its form, what is told as nobody's, and what replaces it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.private import finds, is_checked, redacted
from tests.growth import is_linear

FOUND = [
    ("mail ann.b+x@mail.company.co.uk now", "e-mail", "open", "ann.b+x@mail.company.co.uk"),
    ("ann@example.com", "e-mail", "reserved", "ann@example.com"),
    ("<ann@shop.example>", "e-mail", "reserved", "ann@shop.example"),
    ("ann@myexample.com", "e-mail", "open", "ann@myexample.com"),
    (r'{"a": "x\nann@mail.org"}', "e-mail", "open", "ann@mail.org"),
    (r'{"a": "\u00e9ann@mail.org"}', "e-mail", "open", "ann@mail.org"),
    ("写信给ann@mail.org吧", "e-mail", "open", "ann@mail.org"),
    ("电话+49 30 901820。", "phone", "open", "+49 30 901820"),
    ("a@b, bob@mail.org", "e-mail", "open", "bob@mail.org"),
    ("call +49 30 901820.", "phone", "open", "+49 30 901820"),
    ("call (415) 867-5309", "phone", "open", "(415) 867-5309"),
    ("call 415.867.5309, now", "phone", "open", "415.867.5309"),
    ("call +1-415-555-0182", "phone", "reserved", "+1-415-555-0182"),
    ("call +1-555-0148", "phone", "reserved", "+1-555-0148"),
    ("call +44 7700 900123", "phone", "reserved", "+44 7700 900123"),
    ("card 4539 1488 0343 6467 ok", "card", "open", "4539 1488 0343 6467"),
    ('{"card": 4111111111111111}', "card", "reserved", "4111111111111111"),
    ("key AKIAQX7LMN3PZ4TR5WYU", "key", "open", "AKIAQX7LMN3PZ4TR5WYU"),
    ("key AKIAIOSFODNN7EXAMPLE", "key", "reserved", "AKIAIOSFODNN7EXAMPLE"),
    ("sk-ant-api03-" + "Qz7" * 10, "key", "open", "sk-ant-api03-" + "Qz7" * 10),
    ("ghp_" + "aB3" * 12, "key", "open", "ghp_" + "aB3" * 12),
    ("-----BEGIN RSA PRIVATE KEY-----", "key", "open", "-----BEGIN RSA PRIVATE KEY-----"),
    ('{"password": "Kj8#mP9$vL2"}', "password", "open", "Kj8#mP9$vL2"),
    (r"{\"api_key\": \"q9Zr77Lm\"}", "password", "open", "q9Zr77Lm"),
    ('{"password": "your_password"}', "password", "reserved", "your_password"),
]
NOTHING = [
    "2024-05-20 at 10:30:00, 3.141592653589793, 192.168.100.200",
    "order 4111111111111112, id 12345678901234567890123, v 0.4111111111111111",
    "ask-me-anything-about-this-and-more, desk-1234567890123456789012345",
    '{"password": {"type": "string"}, "required": ["password"]}',
    "user_415-867-5309x, HAT136-HAT039, 415-867-53090, @home, a@b",
    "through-the-night, hf_short, eyJub25l",
]


@pytest.mark.parametrize(("text", "kind", "form", "value"), FOUND)
def test_a_find_is_told_by_its_form(text: str, kind: str, form: str, value: str) -> None:
    assert [(find.kind, find.form, text[find.start : find.end]) for find in finds(text)] == [(kind, form, value)]


@pytest.mark.parametrize("text", NOTHING)
def test_what_merely_looks_alike_is_not_found(text: str) -> None:
    assert finds(text) == []


LINES = ["MIIEow" + "aB3/" * 14 + "+=", "Zz9+" * 16]


@pytest.mark.parametrize("ending", ["\n-----END RSA PRIVATE KEY-----", ""], ids=["whole", "cut off"])
@pytest.mark.parametrize("header", [[], ["Proc-Type: 4,ENCRYPTED", ""]], ids=["plain", "encrypted"])
def test_a_private_key_goes_with_its_body(ending: str, header: list[str]) -> None:
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *(header if ending else []), *LINES]) + ending
    for text in (f"Here: {key}\n\nIs it yours?", json.dumps({"key": f"{key}\n\nIs it yours?"})):
        made = redacted(text, {})
        assert [line for line in LINES if line in made] == []
        assert "Is it yours?" in made


@pytest.mark.parametrize(
    "part",
    [
        "eyJ",
        "eyJaaaaaaaaaa.",
        "sk-",
        "xoxb-",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nab",
        "@",
        "a@",
    ],
)
def test_a_text_of_nothing_but_beginnings_takes_linear_time(part: str) -> None:
    assert is_linear(finds, lambda size: part * (size // len(part)), 4_000)


@given(st.integers(10**11, 10**19))
def test_a_check_digit_is_that_of_luhn(number: int) -> None:
    digits = [int(digit) for digit in str(number)][::-1]
    expected = sum(digits[::2]) + sum(sum(map(int, str(2 * digit))) for digit in digits[1::2])
    assert is_checked(str(number)) == (expected % 10 == 0)


@pytest.mark.parametrize(("text", "kind", "form", "value"), FOUND)
def test_what_is_redacted_is_found_no_more(text: str, kind: str, form: str, value: str) -> None:
    changes: dict[str, int] = {}
    made = redacted({"messages": [{"content": text}]}, changes)["messages"][0]["content"]
    assert value not in made
    assert f"[{kind}]" in made
    assert finds(made) == []
    assert changes == {kind: 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"arguments": '{"card": 4111111111111111, "n": 3}'}, {"arguments": '{"card": "[card]", "n": 3}'}),
        ({"arguments": {"password": "a\\b\"c'd", "n": 3}}, {"arguments": {"password": "[password]", "n": 3}}),
        ({"arguments": '{"password": "a b\\"c"}'}, {"arguments": '{"password": "[password]"}'}),
        ('<tool_call>{"card": 4111111111111111}</tool_call>', '<tool_call>{"card": "[card]"}</tool_call>'),
        ('{"a":1,  "secret": {"type": "string"}}', '{"a":1,  "secret": {"type": "string"}}'),
        ([4111111111111111, 7, True, None], ["[card]", 7, True, None]),
    ],
)
def test_json_stays_json_and_other_values_stay(value: Any, expected: Any) -> None:
    assert redacted(value, {}) == expected


@given(st.recursive(st.text('ab@.+-1 45[]{}":\\,n'), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_texts_can_be_read_after_redaction(value: Any) -> None:
    made = redacted({"arguments": json.dumps(value), "value": value}, {})
    json.loads(made["arguments"])
