"""What a file that holds no records is, by its first bytes: named, and never printed as bytes."""

import re

_LEAST_TEXT = 0.9  # of characters that can be printed
# Shortest last: a prefix that others begin with.
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF document"),
    (b"ARROW1", "an Arrow (Feather) file; write it as Parquet or JSON Lines"),
    (b"\xff\xff\xff\xff", "an Arrow stream; write it as Parquet or JSON Lines"),
    (b"SQLite format 3", "an SQLite data base; export its rows as JSON Lines"),
    (b"\x89HDF", "an HDF5 file; export its rows as JSON Lines"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"Obj\x01", "an Avro file; write it as Parquet or JSON Lines"),
    (b"ORC", "an ORC file; write it as Parquet or JSON Lines"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it"),
    (b"Rar!", "a RAR archive; unpack it"),
    (b"\x04\x22\x4d\x18", "packed with lz4; unpack it, or pack it with gzip, xz or zstd"),
    (b"\xff\x06\x00\x00sNaPpY", "packed with Snappy; unpack it, or pack it with gzip, xz or zstd"),
    (b"\x1f\x9d", "packed with compress; unpack it, or pack it with gzip, xz or zstd"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xff\xfe\x00\x00", "text in UTF-32; write it as UTF-8"),
    (b"\x00\x00\xfe\xff", "text in UTF-32; write it as UTF-8"),
    (b"\xff\xfe", "text in UTF-16; write it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16; write it as UTF-8"),
)
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_PAGE = re.compile(r"<(?:!doctype html|html|head|body)", re.IGNORECASE)
_UTF16 = re.compile(rb"(?:[\x09-\x7e]\x00){4}|(?:\x00[\x09-\x7e]){4}")


def is_utf16(head: bytes) -> bool:
    """Is it text in UTF-16, which begins with the same characters as any other, and a NUL beside each?"""
    return _UTF16.match(head) is not None


def description(head: bytes) -> str:
    """What this is, as the rest of a sentence; for text, how it starts."""
    named = next((name for magic, name in _MAGIC if head.startswith(magic)), "")
    if named:
        return f"this is {named}"
    if _PICKLE.match(head):
        return "this is a Python pickle, which is never opened: it could run code; write it as JSON Lines"
    if is_utf16(head):
        return "this is text in UTF-16; write it as UTF-8"
    return _of_text(head[:200].decode("utf-8", "replace"))


def _of_text(start: str) -> str:
    if not start:
        return "nothing but white space"
    if start.startswith("<"):
        what = "a web page" if _PAGE.match(start) else "XML or HTML"
        return f"this is {what}, not data (was a download redirected to a sign-in page?)"
    if start.startswith("version https://git-lfs"):
        return "this is a Git LFS pointer, not the data (run `git lfs pull`)"
    printable = sum(char.isprintable() or char.isspace() for char in start.replace("\ufffd", "\0"))
    if printable < _LEAST_TEXT * len(start):
        return "this is no text, and no form of data that is known here"
    if "\n" not in start.strip() and "/" in start:
        return f"this holds a path ({start.strip()[:80]!r}), not data (a symbolic link that was not followed?)"
    return f"it starts with {start[:40]!r}"
