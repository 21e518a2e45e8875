"""A trajectory played again: verdicts, changes, generated ids, exceptions, checks."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis import records
from analysis.records.model import Trajectory
from analysis.replay import worlds
from analysis.replay.play import Played, play
from analysis.replay.sandbox import NotReplayableError
from analysis.replay.stage import open_stage
from tests.replay.worlds import environment, kinds, method, recorded, replay, scenario

Record = dict[str, Any]

SHOP = environment(
    """
    def list_orders(self):
        return {"success": True, "data": list(self.orders.values())}

    def get_order(self, order_id: str):
        if order_id not in self.orders:
            return {"success": False, "error": "Order not found"}
        return {"success": True, "data": self.orders[order_id]}

    def add_order(self, item: str):
        order_id = f"ORD-{uuid.uuid4().hex[:8]}"
        self.orders[order_id] = {"order_id": order_id, "item": item, "at": datetime.now().isoformat()}
        return {"success": True, "order_id": order_id}

    def rename(self, order_id: str, item: str):
        self.orders[order_id]["item"] = item
        return {"success": True, "message": f"Order {order_id} renamed."}

    def remove(self, order_id: str):
        del self.orders[order_id]
        return {"success": True}
    """,
    head="import uuid\nfrom datetime import datetime",
)


@pytest.fixture(scope="module")
def real(shared_data: Path) -> tuple[worlds.Worlds, list[Record]]:
    environments = worlds.environments_of((shared_data / "envscaler_environment.json").read_bytes())
    scenarios = json.loads((shared_data / "envscaler_rl_scenarios.json").read_text(encoding="utf-8"))
    texts = [text for row in scenarios for text in worlds.scenarios_of(json.dumps(row).encode())]
    records_ = json.loads((shared_data / "envscaler_runner_fc.json").read_text(encoding="utf-8"))
    return worlds.Worlds(environments, texts), records_


def played_again(known: worlds.Worlds, record: Record) -> tuple[Played, Trajectory]:
    trajectory = records.read(json.dumps(record).encode(), "here")
    assert isinstance(trajectory, Trajectory)
    with open_stage() as stage:
        return play(stage, *known.of(trajectory.env_id, trajectory.task_id), trajectory), trajectory


def test_all_58_real_results_and_the_three_rewards_come_out(real: tuple[worlds.Worlds, list[Record]]) -> None:
    known, rows = real
    rewards, verdicts = [], []
    for row in rows:
        played, trajectory = played_again(known, row)
        verdicts += kinds(played)
        passed = [check.is_passed for check in played.checks]
        rewards.append((passed.count(True), len(passed)))
        assert round(passed.count(True) / len(passed), 4) == trajectory.total_reward
    assert verdicts == ["reproduced: text"] * 58
    assert rewards == [(10, 10), (7, 9), (6, 7)]


@pytest.mark.parametrize("place", [0, 7, 15])
def test_one_result_changed_by_a_letter_differs_and_no_other(
    real: tuple[worlds.Worlds, list[Record]], place: int
) -> None:
    known, rows = real
    row = json.loads(json.dumps(rows[0]))
    results = [message for message in row["messages"] if message["role"] == "tool"]
    text = results[place]["content"]
    results[place]["content"] = text[:-4] + ("x" if text[-4] != "x" else "y") + text[-3:]
    verdicts = kinds(played_again(known, row)[0])
    assert [number for number, verdict in enumerate(verdicts) if verdict != "reproduced: text"] == [place]
    assert verdicts[place].startswith("differing")


def test_a_missing_call_shows_where_its_effect_is_missed(real: tuple[worlds.Worlds, list[Record]]) -> None:
    known, rows = real
    row = json.loads(json.dumps(rows[0]))
    names = [m["tool_calls"][0]["function"]["name"] if m.get("tool_calls") else "" for m in row["messages"]]
    place = names.index("link_allergy_to_patient")
    del row["messages"][place : place + 2]
    played = played_again(known, row)[0]
    assert "differing: content" in kinds(played)
    assert [check.is_passed for check in played.checks].count(False) > 0


def test_generated_ids_and_times_are_told_apart_and_carried_to_later_calls() -> None:
    record = recorded(
        ("add_order", {"item": "tea"}, "{'success': True, 'order_id': 'ORD-1a2b3c4d'}"),
        ("add_order", {"item": "jam"}, "{'success': True, 'order_id': 'ORD-99887766'}"),
        (
            "rename",
            {"order_id": "ORD-1a2b3c4d", "item": "rye"},
            "{'success': True, 'message': 'Order ORD-1a2b3c4d renamed.'}",
        ),
        (
            "get_order",
            {"order_id": "ORD-1a2b3c4d"},
            "{'success': True, 'data': {'order_id': 'ORD-1a2b3c4d', 'item': 'rye', 'at': '2025-11-01T08:00:00.1'}}",
        ),
        ("remove", {"order_id": "ORD-99887766"}, "{'success': True}"),
        (
            "list_orders",
            {},
            "{'success': True, 'data': [{'order_id': 'ORD-1a2b3c4d', 'item': 'rye', 'at': '2025-11-01T08:00:00.1'}]}",
        ),
    )
    played = replay(SHOP, record)
    assert kinds(played) == [*["reproduced: ids and times"] * 4, "reproduced: text", "reproduced: ids and times"]
    sizes = [tuple(map(len, call.changes)) for call in played.calls]
    assert sizes == [(1, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0), (0, 0, 1), (0, 0, 0)]


def test_an_id_that_changes_between_two_results_differs() -> None:
    record = recorded(
        ("add_order", {"item": "tea"}, "{'success': True, 'order_id': 'ORD-1a2b3c4d'}"),
        (
            "list_orders",
            {},
            "{'success': True, 'data': [{'order_id': 'ORD-ffffffff', 'item': 'tea', 'at': '2025-11-01T08:00:00.1'}]}",
        ),
        ("get_order", {"order_id": "ORD-1a2b3c4d"}, "{'success': False, 'error': 'Order not found'}"),
    )
    assert kinds(replay(SHOP, record)) == [
        "reproduced: ids and times",
        "reproduced: ids and times",
        "differing: outcome",
    ]


def test_a_tampered_word_beside_generated_ids_differs() -> None:
    record = recorded(("add_order", {"item": "tea"}, "{'success': None, 'order_id': 'ORD-1a2b3c4d'}"))
    assert kinds(replay(SHOP, record)) == ["differing: content"]


def test_equal_states_have_equal_hashes_whatever_the_ids() -> None:
    def hash_of(*items: str) -> str:
        calls = [("add_order", {"item": item}, "{'success': True, 'order_id': 'ORD-1'}") for item in items]
        return replay(SHOP, recorded(*calls)).final_state_hash

    assert hash_of("tea") == hash_of("tea")
    assert hash_of("tea") != hash_of("jam")
    assert hash_of("tea") != hash_of()


def test_a_state_begins_as_the_scenario_says() -> None:
    start = scenario(orders={"ORD-1": {"order_id": "ORD-1", "item": "tea"}}, extra=[1, 2])
    record = recorded(
        ("get_order", {"order_id": "ORD-1"}, "{'success': True, 'data': {'order_id': 'ORD-1', 'item': 'tea'}}"),
        ("rename", {"order_id": "ORD-1", "item": "jam"}, "{'success': True, 'message': 'Order ORD-1 renamed.'}"),
        ("get_order", {"order_id": "ORD-1"}, "{'success': True, 'data': {'order_id': 'ORD-1', 'item': 'jam'}}"),
    )
    played = replay(SHOP, record, start)
    assert kinds(played) == ["reproduced: text"] * 3
    assert played.calls[1].changes.changed == ("orders/ORD-1",)
    assert [call.is_read_back for call in played.calls] == [False, True, False]


@pytest.mark.parametrize(
    ("body", "result", "kind"),
    [
        ('return {"a": 1, "b": 2}', "{'b': 2, 'a': 1}", "reproduced: value"),
        ('return {"a": 1, "b": None}', '{"a": 1, "b": null}', "reproduced: value"),
        ("return {'a': 1}", "{'a': True}", "differing: content"),
        ("return {'a': 1}", "{'a': 1.0}", "differing: content"),
        ("return object_of()", "<Shop object at 0x7f00>", "untold: sandbox"),
        ("return list({'b', 'a', 'c'})", "['c', 'b', 'a']", "untold: order"),
        ("return 'it\\'s'", "it's", "reproduced: text"),
        ('raise ValueError("no such order")', "Error: no such order\nTraceback", "reproduced: exception"),
        ('raise ValueError("no such order")', "{'success': True}", "differing: exception"),
        ('raise ValueError("no such order")', "Error: something else", "untold: exception"),
        ("return str(5 .bit_length())", "3", "untold: sandbox"),
        ("import datetime\nreturn datetime.date.today().year > 2020", "True", "reproduced: text"),
        ("import random\nreturn [1] * random.randint(2, 90)", "[1]", "untold: clock or chance"),
    ],
)  # fmt: skip
def test_a_result_is_judged_as_text_then_as_value(body: str, result: str, kind: str) -> None:
    assert kinds(replay(method(body), recorded(("go", {}, result)))) == [kind]


def test_wrong_arguments_come_to_the_message_that_python_gives() -> None:
    world = environment("def go(self, order_id): return 1")
    message = "Error: Shop.go() missing 1 required positional argument: 'order_id'"
    assert kinds(replay(world, recorded(("go", {}, message)))) == ["reproduced: exception"]


def test_a_call_that_the_runner_refuses_is_reproduced_by_an_error() -> None:
    record = recorded(("no_such_tool", {}, "Error: Invalid action"), ("no_such_tool", {}, "{'success': True}"))
    assert kinds(replay(SHOP, record)) == ["reproduced: refused", "differing: no such tool"]


CHECKS = [
    "def check_func(final_state):\n    return 'ORD-2' not in final_state['orders']",
    "def check_func(final_state):\n    return final_state['orders'] == {}",
    "def check_func(final_state):\n    return initial_state['orders'] == final_state['orders']",
    "def check_func(initial_state, final_state):\n    return 'ORD-2' not in initial_state['orders']",
    "def check_func(final_state):\n    final_state['orders'].clear()\n    return True",
    "def check_func(final_state):\n    return bool(final_state['orders'])",
    "def check_func(final_state):\n    return final_state['missing']",
    "import os\ndef check_func(final_state):\n    return True",
    "import re\ndef norm(x): return re.sub(r'\\s', '', x)\ndef check_func(final_state): return norm('a b') == 'ab'",
]


def test_checks_see_the_initial_and_the_final_state_and_spoil_neither() -> None:
    start = scenario(CHECKS, orders={"ORD-1": {"item": "tea"}})
    played = replay(SHOP, recorded(("rename", {"order_id": "ORD-1", "item": "jam"}, "{'success': True}")), start)
    assert [check.is_passed for check in played.checks] == [True, False, False, True, True, True, False, None, True]
    assert played.checks[6].reason.startswith("KeyError")
    assert played.checks[7].reason == "imports os, which the sandbox has not"


def test_what_is_not_given_is_a_reason() -> None:
    known = worlds.Worlds([SHOP], [])
    for ids, words in (
        ((None, None), "names no environment"),
        (("bank", "1"), "no environment bank"),
        (("shop", "1"), "no scenario 1 of shop"),
    ):
        with pytest.raises(NotReplayableError, match=words):
            known.of(*ids)


COUNTER = """
class Shop:
    {held}

    def __init__(self):
        self.orders = {{}}

    def go(self):
        {body}
"""


@pytest.mark.parametrize(
    ("held", "body"),
    [
        ("seen = []", "self.seen.append(1)\n        return len(self.seen)"),
        ("count = 0", "Shop.count += 1\n        return Shop.count"),
        ("count = 0", "self.__class__.count += 1\n        return self.count"),
        ("count = 0", "type(self).count += 1\n        return self.count"),
        ("count = 0", "global seen\n        seen = 1\n        return 1"),
        ("def add(self, to=[]):\n        to.append(1)\n        return len(to)", "return self.add()"),
    ],
)
def test_what_a_class_keeps_beside_its_instances_never_reaches_the_next_play(held: str, body: str) -> None:
    world = worlds.Environment("shop", "Shop", COUNTER.format(held=held, body=body))
    with open_stage() as stage:
        for _ in range(3):
            assert kinds(play(stage, world, scenario(), recorded(("go", {}, "1")))) == ["reproduced: text"]


def test_the_reason_names_the_call_that_went_too_far() -> None:
    world = environment("def go(self): return 1\n\ndef loop(self):\n    while True: pass")
    with pytest.raises(NotReplayableError, match=r"call 2 \(loop\): ran out of time"):
        replay(world, recorded(("go", {}, "1"), ("loop", {}, "1")))
