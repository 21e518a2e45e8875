"""Which names are names of data: one rule for folders, globs, stores, archives and the hub."""

import re

FORMATS = (".json", ".jsonl", ".ndjson", ".parquet", ".traj")
PACKINGS = (".gz", ".bz2", ".xz", ".zst")
ARCHIVES = (".zip", ".eval", ".tar", ".tgz", ".tbz2", ".txz")
SUFFIXES = (*FORMATS, *(form + packing for form in FORMATS for packing in PACKINGS))
_ARCHIVED = (*ARCHIVES, *(f".tar{packing}" for packing in PACKINGS))
# What operating systems and editors leave beside files.
_LITTER = re.compile(r"__MACOSX|Thumbs\.db|desktop\.ini", re.IGNORECASE)


def is_data(name: str) -> bool:
    """Does a file of this name hold records, by its suffix? Not if it, or a folder on its path, is hidden."""
    return name.lower().endswith(SUFFIXES) and not is_hidden(name)


def is_archive(name: str) -> bool:
    """Is it the name of an archive, which may hold such files?"""
    return name.lower().endswith(_ARCHIVED) and not is_hidden(name)


def is_hidden(name: str) -> bool:
    """Is a part of this path a name that file managers do not show, such as `._a.json` and `.ipynb_checkpoints`?"""
    parts = name.replace("\\", "/").split("/")
    return any((part.startswith(".") and part not in (".", "..")) or _LITTER.fullmatch(part) for part in parts)


def in_utf8(name: str) -> str:
    """A name as it can be written anywhere: of bytes that are not UTF-8 their numbers.

    >>> in_utf8(b"a\\xff.json".decode("utf-8", "surrogateescape"))
    'a\\\\xff.json'
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
