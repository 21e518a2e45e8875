"""A conversation written in each dialect reads as the same calls, results, outcomes, texts and tools."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.records import read
from analysis.records.dialects import DIALECTS
from analysis.records.model import Trajectory
from tests.records import writers
from tests.records.writers import WRITERS, Conversation, Made, Said

OUTCOMES = {
    "{'success': True}": "ok",
    "{'success': False, 'error': 'nö'}": "error",
    '{"rows": [1, "é"]}': "ok",
    "Error: no such user": "error",
    "sonnig 😀": "unknown",
}
# Read in no other way: they have tests of their own.
APART = {"prompt", "alpaca", "xlam", "swe_agent"}
WORDS = st.text("abcé漢😀'\"\\ \n0", max_size=12).map(lambda inner: f"a{inner}z")
ARGUMENTS = st.dictionaries(st.sampled_from(["id", "note"]), WORDS | st.integers(0, 99) | st.none(), max_size=2)
MADE = st.builds(Made, st.sampled_from(writers.NAMES), ARGUMENTS, st.sampled_from(sorted(OUTCOMES)))
SAID = st.builds(Said, st.none() | WORDS, st.just("") | WORDS, st.lists(MADE, min_size=1, max_size=3))
LAST = st.builds(Said, st.none() | WORDS, WORDS, st.just([]))
CONVERSATIONS = st.builds(
    lambda system, user, said, last: Conversation(system, user, [*said, last]),
    *(WORDS, WORDS, st.lists(SAID, min_size=1, max_size=3), LAST),
)


def decoded(record: dict[str, Any]) -> Trajectory:
    found = read(json.dumps(record, ensure_ascii=False).encode(), "here")
    assert isinstance(found, Trajectory), found
    return found


def as_the_dialect_can(dialect: str, conversation: Conversation) -> Conversation:
    """The conversation without what the dialect has no place for."""
    said = conversation.said
    if dialect in writers.WITHOUT_THOUGHTS:
        said = [one._replace(thought=None) for one in said]
    if dialect in writers.WITHOUT_TEXT_BESIDE_CALLS:
        said = [one._replace(text="") if one.calls else one for one in said]
    if dialect in writers.WITHOUT_THOUGHTS_BESIDE_CALLS:
        said = [one._replace(thought=None) if one.calls else one for one in said]
    if dialect in writers.ONE_CALL_AT_ONCE:
        said = [one._replace(calls=one.calls[:1]) for one in said]
    if dialect in writers.WITHOUT_NULLS:
        said = [one._replace(calls=[_without_nulls(made) for made in one.calls]) for one in said]
    if dialect in writers.WITHOUT_TYPES:
        said = [one._replace(calls=[_as_texts(made) for made in one.calls]) for one in said]
    return conversation._replace(said=said)


def _without_nulls(made: Made) -> Made:
    return made._replace(arguments={key: value for key, value in made.arguments.items() if value is not None})


def _as_texts(made: Made) -> Made:
    return made._replace(arguments={key: f"a{value}z".replace("\\", "") for key, value in made.arguments.items()})


@pytest.mark.parametrize("dialect", WRITERS)
@settings(max_examples=12)
@given(conversation=CONVERSATIONS)
def test_a_conversation_reads_the_same_from_every_dialect(dialect: str, conversation: Conversation) -> None:
    conversation = as_the_dialect_can(dialect, conversation)
    found = decoded(WRITERS[dialect](conversation))
    made = [call for said in conversation.said for call in said.calls]
    assert found.dialect == dialect.partition(",")[0]
    assert [call.name for call in found.calls] == [m.name for m in made]
    assert [json.loads(call.arguments or "") for call in found.calls] == [m.arguments for m in made]
    results = [None if c.result_message is None else found.messages[c.result_message].content for c in found.calls]
    assert results == [m.result for m in made]
    assert [call.outcome for call in found.calls] == [OUTCOMES[m.result] for m in made]
    assert [tool.name for tool in found.tools] == list(writers.NAMES)
    assert chars(found) == expected_chars(dialect, conversation)
    assert {finding.rule for finding in found.findings}.isdisjoint({"unread_text", "orphan_result", "unanswered_call"})


def chars(found: Trajectory) -> Counter[str]:
    """Characters by role, and of thoughts; of the system's text only whether there is one."""
    counted: Counter[str] = Counter()
    for message in found.messages:
        counted[message.role] += 1 if message.role == "system" else len(message.content)
        counted["thought"] += len(message.reasoning or "")
    return +counted


def expected_chars(dialect: str, conversation: Conversation) -> Counter[str]:
    said = conversation.said
    texts = {
        "system": 1,
        "user": len(conversation.user),
        "assistant": sum(len(one.text) for one in said),
        "tool": sum(len(made.result) for one in said for made in one.calls),
        "thought": sum(len(one.thought or "") for one in said),
    }
    return +Counter(texts)


def test_every_dialect_has_a_writer() -> None:
    written = {name.partition(",")[0] for name in WRITERS}
    assert written | APART == {name for dialect in DIALECTS for name in dialect.names}
