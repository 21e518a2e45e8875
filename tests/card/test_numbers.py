"""The numbers on a card, counted a second time: plain Python over the raw records."""

import json
import re
import statistics
from collections import Counter
from typing import Any

import pytest

from tests.card import reading
from tests.card.conftest import Played

MODES = {"conversation": "with user", "non_conversation": "without user"}


@pytest.fixture(scope="module")
def messages(played: Played) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    return [(record, json.loads(record["messages"])) for record in played.records]


def calls(messages: list[dict[str, Any]]) -> list[str]:
    return [call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()]


def offered(record: dict[str, Any]) -> set[str]:
    return {tool["function"]["name"] for tool in json.loads(record["tools"])}


def test_what_it_holds_is_counted_alike(played: Played, messages: list[Any]) -> None:
    rows = {row["what"]: (row["number"], row["counted"]) for row in reading.rows(played.card, "What it holds")}
    n = len(messages)
    used = {(r["task_info"]["env_id"], name) for r, m in messages for name in calls(m) if name in offered(r)}
    known = {(r["task_info"]["env_id"], name) for r, _ in messages for name in offered(r)}
    talks = sum(r["traj_type"] == "conversation" for r, _ in messages)
    scenarios = {(r["task_info"]["env_id"], r["task_info"]["task_id"]) for r, _ in messages}
    assert rows == {
        "records kept": (f"{n}", f"of {n} read; 0 could not be read"),
        "records with user": (f"{talks}", f"of {n} kept; the user is simulated, and the others are without"),
        "environments": (f"{len({r['task_info']['env_id'] for r, _ in messages})}", "seen; no catalogue was given"),
        "scenarios": (f"{len(scenarios)}", "seen; no catalogue was given"),
        "tools called": (f"{len(used)}", f"of {len(known)} offered, each name counted once per environment"),
        "tool calls": (f"{sum(len(calls(m)) for _, m in messages):,}", f"in {n} records"),
        "assistant messages": (
            f"{sum(m['role'] == 'assistant' for _, ms in messages for m in ms):,}",
            f"in {n} records",
        ),
    }


def test_lengths_are_counted_alike(played: Played, messages: list[Any]) -> None:
    rows = reading.rows(played.card, "How long trajectories are")
    for mode, name in MODES.items():
        steps = [sum(m["role"] == "assistant" for m in ms) for r, ms in messages if r["traj_type"] == mode]
        made = [len(calls(ms)) for r, ms in messages if r["traj_type"] == mode]
        for quantity, counts in (("steps", steps), ("tool calls", made)):
            (row,) = (row for row in rows if (row["quantity"], row["traj type"]) == (quantity, name))
            p90 = statistics.quantiles(counts, n=10, method="inclusive")[-1]
            expected = (len(counts), sum(counts), min(counts), max(counts))
            assert [row[n] for n in ("trajectories", "total", "minimum", "maximum")] == [f"{v:,}" for v in expected]
            assert float(row["mean"]) == pytest.approx(statistics.mean(counts), rel=5e-3)
            assert float(row["median"]) == statistics.median(counts)
            assert float(row["p90"]) == pytest.approx(p90, rel=5e-3)


def test_busiest_tools_are_counted_alike(played: Played, messages: list[Any]) -> None:
    of = [(r["task_info"]["env_id"], offered(r), calls(m)) for r, m in messages]
    counted = Counter((env, name) for env, _, names in of for name in names)
    rows = reading.rows(played.card, "Tools")
    assert [int(row["calls"]) for row in rows] == [count for _, count in counted.most_common(10)]
    for row in rows:
        key = (row["env id"], row["tool name"])
        offering = [names for env, tools, names in of if env == key[0] and key[1] in tools]
        calling = sum(key[1] in names for names in offering)
        assert int(row["calls"]) == counted[key]
        assert row["all calls"] == f"{counted.total():,}"
        assert (row["offering (trajectories)"], row["calling (trajectories)"]) == (f"{len(offering)}", f"{calling}")
        shown = f"{100 * calling / len(offering):.1f}\u00a0%".replace("100.0", "100") if len(offering) >= 20 else "–"
        assert row["usage rate"] == shown


def test_failed_calls_are_counted_alike(played: Played, messages: list[Any]) -> None:
    rows = {row["traj type"]: row for row in reading.rows(played.card, "Calls")}
    for mode, name in MODES.items():
        made = sum(len(calls(ms)) for r, ms in messages if r["traj_type"] == mode)
        results = [m["content"] for r, ms in messages if r["traj_type"] == mode for m in ms if m["role"] == "tool"]
        failed = sum(result.startswith("{'success': False") for result in results)
        row = rows[name]
        assert row["calls"] == f"{made:,}"
        assert row["error rate"] == f"{100 * int(row['errors (calls)']) / int(row['judged (calls)']):.1f}\u00a0%"
        # A result may also come as a user's message: at most as many more as there are calls without a tool message.
        assert failed <= int(row["errors (calls)"]) <= failed + made - len(results)


def test_endings_add_up_to_the_records_of_their_mode(played: Played, messages: list[Any]) -> None:
    rows = reading.rows(played.card, "Endings")
    for mode, name in MODES.items():
        n = sum(r["traj_type"] == mode for r, _ in messages)
        assert sum(int(row["trajectories"]) for row in rows if row["traj type"] == name) == n
        assert {row["mode trajectories"] for row in rows if row["traj type"] == name} == {f"{n}"}


def test_every_share_of_a_quantity_is_its_count_over_its_denominator(played: Played) -> None:
    shares = 0
    for row in reading.rows(played.card, "Quantities"):
        counted = re.fullmatch(r"([\d,]+) of ([\d,]+)", row["counted"])
        if counted is None or not row["value"].endswith("%"):
            continue
        events, of = (int(number.replace(",", "")) for number in counted.groups())
        value = row["value"].removesuffix("\u00a0%")
        assert float(value.removeprefix("under ").removeprefix("over ")) == pytest.approx(100 * events / of, abs=0.1)
        shares += 1
    assert shares >= 12


def test_one_number_is_the_same_wherever_it_stands(played: Played) -> None:
    quantities = {row["quantity"]: row["counted"] for row in reading.rows(played.card, "Quantities")}
    calls = reading.rows(played.card, "Calls")
    errors, judged = (sum(int(row[f"{name} (calls)"]) for row in calls) for name in ("errors", "judged"))
    assert quantities["error_rate"] == f"{errors:,} of {judged:,}"
    fit = sum(int(row["calls"]) for row in reading.rows(played.card, "Arguments") if row["verdict"] == "valid")
    assert quantities["valid_arguments_share"].startswith(f"{fit:,} of ")
