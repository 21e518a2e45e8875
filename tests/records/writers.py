"""One conversation, written as each dialect writes it."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

Item = dict[str, Any]


class Made(NamedTuple):
    """A call with the result it got."""

    name: str
    arguments: Item
    result: str


class Said(NamedTuple):
    """What the agent gives at once: perhaps a thought, a text, calls; the calls are answered behind it."""

    thought: str | None
    text: str
    calls: list[Made]


class Conversation(NamedTuple):
    """A system's text, a user's, and the agent's messages, the last of which makes no call."""

    system: str
    user: str
    said: list[Said]


PARAMETERS = {"type": "object", "properties": {"id": {}, "note": {}}}
NAMES = ("get_user", "set_note")
FUNCTIONS = [{"name": name, "description": "d", "parameters": PARAMETERS} for name in NAMES]
TOOLS = [{"type": "function", "function": function} for function in FUNCTIONS]
IN_SYSTEM = "<tools>\n" + "\n".join(map(json.dumps, TOOLS)) + "\n</tools>"
PLACES: Item = {"env_id": "e", "task_id": "e-1", "task": "Go."}
LOG = {"trajectory": [], "final_observation": {"type": "user"}, "terminated": True, "truncated": False}


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _ids(place: int, said: Said) -> list[tuple[str, Made]]:
    return [(f"c{place}-{number}", made) for number, made in enumerate(said.calls)]


def _with(said: Said, item: Item, key: str = "reasoning_content") -> Item:
    return item if said.thought is None else item | {key: said.thought}


def _chat(conversation: Conversation, *, has_ids: bool = True) -> list[Item]:
    items: list[Item] = [{"role": "system", "content": conversation.system}]
    items.append({"role": "user", "content": conversation.user})
    for place, said in enumerate(conversation.said):
        spoken = _with(said, {"role": "assistant", "content": said.text})
        made = _ids(place, said)
        calls: list[Item] = [{"function": {"name": m.name, "arguments": dumps(m.arguments)}} for _, m in made]
        if has_ids:
            calls = [{"id": id_, "type": "function", **call} for (id_, _), call in zip(made, calls, strict=True)]
        items.append(spoken | {"tool_calls": calls} if calls else spoken)
        answers = [{"tool_call_id": id_} if has_ids else {} for id_, _ in made]
        items += [{"role": "tool", **a, "content": m.result} for a, (_, m) in zip(answers, made, strict=True)]
    return items


def release(conversation: Conversation) -> Item:
    messages = dumps(_chat(conversation, has_ids=False))
    return {"traj_type": "non_conversation", "task_info": PLACES, "tools": dumps(TOOLS), "messages": messages}


def anthropic(conversation: Conversation) -> Item:
    items: list[Item] = [{"role": "user", "content": conversation.user}]
    for place, said in enumerate(conversation.said):
        blocks: list[Item] = [] if said.thought is None else [{"type": "thinking", "thinking": said.thought}]
        blocks += [{"type": "text", "text": said.text}] if said.text else []
        made = _ids(place, said)
        blocks += [{"type": "tool_use", "id": id_, "name": m.name, "input": m.arguments} for id_, m in made]
        results = [{"type": "tool_result", "tool_use_id": id_, "content": m.result} for id_, m in made]
        items.append({"role": "assistant", "content": blocks})
        items += [{"role": "user", "content": results}] if results else []
    tools = [{"name": f["name"], "description": "d", "input_schema": PARAMETERS} for f in FUNCTIONS]
    return {"system": conversation.system, "messages": items, "tools": tools}


def agentdojo(conversation: Conversation) -> Item:
    def parts(text: str, thought: str | None = None) -> list[Item]:
        before = [] if thought is None else [{"type": "thinking", "content": thought}]
        return [*before, {"type": "text", "content": text}]

    items: list[Item] = [{"role": "system", "content": parts(conversation.system)}]
    items.append({"role": "user", "content": parts(conversation.user)})
    for place, said in enumerate(conversation.said):
        calls = [{"function": m.name, "args": m.arguments, "id": id_} for id_, m in _ids(place, said)]
        spoken = {"role": "assistant", "content": parts(said.text, said.thought), "tool_calls": calls or None}
        results = zip(calls, said.calls, strict=True)
        items.append(spoken)
        items += [
            {"role": "tool", "content": parts(m.result), "tool_call_id": c["id"], "tool_call": c, "error": None}
            for c, m in results
        ]
    return {"suite_name": "s", "user_task_id": "t", "messages": items, "functions": FUNCTIONS, "utility": True}


