"""What bytes look like: a container of records, a record, or something else by its name."""

import re

import msgspec

from analysis.sources.containers import shapes
from analysis.sources.containers.foreign import description, is_utf16
from analysis.sources.containers.unit import BOM, SPACE, Container
from analysis.sources.errors import SourceError

HEAD_BYTES = 1 << 18
# A first record of which the first byte is another, or none.
_MAIMED = re.compile(rb'[^\s<]?\{\s*+"|\S?\s*+"[^"\\\n]{1,200}"\s*+:')
# An object printed over several lines begins here, and in nothing around it.
_PRINTED = re.compile(rb'[^\s\[,:]\s*?\n\{(?=\r?\n[ \t]+")')
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def sniff(head: bytes, name: str) -> tuple[Container, bytes]:
    """(container, what a record's line starts with), by the first bytes.

    Raises:
        SourceError: these are no records; the message says what they look like.
    """
    if head.startswith(b"PAR1"):
        return "parquet", b""
    text = head.removeprefix(BOM).lstrip(SPACE)
    first = re.search(rb"\{", text)
    is_plain = first is not None and not _is_conversation_or_wrapper(text, first.end() - 1)
    if is_utf16(head):
        raise SourceError(f"{name}: {description(head)}")
    if text.startswith(b"["):
        indent = re.match(rb"\[\s*\n([ \t]+)\{", text) if is_plain else None
        return ("indented", b"\n" + indent.group(1)) if indent else ("brackets", b"")
    if text.startswith(b"{") or _MAIMED.match(text):
        is_lines = is_plain and not _PRINTED.search(text) and _are_lines(text, len(head) < HEAD_BYTES)
        return ("lines", b"\n") if is_lines else ("brackets", b"")
    raise SourceError(
        f"{name}: {description(text)}; expected JSON (an array, an object, or one object per line) or Parquet"
    )


def are_printed(text: bytes) -> bool:
    """Are these objects, one after another, each printed over several lines?"""
    first = re.search(rb"\{", text)
    if first is None or text.lstrip(SPACE).startswith(b"[") or _is_conversation_or_wrapper(text, first.start()):
        return False
    return _PRINTED.search(text) is not None


def _is_conversation_or_wrapper(text: bytes, start: int) -> bool:
    return shapes.is_message(text, start) or isinstance(shapes.wrapper(text, start), shapes.Wrapper)


def is_object(data: bytes | memoryview) -> bool:
    """Is it one JSON object by the strict reader?"""
    try:
        _OBJECT.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def _are_lines(text: bytes, is_whole: bool) -> bool:
    """Some line is a whole object and another starts one: JSON Lines, even with a broken line among the first."""
    lines = [line.strip() for line in text.split(b"\n")]
    lines = [line for line in (lines if is_whole else lines[:-1]) if line][:50]
    complete = sum(is_object(line) for line in lines)
    return len(lines) > 1 and complete > 0 and all(line.startswith(b"{") for line in lines if is_object(line))
