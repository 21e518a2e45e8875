"""`dataclasses`, what the sandbox lacks of it."""

from typing import Any


def asdict(value: Any) -> Any:
    """A dataclass as a dict, all it holds included. `_replay_fields` is written by the lowering."""
    fields = getattr(value, "_replay_fields", None)
    if fields is not None:
        return {name: asdict(getattr(value, name)) for name in fields}
    if isinstance(value, dict):
        return {key: asdict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [asdict(item) for item in value]
    if isinstance(value, tuple):
        return tuple([asdict(item) for item in value])
    return value
