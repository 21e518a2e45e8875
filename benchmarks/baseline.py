"""The plain way to the same tables: `json.load` the file, `json.loads` each field, loop, `ast.literal_eval` results.

Written from the publisher's own description of the set, with the loops a reader of it would write. It reads well-formed
records of the release only; where a record stands in the file, and how many bytes it has, it cannot tell. With `check`
it also judges the arguments and finds what breaks the contract, as our tables do: every column and row is then the same
(a test compares them). Schemas are compiled once a tool set by the same validator that we use, to its credit.

    python -m benchmarks.baseline SOURCE OUT            without any check
    python -m benchmarks.baseline SOURCE OUT --check    to the same tables
"""

import argparse
import ast
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import polars as pl

from analysis.schema import FINDINGS, MESSAGES, TOOL_CALLS, TOOLS, TRAJECTORIES, Table

Rows = list[dict[str, Any]]
BOUNDS = {"non_conversation": (3, 29), "conversation": (5, 39)}
MARKERS = {"non_conversation": "completed_marker", "conversation": "stop_marker"}
BREACHES = {
    "required": "missing_required",
    "additionalProperties": "unknown_key",
    "type": "wrong_type",
    "enum": "enum",
}
CLASSES = ("missing_required", "unknown_key", "wrong_type", "enum", "other_breach")


def decode(source: Path, *, check: bool = False) -> dict[str, pl.DataFrame]:
    """The four tables, with the columns that need no check of the contract; with `check` all columns and `findings`."""
    with source.open(encoding="utf-8") as stream:
        records = json.load(stream)
    shapes = (TRAJECTORIES, MESSAGES, TOOL_CALLS, TOOLS, *([FINDINGS] if check else []))
    tables: dict[str, Rows] = {table.name: [] for table in shapes}
    tool_sets: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(records):
        _decode_record(record, f"{number:05d}", tables, tool_sets, check)
    return {table.name: _frame(tables[table.name], table) for table in shapes}


def outcome(text: str) -> tuple[str, str, str | None]:
    """ok or error by the `success` key of the literal; unknown when it is none."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ("error", "error_text", text) if text.startswith("Error") else ("unknown", "none", None)
    if isinstance(value, dict) and "success" in value:
        return ("ok", "success_key", None) if value["success"] else ("error", "success_key", str(value["error"]))
    return ("ok", "structured", None) if isinstance(value, dict | list) else ("unknown", "none", None)


def _decode_record(
    record: dict[str, Any], id_: str, tables: dict[str, Rows], tool_sets: dict[str, dict[str, Any]], check: bool
) -> None:
    tools = json.loads(record["tools"])
    messages = json.loads(record["messages"])
    json.loads(record["user_messages"] or "[]")
    names = {tool["function"]["name"] for tool in tools}
    tool_set = hashlib.sha256(
        json.dumps(tools, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    ).hexdigest()[:16]
    if tool_set not in tool_sets:
        functions = [tool["function"] for tool in tools]
        tool_sets[tool_set] = {f["name"]: (f["parameters"], _validator(f["parameters"])) for f in functions}
        tables["tools"].extend(_tool(function, tool_set) for function in functions)
    step = 0
    calls: Rows = []
    for index, message in enumerate(messages):
        step += message["role"] == "assistant"
        content = message.get("content") or ""
        reasoning = message.get("reasoning_content")
        made = message.get("tool_calls") or []
        tables["messages"].append(
            {
                "trajectory_id": id_,
                "message": index,
                "role": message["role"],
                "step": step,
                "content_chars": len(content),
                "reasoning_chars": None if reasoning is None else len(reasoning),
                "tool_calls": len(made),
                "is_question": message["role"] == "assistant"
                and not made
                and content.rstrip().endswith(("?", "\uff1f")),
            }
        )
        for call in made:
            answer = messages[index + 1] if index + 1 < len(messages) else {}
            where = {"trajectory_id": id_, "step": step, "call": len(calls) + 1, "message": index}
            row = where | _call(record, index, call["function"], answer, names)
            if check:
                row["arguments_class"], detail = _classify(row, names, tool_sets[tool_set])
                tables["findings"].extend(_of_call(row, answer, detail))
            calls.append(row)
    tables["tool_calls"].extend(calls)
    roles = [message["role"] for message in messages]
    row = {
        "trajectory_id": id_,
        "dialect": "release",
        "traj_type": record["traj_type"],
        "env_id": record["task_info"]["env_id"],
        "task_id": record["task_info"]["task_id"],
        "task": record["task_info"]["task"],
        "steps": record["steps"],
        "assistant_messages": roles.count("assistant"),
        "user_messages": roles.count("user"),
        "tool_messages": roles.count("tool"),
        "tool_calls": len(calls),
        "tools_offered": len(names),
        "tools_used": len({call["tool_name"] for call in calls} & names),
        "tool_set": tool_set,
        "end_class": _end(messages),
        "reasoning_messages": sum(
            bool(message.get("reasoning_content")) for message in messages if message["role"] == "assistant"
        ),
    }
    tables["trajectories"].append(row)
    if check:
        tables["findings"].extend(_of_record(row, messages))


def _call(
    record: dict[str, Any], index: int, function: dict[str, Any], answer: dict[str, Any], names: set[str]
) -> dict[str, Any]:
    parsed = json.loads(function["arguments"])
    text = answer.get("content") or ""
    is_answered = answer.get("role") == "tool" or text.startswith("Error")
    judged, rule, error = outcome(text) if is_answered else ("unknown", "none", None)
    return {
        "env_id": record["task_info"]["env_id"],
        "traj_type": record["traj_type"],
        "tool_name": function["name"],
        "arguments": function["arguments"],
        "arguments_form": "string",
        "arguments_state": "object" if isinstance(parsed, dict) else "not_object",
        "is_offered": function["name"] in names,
        "result_message": index + 1 if is_answered else None,
        "result_chars": len(text) if is_answered else None,
        "outcome": judged,
        "outcome_rule": rule,
        "error": error and error[:500],
    }


def _validator(schema: dict[str, Any]) -> Any:
    return jsonschema_rs.validator_for(schema, validate_formats=False, offline=True)


def _classify(call: dict[str, Any], names: set[str], contracts: dict[str, Any]) -> tuple[str, str]:
    """(class, detail) of a call's arguments."""
    name = call["tool_name"]
    if name not in names:
        return "undeclared_tool", f"{name[:200]} is not among the {len(names)} tools declared"
    schema, validator = contracts[name]
    value = json.loads(call["arguments"])
    if not isinstance(value, dict):
        return "not_an_object", f"{name[:200]}: arguments are {type(value).__name__}"
    found: dict[str, str] = {}
    for error in validator.iter_errors(value):
        place = ".".join(map(str, error.instance_path))
        detail = f"{place}: {error.message}" if place else error.message
        found.setdefault(BREACHES.get(error.kind.name, "other_breach"), detail[:300])
    properties = schema.get("properties") or {}
    unknown = sorted(value.keys() - properties.keys())
    if properties and unknown and not schema.get("additionalProperties"):
        found["unknown_key"] = f"{', '.join(unknown)[:200]} not in the schema"
    first = next((kind for kind in CLASSES if kind in found), "valid")
    return first, f"{name[:200]}: {found[first]}" if found else ""


