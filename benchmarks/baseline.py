"""The plain way to the same tables: `json.load` the file, `json.loads` each field, loop, `ast.literal_eval` results.

Written from the publisher's own description of the set. It reads well-formed records of the release only, checks no
argument against a schema and finds nothing: whatever it saves by that is left to its credit.

    python -m benchmarks.baseline SOURCE OUT
"""

import ast
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl

from analysis.schema import MESSAGES, TOOL_CALLS, TOOLS, TRAJECTORIES, Table

Rows = list[dict[str, Any]]


def decode(source: Path) -> dict[str, pl.DataFrame]:
    """The four tables, with the columns that need no check of the contract."""
    with source.open(encoding="utf-8") as stream:
        records = json.load(stream)
    tables: dict[str, Rows] = {"trajectories": [], "messages": [], "tool_calls": [], "tools": []}
    tool_sets: set[str] = set()
    for number, record in enumerate(records):
        _decode_record(record, f"{number:05d}", tables, tool_sets)
    shapes = (TRAJECTORIES, MESSAGES, TOOL_CALLS, TOOLS)
    return {table.name: _frame(tables[table.name], table) for table in shapes}


def outcome(text: str) -> tuple[str, str | None]:
    """ok or error by the `success` key of the literal; unknown when it is none."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ("error", text) if text.startswith("Error") else ("unknown", None)
    if isinstance(value, dict) and "success" in value:
        return ("ok", None) if value["success"] else ("error", str(value.get("error", text)))
    return ("ok", None) if isinstance(value, dict | list) else ("unknown", None)


def _decode_record(record: dict[str, Any], id_: str, tables: dict[str, Rows], tool_sets: set[str]) -> None:
    tools = json.loads(record["tools"])
    messages = json.loads(record["messages"])
    json.loads(record["user_messages"] or "[]")
    names = {tool["function"]["name"] for tool in tools}
    tool_set = hashlib.sha256(json.dumps(tools, sort_keys=True).encode()).hexdigest()[:16]
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
            }
        )
        for call in made:
            answer = messages[index + 1] if index + 1 < len(messages) else {}
            where = {"trajectory_id": id_, "step": step, "call": len(calls) + 1, "message": index}
            calls.append(where | _call(record, index, call["function"], answer, names))
    tables["tool_calls"].extend(calls)
    roles = [message["role"] for message in messages]
    tables["trajectories"].append(
        {
            "trajectory_id": id_,
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
        }
    )
    if tool_set not in tool_sets:
        tool_sets.add(tool_set)
        tables["tools"].extend(_tool(tool["function"], tool_set) for tool in tools)


def _call(
    record: dict[str, Any], index: int, function: dict[str, Any], answer: dict[str, Any], names: set[str]
) -> dict[str, Any]:
    parsed = json.loads(function["arguments"])
    text = answer.get("content") or ""
    is_answered = answer.get("role") == "tool" or text.startswith("Error")
    judged, error = outcome(text) if is_answered else ("unknown", None)
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
        "error": error and error[:500],
    }


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


def main(source: str, out: str) -> None:
    for name, frame in decode(Path(source)).items():
        folder = Path(out) / name
        folder.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(folder / "part-00000.parquet")


if __name__ == "__main__":
    main(*sys.argv[1:])
