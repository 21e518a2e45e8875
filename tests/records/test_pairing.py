"""Which result answers which call."""

import json
from typing import Any

from analysis.records import read
from analysis.records.model import Trajectory


def call(name: str, id_: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"function": {"name": name, "arguments": "{}"}}
    return made if id_ is None else made | {"id": id_}


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answer(content: str, id_: str | None = None) -> dict[str, Any]:
    made = {"role": "tool", "content": content}
    return made if id_ is None else made | {"tool_call_id": id_}


def paired(*messages: dict[str, Any]) -> tuple[list[str | None], set[str]]:
    """(the text that answers each call, the rules of the findings about pairs)."""
    record = {"messages": [{"role": "user", "content": "Do it."}, *messages]}
    trajectory = read(json.dumps(record).encode(), "x")
    assert isinstance(trajectory, Trajectory)
    texts = trajectory.messages
    rules = {"orphan_result", "unanswered_call", "ambiguous_pairing", "duplicate_call_id", "answered_by_user"}
    answers = [None if c.result_message is None else texts[c.result_message].content for c in trajectory.calls]
    return answers, {finding.rule for finding in trajectory.findings} & rules


def test_ids_pair_results_that_come_out_of_order() -> None:
    assert paired(asks(call("a", "1"), call("b", "2")), answer("of b", "2"), answer("of a", "1")) == (
        ["of a", "of b"],
        set(),
    )


def test_without_ids_as_many_results_as_calls_pair_in_order() -> None:
    assert paired(asks(call("a"), call("b")), answer("1"), answer("2")) == (["1", "2"], set())


def test_fewer_results_than_calls_without_ids_stay_unpaired_and_are_shown() -> None:
    answers, rules = paired(asks(call("a"), call("b")), answer("1"))
    assert answers == [None, None]
    assert rules == {"ambiguous_pairing", "unanswered_call", "orphan_result"}


def test_one_call_without_an_id_gets_the_result_that_is_left() -> None:
    assert paired(asks(call("a", "1"), call("b")), answer("of a", "1"), answer("of b")) == (["of a", "of b"], set())


def test_a_result_that_names_another_call_answers_none() -> None:
    answers, rules = paired(asks(call("a", "1")), answer("x", "9"))
    assert answers == [None]
    assert rules == {"unanswered_call", "orphan_result"}


def test_two_calls_with_one_id_in_one_message_are_not_told_apart() -> None:
    answers, rules = paired(asks(call("a", "1"), call("b", "1")), answer("x", "1"), answer("y", "1"))
    assert answers == [None, None]
    assert "duplicate_call_id" in rules


def test_an_id_used_again_in_a_later_step_pairs_by_step() -> None:
    answers, rules = paired(asks(call("a", "1")), answer("x", "1"), asks(call("b", "1")), answer("y", "1"))
    assert answers == ["x", "y"]
    assert rules == {"duplicate_call_id"}


def test_empty_ids_are_no_ids() -> None:
    assert paired(asks(call("a", ""), call("b", "")), answer("1", ""), answer("2", "")) == (["1", "2"], set())


def test_a_late_result_is_paired_by_its_id() -> None:
    late = (asks(call("a", "1")), asks(call("b", "2")), answer("of b", "2"), answer("of a", "1"))
    assert paired(*late)[0] == ["of a", "of b"]


def test_an_error_that_the_user_delivers_answers_the_open_call() -> None:
    error = {"role": "user", "content": "Error: Invalid action"}
    assert paired(asks(call("a")), error) == (["Error: Invalid action"], {"answered_by_user"})


def test_a_user_who_merely_speaks_answers_no_call() -> None:
    answers, rules = paired(asks(call("a")), {"role": "user", "content": "And now?"})
    assert answers == [None]
    assert rules == {"unanswered_call"}
