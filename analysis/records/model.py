"""What a dialect makes of one raw record: a Trajectory, or Rejected with the reason."""

from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool", "other"]
ArgumentsForm = Literal["string", "object"]
Outcome = Literal["ok", "error", "unknown"]
OutcomeRule = Literal["error_flag", "success_key", "error_key", "error_text", "structured", "none"]


class Rejected(msgspec.Struct, frozen=True):
    """A record that could not be read: where it stands and why."""

    origin: str
    byte_offset: int | None
    reason: str


class Finding(msgspec.Struct, frozen=True, gc=False):
    """A breach of the contract in a record that was kept. `rule` is an id of `records.rules`."""

    rule: str
    message: int | None
    detail: str


def hidden_call(message: int) -> Finding:
    """A call that stands in a thought was never made; it is told, in every dialect."""
    return Finding("call_in_reasoning", message, "a <tool_call> block inside the reasoning")


class Tool(msgspec.Struct, frozen=True, gc=False):
    """A declared tool; `schema` is the JSON text of its parameters."""

    name: str
    description: str
    schema: str
    parameters: int = 0
    required: int = 0


class Call(msgspec.Struct, gc=False):
    """One call and, once paired, what answered it.

    `result_text` is set only where one message carries the results of several calls.
    """

    name: str | None
    arguments: str | None
    form: ArgumentsForm | None
    id: str = ""
    message: int = 0
    step: int = 0
    result_message: int | None = None
    result_text: str | None = None
    outcome: Outcome = "unknown"
    outcome_rule: OutcomeRule = "none"
    error: str | None = None
    arguments_state: str = "empty"
    arguments_class: str = "unchecked"
    is_offered: bool | None = False


class ResultFacts(msgspec.Struct, gc=False, frozen=True):
    """What a result's own fields say: the tool's name, whether it failed (None where they are silent), the error."""

    name: str = ""
    has_failed: bool | None = None
    error: str | None = None


class Message(msgspec.Struct, gc=False):
    """One message; a result has role `tool` whatever role delivered it (`delivered_as`).

    `answers` is the id of the call that a result answers; `facts` is what its fields say beside its text.
    """

    role: Role
    content: str
    reasoning: str | None = None
    calls: list[Call] = []
    answers: str = ""
    delivered_as: str = ""
    step: int = 0
    facts: ResultFacts | None = None


_LETTERS = {"system": "S", "user": "U", "assistant": "A", "tool": "T", "other": "O"}


def turns(messages: list[Message]) -> tuple[str, list[Call]]:
    """(shape, calls): who speaks, and every call in its order.

    The shape has a letter a message: S, U, T, O(ther), A(ssistant), and where it calls C for one call, M for many. What
    nearly every record is can be recognised by one regular expression over it.
    """
    letters, calls = [], []
    for message in messages:
        if made := message.calls:
            letters.append("C" if len(made) == 1 else "M")
            calls += made
        else:
            letters.append(_LETTERS[message.role])
    return "".join(letters), calls


class Trajectory(msgspec.Struct):
    """One rollout, whatever dialect it came in. `calls` are those of its messages in their order, `shape` is theirs."""

    origin: str
    dialect: str
    traj_type: Literal["conversation", "non_conversation"]
    env_id: str | None
    task_id: str | None
    task: str | None
    steps: int | None
    tools: tuple[Tool, ...]
    tool_set: str
    messages: list[Message]
    findings: list[Finding]
    calls: list[Call] = []
    shape: str = ""
    end_class: str = "empty"
    total_reward: float | None = None
    trial: str | None = None
    model: str | None = None
    record_bytes: int = 0
