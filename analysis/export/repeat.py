"""The manifest of an export -> the same choice once more, of the same contents."""

from pathlib import Path
from typing import Any

import msgspec

from analysis.export.errors import ExportError
from analysis.export.subset import Limits


class _Subset(msgspec.Struct, frozen=True):
    limits: Limits = Limits()


class _Mask(msgspec.Struct, frozen=True):
    rules: tuple[str, ...] = ()


class _Split(msgspec.Struct, frozen=True):
    validation: float = 0.0
    by: str = "scenario"


class _Against(msgspec.Struct, frozen=True):
    content_hash: str = ""


class _Manifest(msgspec.Struct, frozen=True):
    """What of a manifest says how the choice was made."""

    content_hash: str
    format: str
    where: str
    seed: int
    mask: _Mask = _Mask()
    subset: _Subset = _Subset()
    split: _Split = _Split()
    redacted: dict[str, int] | None = None
    against: _Against = _Against()


def read_request(path: Path) -> dict[str, Any]:
    """The options of an export, as fields of ExportRequest, from its manifest.

    Raises:
        ExportError: it cannot be read, or is no manifest of an export.
    """
    try:
        held = msgspec.json.decode(path.read_bytes(), type=_Manifest)
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ExportError(f"{path}: no manifest of an export: {error}") from None
    return {
        "shape": held.format,
        "where": held.where,
        "mask": held.mask.rules,
        "limits": held.subset.limits,
        "validation": held.split.validation,
        "by": held.split.by,
        "seed": held.seed,
        "redact": held.redacted is not None,
        "content_hash": held.content_hash,
        "against_hash": held.against.content_hash,
    }