def _of_call(call: dict[str, Any], answer: dict[str, Any], detail: str) -> Iterator[dict[str, Any]]:
    where = {"trajectory_id": call["trajectory_id"]}
    if call["arguments_class"] != "valid":
        rule = call["arguments_class"]
        rule = "over_required" if rule == "missing_required" and call["outcome"] == "ok" else rule
        rule = "arguments_not_object" if rule == "not_an_object" else rule
        yield where | {"rule": rule, "message": call["message"], "detail": detail}
    if call["result_message"] is None:
        yield where | {
            "rule": "unanswered_call",
            "message": call["message"],
            "detail": f"{call['tool_name'][:200]} has no result",
        }
    elif answer["role"] == "user":
        said = "an error text, delivered as a user message, answers the call"
        yield where | {"rule": "answered_by_user", "message": call["result_message"], "detail": said}


def _of_record(row: dict[str, Any], messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    where = {"trajectory_id": row["trajectory_id"], "message": None}
    assistants, kind = row["assistant_messages"], row["traj_type"]
    if not row["task_id"].startswith(row["env_id"]):
        yield where | {
            "rule": "env_prefix",
            "detail": f"{row['task_id'][:100]} does not start with {row['env_id'][:100]}",
        }
    if row["steps"] != assistants:
        counted = f"{assistants} assistant messages, {row['tool_calls']} calls, {row['tool_messages']} tool messages"
        yield where | {"rule": "steps_mismatch", "detail": f"steps is {row['steps']}; {counted}"}
    if row["end_class"] != MARKERS[kind]:
        yield where | {"rule": "closing_marker", "detail": f"{kind} ends as {row['end_class']}"}
    low, high = BOUNDS[kind]
    if not low <= assistants <= high:
        yield where | {
            "rule": "publisher_bounds",
            "detail": f"{assistants} assistant messages, outside {low}-{high}",
        }
    breaches = []
    for index in range(1, len(messages)):
        before, after = messages[index - 1], messages[index]["role"]
        may_follow = {
            "assistant": before["role"] != "assistant",
            "tool": before["role"] == "tool" or bool(before.get("tool_calls")),
            "user": before["role"] in ("assistant", "system"),
        }
        if not may_follow.get(after, False):
            breaches.append((index, f"{after} after {before['role']}"))
    if breaches:
        index, said = breaches[0]
        yield where | {"rule": "alternation", "message": index, "detail": f"{said}; {len(breaches)} such places"}


def _end(messages: list[dict[str, Any]]) -> str:
    last = messages[-1]
    content = last.get("content") or ""
    if last["role"] == "user" and "###STOP###" in content:
        return "stop_marker"
    if last["role"] == "user" and content.lstrip().startswith("Error"):
        return "exception"
    if last["role"] == "tool":
        return "ends_on_result"
    spoken = messages[-2] if last["role"] == "user" and messages[-2]["role"] == "assistant" else last
    content = spoken.get("content") or ""
    if spoken.get("tool_calls"):
        return "dangling_call"
    if "Task Completed" in content:
        return "completed_marker"
    return "failed_marker" if "Task Failed" in content else "text_without_marker"


def _tool(function: dict[str, Any], tool_set: str) -> dict[str, Any]:
    parameters = function.get("parameters") or {}
    return {
        "tool_set": tool_set,
        "tool_name": function["name"],
        "description_chars": len(function.get("description") or ""),
        "parameters": len(parameters.get("properties") or {}),
        "required": len(parameters.get("required") or []),
    }


def _frame(rows: Rows, table: Table) -> pl.DataFrame:
    schema = {column.name: column.dtype for column in table if rows and column.name in rows[0]}
    return pl.DataFrame(rows, schema=schema)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baseline")
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="judge the arguments and find breaches of the contract too"
    )
    options = parser.parse_args()
    for name, frame in decode(options.source, check=options.check).items():
        folder = options.out / name
        folder.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(folder / "part-00000.parquet")


if __name__ == "__main__":
    main()
