"""One record -> the rows of a format, or a refusal that names the rule.

- `messages`: one row of OpenAI chat, as TRL takes it. `tools` and every call's `arguments` are JSON texts, so that the
  rows of different tools share one schema. Keys that a record does not have are not invented: no ids, no types. What it
  says of itself under a dialect's own name (a reward, a model) stands under the usual one.
- `openai`: the same with ids and types throughout, for APIs that insist on them; `tools` are objects.
- `atif`: one row of the Agent Trajectory Interchange Format.
- `parquet`: the rows of `messages`; there an absent key is a null.
- `sharegpt`: one row of LlamaFactory's ShareGPT: human and observation alternate with gpt and function_call.
- `alpaca-mask-history`: a row for every assistant turn, as the publisher trained: texts of Qwen3's template, thoughts
  in the output and none in the history. To be trained on with `mask_history: true`.

Whatever dialect a record came in, its calls, results and tools are written as the format writes them: calls that were
texts are fields, and what the system's text said of how to write them is left out. `raw` keeps a record as it stands.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec

from analysis.export import interchange
from analysis.export.alternation import in_turns
from analysis.export.errors import RefusedError
from analysis.records import chat_template, text
from analysis.records.dialects import sharegpt
from analysis.records.facts import tools_text
from analysis.records.jsontext import loads
from analysis.records.model import Call, Message, Trajectory
from analysis.records.record import Record, exact_text

Row = dict[str, Any]
Shape = Callable[["Source"], Iterator[Row]]
# What says where a record comes from and how it went, carried as it stands where the record has it.
CARRIED = ("id", "env_id", "task_id", "traj_type", "task_info", "model", "trial", "total_reward", "steps")
CARRIED_BY_RUNNER = ("terminated", "truncated")
TAGS = ("<think>", "</think>")
CALL_TAGS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
ASKING = ("human", "user", "observation")
ANSWERING = ("gpt", "assistant", "function_call")


class Source(NamedTuple):
    """A record as read, its raw fields, and what was changed on the way, counted.

    `masked` are the messages, by their identity, from which nothing shall be learned; None where no mask was asked for.
    """

    record: Record
    trajectory: Trajectory
    changes: Counter[str]
    masked: set[int] | None = None

    def weight(self, message: Message, key: str, *, kind: type = int) -> Row:
        """The key by which a format says whether a message is learned from; nothing without a mask."""
        if self.masked is None or message.role != "assistant":
            return {}
        return {key: kind(id(message) not in self.masked)}


def source(raw: bytes, trajectory: Trajectory, changes: Counter[str], masked: Collection[int] | None = None) -> Source:
    """A record with what its shapes need; the arguments of its calls are the text of an object, on one line.

    Args:
        raw: its bytes.
        trajectory: what was read of them.
        changes: counts what is changed.
        masked: positions of messages from which nothing shall be learned; None where no mask was asked for.

    Raises:
        RefusedError: no format but raw can hold it.
    """
    under = None if masked is None else {id(trajectory.messages[place]) for place in masked}
    opened = Source(Record(raw, trajectory.origin), trajectory, changes, under)
    _refuse_unreadable(opened)
    for message in trajectory.messages:
        if message.role == "system":
            message.content = interchange.without_how_to_call(message.content, changes)
    for call in trajectory.calls:
        if call.arguments_state == "empty":
            changes["calls without arguments, written as {}"] += 1
            call.arguments, call.form = "{}", "string"
        elif call.form == "object" and call.arguments_state == "object":
            changes["calls with an object for arguments, written as JSON text"] += 1
            call.arguments, call.form = _on_one_line((call.arguments or "").encode()), "string"
    return opened


def chat(opened: Source) -> Iterator[Row]:
    """`messages`: one row."""
    raw = {key: opened.record.raw(key) for key in _carried(opened) if key in opened.record}
    row: Row = {key: msgspec.Raw(_on_one_line(value).encode()) for key, value in raw.items()}
    row |= _under_other_names(opened, row)
    if tools := _tools(opened):
        row["tools"] = tools
    row["messages"] = [_chat(message) | opened.weight(message, "loss_mask") for message in opened.trajectory.messages]
    yield row


def openai(opened: Source) -> Iterator[Row]:
    """`openai`: one row."""
    row = {key: msgspec.Raw(_on_one_line(opened.record.raw(key)).encode()) for key in CARRIED if key in opened.record}
    row |= _under_other_names(opened, row)
    weight = partial(opened.weight, key="weight")
    messages = list(interchange.openai_messages(opened.trajectory, opened.changes, weight))
    tools = interchange.declarations(opened.trajectory)
    yield {**row, **({"tools": tools} if tools else {}), "messages": messages}


def atif(opened: Source) -> Iterator[Row]:
    """`atif`: one row."""
    yield interchange.atif(opened.trajectory, opened.changes)


def flat_chat(opened: Source) -> Iterator[Row]:
    """`parquet`: the row of `messages` in columns whose types do not depend on the record."""
    (row,) = chat(opened)
    trajectory = opened.trajectory
    raw = {key: value for key, value in row.items() if isinstance(value, msgspec.Raw)}
    held = {**row, **{key: loads(bytes(value))[0] for key, value in raw.items()}}
    known = {key: getattr(trajectory, key) for key in ("model", "trial", "total_reward", "steps", "env_id", "task_id")}
    plain = {key: known.get(key, value) for key, value in held.items()}
    if "id" in plain:
        plain["id"] = exact_text(opened.record.raw("id"))
    if "task_info" in plain:
        plain["task_info"] = {name: getattr(trajectory, name) for name in ("env_id", "task_id", "task")}
    for key, kind in (("traj_type", str), ("terminated", bool), ("truncated", bool)):
        if not isinstance(plain.get(key), kind):
            plain.pop(key, None)
    yield {**plain, "tools": row.get("tools")}


def share_gpt(opened: Source) -> Iterator[Row]:
    """`sharegpt`: one row."""
    messages = in_turns(opened.trajectory, opened.changes, opened.masked)
    system = messages[0].content if messages and messages[0].role == "system" else None
    turns = list(_turns(opened, messages if system is None else messages[1:]))
    row: Row = _identity(opened)
    if tools := _tools(opened):
        row["tools"] = tools
    if system is not None:
        row["system"] = system
    row["conversations"] = [
        {"from": speaker, "value": value, **weight} for speaker, (value, weight) in _paired(opened, turns)
    ]
    yield row


def alpaca_rows(opened: Source) -> Iterator[Row]:
    """`alpaca-mask-history`: a row for every assistant turn."""
    turns = list(_rendered_turns(opened))
    system = turns.pop(0).text if turns and turns[0].speaker == "system" else ""
    spoken = _paired(opened, [(turn.speaker, turn) for turn in turns])
    history: list[list[str]] = []
    for (_, asked), (_, answered) in zip(spoken[::2], spoken[1::2], strict=True):
        row = {"instruction": asked.text, "input": "", "output": answered.text, "system": system, "history": history}
        if answered.is_masked:
            opened.changes["turns under a mask, no sample of their own"] += 1
        else:
            yield row | _identity(opened, "env_id", "task_id")
        history = [*history, [asked.text, answered.without_thought]]


# What a format calls the weight of a message; of the others some drop samples, and some have no place for it.
MASKABLE = ("messages", "openai", "sharegpt", "alpaca-mask-history", "parquet")
FORMATS: dict[str, Shape | None] = {
    "messages": chat,
    "openai": openai,
    "atif": atif,
    "sharegpt": share_gpt,
    "alpaca-mask-history": alpaca_rows,
    "parquet": flat_chat,
    "raw": None,
}


# What cannot be written ---------------------------------------------------------------------------------------------


def _refuse_unreadable(opened: Source) -> None:
    trajectory = opened.trajectory
    parts = next((finding for finding in trajectory.findings if finding.rule == "content_parts"), None)
    if parts is not None:
        raise RefusedError("content_parts", f"message {parts.message}: {parts.detail}")
    if all(message.role != "assistant" for message in trajectory.messages):
        raise RefusedError("no_assistant", "no message of the assistant: there is nothing to train on")
    for index, message in enumerate(trajectory.messages):
        if message.role == "other":
            raise RefusedError("legal_roles", f"message {index}: the role {message.delivered_as[:60]!r}")
        if any(call.name is None for call in message.calls):
            raise RefusedError("unreadable_call", f"message {index}: a call that names no tool")


def _refuse_unpaired(trajectory: Trajectory) -> None:
    """For formats that pair by position alone: every call has its result right behind it, and every result a call."""
    for finding in trajectory.findings:
        if finding.rule in ("unanswered_call", "orphan_result", "ambiguous_pairing"):
            raise RefusedError(finding.rule, f"message {finding.message}: {finding.detail}")
    for call in trajectory.calls:
        if call.arguments_state in ("unparsable", "not_object"):
            raise RefusedError("arguments", f"message {call.message}: {call.name}'s are not a JSON object")
    for index, message in enumerate(trajectory.messages):
        texts = (message.content, message.reasoning or "", *(call.arguments or "" for call in message.calls))
        if any(tag in text for text in texts for tag in TAGS):
            raise RefusedError("thought_tags", f"message {index}: <think> or </think> in a text that is not tagged")


def _refuse_call_tags(trajectory: Trajectory) -> None:
    """For texts of the template, in which tags tell calls and results: none stands in what they hold."""
    for index, message in enumerate(trajectory.messages):
        texts = (message.content, message.reasoning or "", *(call.arguments or "" for call in message.calls))
        if message.role != "system" and any(tag in text for text in texts for tag in CALL_TAGS):
            raise RefusedError("call_tags", f"message {index}: a tag of calls or results in a text that is neither")


def _paired(opened: Source, turns: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """User and assistant by turns, without what stands at the end and is not answered, as the publisher's script."""
    while turns and turns[-1][0] in ASKING:
        turns = turns[:-1]
        opened.changes["closing turns without an answer, left out"] += 1
    for position, (speaker, _) in enumerate(turns):
        if speaker not in (ANSWERING if position % 2 else ASKING):
            raise RefusedError("alternation", f"turn {position} is {speaker}'s; user and assistant have to alternate")
    return turns


