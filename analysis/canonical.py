"""JSON in one form: keys sorted, no spaces. Values that are equal are equal texts."""

import json
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_encode_sorted = msgspec.json.Encoder(order="deterministic").encode


def canonical(value: Any) -> str:
    """A value as JSON text with sorted keys and no spaces.

    Raises:
        TypeError: a part of it is no JSON value.
    """
    try:
        return _encode_sorted(value).decode()
    except (OverflowError, RecursionError):  # integers past 64 bits
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def canonical_text(text: str) -> str:
    """A JSON text in that form; a text that is not JSON as it stands."""
    try:
        return canonical(_decode(text))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
