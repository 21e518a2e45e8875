"""OpenAI chat and TRL rows: `messages`, perhaps `tools` (or `functions`), calls as fields; no environment.

The same rows with calls as text in Qwen's template (`<think>`, `<tool_call>`, `<tool_response>`, `<tools>` in the
system text) are dialect `qwen_text`.
"""

from analysis.records.assemble import assemble
from analysis.records.chat import ROLES, read_messages
from analysis.records.dialects.dialect import Dialect
from analysis.records.facts import rewards, tools_text
from analysis.records.model import Message, Role, Trajectory
from analysis.records.record import Record, exact_text
from analysis.records.text import declared_tools
from analysis.records.textmode import is_prompt_mode, read_text_calls

# The API's own: `developer` has taken over from `system`, `tool` from `function`.
OWN_ROLES: dict[str, Role] = {**ROLES, "developer": "system", "function": "tool"}


def matches(record: Record) -> bool:
    return "messages" in record


def read(record: Record) -> Trajectory:
    return finish(record, "openai", read_messages(record, own=OWN_ROLES))


def finish(record: Record, dialect: str, messages: list[Message]) -> Trajectory:
    """Shared by the dialects without a place for an environment: read text-style calls, name what is named."""
    tools = tools_text(record)
    if is_prompt_mode(messages):
        system = next((message.content for message in messages if message.role == "system"), "")
        tools = tools if tools != "[]" else declared_tools(system) or "[]"
        messages = read_text_calls(record, messages)
        dialect = "qwen_text" if dialect == "openai" else dialect
    trajectory = assemble(
        record,
        dialect,
        messages,
        tools=tools,
        env_id=exact_text(record.raw("env_id")),
        task_id=exact_text(record.raw("task_id")) or exact_text(record.raw("id")),
        has_environments=False,
    )
    rewards(record, trajectory)
    return trajectory


DIALECT = Dialect(
    names=("openai", "qwen_text"),
    origin="OpenAI chat and TRL rows",
    mark="`messages` of role and content, calls as fields",
    example='{"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", '
    '"function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]}',
    keys=frozenset(
        {"messages", "tools", "functions", "id", "steps", "model", "trial", "total_reward", "env_id", "task_id"}
    ),
    matches=matches,
    read=read,
)