# Parts of rows ------------------------------------------------------------------------------------------------------


def _on_one_line(raw: bytes) -> str:
    """JSON as it is written, but for the white space between its tokens."""
    try:
        return msgspec.json.format(raw, indent=0).decode()
    except (msgspec.MsgspecError, UnicodeError):  # what only Python's own writer writes: NaN, lone surrogates
        return json.dumps(loads(raw)[0], ensure_ascii=False)


def _carried(opened: Source) -> tuple[str, ...]:
    is_runner = opened.trajectory.dialect in ("fc", "prompt")
    return CARRIED + CARRIED_BY_RUNNER if is_runner else CARRIED


def _identity(opened: Source, *names: str) -> Row:
    known = names or ("env_id", "task_id", "model", "trial", "total_reward", "steps")
    values = {name: getattr(opened.trajectory, name) for name in known}
    return {name: value for name, value in values.items() if value is not None}


def _under_other_names(opened: Source, row: Row) -> Row:
    """What a record says of itself under names of its own dialect, under the usual ones."""
    read = {"task_id": exact_text(opened.record.raw("id"))} if "id" in row else {}
    if "task_info" in row:
        read |= {name: getattr(opened.trajectory, name) for name in ("env_id", "task_id")}
    identity = _identity(opened, "env_id", "task_id", "model", "trial", "total_reward")
    return {name: value for name, value in identity.items() if name not in row and read.get(name) != value}


