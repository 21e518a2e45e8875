"""JSON as people write it: read strictly where it is strict, tolerantly where Python's own writer was tolerant.

msgspec reads well-formed JSON. What it refuses but Python's `json` accepts (NaN, Infinity, lone surrogates, bytes that
are not UTF-8) is read the slow way, cleaned, and flagged: nothing that leaves here is invalid JSON or invalid Unicode.
"""

import codecs
import json
import math
import re
import warnings
from typing import Any

import msgspec

Flag = tuple[str, str]

_decode = msgspec.json.Decoder().decode
_skip = msgspec.json.Decoder(msgspec.Raw).decode


def loads(text: str | bytes) -> tuple[Any, list[Flag]]:
    """Decode JSON.

    Returns:
        (value, flags): the flags are (rule, detail) of what had to be cleaned; empty for well-formed JSON.

    Raises:
        ValueError: it is not JSON even by Python's reading; the message says where.
    """
    try:
        return _decode(text), []
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _tolerant(text)


def unescaped(raw: bytes | msgspec.Raw) -> bytes:
    """What a well-formed JSON string holds, as UTF-8 bytes; b"" where that takes a JSON reader, or it is no string.

    Half as long as by way of a str, whose characters are first widened and then narrowed again. Python's bytes literals
    know all of JSON's escapes but two, of which they warn. Here the warning is an error: to search for the two would
    take as long again.
    """
    quoted = memoryview(raw)
    if bytes(quoted[:1]) != b'"':
        return b""
    if warnings.filters[:1] != _ESCAPES_ARE_ERRORS:
        _make_escapes_errors()
    try:
        text = codecs.escape_decode(quoted[1:-1])[0]
    except DeprecationWarning:
        return b""
    # Filters are the whole process's: whoever put another before this one may have silenced the warning.
    return text if warnings.filters[:1] == _ESCAPES_ARE_ERRORS else b""


def _make_escapes_errors() -> None:
    """Put first the filter that makes a warning of this module's an error; it concerns no other code."""
    warnings.filterwarnings("error", ".*invalid escape", DeprecationWarning, re.escape(__name__))


def _are_escapes_errors() -> bool:
    """Does this Python warn of both escapes, and does the filter catch it?"""
    for escape in (b"\\u", b"\\/"):
        try:
            codecs.escape_decode(escape)
        except DeprecationWarning:
            continue
        return False
    return True


def is_json(text: str | bytes) -> bool:
    """Is it well-formed, by a pass that builds no values?"""
    try:
        _skip(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def as_written(value: Any) -> str:
    """JSON text with the keys in the order they were read: what a template that prints the value prints."""
    try:
        return msgspec.json.encode(value).decode()
    except (OverflowError, RecursionError):  # integers past 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _tolerant(text: str | bytes) -> tuple[Any, list[Flag]]:
    flags: list[Flag] = []
    if isinstance(text, bytes):
        decoded = text.decode("utf-8", "replace")
        if "\ufffd" in decoded and b"\xef\xbf\xbd" not in text:
            flags.append(("invalid_utf8", "bytes that are not UTF-8, replaced by U+FFFD"))
    else:
        decoded = text
    try:
        value = json.loads(decoded, parse_int=_int)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos:,} of {len(decoded):,}") from None
    cleaned, found = clean(value)
    return cleaned, [*flags, *found]


def clean(value: Any) -> tuple[Any, list[Flag]]:
    """A value of Python's own reader without what JSON and Unicode do not have, and what that was."""
    flags: list[Flag] = []
    counts = {"lone_surrogate": 0, "non_finite_number": 0}
    cleaned = _clean(value, counts)
    if counts["lone_surrogate"]:
        flags.append(
            ("lone_surrogate", f"{counts['lone_surrogate']} strings with a lone surrogate, replaced by U+FFFD")
        )
    if counts["non_finite_number"]:
        flags.append(("non_finite_number", f"{counts['non_finite_number']} NaN or Infinity tokens, kept as text"))
    return cleaned, flags


def _int(digits: str) -> int | float:
    # Python refuses to parse integers of more than 4,300 digits; such a number is data, not a reason to lose a record.
    return int(digits) if len(digits) < 4000 else float(digits)


def _clean(value: Any, counts: dict[str, int]) -> Any:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            counts["lone_surrogate"] += 1
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value
    if isinstance(value, float) and not math.isfinite(value):
        counts["non_finite_number"] += 1
        return str(value)
    if isinstance(value, list):
        return [_clean(item, counts) for item in value]
    if isinstance(value, dict):
        return {_clean(key, counts): _clean(item, counts) for key, item in value.items()}
    return value


_make_escapes_errors()
_ESCAPES_ARE_ERRORS = [warnings.filters[0] if _are_escapes_errors() else None]