def llamafactory_v1(conversation: Conversation) -> Item:
    items: list[Item] = []
    for role, text in (("system", conversation.system), ("user", conversation.user)):
        items.append({"role": role, "content": [{"type": "text", "value": text}]})
    for said in conversation.said:
        parts = [] if said.thought is None else [{"type": "reasoning", "value": said.thought}]
        parts += [{"type": "text", "value": said.text}] if said.text else []
        calls = [{"name": m.name, "arguments": m.arguments} for m in said.calls]
        items.append(
            {"role": "assistant", "content": [*parts, *({"type": "tool_call", "value": dumps(c)} for c in calls)]}
        )
        items += [{"role": "tool", "content": [{"type": "text", "value": m.result}]} for m in said.calls]
    return {"messages": items, "tools": dumps(TOOLS)}


def toucan(conversation: Conversation) -> Item:
    items: list[Item] = [{"role": "system", "content": conversation.system}]
    items.append({"role": "user", "content": conversation.user})
    for said in conversation.said:
        if said.text or said.thought is not None or not said.calls:
            items.append(_with(said, {"role": "assistant", "content": said.text}))
        items += [
            {"role": "tool_call", "content": repr({"name": m.name, "arguments": m.arguments})} for m in said.calls
        ]
        items += [{"role": "tool_response", "content": m.result} for m in said.calls]
    return {"messages": dumps(items), "tools": dumps(TOOLS), "uuid": "u"}


def toucan_parallel(conversation: Conversation) -> Item:
    items: list[Item] = [{"role": "system", "content": conversation.system}]
    items.append({"role": "user", "content": conversation.user})
    for said in conversation.said:
        first = _with(said, {"role": "assistant", "content": said.text})
        calls = [{"function_call": {"name": m.name, "arguments": dumps(m.arguments)}} for m in said.calls] or [{}]
        items += [
            first | call if not n else {"role": "assistant", "content": "", **call} for n, call in enumerate(calls)
        ]
        items += [{"role": "function", "name": m.name, "content": m.result} for m in said.calls]
    return {"messages": items, "available_tools": TOOLS}


def responses(conversation: Conversation) -> Item:
    items: list[Item] = [{"role": "user", "content": [{"type": "input_text", "text": conversation.user}]}]
    for place, said in enumerate(conversation.said):
        if said.thought is not None:
            items.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": said.thought}]})
        if said.text or not said.calls:
            content = [{"type": "output_text", "text": said.text}]
            items.append({"type": "message", "role": "assistant", "content": content})
        for id_, m in _ids(place, said):
            items.append({"type": "function_call", "call_id": id_, "name": m.name, "arguments": dumps(m.arguments)})
        for id_, m in _ids(place, said):
            items.append({"type": "function_call_output", "call_id": id_, "output": m.result})
    tools = [{"type": "function", **function} for function in FUNCTIONS]
    return {"instructions": conversation.system, "input": items[:1], "output": items[1:], "tools": tools}


