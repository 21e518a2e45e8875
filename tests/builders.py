"""Small, peopled fixtures in the release's shape, built by hand, and decoded by the real decoder.

decode(trajectory("t1", env_id="bank", steps=[step(tool="get_user"), step(tool="transfer", error="no funds")]))
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from analysis.tables import Tables, load

Record = dict[str, Any]
Messages = list[dict[str, Any]]

SYSTEM = {"role": "system", "content": "You are a helpful assistant."}


def step(
    tool: str | None = None,
    *,
    arguments: Record | str | None = None,
    result: str | None = None,
    error: str | None = None,
    says: str = "",
    reasoning: str | None = "I think.",
    user: str | None = None,
    answered: bool = True,
) -> Messages:
    """One assistant message and what it caused: a call and its result, or a text and perhaps the user's answer.

    Args:
        tool: the tool called; without one the message is the text `says`.
        result: the result's text; without one, a success, or with `error` a refusal, as the environments write it.
        answered: False leaves a call without its result.
    """
    message: Record = {"role": "assistant"}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    if tool is None:
        message["content"] = says
        return [message] if user is None else [message, {"role": "user", "content": user}]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    message |= {"content": None, "tool_calls": [{"function": {"name": tool, "arguments": text}}]}
    if not answered:
        return [message]
    content = repr({"success": False, "error": error}) if error else repr({"success": True, "data": []})
    return [message, {"role": "tool", "content": content if result is None else result}]


def tool(name: str, *, properties: Record | None = None, required: list[str] | None = None) -> Record:
    """A declared tool, as an OpenAI function schema."""
    parameters = {"type": "object", "properties": properties or {}, "required": required or []}
    return {"type": "function", "function": {"name": name, "description": f"{name}.", "parameters": parameters}}


def trajectory(
    task: str = "t1",
    *,
    env_id: str = "env_1_sft",
    traj_type: str = "non_conversation",
    steps: list[Messages] | None = None,
    tools: list[Record] | list[str] | None = None,
    closing: bool = True,
    **changed: Any,
) -> Record:
    """A record of the release. By default every tool it calls is declared, and it closes as its mode closes.

    Args:
        task: the part of `task_id` after the environment.
        changed: top-level keys to set to something else; None takes the key out.
    """
    given = [step(says="Task Completed")] if steps is None else steps
    messages = [SYSTEM, {"role": "user", "content": "Please do it."}, *(m for part in given for m in part)]
    if closing:
        last = "###STOP###" if traj_type == "conversation" else "Task finished"
        messages.append({"role": "user", "content": last})
    called = [c["function"]["name"] for m in messages for c in m.get("tool_calls") or ()]
    declared = list(dict.fromkeys(called)) if tools is None else tools
    record = {
        "traj_type": traj_type,
        "task_info": {"env_id": env_id, "task_id": f"{env_id}-{task}", "task": "Please do it."},
        "tools": json.dumps([tool(t) if isinstance(t, str) else t for t in declared]),
        "messages": json.dumps(messages, ensure_ascii=False),
        "user_messages": "[]",
        "steps": sum(m["role"] == "assistant" for m in messages),
    }
    record |= changed
    return {key: value for key, value in record.items() if key not in changed or value is not None}


def decode(*records: Record, folder: Path | None = None) -> Tables:
    """Write the records as the release is written and load them, with a cache of their own."""
    folder = folder or Path(tempfile.mkdtemp(prefix="decoded-"))
    source = folder / "trajectories.json"
    source.write_text(json.dumps(records, indent=4, ensure_ascii=False), encoding="utf-8")
    with patch.dict(os.environ, {"TRAJECTORY_CACHE": str(folder / "cache")}):
        return load(str(source), progress=False)
