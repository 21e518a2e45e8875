"""The rule above all: no record is kept whose calls or texts were not read.

A record that shows signs of calls from which none could be read, or of whose messages more than a tenth of the
characters end up nowhere, is refused; fewer are a finding. Signs and sums are taken from the raw record, in this one
place for all dialects, and held against the trajectory it became.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from typing import Any, NamedTuple

from analysis.canonical import canonical, canonical_text
from analysis.records.calls import ARGUMENTS
from analysis.records.dialects.dialect import Dialect
from analysis.records.facts import SYSTEMS
from analysis.records.jsontext import loads
from analysis.records.model import Finding, Trajectory
from analysis.records.record import Record
from analysis.records.roles import CALLERS, NEAREST
from analysis.records.text import CALL_TAGS, RESULT_OPENINGS, split_reasoning

LARGEST_SHARE = 0.1
# So many calls of which none can be named are a form that is not read; fewer are slips of the agent's.
A_FORM = 3
# Of the letters of texts that were taken apart, and for each call: how a call is written is not weighed to the letter.
TOLERANCE, LETTERS_OF_SYNTAX = 0.02, 4
WRAPPERS = ("samples", "simulations", "rollouts", "trajectories", "records", "data", "results")
LISTED = "`python -m analysis tables --dialects` lists what is read"
WHAT_TO_DO = f"{LISTED}; --keep-unread keeps such records, and says so"
_SPEAKER = ("role", "from", "type", "speaker", "sender", "class_", "message_type")
_CALL_KEYS = frozenset(
    {"tool_calls", "tool_call", "function_call", "function_calls", "toolCalls", "tool_use", "toolUse", "functionCall"}
    | {"tool_result", "toolResult", "functionResponse", "function_call_output", "tool_call_id", "tool_use_id"}
    | {"toolCallId", "toolName", "tool_name", "tool_args", "tool_input", "function_name"}
    | {"tool_responses", "actions", "action", "api_call", "api_calls", "observation", "observations", "tool_outputs"}
)
_RESULT_WORDS = frozenset(word for word, role in NEAREST.items() if role == "tool") | {"tool"}
_CALL_WORDS = CALLERS | _RESULT_WORDS | {"tool_use", "server_tool_use", "tool-call", "tool-result", "api_action"}
_CALL_WORDS |= {"code_action", "function_call_output", "custom_tool_call", "mcp_call", "computer_call", "action"}
_TAGS = (
    *CALL_TAGS,
    "<tool_response>",
    "<tool_use>",
    "<tool_code>",
    "<|tool_call",
    "<｜tool▁call",
    "<execute_",
    "✿FUNCTION✿",
)
_NAMED = r'\{\s*"(?:name|tool|function|tool_name|action)"\s*:'
_TOKENS = "tool|function|python|plugin|action_start|recipient|DSML"
_PATTERNS = (
    ("an `Action:` line", re.compile(r"^[ \t]*Action:[ \t]*\S.*\n\s*Action Input:", re.MULTILINE)),
    ("a thought with an action", re.compile(r"^\s*(?:Thought|Think):.*^[ \t]*(?:Action|Act):[ \t]*\S", re.M | re.S)),
    ("code to be run", re.compile(r"^(?:Code|Action):\s*```(?:py|python|bash|sh|json)\b", re.MULTILINE)),
    (
        "a thought with code",
        re.compile(r"\A\s*(?:Thought|THOUGHT):.*?(?:<code>\s*\n|```(?:\w*bash\w*|sh|py\w*)\n)", re.S),
    ),
    ("a token of calls", re.compile(rf"<[|｜][^<>|｜\n]{{0,20}}?(?:{_TOKENS})|<\|channel\|>[^<\n]{{0,60}} to=")),
    ("a tag of calls", re.compile(r"<(?:[a-z]{1,20}[:_])?(?:tool|function|api)_?(?:call|use|code|request)s?>", re.I)),
    ("a tag to be run", re.compile(r"<(search|execute)>[^<]{1,500}</\1>")),
    ("a name above an object", re.compile(r"\A(?:>>>\s*)?[A-Za-z_][\w.]{0,80}\n\s*\{.*\}\Z", re.S)),
    ("a text that is a call", re.compile(r"\A[A-Za-z_][\w.]{0,80}\([A-Za-z_]\w{0,60}=.{1,2000}\)\Z", re.S)),
    ("a call in a fence", re.compile(rf"```(?:tool_code|tool_call|json\s*{_NAMED})")),
    ("an object that names a function", re.compile(rf'^\[?\s*{_NAMED}.*"(?:arg|param|input|action_input)', re.S)),
    ("a bracketed call", re.compile(r"^\[\s*[A-Za-z_][\w. /-]*\(.*\)\s*\]$", re.S)),
)
_SPOKEN_BY_OTHERS = frozenset({"system", "user", "human", "developer"})
# Members whose texts declare or describe tools, or stand beside the conversation: a sign there is none of its own.
_NO_SIGNS = frozenset({"tools", "functions", "available_tools", "tool_definitions", "system", "rejected", "task_info"})
_NO_SIGNS |= {"user_messages", "metadata", "info", "extra", "tool_config", "tool_choice", "reasoning_content"}
_NO_SIGNS |= {"reasoning", "thinking", "thought", "task", "instruction", "question", "checklist_with_func"}
# Members of a message that are facts about it and no text of it.
_NO_TEXT = frozenset(
    {
        *_SPEAKER,
        "id",
        "name",
        "model",
        "source",
        "status",
        "index",
        "tool_call_id",
        "call_id",
        "tool_use_id",
        "toolUseId",
    }
    | {"source_call_id", "function_name", "toolName", "toolCallId", "timestamp", "created_at", "date", "signature"}
    | {"encrypted_content", "data", "url", "image_url", "image", "images", "audio", "video", "file", "file_data"}
    | {"finish_reason", "stop_reason", "usage", "metrics", "logprobs", "cost", "metadata", "extra", "raw_data", "info"}
    | {"cache_control", "annotations", "requestor", "agent", "phase", "language", "tags", "weight", "loss", "train"}
    | {"model_name", "uuid", "session_id", "schema_version", "internal", "view", "state", "mask", "cutoff", "error"}
)
_MARKUP = re.compile(
    r"</?(?:tool_?calls?|TOOLCALL|tool_responses?|TOOL_RESPONSE|think|function_?calls?|function_results|result|tool_name|stdout|tools|parameter|function|invoke|arg_key|arg_value)\b[^<>]*>"
    r"|\"(?:name|arguments|parameters|content|results?|response|output)\"\s*:|'(?:name|arguments|content)'\s*:|\[TOOL_CALLS\]|\[/?TOOL_RESULTS\]|\"call_id\":|<\|python_tag\|>|<\|eom_id\|>|<\|eot_id\|>"
)


_NO_LETTERS = re.compile(r"[\W_]+")


class Texts(NamedTuple):
    """Characters of a record's messages: all of them, and those that end up nowhere."""

    chars: int
    unread: int


