"""What bytes look like: a container of records, a record, or something else by its name."""

import json
import re

import msgspec

from analysis.sources.containers.unit import Container
from analysis.sources.errors import SourceError

HEAD_BYTES = 1 << 18
BOM = b"\xef\xbb\xbf"
SPACE = b" \t\r\n"
# Keys by which dialects know a record.
KEYS = frozenset(
    (b"traj_type", b"task_info", b"tools", b"messages", b"conversations", b"instruction", b"env_id", b"task_id")
)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def sniff(head: bytes, name: str) -> tuple[Container, bytes]:
    """(container, what a record's line starts with), by the first bytes.

    Raises:
        SourceError: these are no records; the message says what they look like.
    """
    if head.startswith(b"PAR1"):
        return "parquet", b""
    text = head.removeprefix(BOM).lstrip(SPACE)
    if text.startswith(b"["):
        indent = re.match(rb"\[\s*\n([ \t]+)\{", text)
        return ("indented", b"\n" + indent.group(1)) if indent else ("brackets", b"")
    if text.startswith(b"{"):
        return ("lines", b"\n") if _are_lines(text, len(head) < HEAD_BYTES) else ("brackets", b"")
    raise SourceError(
        f"{name}: {_looks_like(text)}; expected JSON (an array, an object, or one object a line) or Parquet"
    )


def is_object(data: bytes | memoryview) -> bool:
    """Is it one JSON object by the strict reader?"""
    try:
        _OBJECT.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def is_record(data: bytes) -> bool:
    """Is it a whole object with a key by which some dialect is known?"""
    try:
        return not KEYS.isdisjoint(key.encode() for key in _OBJECT.decode(data))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def is_tolerable(data: bytes) -> bool:
    """Is it JSON by Python's own reader, which takes NaN, lone surrogates and, here, any bytes?"""
    try:
        json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def is_beginning(data: bytes) -> bool:
    """Could this, which ends outside of a string, be JSON's beginning? Then Python's own reader fails at its end."""
    text = data.decode("utf-8", "replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except (ValueError, RecursionError):
        return True
    return True


def _are_lines(text: bytes, is_whole: bool) -> bool:
    """Some line is a whole object and another starts one: JSON Lines, even with a broken line among the first."""
    lines = [line.strip() for line in text.split(b"\n")]
    lines = [line for line in (lines if is_whole else lines[:-1]) if line][:50]
    complete = sum(is_object(line) for line in lines)
    return len(lines) > 1 and complete > 0 and all(line.startswith(b"{") for line in lines if is_object(line))


def _looks_like(text: bytes) -> str:
    start = text[:200].decode("utf-8", "replace")
    if not text:
        return "nothing but white space"
    if start.lower().startswith(("<!doctype", "<html", "<?xml")):
        return "this is a web page, not data (was a download redirected to a sign-in page?)"
    if start.startswith("version https://git-lfs"):
        return "this is a Git LFS pointer, not the data (run `git lfs pull`)"
    if "\n" not in start.strip() and "/" in start:
        return f"this holds a path ({start.strip()[:80]!r}), not data (a symbolic link that was not followed?)"
    return f"it starts with {start[:40]!r}"