def atif(conversation: Conversation) -> Item:
    steps: list[Item] = [{"step_id": 1, "source": "system", "message": conversation.system}]
    steps.append({"step_id": 2, "source": "user", "message": conversation.user})
    for place, said in enumerate(conversation.said):
        step = _with(said, {"step_id": place + 3, "source": "agent", "message": said.text})
        made = _ids(place, said)
        if made:
            step["tool_calls"] = [
                {"tool_call_id": id_, "function_name": m.name, "arguments": m.arguments} for id_, m in made
            ]
            step["observation"] = {"results": [{"source_call_id": id_, "content": m.result} for id_, m in made]}
        steps.append(step)
    agent = {"name": "a", "version": "1", "model_name": "m", "tool_definitions": TOOLS}
    return {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": steps}


def tau2(conversation: Conversation) -> Item:
    items: list[Item] = [{"role": "system", "content": conversation.system}]
    items.append({"role": "user", "content": conversation.user, "turn_idx": 0})
    for place, said in enumerate(conversation.said):
        made = [
            {"id": id_, "name": m.name, "arguments": m.arguments, "requestor": "assistant"}
            for id_, m in _ids(place, said)
        ]
        items.append(_with(said, {"role": "assistant", "content": said.text or None, "tool_calls": made or None}))
        items += [
            {"id": id_, "role": "tool", "content": m.result, "requestor": "assistant"} for id_, m in _ids(place, said)
        ]
    return {"id": "a", "task_id": "1", "trial": 0, "reward_info": {"reward": 1.0}, "messages": items, "tools": TOOLS}


def _text_items(conversation: Conversation, call: Callable[[Made], str], answer: Callable[[Made], str]) -> list[Item]:
    items: list[Item] = [{"role": "system", "content": f"{conversation.system}\n{IN_SYSTEM}"}]
    items.append({"role": "user", "content": conversation.user})
    for said in conversation.said:
        thought = "" if said.thought is None else f"<think>\n{said.thought}\n</think>\n\n"
        text = "\n".join([*filter(None, [said.text]), *map(call, said.calls)])
        items.append({"role": "assistant", "content": thought + text})
        if said.calls:
            items.append({"role": "tool", "content": "\n".join(map(answer, said.calls))})
    return items


def _block(made: Made) -> str:
    return f"<tool_call>\n{dumps({'name': made.name, 'arguments': made.arguments})}\n</tool_call>"


def _xml(made: Made) -> str:
    given = "".join(f"<parameter={key}>{value}</parameter>\n" for key, value in made.arguments.items())
    return f"<function={made.name}>\n{given}</function>"


def _response(made: Made) -> str:
    return f"<tool_response>\n{made.result}\n</tool_response>"


def qwen_text(conversation: Conversation) -> Item:
    return {"messages": _text_items(conversation, _block, _response)}


def text_calls(conversation: Conversation) -> Item:
    return {"messages": _text_items(conversation, _xml, _response)}


def hermes(conversation: Conversation) -> Item:
    def named(made: Made) -> str:
        return f"<tool_response>\n{dumps({'name': made.name, 'content': made.result})}\n</tool_response>"

    speakers = {"system": "system", "user": "human", "assistant": "gpt", "tool": "tool"}
    items = _text_items(conversation, _block, named)
    return {"conversations": [{"from": speakers[item["role"]], "value": item["content"]} for item in items], "id": "h"}


def sharegpt(conversation: Conversation) -> Item:
    turns = [{"from": "human", "value": conversation.user}]
    for said in conversation.said:
        thought = "" if said.thought is None else f"<think>\n{said.thought}\n</think>\n\n"
        calls = [{"name": m.name, "arguments": m.arguments} for m in said.calls]
        value = dumps(calls[0] if len(calls) == 1 else calls)
        beside = f"{said.text}\n<tool_call>\n{value}\n</tool_call>" if said.text else value
        speaker, text = ("function_call", beside) if calls else ("gpt", said.text)
        turns.append({"from": speaker, "value": thought + text})
        results = "\n</tool_response>\n<tool_response>\n".join(m.result for m in said.calls)
        turns += [{"from": "observation", "value": results}] if calls else []
    return {"system": conversation.system, "conversations": turns, "tools": dumps(TOOLS)}


def toolace(conversation: Conversation) -> Item:
    turns = [{"from": "user", "value": conversation.user}]
    for said in conversation.said:
        calls = [f"{m.name}({', '.join(f'{k}={v!r}' for k, v in m.arguments.items())})" for m in said.calls]
        turns.append({"from": "assistant", "value": f"[{', '.join(calls)}]" if calls else said.text})
        results = [{"name": m.name, "results": m.result} for m in said.calls]
        turns += [{"from": "tool", "value": dumps(results)}] if calls else []
    return {"system": f"{conversation.system}\n{dumps(FUNCTIONS)}", "conversations": turns}


def dpo(conversation: Conversation) -> Item:
    items = _chat(conversation)
    return {
        "prompt": items[:2],
        "chosen": items[2:],
        "rejected": [{"role": "assistant", "content": "No."}],
        "tools": TOOLS,
    }


def inspect(conversation: Conversation) -> Item:
    items: list[Item] = [{"role": "system", "content": conversation.system, "source": "input"}]
    items.append({"role": "user", "content": conversation.user, "source": "input"})
    for place, said in enumerate(conversation.said):
        parts: list[Item] = [] if said.thought is None else [{"type": "reasoning", "reasoning": said.thought}]
        parts += [{"type": "text", "text": said.text}]
        made = _ids(place, said)
        calls = [{"id": id_, "function": m.name, "arguments": m.arguments, "type": "function"} for id_, m in made]
        items.append({"role": "assistant", "content": parts, "source": "generate", "tool_calls": calls or None})
        items += [{"role": "tool", "content": m.result, "tool_call_id": i, "function": m.name} for i, m in made]
    return {"id": "i", "epoch": 1, "target": "", "scores": {"s": {"value": "C"}}, "messages": items, "tools": TOOLS}


def adp(conversation: Conversation) -> Item:
    items: list[Item] = []
    for source, text in (("system", conversation.system), ("user", conversation.user)):
        items.append({"class_": "text_observation", "content": text, "source": source, "name": None})
    for said in conversation.said:
        for made in said.calls:
            action = {"class_": "api_action", "function": made.name, "kwargs": made.arguments, "description": said.text}
            items.append(action)
            items.append({"class_": "text_observation", "content": made.result, "source": "environment"})
        if not said.calls:
            items.append({"class_": "message_action", "content": said.text, "description": said.thought})
    return {"id": "a", "content": items, "details": {}, "tools": TOOLS}


def openhands(conversation: Conversation) -> Item:
    events: list[Item] = []
    for action, source, text in (("system", "agent", conversation.system), ("message", "user", conversation.user)):
        events.append({"id": len(events), "source": source, "action": action, "args": {"content": text}})
    for said in conversation.said:
        for made in said.calls:
            number = len(events)
            args = {**made.arguments, "thought": said.text}
            events.append({"id": number, "source": "agent", "action": made.name, "args": args})
            seen = {"id": number + 1, "source": "agent", "observation": made.name, "cause": number}
            events.append(seen | {"content": made.result})
        if not said.calls:
            event = {"id": len(events), "source": "agent", "action": "message"}
            events.append(event | {"args": {"content": said.text, "thought": said.thought}})
    return {"instance_id": "i", "history": events, "tools": TOOLS}


WRITERS: dict[str, Callable[[Conversation], Item]] = {
    "release": release,
    "fc": lambda conversation: {"task_info": PLACES, "tools": TOOLS, "messages": _chat(conversation), **LOG},
    "openai": lambda conversation: {"messages": _chat(conversation), "tools": TOOLS},
    "wrapped": lambda conversation: {"history": _chat(conversation), "tools": TOOLS},
    "tau_bench": lambda conversation: {"traj": _chat(conversation), "tools": TOOLS, "reward": 1.0, "task_id": 0},
    "anthropic": anthropic,
    "agentdojo": agentdojo,
    "llamafactory_v1": llamafactory_v1,
    "toucan": toucan,
    "toucan, parallel": toucan_parallel,
    "responses": responses,
    "atif": atif,
    "tau2": tau2,
    "qwen_text": qwen_text,
    "text_calls": text_calls,
    "hermes": hermes,
    "sharegpt": sharegpt,
    "toolace": toolace,
    "dpo": dpo,
    "inspect": inspect,
    "adp": adp,
    "openhands": openhands,
}
# What a dialect has no place for, and what it writes of the system's text besides.
WITHOUT_THOUGHTS = {"toolace"}
ONE_CALL_AT_ONCE = {"adp", "openhands"}
WITHOUT_THOUGHTS_BESIDE_CALLS = {"adp", "openhands"}
WITHOUT_NULLS = {"openhands"}
WITHOUT_TEXT_BESIDE_CALLS = {"toolace"}
WITHOUT_TYPES = {"text_calls"}
TOOLS_IN_SYSTEM = {"qwen_text", "text_calls", "hermes", "toolace"}
