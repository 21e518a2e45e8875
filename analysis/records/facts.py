"""What a record says of itself beside its messages: its tools, its ids, its task, its reward, its model."""

import hashlib
import math
import re
from typing import Any

import msgspec

from analysis.records.jsontext import loads
from analysis.records.model import Finding, Trajectory
from analysis.records.record import Record, UnreadableError, exact_text, open_members


class Paths:
    """Members of a record by their usual names, in the order in which they are believed; `a.b` is the member b of a."""

    def __init__(self, *paths: str) -> None:
        self.paths = paths
        self.tops = frozenset(path.partition(".")[0] for path in paths)


REWARDS = Paths(
    *("total_reward", "reward", "reward_info.reward", "final_reward", "score", "resolved", "is_resolved", "success"),
    *("is_success", "is_correct", "passed", "solved", "utility", "info.reward", "info.resolved", "info.score"),
    "extra.total_reward",
)
# Whose value is a reward and nothing else: one that is no number is told.
_NAMED_REWARDS = ("total_reward", "reward", "final_reward")
MODELS = Paths(
    *("model", "model_name", "model_id", "agent.model_name", "metadata.model", "info.model", "pipeline_name"),
)
TRIALS = Paths(
    "trial", "trial_id", "attempt", "run_id", "rollout_id", "sample_index", "sample_idx", "epoch", "extra.trial"
)
ENV_IDS = Paths("env_id", "suite_name", "environment", "env_name", "env", "domain", "extra.env_id")
TASK_IDS = Paths(
    *("task_id", "instance_id", "user_task_id", "problem_id", "question_id", "scenario_id", "uuid", "id"),
    "extra.task_id",
)
TASKS = Paths("task", "instruction", "problem_statement", "info.task.instruction", "task.instruction", "extra.task")
TOOLS = Paths(
    *("tools", "functions", "available_tools", "tool_definitions", "agent.tool_definitions", "function_definitions"),
    "toolConfig.tools",
)
# A system text beside the messages: Gemini's names for it are objects of parts.
SYSTEMS = ("system", "systemInstruction", "system_instruction")
KEYS = REWARDS.tops | MODELS.tops | TRIALS.tops | ENV_IDS.tops | TASK_IDS.tops | TASKS.tops | TOOLS.tops
KEYS |= {*SYSTEMS[1:]}


