"""One raw record -> Trajectory | Rejected; one module per dialect, chosen by shape; the outcome of a result."""

from collections import Counter

from analysis import visible
from analysis.records import unread
from analysis.records.dialects import DIALECTS
from analysis.records.model import Finding, Rejected, Trajectory
from analysis.records.record import Record, UnreadableError

logger = visible.logger(__name__)

READER_FAILED = "the reader failed, please report this record"


def read(
    raw: bytes | memoryview,
    origin: str,
    byte_offset: int | None = None,
    unknown_keys: Counter[str] | None = None,
    *,
    keep_unread: bool = False,
) -> Trajectory | Rejected:
    """Read one record's JSON text.

    Args:
        raw: JSON text of one object, or of a list of messages.
        origin: where it stands, e.g. `traj.json@184220931`.
        byte_offset: the same as a number, where there is one.
        unknown_keys: counts keys no dialect reads, when given.
        keep_unread: keep, with a finding, a record whose calls or texts could not be read.

    Returns:
        The trajectory, or Rejected with the reason. Never raises on data.
    """
    try:
        record = Record(raw, origin)
        for dialect in DIALECTS:
            if dialect.matches(record):
                break
        else:
            raise UnreadableError(unread.no_dialect(record, DIALECTS))
        trajectory = dialect.read(record)
        if reason := unread.reason(record, trajectory, dialect):
            if not keep_unread:
                return Rejected(origin, byte_offset, reason)
            trajectory.findings.append(Finding("kept_unread", None, reason))
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
