"""Duplication: exact groups, runs of one scenario, near-duplicate tasks; against a plain comparison of every pair."""

import json
import random
from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import duplicates, shingles
from analysis.schema import TOOL_CALLS, TRAJECTORIES
from tests.measures.frames import rows, shuffled

CONVERSATION, SOLO = "conversation", "non_conversation"


def calls(trajectory: str, *made: tuple[str | None, str | None]) -> list[dict[str, object]]:
    return [
        {
            "trajectory_id": trajectory,
            "call": position,
            "message": position,
            "tool_name": name,
            "arguments": arguments,
        }
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
    assert (found["extra_copies"], found["extra_share"]) == (1, None)


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


def test_groups_come_the_largest_first_then_the_longest_then_by_id() -> None:
    tasks = {
        "a": "one",
        "b": "one",
        "c": "two",
        "d": "two",
        "e": "three",
        "f": "three",
        "g": "three",
        "h": "four",
        "i": "four",
    }
    runs = rows(
        TRAJECTORIES,
        *({"trajectory_id": name, "task_id": f"id of {task}", "task": task} for name, task in tasks.items()),
    )
    made = rows(TOOL_CALLS, *calls("c", PAY), *calls("d", PAY), *calls("a", PAY, GET), *calls("b", PAY, GET))
    found = duplicates.exact(runs, made).collect()
    assert found.select("copies", "tool_calls", "first_id", "second_id", "task_id").rows() == [
        (3, 0, "e", "f", "id of three"),
        (2, 2, "a", "b", "id of one"),
        (2, 1, "c", "d", "id of two"),
        (2, 0, "h", "i", "id of four"),
    ]
    summed = duplicates.exact_summary(runs, made).collect().row(0, named=True)
    assert (summed["groups"], summed["largest_group"], summed["distinct"], summed["extra_copies"]) == (4, 3, 4, 5)
    assert (summed["extra_copies"], summed["trajectories"], summed["extra_share"]) == (5, 9, None)


def test_two_tasks_without_a_text_are_no_copies_of_each_other() -> None:
    runs = rows(TRAJECTORIES, *({"trajectory_id": n, "task_id": n, "env_id": "bank"} for n in "ab"))
    made = rows(TOOL_CALLS, *calls("a", GET), *calls("b", GET))
    assert duplicates.exact(runs, made).collect().is_empty()
    assert duplicates.exact_summary(runs, made).collect()["distinct"].to_list() == [2]


def test_two_tasks_with_one_text_are_no_copies_of_each_other() -> None:
    runs = rows(TRAJECTORIES, *({"trajectory_id": n, "task_id": n, "task": "Pay.", "env_id": "bank"} for n in "ab"))
    made = rows(TOOL_CALLS, *calls("a", GET), *calls("b", GET))
    assert duplicates.exact(runs, made).collect().is_empty()


def test_calls_made_at_once_are_copies_in_any_order() -> None:
    swapped = rows(TOOL_CALLS, *calls("a", GET, PAY), *calls("b", PAY, GET)).with_columns(message=pl.lit(2, pl.UInt32))
    assert duplicates.exact(TRAJECTORIES_SEEN.head(2), swapped).collect()["copies"].to_list() == [2]


def test_a_tool_that_was_not_named_or_given_nothing_is_not_another_tools_argument() -> None:
    runs = rows(TRAJECTORIES, *({"trajectory_id": name, "task": "Pay."} for name in "abcd"))
    made = rows(
        TOOL_CALLS,
        *calls("a", ("pay", None), (None, '{"a":1}')),
        *calls("b", ("pay", ""), (None, '{"a": 1}')),
        *calls("c", (None, '{"a":1}'), ("pay", None)),
        *calls("d", ("pay", None)),
    )
    found = duplicates.exact(runs, made).collect()
    assert found.select("copies", "first_id", "second_id", "env_id", "task_id").rows() == [(2, "a", "b", None, None)]


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
            return name or "", json.dumps(json.loads(text or "{}"), sort_keys=True)
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


def test_pairs_come_the_most_similar_first_then_by_their_names_then_by_id() -> None:
    runs = rows(TRAJECTORIES, *({"trajectory_id": name, "task_id": "1", "env_id": "bank"} for name in "abcd"))
    made = rows(
        TOOL_CALLS, *calls("a", GET, PAY), *calls("b", SAME_GET, PAY), *calls("c", GET, PAY_MORE), *calls("d", PAY, PAY)
    )
    found = duplicates.run_pairs(runs, made).collect()
    assert found.select("left_id", "right_id", "similarity", "name_similarity").rows() == [
        ("a", "b", 1, 1),
        ("a", "c", 1 / 2, 1),
        ("b", "c", 1 / 2, 1),
        ("a", "d", 1 / 2, 1 / 2),
        ("b", "d", 1 / 2, 1 / 2),
        ("c", "d", 0, 1 / 2),
    ]
    assert found.select("left_calls", "right_calls").unique().rows() == [(2, 2)]
    alike = duplicates.run_pairs(shuffled(runs), TOOL_CALLS.empty().lazy()).collect()
    assert alike.select("left_id", "right_id").rows() == list(combinations("abcd", 2))


def test_runs_are_paired_within_their_scenario_and_environment_alone() -> None:
    where = {"a": ("bank", "1"), "b": ("shop", "1"), "c": ("bank", "2"), "d": ("bank", None), "e": ("bank", None)}
    runs = rows(
        TRAJECTORIES, *({"trajectory_id": name, "env_id": env, "task_id": task} for name, (env, task) in where.items())
    )
    more = rows(TRAJECTORIES, {"trajectory_id": "f", "env_id": "bank", "task_id": "1", "traj_type": SOLO})
    found = duplicates.run_pairs(pl.concat([more, runs]), TOOL_CALLS.empty().lazy()).collect()
    columns = ("env_id", "task_id", "kind", "left_id", "right_id", "similarity", "left_calls")
    assert found.select(columns).rows() == [("bank", "1", "across modes", "a", "f", 1, 0)]


def test_bins_stand_by_kind_and_by_what_is_compared_each_with_shares_of_its_own() -> None:
    made = [("same mode", 0.2, 0.5), ("same mode", 0.2, 1.0), ("across modes", 0.9, 0.1)]
    pairs = rows(
        duplicates.PAIRS,
        *(
            {"left_id": str(n), "right_id": "x", "kind": kind, "similarity": whole, "name_similarity": names}
            for n, (kind, whole, names) in enumerate(made)
        ),
    )
    found = duplicates.similarity(pairs).collect()
    assert found.select("kind", "compared", "pairs", "kind_pairs", "pair_share").rows() == [
        ("same mode", "calls with arguments", 2, 2, 1),
        ("same mode", "tool names", 1, 2, 1 / 2),
        ("same mode", "tool names", 1, 2, 1 / 2),
        ("across modes", "calls with arguments", 1, 1, 1),
        ("across modes", "tool names", 1, 1, 1),
    ]
    assert found["similarity_from"].to_list() == pytest.approx([0.2, 0.5, 0.95, 0.9, 0.1])
    assert found["similarity_to"].to_list() == pytest.approx([0.25, 0.55, 1, 0.95, 0.15])


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
    assert shingles.shingles("Pay  ann") == {"pay ann"}
    assert shingles.shingles("a b c d e f") == {"a b c d e", "b c d e f"}


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


def test_a_pair_tells_both_scenarios_and_the_threshold_itself_is_enough() -> None:
    words = [f"w{n}" for n in range(14)]  # ten shingles
    longer = [*words, "more", "and"]  # two more
    tasks = rows(
        TRAJECTORIES,
        {"trajectory_id": "z", "env_id": "env_2", "task_id": "7", "task": " ".join(words).upper()},
        {"trajectory_id": "y", "env_id": "env_10", "task_id": "8", "task": " ".join(longer)},
        {"trajectory_id": "x", "env_id": "env_10", "task_id": "9", "task": "  ".join(words)},
        {"trajectory_id": "w", "env_id": "env_10", "task_id": None, "task": "   "},
    )
    found = duplicates.task_pairs(tasks).collect()
    columns = ("left_env_id", "left_task_id", "right_env_id", "right_task_id", "jaccard", "left_id", "right_id")
    assert found.select(columns).rows() == [
        ("env_2", "7", "env_10", "9", 1, "z", "x"),
        ("env_10", "8", "env_10", "9", 10 / 12, "y", "x"),
        ("env_2", "7", "env_10", "8", 10 / 12, "z", "y"),
    ]
    assert duplicates.task_pairs(tasks, threshold=10 / 12).collect().height == 3
    assert duplicates.task_pairs(tasks, threshold=0.84).collect()["jaccard"].to_list() == [1]
    counted = [
        duplicates.tasks_summary(tasks, threshold=least).collect().row(0, named=True) for least in (10 / 12, 0.84)
    ]
    names = ("tasks", "candidates", "verified", "identical", "tasks_in_pairs", "tasks_in_pairs_share")
    assert [[row[name] for name in names] for row in counted] == [[3, 3, 3, 1, 3, None], [3, 3, 1, 1, 2, None]]


def test_without_an_id_the_text_tells_scenarios_apart() -> None:
    said = ["Pay Ann what I owe her today.", "Pay Ann what I owe her today.", "Call Bob and ask him for money."]
    tasks = rows(TRAJECTORIES, *({"trajectory_id": str(n), "task": text} for n, text in enumerate(said)))
    assert duplicates.tasks_summary(tasks).collect()["tasks"].to_list() == [2]


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
