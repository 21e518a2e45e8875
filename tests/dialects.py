"""One conversation, written in every dialect: `make("sharegpt", arguments={"id": 1}, result="Error: no")`."""

import json
from collections.abc import Callable
from typing import Any

PARAMETERS = {"type": "object", "properties": {"id": {"type": ["integer", "string"]}}}
TOOL = {"name": "get_user", "description": "", "parameters": PARAMETERS}
TOOLS = [{"type": "function", "function": TOOL}]
SYSTEM = f"# Tools\n<tools>\n{json.dumps(TOOLS[0])}\n</tools>"
INFO = {"env_id": "env_1", "task_id": "env_1-7", "task": "Look."}
LOG = {"trajectory": [], "final_observation": {"type": "user"}, "terminated": True, "truncated": False}
Make = Callable[..., dict[str, Any]]


def _fields(arguments: Any, result: Any, user: Any, says: Any, **call: Any) -> list[dict[str, Any]]:
    function = {"name": "get_user", "arguments": arguments}
    answers = {"tool_call_id": call["id"]} if call else {}
    return [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": user},
        {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]},
        {"role": "tool", "content": result, **answers},
        {"role": "assistant", "content": says},
    ]


def block(arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': 'get_user', 'arguments': arguments})}\n</tool_call>"


def _texts(arguments: Any, result: Any, user: Any, says: Any) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": user},
        {"role": "assistant", "content": block(arguments)},
        {"role": "user", "content": f"<tool_response>\n{result}\n</tool_response>"},
        {"role": "assistant", "content": says},
    ]


def _release(*spoken: Any) -> dict[str, Any]:
    messages = json.dumps(_fields(*spoken))
    return {"traj_type": "non_conversation", "task_info": INFO, "tools": json.dumps(TOOLS), "messages": messages}


def _fc(*spoken: Any) -> dict[str, Any]:
    messages = _fields(*spoken, id="c1", type="function")
    return {"task_info": INFO, "tools": TOOLS, "messages": messages, **LOG}


def _sharegpt(arguments: Any, result: Any, user: Any, says: Any) -> dict[str, Any]:
    turns = [
        {"from": "human", "value": user},
        {"from": "function_call", "value": json.dumps({"name": "get_user", "arguments": arguments})},
        {"from": "observation", "value": result},
        {"from": "gpt", "value": says},
    ]
    return {"conversations": turns, "tools": json.dumps(TOOLS)}


def _alpaca(arguments: Any, result: Any, user: Any, says: Any) -> dict[str, Any]:
    asked = f"<tool_response>\n{result}\n</tool_response>"
    return {"system": SYSTEM, "history": [[user, block(arguments)]], "instruction": asked, "input": "", "output": says}


MAKERS: dict[str, Make] = {
    "release": _release,
    "fc": _fc,
    "prompt": lambda *spoken: {"task_info": INFO, "tools": TOOLS, "messages": _texts(*spoken), **LOG},
    "openai": lambda *spoken: {"messages": _fields(*spoken, id="c1", type="function"), "tools": TOOLS},
    "qwen_text": lambda *spoken: {"messages": _texts(*spoken)},
    "sharegpt": _sharegpt,
    "alpaca": _alpaca,
}
AS_FIELDS = ["release", "fc", "openai"]
WITH_TASK_INFO = ["release", "fc", "prompt"]


def make(
    dialect: str,
    arguments: Any = '{"id": 1}',
    result: str = "{'success': True}",
    user: Any = "Look.",
    says: Any = "Seen.",
    task_id: Any = None,
) -> dict[str, Any]:
    """A record: the system's text, the user's, a call of get_user, its result, and a closing text.

    Args:
        arguments: of the call; a text stays a text, an object an object.
        task_id: what names the record, where its dialect holds that; None for the usual one, or none.
    """
    record = MAKERS[dialect](arguments, result, user, says)
    if task_id is None:
        return record
    return record | ({"task_info": INFO | {"task_id": task_id}} if dialect in WITH_TASK_INFO else {"id": task_id})