def signs(record: Record, trajectory: Trajectory, dialect: Dialect) -> str:
    """What in a record speaks of calls, with how often; "" where one with a name was read, or nothing does."""
    is_told = any(finding.rule == "call_in_reasoning" for finding in trajectory.findings)
    if is_told or 0 < len(trajectory.calls) < A_FORM or any(call.name for call in trajectory.calls):
        return ""
    seen = Counter(sign for key in _where(record, dialect) for sign in _signs(key, _opened(record, key)))
    if not seen and "T" in trajectory.shape:
        seen["a result that answers no call"] = trajectory.shape.count("T")
    if not seen and trajectory.calls:
        seen["a call that names no tool"] = len(trajectory.calls)
    return ", ".join(f"{count} × {sign}" for sign, count in seen.most_common(5))


def texts(record: Record, trajectory: Trajectory, dialect: Dialect) -> Texts:
    """Hold the texts of a record's bodies against what was read of them."""
    if record.is_plain:
        return Texts(0, 0)
    bodies = [_opened(record, key) for key in dialect.bodies | {*SYSTEMS[1:]} if key in record]
    asides = _NO_TEXT | dialect.asides
    said = list(_said(trajectory))
    known = {*said, *_same_objects(trajectory)}
    leaves = [text for body in bodies for text in _leaves(body, asides, known)]
    chars = sum(map(len, leaves))
    lost = [text for text in leaves if text not in known]
    if not lost:
        return Texts(chars, 0)
    # What is read out of longer texts: blocks, parts of a list joined. Its letters are theirs.
    labels = {label for body in bodies for label in _labels(body, asides)}
    rest = [text for text in _not_whole(said, Counter(leaves)) if text not in labels]
    if not rest:
        return Texts(chars, sum(map(len, lost)))
    written = sum(map(_weight, lost))
    unread = written - sum(map(_weight, rest))
    by_syntax = TOLERANCE * written + LETTERS_OF_SYNTAX * len([c for c in trajectory.calls if c.name not in labels])
    return Texts(chars, unread if unread > by_syntax else 0)


def _not_whole(said: list[str], leaves: Counter[str]) -> list[str]:
    """What was read and is no text of its own in the record, counted as often as it was read."""
    rest = []
    for text in filter(None, said):
        leaf = text if leaves[text] > 0 else canonical_text(text)
        if leaves[leaf] > 0:
            leaves[leaf] -= 1
        else:
            rest.append(text)
    return rest


def _where(record: Record, dialect: Dialect) -> Set[str]:
    """The members in which calls may stand: what was said, and what the dialect does not know of."""
    return (record.keys & dialect.bodies) | (record.keys - dialect.keys - _NO_SIGNS)


def _opened(record: Record, key: str) -> Any:
    """A member's value; one that is the JSON text of an object or a list is opened."""
    try:
        value = loads(record.raw(key))[0]
        return loads(value)[0] if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") else value
    except ValueError:
        return None


