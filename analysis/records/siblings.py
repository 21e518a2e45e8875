"""Rows of the sibling sets: environments, scenarios and checks. Code is measured, never run or imported."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from analysis.canonical import canonical
from analysis.records.jsontext import loads

Row = tuple[Any, ...]
_KINDS = {"query": "query", "state change": "change", "state_change": "change", "change": "change"}


class SiblingRows(NamedTuple):
    """Rows of `schema.SIBLING_TABLES`, by the name of the table, and what could not be read, by reason."""

    environments: list[Row]
    environment_tools: list[Row]
    scenarios: list[Row]
    checks: list[Row]
    rejected: list[str]


def empty() -> SiblingRows:
    return SiblingRows([], [], [], [], [])


def read(raw: bytes, origin: str, rows: SiblingRows) -> None:
    """Add one raw row of any sibling set; the GitHub copy of the environments is one object keyed by env_id."""
    try:
        value, _ = loads(raw)
    except ValueError as error:
        rows.rejected.append(f"{origin}: not JSON: {error}")
        return
    for env_id, row in _rows(value):
        if "checklist_with_func" in row or "init_config" in row or ("task_id" in row and "task" in row):
            _scenario(row, origin, rows)
        elif "operation_list" in row or "env_class_code" in row or "state_space_definition" in row:
            _environment(env_id, row, origin, rows)
        else:
            rows.rejected.append(f"{origin}: neither an environment nor a scenario; its keys: {', '.join(row)[:200]}")


def _rows(value: object) -> Iterator[tuple[str | None, dict[str, Any]]]:
    if not isinstance(value, dict):
        return
    if value and all(isinstance(item, dict) for item in value.values()):
        yield from value.items()
    else:
        yield None, value


def _environment(env_id: str | None, row: dict[str, Any], origin: str, rows: SiblingRows) -> None:
    id_ = row.get("env_id") or env_id
    if not isinstance(id_, str):
        rows.rejected.append(f"{origin}: an environment without env_id")
        return
    operations = [item for item in _list(row.get("operation_list")) if isinstance(item, dict)]
    states = _list(row.get("state_space_definition"))
    kinds = [_KINDS.get(str(item.get("operation_type", "")).strip().lower(), "unknown") for item in operations]
    code = _text(row.get("env_class_code")) or ""
    rows.environments.append(
        (
            id_,
            _text(row.get("env_class_name")),
            _text(row.get("environment_summary")),
            next((split for split in ("sft", "rl") if id_.endswith(f"_{split}")), None),
            len(states),
            sum(_attributes(state) for state in states),
            len(_list(row.get("constraints_rules"))),
            kinds.count("query"),
            kinds.count("change"),
            len(_list(row.get("tools"))),
            len(code.splitlines()),
            len(code),
        )
    )
    seen = set()
    for item, kind in zip(operations, kinds, strict=True):
        name = str(item.get("operation_name", ""))
        if name not in seen:
            seen.add(name)
            rows.environment_tools.append((id_, name, kind, len(str(item.get("operation_description", "")))))


def _scenario(row: dict[str, Any], origin: str, rows: SiblingRows) -> None:
    task_id, env_id = row.get("task_id"), row.get("env_id")
    if task_id is None or env_id is None:
        rows.rejected.append(f"{origin}: a scenario without task_id or env_id")
        return
    config = row.get("init_config")
    checks = [item for item in _list(row.get("checklist_with_func")) if isinstance(item, dict)]
    size = len(config) if isinstance(config, str) else len(canonical(config)) if config is not None else 0
    rows.scenarios.append((str(env_id), str(task_id), len(str(row.get("task") or "")), size, len(checks)))
    for number, item in enumerate(checks, 1):
        lines = len(str(item.get("check_func") or "").splitlines())
        rows.checks.append((str(env_id), str(task_id), number, len(str(item.get("check_item") or "")), lines))


def _attributes(state: object) -> int:
    """Attributes of an entity of the state space: a list, an object, or a text that names them one after another."""
    if not isinstance(state, dict):
        return 1
    held = next((state[key] for key in ("attributes", "fields", "properties") if key in state), None)
    if isinstance(held, str):
        return len([part for part in held.split(",") if part.strip()])
    return len(held) if isinstance(held, list | dict) else 1


def _list(value: object) -> list[Any]:
    if isinstance(value, str):
        try:
            value = loads(value)[0]
        except ValueError:
            return []
    return value if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
