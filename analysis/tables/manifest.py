"""The manifest of a set of tables: the last file that is written, so that a folder with one is finished."""

from typing import Any

import msgspec

from analysis.tables import cache, places

MANIFEST = "manifest.json"
UNFINISHED = "unfinished.json"
_KEYS = {"decoder", "content_hash", "records_in", "kept", "rejected", "by_brackets"}


def seal(target: str, manifest: dict[str, Any]) -> None:
    """Write the manifest of a set of tables that is complete."""
    places.write_bytes(f"{target}/{MANIFEST}", msgspec.json.format(msgspec.json.encode(manifest), indent=2))


def manifest_of(folder: str) -> dict[str, Any] | None:
    """The manifest of a finished set of tables; None where there is none, or one of something else."""
    try:
        manifest = msgspec.json.decode(places.read_bytes(f"{folder}/{MANIFEST}"))
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    return manifest if isinstance(manifest, dict) and manifest.keys() >= _KEYS and cache.key(manifest) else None


def is_unfinished(folder: str) -> bool:
    """True where a run that decodes into this folder began and did not end."""
    there = places.names(folder)
    return UNFINISHED in there and MANIFEST not in there
