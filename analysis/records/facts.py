"""What a record says of itself beside its messages: its tools, its ids, its task, its reward, its model."""

import msgspec

from analysis.records.jsontext import loads
from analysis.records.model import Trajectory
from analysis.records.record import Record, UnreadableError, exact_text, open_members


class _TaskInfo(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """As published; anything else is read member by member."""

    env_id: str
    task_id: str
    task: str


TEXTS = 512
_TEXTS: dict[tuple[int, bytes], tuple[msgspec.Raw, str | None]] = {}

_TASK_INFO = msgspec.json.Decoder(_TaskInfo)


def task_info(record: Record) -> dict[str, str | None]:
    """env_id, task_id and task; from a runner that names none: `id`, `user_id`, the involved classes."""
    try:
        published = _TASK_INFO.decode(record.raw("task_info"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    else:
        return {"env_id": published.env_id, "task_id": published.task_id, "task": published.task}
    info = members(record, "task_info")
    task_id = next((exact_text(info[k]) for k in ("task_id", "id", "user_id") if k in info), None)
    env_id = exact_text(info["env_id"]) if "env_id" in info else None
    if env_id is None and "involved_classes" in info:
        classes = loads(info["involved_classes"])[0]
        if isinstance(classes, list) and classes:
            env_id = "+".join(str(name) for name in classes)
    task = next((loads(info[k])[0] for k in ("task", "instruction", "question", "questions") if k in info), None)
    return {"env_id": env_id, "task_id": task_id, "task": task if isinstance(task, str) else None}


def members(record: Record, key: str) -> dict[str, bytes]:
    """The raw members of an object held as JSON or as a JSON string; {} when it is neither."""
    try:
        inside, _ = open_members(record.inner(key))
    except UnreadableError:
        return {}
    return {name: bytes(value) for name, value in inside.items()}


def tools_text(record: Record) -> str:
    text: str | bytes | None = _text_of(record.fields.get("tools", b"null"))
    text = record.inner("tools") if text is None else text
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return "[]" if text.strip() in ("", "null") else text


def _text_of(raw: bytes | msgspec.Raw) -> str | None:
    """One object for all records that declare the same tools: its hash, by which their set is found, is kept in it.

    Comparing bytes is several times as fast as hashing them, so they are looked up by length and beginning.
    """
    key = (len(raw), bytes(memoryview(raw)[:200]))
    held = _TEXTS.get(key)
    if held and held[0] == raw:
        return held[1]
    try:
        text: str | None = msgspec.json.decode(raw, type=str)
    except (msgspec.MsgspecError, UnicodeError):
        text = None
    if len(_TEXTS) >= TEXTS:
        _TEXTS.clear()
    _TEXTS[key] = msgspec.Raw(bytes(raw)), text
    return text


def rewards(record: Record, trajectory: Trajectory) -> None:
    reward = record.value("total_reward") if "total_reward" in record else None
    if isinstance(reward, int | float) and not isinstance(reward, bool):
        trajectory.total_reward = float(reward)
    trajectory.trial = exact_text(record.raw("trial")) if "trial" in record else None
    trajectory.model = exact_text(record.raw("model")) if "model" in record else None
