"""Who speaks: the words of all dialects for it, and the roles they come to."""

from collections.abc import Mapping

from analysis.records.model import Finding, Role
from analysis.records.record import Record

ROLES: Mapping[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
NEAREST: Mapping[str, Role] = {
    "developer": "system",
    "human": "user",
    "gpt": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "agent": "assistant",
    "chatgpt": "assistant",
    "function": "tool",
    "toolResult": "tool",
    "tool_result": "tool",
    "tool_results": "tool",
    "tool_response": "tool",
    "tool_responses": "tool",
    "tool_output": "tool",
    "function_response": "tool",
    "function_result": "tool",
    "function_call_output": "tool",
    "observation": "tool",
    "ipython": "tool",
    "environment": "tool",
}
# Roles of messages whose text is the call itself.
CALLERS = frozenset({"tool_call", "tool_calls", "function_call", "function_calls", "toolCall"})
# For dialects whose own words these are: nothing is foreign there.
ALL_WORDS: Mapping[str, Role] = {**ROLES, **NEAREST, **dict.fromkeys(CALLERS, "assistant")}


def role_of(record: Record, index: int, word: object, own: Mapping[str, Role]) -> Role:
    """The role as one of ours; one foreign to the dialect is read as the nearest and becomes a finding."""
    if isinstance(word, str):
        word = word if word in ALL_WORDS else word.replace("-", "_").replace(" ", "_").lower()
        if word in own:
            return own[word]
    nearest = ALL_WORDS.get(word) if isinstance(word, str) else None
    role = nearest or "other"
    record.findings.append(Finding("legal_roles", index, f"role {str(word)[:60]!r}, read as {role}"))
    return role
