"""One raw record -> Trajectory | Rejected; one module per dialect, chosen by shape; the outcome of a result."""

import logging
from collections import Counter

from analysis.records.dialects import DIALECTS
from analysis.records.model import Rejected, Trajectory
from analysis.records.record import Record, UnreadableError

logger = logging.getLogger(__name__)

READER_FAILED = "the reader failed, please report this record"


def read(
    raw: bytes | memoryview, origin: str, byte_offset: int | None = None, unknown_keys: Counter[str] | None = None
) -> Trajectory | Rejected:
    """Read one record's JSON text.

    Args:
        raw: JSON text of one object.
        origin: where it stands, e.g. `traj.json@184220931`.
        byte_offset: the same as a number, where there is one.
        unknown_keys: counts keys no dialect reads, when given.

    Returns:
        The trajectory, or Rejected with the reason. Never raises on data.
    """
    try:
        record = Record(raw, origin)
        for dialect in DIALECTS:
            if dialect.matches(record):
                break
        else:
            named = ", ".join(sorted(record.keys)[:8])[:200] or "none"
            raise UnreadableError(f"no dialect has this shape; its keys: {named}")
        trajectory = dialect.read(record)
    except UnreadableError as error:
        return Rejected(origin, byte_offset, str(error))
    except RecursionError:
        return Rejected(origin, byte_offset, "nested too deeply")
    except Exception as error:
        # A fault of ours. It costs this record and is said, instead of all the records that are decoded with it.
        logger.exception("%s: the reader failed", origin)
        return Rejected(origin, byte_offset, f"{READER_FAILED}: {type(error).__name__}: {error}"[:300])
    if unknown_keys is not None and (record.unknown_keys or not dialect.keys.issuperset(record.keys)):
        unknown_keys.update(record.unknown_keys)
        unknown_keys.update(record.keys - dialect.keys)
    return trajectory