def _tools(opened: Source) -> str:
    """JSON text of the declared tools as function schemas, "" without any."""
    trajectory = opened.trajectory
    if not trajectory.tools:
        return ""
    text = tools_text(opened.record)
    declared = loads(text)[0]
    is_whole = isinstance(declared, list) and len(declared) == len(trajectory.tools)
    if is_whole and all(isinstance(tool, dict) and isinstance(tool.get("function"), dict) for tool in declared):
        return text
    return json.dumps([chat_template.declaration(tool) for tool in trajectory.tools], ensure_ascii=False)


def _chat(message: Message) -> Row:
    row: Row = {"role": message.role, "content": message.content}
    if message.reasoning is not None:
        row["reasoning_content"] = message.reasoning
    if message.calls:
        row["content"] = message.content or None
        row["tool_calls"] = [_call(call) for call in message.calls]
    if message.answers:
        row["tool_call_id"] = message.answers
    return row


def _call(call: Call) -> Row:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function} if call.id else {"function": function}


def _turns(opened: Source, messages: list[Message]) -> Iterator[tuple[str, tuple[str, Row]]]:
    """(speaker, (value, weight)) in ShareGPT's words; the results of one message's calls are one observation."""
    _refuse_unpaired(opened.trajectory)
    results: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            results.append(message.content)
            if index + 1 == len(messages) or messages[index + 1].role != "tool":
                yield "observation", (sharegpt.BETWEEN_RESULTS.join(results), {})
                results = []
        elif message.role == "assistant":
            thought = "" if message.reasoning is None else text.THOUGHT.format(message.reasoning)
            weight = opened.weight(message, "loss", kind=bool)
            yield (
                ("function_call", (thought + _calls(message, index), weight))
                if message.calls
                else ("gpt", (thought + message.content, weight))
            )
        elif message.role == "user":
            yield "human", (message.content, {})
        else:
            raise RefusedError("alternation", f"a {message.role} message after the first")