def _signs(key: str, value: Any, speaker: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        speaker = next((value[name] for name in _SPEAKER if isinstance(value.get(name), str)), speaker)
        if speaker in _CALL_WORDS and any(value.get(name) for name in value.keys() - set(_SPEAKER)):
            yield f"`{speaker}`"
        for name in value.keys() - _NO_SIGNS:
            if name in _CALL_KEYS and value[name]:
                yield f"a member `{name}`"
            else:
                yield from _signs(name, value[name], speaker)
    elif isinstance(value, list):
        for item in value:
            yield from _signs(key, item, speaker)
    elif isinstance(value, str):
        yield from _signs_of_text(value, speaker)


def _signs_of_text(text: str, speaker: str) -> Iterator[str]:
    if speaker in _SPOKEN_BY_OTHERS:
        opening = next((opening for opening in RESULT_OPENINGS if text.lstrip().startswith(opening)), "")
        if opening:
            yield f"a text that opens with `{opening}`"
        return
    visible = split_reasoning(text)[0].strip()
    yield from (f"`{tag}`" for tag in _TAGS if tag in visible)
    yield from (name for name, pattern in _PATTERNS if pattern.search(visible))


def _leaves(value: Any, asides: Set[str], known: Set[str]) -> Iterator[str]:
    """The texts of a body, the arguments of a call as one text each."""
    if isinstance(value, str):
        if text := value.strip():
            yield text
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, asides, known)
    elif isinstance(value, dict):
        for name, held in value.items():
            if name in ARGUMENTS and isinstance(held, dict | list) and (whole := canonical(held)) in known:
                yield whole
            elif name not in asides:
                yield from _leaves(held, asides, known)


def _labels(value: Any, asides: Set[str]) -> Iterator[str]:
    """The short texts that are facts about a message: names and ids, which are read and are no text of it."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            for name, held in item.items():
                if name in asides and isinstance(held, str):
                    yield held
                elif isinstance(held, dict | list):
                    yield from _labels(held, asides)


def _said(trajectory: Trajectory) -> Iterator[str]:
    for message in trajectory.messages:
        yield message.content.strip()
        yield (message.reasoning or "").strip()
        if message.facts is not None:
            yield message.facts.name
        for call in message.calls:
            yield call.name or ""
            yield call.id
            yield (call.arguments or "").strip()


def _same_objects(trajectory: Trajectory) -> Iterator[str]:
    return (canonical_text(call.arguments or "") for call in trajectory.calls if call.form == "object")


def _weight(text: str) -> int:
    """Letters and digits, without the marks that writing a call as text takes."""
    return len(_NO_LETTERS.sub("", _MARKUP.sub("", text)))


def reason(record: Record, trajectory: Trajectory, dialect: Dialect) -> str:
    """Why a record may not be kept: its calls, or a tenth of its texts, were not read; "" where it may."""
    if record.is_plain and any(
        call.name for call in trajectory.calls
    ):  # what nearly every record is: nothing of it can be lost
        return ""
    if seen := signs(record, trajectory, dialect):
        return f"signs of calls ({seen}) from which no call could be read; {_nearest(dialect)}"
    read = texts(record, trajectory, dialect)
    if read.unread > LARGEST_SHARE * read.chars:
        return (
            f"{read.unread:,} of the {read.chars:,} characters of its messages could not be read; {_nearest(dialect)}"
        )
    if read.unread:
        detail = f"{read.unread:,} of the {read.chars:,} characters of the messages"
        trajectory.findings.append(Finding("unread_text", None, detail))
    return ""


def _unread(read: Texts) -> str:
    return f"{read.unread:,} of the {read.chars:,} characters of the messages"


def _nearest(dialect: Dialect) -> str:
    return f"the nearest dialect is {dialect.names[0]} ({dialect.mark}), which has no such form. {WHAT_TO_DO}"


def no_dialect(record: Record, dialects: Iterable[Dialect]) -> str:
    """Why a record of no known shape is refused: its keys, and what the dialect lacks that comes nearest."""
    named = ", ".join(sorted(record.keys)[:8])[:200] or "none"
    if record.has("role", "content") or record.has("from", "value"):
        return f"one message of a conversation, not a record; its keys: {named}. {LISTED}"
    if wrapper := next((key for key in WRAPPERS if record.raw(key).startswith(b"[")), None):
        return f"`{wrapper}` holds records, and this is what is around them; its keys: {named}. {LISTED}"
    nearest = min(dialects, key=lambda d: (-len(record.keys & d.keys), len(set(d.needs) - record.keys)))
    lacks = ", ".join(f"`{key}`" for key in nearest.needs if key not in record)
    lacking = f"without {lacks}" if lacks else f"but not {nearest.mark}"
    return f"no dialect has this shape; its keys: {named}. The nearest is {nearest.names[0]}, {lacking}. {LISTED}"
