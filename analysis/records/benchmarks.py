"""Records of benchmarks, which hold no trajectory: a task, the tools on offer, and what should be called.

Read by what a record has, not by its benchmark's name. Known to be read: the questions, answers and tool files of
BFCL (v3 and v4), ACEBench, the tasks of tau-bench and tau2-bench, scenarios and environments of EnvScaler. The rows are
those of `records.compared`. An answer in Python's syntax, such as `cd(folder='document')`, is parsed and never run.
"""

import ast
from collections.abc import Iterator
from typing import Any

import msgspec

from analysis.canonical import canonical
from analysis.records.compared import Row, tool_rows, value_rows
from analysis.records.jsontext import loads
from analysis.records.toolsets import toolset

_TASKS = ("instruction", "question", "task", "user_scenario")
_TOOLS = ("tools", "function", "functions")
_IDS = ("task_id", "id")
_ENVIRONMENTS = ("env_id", "env", "involved_classes")
_STATES = ("initial_config", "init_config")
_ANSWERS = ("actions", "ground_truth", "evaluation_criteria")
# A record with one of these would be a trajectory; where it was rejected as one, a part of it is no benchmark's.
_CONVERSATIONS = {"messages", "conversations", "conversation", "trajectory", "traj", "steps", "chat_history", "history"}
LONGEST_ANSWER = 4_000


def read(raw: bytes) -> list[Row] | None:
    """The rows of a benchmark's record; None where it is not understood."""
    try:
        value, _ = loads(raw)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    found = [row for env_id, record in _records(value) for row in _rows(record, env_id)]
    return found or None


def _records(value: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """The record itself, or those that an object keeps by their ids."""
    if value and all(isinstance(held, dict) and "env_id" in held for held in value.values()):
        yield from value.items()
    elif not value.keys() & _CONVERSATIONS:
        yield None, value


def _rows(record: dict[str, Any], env_id: str | None) -> Iterator[Row]:
    env_id = env_id or _name(record, _ENVIRONMENTS)
    task = next((text for key in _TASKS if (text := _said(record.get(key)))), "")
    if task:
        yield "task", env_id, _name(record, _IDS), task
    yield from tool_rows(_declared(record), env_id)
    held = [_arguments(value) for key in _ANSWERS for value in _answers(record.get(key))]
    states = [canonical(record[key]) for key in _STATES if isinstance(record.get(key), dict)]
    yield from value_rows(iter([*held, *states]), env_id)


def _declared(record: dict[str, Any]) -> Any:
    """The tools that a record offers, or the one that it is."""
    listed = next((record[key] for key in _TOOLS if isinstance(record.get(key), list)), None)
    if listed is None and isinstance(record.get("parameters"), dict):
        listed = [record]
    if listed is None and record.get("type") == "function":
        listed = [record]
    return toolset(canonical(listed)).tools if listed else ()


def _name(record: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        held = record.get(key)
        if isinstance(held, list) and held and all(isinstance(item, str) for item in held):
            return ", ".join(held)
        if isinstance(held, str | int) and not isinstance(held, bool):
            return str(held)
    return None


def _said(value: Any) -> str:
    """The text of a task: itself, or what users say in the turns that it lists, or the parts of a user's scenario."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(filter(None, map(_said, value)))
    if not isinstance(value, dict):
        return ""
    if "content" in value:
        return _said(value["content"]) if value.get("role", "user") == "user" else ""
    if "text" in value:
        return _said(value["text"])
    return _said(value["instructions"]) if "instructions" in value else _said([*value.values()])


def _answers(value: Any) -> Iterator[Any]:
    """Calls that are asked for, however deep they are listed."""
    if isinstance(value, list):
        for item in value:
            yield from _answers(item)
    elif isinstance(value, dict) and "actions" in value:
        yield from _answers(value["actions"])
    elif isinstance(value, dict | str):
        yield value


def _arguments(call: Any) -> str | None:
    """The arguments of a call as JSON text: under `kwargs` or `arguments`, or those of a call in Python's syntax."""
    if isinstance(call, dict):
        held = call.get("kwargs", call.get("arguments", call))
        return canonical(held) if isinstance(held, dict) else None
    try:
        parsed = ast.parse(call.strip(), mode="eval").body if len(call) <= LONGEST_ANSWER else None
        if not isinstance(parsed, ast.Call):
            return None
        return msgspec.json.encode(
            {word.arg: ast.literal_eval(word.value) for word in parsed.keywords if word.arg}
        ).decode()
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
