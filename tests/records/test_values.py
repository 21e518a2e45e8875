"""Value flow: which arguments are id-like, where they stood before, and how calls are linked by them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import records
from analysis.records import values as v
from analysis.records.model import Call, Message, Trajectory
from analysis.schema import VALUES
from tests.builders import decode, step, trajectory
from tests.growth import is_linear


def read(*steps: list[dict[str, Any]], **changed: Any) -> Trajectory:
    found = records.read(json.dumps(trajectory(steps=list(steps), **changed)).encode(), "test")
    assert isinstance(found, Trajectory)
    return found


def flow(*steps: list[dict[str, Any]], **changed: Any) -> list[tuple[Any, ...]]:
    """(call, value, source, source_call, distance, chain) of every row."""
    names = VALUES.names[1:]
    wanted = [names.index(name) for name in ("call", "value", "source", "source_call", "distance", "chain")]
    return [tuple(row[k] for k in wanted) for row in v.rows(read(*steps, **changed))]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"user_id": "ann"}, [("/user_id", "user_id", "ann")]),
        ({"userId": 17}, [("/userId", "userId", "17")]),
        ({"order_ids": ["a", "b"]}, [("/order_ids/0", "order_ids", "a"), ("/order_ids/1", "order_ids", "b")]),
        ({"items": [{"id": 5}]}, [("/items/0/id", "id", "5")]),
        ({"flight": "HAT136"}, [("/flight", "flight", "HAT136")]),
        ({"valid": "yes", "paid": True, "grid": "wide"}, []),
        ({"amount": 1200, "name": "Ann", "note": "room 7 please"}, []),
        ({"day": "2024-05-21", "at": "2024-05-21T10:00:00Z", "time": "10:30pm"}, []),
        ({"id": "", "other_id": None, "is_id": True}, []),
        ({"short": "a1"}, []),
        ({"long": "a1" * 33}, []),
    ],
)
def test_id_like_is_told_by_the_name_or_by_the_look(arguments: dict[str, Any], found: list[tuple[str, ...]]) -> None:
    assert v.id_like(json.dumps(arguments)) == found


@pytest.mark.parametrize("arguments", [None, "", "{", "[1]", "3", '"u_1"', "null"])
def test_arguments_that_are_no_object_hold_no_values(arguments: str | None) -> None:
    assert v.id_like(arguments) == []


@pytest.mark.parametrize(
    ("text", "is_in"),
    [
        ("{'id': 'u_1'}", True),
        ("u_1", True),
        ("see u_1.", True),
        ("line\\nu_1", True),
        ("u_10", False),
        ("mu_1", False),
        ("A-u_1", False),
        ("u_1-2", False),
        ("u_10 and u_1", True),
    ],
)
def test_a_value_stands_in_a_text_as_a_whole_word(text: str, is_in: bool) -> None:
    assert v.is_word_in("u_1", text) is is_in


def test_a_value_out_of_an_earlier_result_is_linked_to_the_call_that_first_brought_it() -> None:
    found = flow(
        step(tool="list", result="{'success': True, 'data': ['u_1']}"),
        step(tool="get", arguments={"user_id": "u_1"}, result="{'success': True, 'data': 'u_1 has o_7'}"),
        step(tool="cancel", arguments={"order_id": "o_7", "user_id": "u_1"}),
    )
    assert found == [
        (2, "u_1", "result", 1, 1, 2),
        (3, "o_7", "result", 2, 1, 3),
        (3, "u_1", "result", 1, 2, 3),
    ]


def test_the_first_text_that_holds_the_value_counts() -> None:
    user = flow(step(says="Which?", user="u_1 please"), step(tool="get", arguments={"user_id": "u_1"}))
    assert user == [(1, "u_1", "user", None, None, 1)]
    later = flow(
        step(tool="list", result="['u_1']"),
        step(says="Which?", user="u_1 please"),
        step(tool="get", arguments={"user_id": "u_1"}),
    )
    assert later == [(2, "u_1", "result", 1, 1, 2)]


def test_what_comes_after_the_call_does_not_ground_it() -> None:
    found = flow(step(tool="get", arguments={"user_id": "u_1"}, result="{'id': 'u_1'}"), step(says="?", user="u_1"))
    assert found == [(1, "u_1", "none", None, None, 1)]


def test_a_result_that_only_echoes_the_agent_is_told_apart() -> None:
    found = flow(
        step(tool="create", arguments={"order_id": "o_9"}, result="{'success': True, 'data': 'o_9'}"),
        step(tool="get", arguments={"order_id": "o_9"}, result="{'success': True}"),
    )
    assert found == [(1, "o_9", "none", None, None, 1), (2, "o_9", "echo", 1, 1, 2)]


def test_a_value_that_only_the_agent_used_is_the_agents_own() -> None:
    found = flow(step(tool="get", arguments={"user_id": "u_5"}), step(tool="get", arguments={"user_id": "u_5"}))
    assert [row[2] for row in found] == ["none", "agent"]
    said = flow(step(says="I take u_5.", user="Fine."), step(tool="get", arguments={"user_id": "u_5"}))
    assert said[0][2] == "none"


def test_the_task_text_counts_only_where_no_message_holds_the_value() -> None:
    info = {"env_id": "env_1_sft", "task_id": "env_1_sft-t1", "task": "Cancel o_7."}
    found = flow(step(tool="get", arguments={"order_id": "o_7"}), task_info=info)
    assert found == [(1, "o_7", "task", None, None, 1)]


def test_a_value_searched_for_early_is_found_when_it_appears_later() -> None:
    found = flow(
        step(tool="get", arguments={"user_id": "u_1"}),
        step(tool="list", result="['u_1']"),
        step(tool="get", arguments={"user_id": "u_1"}),
    )
    assert found == [(1, "u_1", "none", None, None, 1), (3, "u_1", "result", 2, 1, 2)]


def test_rows_fit_their_table_and_long_values_are_cut() -> None:
    tables = decode(trajectory(steps=[step(tool="get", arguments={"user_id": "x" * 100}), step(tool="get")]))
    found = tables.derive(VALUES, v.rows, key=v.VERSION).collect()
    assert found.schema == VALUES.schema
    assert found["value"].str.len_chars().to_list() == [v.LONGEST_VALUE]
    assert found["trajectory_id"].to_list() == tables.trajectories.collect()["trajectory_id"].to_list()


def long_run(calls: int, values: str) -> Trajectory:
    """A call and its result, over and over; each result echoes its call's value and names the next one's."""
    messages, made = [Message("user", "Begin with A-0.")], []
    for number in range(calls):
        value = {"each its own": f"A-{number}", "the same": "B-1", "in no text": f"C-{number}"}[values]
        call = Call(
            "f", json.dumps({"user_id": value}), "string", message=len(messages), result_message=len(messages) + 1
        )
        messages.append(Message("assistant", "", calls=[call]))
        messages.append(Message("tool", f"{'' if values == 'in no text' else value} then A-{number + 1}"))
        made.append(call)
    return Trajectory(
        *("o", "release", "conversation", "e", "t", "task", None, (), ""), messages=messages, findings=[], calls=made
    )


@pytest.mark.parametrize("values", ["each its own", "the same", "in no text"])
def test_grounding_takes_time_linear_in_the_messages(values: str) -> None:
    assert is_linear(lambda run: list(v.rows(run)), lambda size: long_run(size, values), 500)


WORDS = st.sampled_from(
    ["A-1", "A-1-2", "A-12", "b_1", "b", "x\\nA-1", "\\nb_1", "é1", "--", "A-1.", "nA-1", "#7", "-7"]
)
TEXTS = st.lists(WORDS | st.sampled_from([" ", ", ", "'", "\n"]), max_size=6).map("".join)


@given(st.lists(st.tuples(st.sampled_from(["user", "tool", "assistant", "system"]), TEXTS, WORDS), max_size=12))
def test_many_texts_are_searched_as_few_are(run: list[tuple[Any, str, str]]) -> None:
    messages: list[Message] = []
    calls: list[Call] = []
    for role, text, value in run:
        if role == "assistant":
            calls.append(Call("f", json.dumps({"id": value}), "string", message=len(messages)))
        elif role == "tool" and calls:
            calls[-1].result_message = len(messages)
        messages.append(Message(role, text))
    told = Trajectory("o", "release", "conversation", None, None, "A-1", None, (), "", messages, [], calls)
    found = {}
    for few in (0, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(v, "FEW_TEXTS", few)
            found[few] = list(v.rows(told))
    assert found[0] == found[100]
    places = [place_of_first(messages, call.message, row[6]) for call, row in zip(calls, found[0], strict=True)]
    for row, place in zip(found[0], places, strict=True):
        assert (row[7] in ("user", "system", "result", "echo")) == (place is not None)


def place_of_first(messages: list[Message], before: int, value: str) -> int | None:
    heard = [n for n, message in enumerate(messages[:before]) if message.role != "assistant"]
    return next((n for n in heard if v.is_word_in(value, messages[n].content)), None)
