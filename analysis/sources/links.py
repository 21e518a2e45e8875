"""Files whose paths are not UTF-8, which neither Polars nor JSON can hold: read through a link in the cache."""

import hashlib
import os
from pathlib import Path

from analysis.files import cache_root, unused
from analysis.sources.names import in_utf8


def readable(path: str) -> str:
    """A path as it is, or, where it is not UTF-8, that of a link to what is there.

    Raises:
        OSError: the link cannot be made.
    """
    if in_utf8(path) == path:
        return path
    target = Path(path).expanduser().resolve()
    folder = cache_root().absolute() / "links" / hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
    link = folder / in_utf8(target.name or "folder")
    if not link.is_symlink() or link.readlink() != target:
        folder.mkdir(parents=True, exist_ok=True)
        new = unused(link)
        new.symlink_to(target)
        new.replace(link)
    return str(link)