class _TaskInfo(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """As published; anything else is read member by member."""

    env_id: str
    task_id: str
    task: str


TEXTS = 512
_TEXTS: dict[tuple[int, bytes], tuple[msgspec.Raw, str | None]] = {}

_NUMBER = re.compile(r"\s*[-+]?\d{1,300}(?:\.\d{0,300})?(?:[eE][-+]?\d{1,3})?\s*", re.ASCII)
_TASK_INFO = msgspec.json.Decoder(_TaskInfo)


def task_info(record: Record) -> dict[str, str | None]:
    """env_id, task_id and task; from a runner that names none: `id`, `user_id`, the involved classes."""
    try:
        published = _TASK_INFO.decode(record.raw("task_info"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    else:
        return {"env_id": published.env_id, "task_id": published.task_id, "task": published.task}
    info = members(record, "task_info")
    task_id = next((exact_text(info[k]) for k in ("task_id", "id") if k in info), None)
    env_id = exact_text(info["env_id"]) if "env_id" in info else None
    if env_id is None and "involved_classes" in info:
        classes = loads(info["involved_classes"])[0]
        if isinstance(classes, list) and classes:
            env_id = "+".join(str(name) for name in classes)
    task = next((loads(info[k])[0] for k in ("task", "instruction", "question", "questions") if k in info), None)
    if task_id is None and (user_id := exact_text(info.get("user_id", b"null"))) is not None:
        task_id = _of_user(user_id, task)
    return {"env_id": env_id, "task_id": task_id, "task": task if isinstance(task, str) else None}


def _of_user(user_id: str, task: object) -> str:
    """A name for the scenario of a user who has several: tau-bench's 87 users have 165 tasks."""
    return f"{user_id}-{hashlib.sha256(task.encode()).hexdigest()[:8]}" if isinstance(task, str) else user_id


def members(record: Record, key: str) -> dict[str, bytes]:
    """The raw members of an object held as JSON or as a JSON string; {} when it is neither."""
    try:
        inside, _ = open_members(record.inner(key))
    except UnreadableError:
        return {}
    return {name: bytes(value) for name, value in inside.items()}


def tools_text(record: Record) -> str:
    """JSON text of the tools the record declares; `[]` without any."""
    text: str | bytes | None = _text_of(record.fields.get("tools", b"null"))
    text = record.inner("tools") if text is None else text
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return _other_tools(record) if text.strip() in ("", "null", "[]") else text


def _other_tools(record: Record) -> str:
    for path in TOOLS.paths[1:]:
        key, _, inner = path.partition(".")
        if key not in record:
            continue
        text = members(record, key).get(inner, b"null") if inner else record.inner(key)
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        if text.strip() not in ("", "null", "[]"):
            return text
    return "[]"


def _text_of(raw: bytes | msgspec.Raw) -> str | None:
    """One object for all records that declare the same tools: its hash, by which their set is found, is kept in it.

    Comparing bytes is several times as fast as hashing them, so they are looked up by length and beginning.
    """
    key = (len(raw), bytes(memoryview(raw)[:200]))
    held = _TEXTS.get(key)
    if held and held[0] == raw:
        return held[1]
    try:
        text: str | None = msgspec.json.decode(raw, type=str)
    except (msgspec.MsgspecError, UnicodeError):
        text = None
    if len(_TEXTS) >= TEXTS:
        _TEXTS.clear()
    _TEXTS[key] = msgspec.Raw(bytes(raw)), text
    return text


def rewards(record: Record, trajectory: Trajectory) -> None:
    """Set the reward, the trial and the model where the record names them."""
    known = len(record.findings)
    reward = first(record, REWARDS)
    trajectory.findings += record.findings[known:]  # those of a number that is none, met only now
    if isinstance(reward, int | float):
        try:
            trajectory.total_reward = float(reward)
        except OverflowError:
            trajectory.findings.append(Finding("reward_form", None, f"a reward of {len(str(reward))} digits"))
    elif (odd := _odd_reward(record)) is not None:
        trajectory.findings.append(Finding("reward_form", None, f"a reward that is no number: {odd!r}"))
    trajectory.trial = first_id(record, TRIALS)
    trajectory.model = first_id(record, MODELS)


def _odd_reward(record: Record) -> str | None:
    """What stands in place of a reward, cut short; None where nothing does, or a number that is told already."""
    if any(finding.rule == "non_finite_number" for finding in record.findings):
        return None
    held = [value for name in _NAMED_REWARDS if (value := at(record, name)) is not None]
    return str(held[0])[:60] if held else None


def task_of(record: Record) -> str | None:
    """The instruction's text, where the record has it beside its messages."""
    return next((held for path in TASKS.paths if isinstance(held := at(record, path), str) and held), None)


def first(record: Record, paths: Paths) -> int | float | None:
    """The first of these members that is a number or a truth value, or a text of a number."""
    if paths.tops.isdisjoint(record.fields):  # what nearly every record is
        return None
    values = (_number(at(record, path)) for path in paths.paths)
    return next((value for value in values if value is not None), None)


def _number(held: object) -> int | float | None:
    """A number or truth value, also where a text holds it."""
    if isinstance(held, str) and _NUMBER.fullmatch(held) and math.isfinite(value := float(held)):
        return value
    return held if isinstance(held, int | float) else None


def first_id(record: Record, paths: Paths) -> str | None:
    """The first of these members that is a text or a number, as a text."""
    if paths.tops.isdisjoint(record.fields):
        return None
    for path in paths.paths:
        key, _, inner = path.partition(".")
        if key in record:
            raw = members(record, key).get(inner, b"null") if inner else record.raw(key)
            if text := exact_text(raw):
                return text
    return None


def at(record: Record, path: str) -> Any:
    """The value of a member, or of a member of it, as deep as the path goes; None where one is missing."""
    key, *inner = path.split(".")
    held = record.value(key) if key in record else None
    for name in inner:
        held = held.get(name) if isinstance(held, dict) else None
    return held
