"""Duplication: exact groups, runs of one scenario, near-duplicate tasks; against a plain comparison of every pair."""

import json
import random
from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import duplicates
from analysis.schema import TOOL_CALLS, TRAJECTORIES
from tests.measures.frames import rows, shuffled

CONVERSATION, SOLO = "conversation", "non_conversation"


def calls(trajectory: str, *made: tuple[str | None, str | None]) -> list[dict[str, object]]:
    return [
        {"trajectory_id": trajectory, "call": position, "tool_name": name, "arguments": arguments}
        for position, (name, arguments) in enumerate(made, start=1)
    ]


GET = ("get_user", '{"id": "U1", "full": true}')
SAME_GET = ("get_user", '{"full":true,"id":"U1"}')
PAY = ("pay", '{"amount": 3}')
PAY_MORE = ("pay", '{"amount": 4}')

TRAJECTORIES_SEEN = rows(
    TRAJECTORIES,
    {"trajectory_id": "a", "task_id": "1", "task": "Pay Ann."},
    {"trajectory_id": "b", "task_id": "1", "task": "Pay Ann.", "traj_type": SOLO},
    {"trajectory_id": "c", "task_id": "1", "task": "Pay Ann."},
    {"trajectory_id": "d", "task_id": "2", "task": "Pay Bob."},
    {"trajectory_id": "e", "env_id": "shop", "task_id": "1", "task": "Pay Ann."},
    env_id="bank",
)
CALLS_SEEN = rows(
    TOOL_CALLS,
    *calls("a", GET, PAY),
    *calls("b", SAME_GET, PAY),
    *calls("c", GET, PAY_MORE),
    *calls("d", GET, PAY),
    *calls("e", GET, PAY),
)


def test_the_order_of_keys_and_spacing_tell_no_two_calls_apart() -> None:
    found = duplicates.exact(TRAJECTORIES_SEEN, CALLS_SEEN).collect()
    assert found.select("copies", "conversations", "tool_calls", "first_id", "second_id").rows() == [
        (2, 1, 2, "a", "b")
    ]


def test_another_environment_another_task_or_another_value_is_no_copy() -> None:
    found = duplicates.exact_summary(TRAJECTORIES_SEEN, CALLS_SEEN).collect().row(0, named=True)
    assert (found["trajectories"], found["distinct"], found["groups"], found["extra_copies"]) == (5, 4, 1, 1)
    assert found["extra_share"] == 1 / 5


def test_calls_in_another_order_are_no_copy() -> None:
    swapped = rows(TOOL_CALLS, *calls("a", GET, PAY), *calls("b", PAY, GET))
    assert duplicates.exact(TRAJECTORIES_SEEN.head(2), swapped).collect().is_empty()


def test_arguments_that_are_not_json_are_compared_as_they_stand() -> None:
    broken = rows(
        TOOL_CALLS, *calls("a", ("pay", '{"a": 1')), *calls("b", ("pay", '{"a": 1')), *calls("c", ("pay", '{"a":1'))
    )
    found = duplicates.exact(TRAJECTORIES_SEEN.head(3), broken).collect()
    assert found["first_id"].to_list() == ["a"]
    assert found["copies"].to_list() == [2]


def test_trajectories_without_task_and_calls_have_nothing_to_compare() -> None:
    blank = rows(TRAJECTORIES, {"trajectory_id": "x"}, {"trajectory_id": "y"}, {"trajectory_id": "z", "task": "Wait."})
    found = duplicates.exact_summary(blank, TOOL_CALLS.empty().lazy()).collect().row(0, named=True)
    assert (found["trajectories"], found["distinct"]) == (1, 1)


def edit_distance(left: list[object], right: list[object]) -> int:
    """The textbook table."""
    before = list(range(len(right) + 1))
    for i, one in enumerate(left, start=1):
        now = [i]
        for j, other in enumerate(right, start=1):
            now.append(min(before[j] + 1, now[-1] + 1, before[j - 1] + (one != other)))
        before = now
    return before[-1]


def test_runs_of_a_scenario_are_compared_by_the_textbook_edit_distance() -> None:
    draw = random.Random(2)
    tools = [GET, SAME_GET, PAY, PAY_MORE, (None, None), ("list", ""), ("list", "[1]")]
    made = {f"t{number}": draw.choices(tools, k=draw.randint(0, 9)) for number in range(12)}
    runs = rows(
        TRAJECTORIES,
        *(
            {
                "trajectory_id": name,
                "task_id": str(number % 3),
                "env_id": "bank",
                "traj_type": (CONVERSATION, SOLO)[number % 2],
            }
            for number, name in enumerate(made)
        ),
    )
    seen = rows(TOOL_CALLS, *(call for name, sequence in made.items() for call in calls(name, *sequence)))
    found = duplicates.run_pairs(runs, seen).collect()
    by_scenario = runs.collect().partition_by("task_id", as_dict=True).values()
    pairs = [pair for scenario in by_scenario for pair in combinations(sorted(scenario["trajectory_id"]), 2)]
    assert sorted(found.select("left_id", "right_id").rows()) == sorted(pairs)

    def value(call: tuple[str | None, str | None]) -> object:
        name, text = call
        try:
            return name or "", json.dumps(json.loads(text or "x"), sort_keys=True)
        except json.JSONDecodeError:
            return name or "", text or ""

    for row in found.iter_rows(named=True):
        left, right = made[row["left_id"]], made[row["right_id"]]
        longer = max(len(left), len(right))
        names = edit_distance([name or "" for name, _ in left], [name or "" for name, _ in right])
        whole = edit_distance([value(call) for call in left], [value(call) for call in right])
        assert row["name_similarity"] == pytest.approx(1 - names / longer if longer else 1)
        assert row["similarity"] == pytest.approx(1 - whole / longer if longer else 1)
        same_mode = int(row["left_id"][1:]) % 2 == int(row["right_id"][1:]) % 2
        assert row["kind"] == ("same mode" if same_mode else "across modes")