def _calls(message: Message, index: int) -> str:
    """The value of a function_call without its thought."""
    blocks = [
        f'{{"name": {json.dumps(call.name, ensure_ascii=False)}, "arguments": {call.arguments}}}'
        for call in message.calls
    ]
    value = blocks[0] if len(blocks) == 1 else f"[{', '.join(blocks)}]"
    if any("<tool_call>" in text for text in (value, message.content, message.reasoning or "")):
        raise RefusedError("call_tags", f"message {index}: <tool_call> in a text beside a call, or in its arguments")
    return text.TEXT_BESIDE_CALL.format(message.content, value) if message.content else value


class _Turn(NamedTuple):
    speaker: str
    text: str
    without_thought: str
    is_masked: bool = False


def _rendered_turns(opened: Source) -> Iterator[_Turn]:
    """The turns of Qwen3's template, trimmed as the publisher's script trims them."""
    _refuse_unpaired(opened.trajectory)
    _refuse_call_tags(opened.trajectory)
    messages = in_turns(opened.trajectory, opened.changes, opened.masked)
    trajectory = msgspec.structs.replace(opened.trajectory, messages=messages)
    answers = (id(message) in (opened.masked or ()) for message in messages if message.role == "assistant")
    pieces = [piece for turn in chat_template.turns(trajectory) for piece in turn]
    starts = [at for at, piece in enumerate(pieces) if piece.part == "header" and piece.text == chat_template.START]
    for start, end in zip(starts, [*starts[1:], len(pieces)], strict=True):
        # Between the opening marker with the role, and the closing marker with its line break.
        inner = pieces[start + 2 : end - 2]
        bare = "".join(piece.text for piece in inner if piece.part not in ("thought", "reasoning"))
        speaker = pieces[start + 1].text.strip()
        is_masked = speaker == "assistant" and next(answers)
        yield _Turn(speaker, "".join(piece.text for piece in inner).strip(), bare.strip(), is_masked)


def encode(row: Row) -> bytes:
    """A row as one line of JSON."""
    return msgspec.json.encode(row)
