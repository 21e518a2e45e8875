"""A trajectory as the text a Qwen3 model is trained on, in pieces, so that every token can be told where it is from.

The layout is Qwen3's chat template, as the publisher's training script applies it: the declared tools stand in the
system part under `# Tools`; a call is a `<tool_call>` block in the assistant's turn; results stand as `<tool_response>`
blocks in a user turn, consecutive ones in one turn; a thought stands between `<think>` and `</think>`, an empty block
where the message has none. In training the thoughts of earlier turns are removed from the history (`mask_history`), so
thoughts are pieces of their own. Texts are trimmed at both ends, as that script trims them.
"""

import json
from collections.abc import Iterator
from typing import Literal, NamedTuple

from analysis.records.model import Call, Message, Tool, Trajectory

Part = Literal["header", "tools", "content", "reasoning", "thought", "call", "result", "template"]

# Added tokens of the Qwen3 vocabulary: each is one token, and text is tokenised apart on its two sides.
START, END = "<|im_start|>", "<|im_end|>"
THINK, THINK_END = "<think>", "</think>"
CALL, CALL_END = "<tool_call>", "</tool_call>"
RESPONSE, RESPONSE_END = "<tool_response>", "</tool_response>"
MARKERS = frozenset({START, END, THINK, THINK_END, CALL, CALL_END, RESPONSE, RESPONSE_END})

_TOOLS_HEAD = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
)
_TOOLS_FOOT = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    f"{CALL}{CALL_END} XML tags:\n"
    f'{CALL}\n{{"name": <function-name>, "arguments": <args-json-object>}}\n{CALL_END}'
)


class Piece(NamedTuple):
    """A stretch of the rendered text and what it is part of."""

    part: Part
    text: str


# The template's own words, made once: a trajectory has some two hundred of them.
_LINE, _PARAGRAPH = Piece("template", "\n"), Piece("template", "\n\n")
_HEADS = {role: [Piece("header", START), Piece("header", f"{role}\n")] for role in ("system", "user", "assistant")}
_RESULTS_HEAD = [Piece("header", START), Piece("header", "user")]
_FOOT = [Piece("template", END), _LINE]
_NO_THOUGHT = [
    Piece("thought", THINK), Piece("thought", "\n\n"), Piece("thought", THINK_END), Piece("thought", "\n\n")
]  # fmt: skip
_THOUGHT = Piece("thought", THINK), Piece("thought", "\n")
_THOUGHT_END = Piece("thought", "\n"), Piece("thought", THINK_END), Piece("thought", "\n\n")
_CALL, _CALL_END = Piece("call", CALL), Piece("call", CALL_END)
_RESPONSE = _LINE, Piece("template", RESPONSE), _LINE
_RESPONSE_END = _LINE, Piece("template", RESPONSE_END)


def render(trajectory: Trajectory, *, thoughts: bool = True) -> str:
    """The whole text, with every thought or with none."""
    return "".join(
        piece.text
        for pieces in turns(trajectory)
        for piece in pieces
        if thoughts or piece.part not in ("reasoning", "thought")
    )


def turns(trajectory: Trajectory) -> Iterator[list[Piece]]:
    """The pieces of each message, in the order of the messages; none for a role the template does not know."""
    messages = trajectory.messages
    for position, message in enumerate(messages):
        tools = tools_block(trajectory.tools) if position == 0 and declares_tools(trajectory) else ""
        if position == 0 and tools and message.role != "system":
            yield [*_turn("system", [Piece("tools", tools)]), *_message(messages, position)]
        elif message.role == "system":
            yield _turn("system", _system(message.content, tools))
        else:
            yield _message(messages, position)


def declares_tools(trajectory: Trajectory) -> bool:
    """Whether the template has to write the tools: not when the system text already holds them, as in prompt mode."""
    first = trajectory.messages[0]
    return bool(trajectory.tools) and not (first.role == "system" and "<tools>" in first.content)


def tools_block(tools: tuple[Tool, ...]) -> str:
    """The `# Tools` part: one function schema a line, written as Python's `json.dumps` writes it."""
    lines = "".join("\n" + _dumps(declaration(tool)) for tool in tools)
    return _TOOLS_HEAD + lines + _TOOLS_FOOT


def declaration(tool: Tool) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.schema or "null")}
    return {"type": "function", "function": function}


def _system(content: str, tools: str) -> list[Piece]:
    if not tools:
        return [Piece("content", content.strip())]
    return [Piece("content", content.lstrip()), _PARAGRAPH, Piece("tools", tools)]


def _message(messages: list[Message], position: int) -> list[Piece]:
    message = messages[position]
    if message.role == "assistant":
        return _turn("assistant", [*_thought(message), *_answer(message)])
    if message.role == "tool":
        return _result(messages, position)
    if message.role in ("user", "system"):
        return _turn(message.role, [Piece("content", message.content.strip())])
    return []


def _turn(role: str, inner: list[Piece]) -> list[Piece]:
    return [*_HEADS[role], *inner, *_FOOT]


def _thought(message: Message) -> list[Piece]:
    reasoning = (message.reasoning or "").strip()
    return [*_THOUGHT, Piece("reasoning", reasoning), *_THOUGHT_END] if reasoning else _NO_THOUGHT


def _answer(message: Message) -> list[Piece]:
    content = message.content.strip()
    pieces = [Piece("content", content)] if content else []
    for call in message.calls:
        if pieces:
            pieces.append(_LINE)
        pieces += [_CALL, Piece("call", f"\n{_call(call)}\n"), _CALL_END]
    return pieces


def _call(call: Call) -> str:
    arguments = call.arguments or ""
    if call.form == "object":
        arguments = _dumps(json.loads(arguments))
    return f'{{"name": "{call.name or ""}", "arguments": {arguments}}}'


def _result(messages: list[Message], position: int) -> list[Piece]:
    pieces = [*_RESPONSE, Piece("result", messages[position].content), *_RESPONSE_END]
    if position == 0 or messages[position - 1].role != "tool":
        pieces = [*_RESULTS_HEAD, *pieces]
    if position + 1 == len(messages) or messages[position + 1].role != "tool":
        pieces += _FOOT
    return pieces


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