def test_bins_of_similarity_hold_every_pair_and_one_is_in_the_last() -> None:
    pairs = rows(
        duplicates.PAIRS,
        *(
            {"left_id": str(n), "right_id": "x", "similarity": value, "name_similarity": 1.0, "task_id": "1"}
            for n, value in enumerate([0.0, 0.049, 0.05, 0.3, 0.35, 0.95, 1.0])
        ),
    )
    found = duplicates.similarity(pairs).collect()
    with_arguments = found.filter(pl.col("compared") == "calls with arguments")
    starts = [round(start, 2) for start in with_arguments["similarity_from"]]
    assert dict(zip(starts, with_arguments["pairs"], strict=True)) == {0.0: 2, 0.05: 1, 0.3: 1, 0.35: 1, 0.95: 2}
    assert found.filter(pl.col("compared") == "tool names")["pairs"].to_list() == [7]
    assert found.group_by("kind", "compared").agg(pl.col("pair_share").sum())["pair_share"].to_list() == pytest.approx(
        [1, 1]
    )


def test_a_short_text_is_one_shingle_and_case_and_spacing_do_not_matter() -> None:
    assert duplicates.shingles("Pay  ann") == {"pay ann"}
    assert duplicates.shingles("a b c d e f") == {"a b c d e", "b c d e f"}


def varied_tasks() -> list[str]:
    """Texts from a few templates: many pairs on both sides of the threshold."""
    draw = random.Random(4)
    templates = [[f"w{draw.randint(0, 400)}" for _ in range(120)] for _ in range(5)]
    texts = []
    for template in templates:
        for changes in range(12):
            words = list(template)
            for place in draw.sample(range(120), changes):
                words[place] = f"x{draw.randint(0, 99)}"
            texts.append(" ".join(words))
    return texts


def test_minhash_misses_no_pair_that_comparing_every_pair_finds() -> None:
    texts = varied_tasks()
    tasks = rows(
        TRAJECTORIES, *({"trajectory_id": f"{n:03}", "task_id": str(n), "task": t} for n, t in enumerate(texts))
    )

    def jaccard(left: str, right: str) -> float:
        sets = []
        for text in (left, right):
            words = text.lower().split()
            sets.append({tuple(words[i : i + 5]) for i in range(len(words) - 4)})
        return len(sets[0] & sets[1]) / len(sets[0] | sets[1])

    every = {(a, b): jaccard(texts[a], texts[b]) for a, b in combinations(range(len(texts)), 2)}
    expected = {(f"{a:03}", f"{b:03}"): value for (a, b), value in every.items() if value >= 0.8}
    found = duplicates.task_pairs(tasks).collect()
    assert {
        (left, right): value for left, right, value in found.select("left_id", "right_id", "jaccard").iter_rows()
    } == expected
    assert expected
    assert any(0.5 < value < 0.8 for value in every.values())
    counted = duplicates.tasks_summary(tasks).collect().row(0, named=True)
    involved = Counter(task for pair in expected for task in pair)
    assert (counted["tasks"], counted["verified"], counted["tasks_in_pairs"]) == (60, len(expected), len(involved))
    assert counted["candidates"] > counted["verified"]


def test_runs_of_one_scenario_are_one_task() -> None:
    assert duplicates.task_pairs(TRAJECTORIES_SEEN.head(3)).collect().is_empty()
    found = duplicates.tasks_summary(TRAJECTORIES_SEEN).collect().row(0, named=True)
    assert (found["tasks"], found["verified"], found["identical"]) == (3, 1, 1)  # bank 1 and shop 1 read the same


def test_order_is_irrelevant_and_nothing_gives_the_declared_empty_frame() -> None:
    no_runs, no_calls = TRAJECTORIES.empty().lazy(), TOOL_CALLS.empty().lazy()
    mixed_runs, mixed_calls = shuffled(TRAJECTORIES_SEEN), shuffled(CALLS_SEEN)
    for measure, result in [
        (duplicates.exact, duplicates.EXACT),
        (duplicates.exact_summary, duplicates.EXACT_SUMMARY),
        (duplicates.run_pairs, duplicates.PAIRS),
    ]:
        assert_frame_equal(measure(TRAJECTORIES_SEEN, CALLS_SEEN).collect(), measure(mixed_runs, mixed_calls).collect())
        assert_frame_equal(measure(no_runs, no_calls).collect(), result.empty())
    for of_tasks, result in [
        (duplicates.task_pairs, duplicates.TASK_PAIRS),
        (duplicates.tasks_summary, duplicates.TASKS_SUMMARY),
    ]:
        assert_frame_equal(of_tasks(TRAJECTORIES_SEEN).collect(), of_tasks(mixed_runs).collect())
        assert_frame_equal(of_tasks(no_runs).collect(), result.empty())
    assert_frame_equal(duplicates.similarity(duplicates.PAIRS.empty().lazy()).collect(), duplicates.SIMILARITY.empty())
