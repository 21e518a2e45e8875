"""Dialogue and endings: endings, questions, user turns, first calls and the paired difference, on few records."""

from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import dialogue
from analysis.measures.bootstrap import mean_interval
from analysis.schema import MESSAGES, TOOL_CALLS, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled, times

CONVERSATION, SOLO = "conversation", "non_conversation"


def said(trajectory: str, script: str) -> list[dict[str, object]]:
    """Messages from a script of letters: s system, u user, c call, q question, t text, r result."""
    roles = {"s": "system", "u": "user", "r": "tool"}
    made: list[dict[str, object]] = []
    step = 0
    for position, letter in enumerate(script):
        step += letter in "cqt"
        made.append(
            {
                "trajectory_id": trajectory,
                "message": position,
                "role": roles.get(letter, "assistant"),
                "step": step,
                "tool_calls": int(letter == "c"),
                "is_question": letter == "q",
            }
        )
    return made


SCRIPTS = {"a": "suqucrtu", "b": "sucrcrtuqu", "c": "sucrcrtu", "d": "suqu"}
TRAJECTORIES_SEEN = rows(
    TRAJECTORIES,
    {
        "trajectory_id": "a",
        "task_id": "1",
        "user_messages": 3,
        "assistant_messages": 3,
        "tool_calls": 1,
        "tools_used": 1,
    },
    {
        "trajectory_id": "b",
        "task_id": "2",
        "user_messages": 3,
        "assistant_messages": 4,
        "tool_calls": 2,
        "tools_used": 2,
    },
    {
        "trajectory_id": "c",
        "task_id": "1",
        "user_messages": 2,
        "assistant_messages": 3,
        "tool_calls": 2,
        "traj_type": SOLO,
    },
    {"trajectory_id": "d", "task_id": "2", "user_messages": 2, "assistant_messages": 1},
    env_id="env_1",
).with_columns(
    end_class=pl.when(pl.col("trajectory_id") == "c")
    .then(pl.lit("completed_marker"))
    .when(pl.col("trajectory_id") == "d")
    .then(pl.lit("dangling_call"))
    .otherwise(pl.lit("stop_marker"))
    .cast(TRAJECTORIES["end_class"].dtype)
)
MESSAGES_SEEN = rows(MESSAGES, *(message for name, script in SCRIPTS.items() for message in said(name, script)))
CALLS_SEEN = rows(
    TOOL_CALLS,
    {"trajectory_id": "a", "call": 1, "step": 2, "outcome": "error"},
    {"trajectory_id": "b", "call": 1, "step": 1, "outcome": "ok"},
    {"trajectory_id": "b", "call": 2, "step": 2, "outcome": "error"},
    {"trajectory_id": "c", "call": 1, "step": 1, "outcome": "ok"},
    {"trajectory_id": "c", "call": 2, "step": 2, "outcome": "ok"},
)


def test_endings_are_shared_over_the_mode() -> None:
    found = dialogue.end_classes(TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "end_class", "trajectories", "mode_trajectories").rows() == [
        (CONVERSATION, "stop_marker", 2, 3),
        (CONVERSATION, "dangling_call", 1, 3),
        (SOLO, "completed_marker", 1, 1),
    ]
    assert found["trajectory_share"].to_list() == [2 / 3, 1 / 3, 1]


def test_endings_as_frequent_as_each_other_stand_in_their_own_order() -> None:
    ends = ["stop_marker", "dangling_call", "completed_marker"]
    seen = rows(
        TRAJECTORIES,
        *(
            {"trajectory_id": f"{mode}{end}", "traj_type": mode, "end_class": end}
            for mode in (SOLO, CONVERSATION)
            for end in ends
        ),
    )
    found = dialogue.end_classes(seen).collect()
    order = pl.Series(ends, dtype=TRAJECTORIES["end_class"].dtype).sort().to_list()
    assert found.select("traj_type", "end_class").rows() == [
        (mode, end) for mode in (CONVERSATION, SOLO) for end in order
    ]


def test_over_twenty_trajectories_the_share_of_an_ending_has_an_interval() -> None:
    copies = times(TRAJECTORIES_SEEN, 7).with_columns(pl.col("task_id") + pl.col("trajectory_id"))
    found = dialogue.end_classes(copies).collect()
    row = found.row(0, named=True)
    assert row["trajectory_share"] == 2 / 3
    assert row["trajectory_share_low"] < 2 / 3 < row["trajectory_share_high"]
    solo = found.row(2, named=True)
    assert (solo["trajectory_share"], solo["trajectory_share_low"]) == (1, None)  # seven trajectories


def test_the_clarification_rate_is_over_the_assistant_messages_of_conversations_alone() -> None:
    found = dialogue.clarification(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect().row(0, named=True)
    assert (found["conversations"], found["asking_conversations"]) == (3, 3)
    assert (found["assistant_messages"], found["text_messages"], found["questions"]) == (3 + 4 + 1, 2 + 2 + 1, 3)
    assert found["clarification_rate"] is None  # eight messages are too few for a rate
    many = dialogue.clarification(times(MESSAGES_SEEN, 3), times(TRAJECTORIES_SEEN, 3)).collect().row(0, named=True)
    assert (many["questions"], many["clarification_rate"]) == (9, 3 / 8)
    assert many["clarification_rate_low"] is None, "two scenarios have no interval"


def test_a_question_before_the_first_call_is_told_from_a_later_one_and_from_one_without_any_call() -> None:
    found = dialogue.clarification(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    assert found["questions_before_calls"].to_list() == [2]  # a asks first, d never calls; b asks after its calls


def test_a_rate_of_questions_needs_twenty_messages() -> None:
    names = [f"t{number}" for number in range(20)]
    said_by = rows(MESSAGES, *(message for name in names for message in said(name, "suq" if name < "t15" else "suc")))
    talks = rows(TRAJECTORIES, *({"trajectory_id": name, "task_id": name} for name in names), env_id="bank")
    found = dialogue.clarification(said_by, talks).collect().row(0, named=True)
    assert found["clarification_rate"] == sum(name < "t15" for name in names) / 20
    one_less = said_by.filter(pl.col("trajectory_id") != "t0"), talks
    assert dialogue.clarification(*one_less).collect()["clarification_rate"].to_list() == [None]


def test_the_interval_of_the_rate_of_questions_takes_scenarios_whole() -> None:
    said_by = rows(MESSAGES, *(m for n in range(40) for m in said(f"t{n}", "su" + "q" * (n % 4) + "c" * n)))
    talks = rows(TRAJECTORIES, *({"trajectory_id": f"t{n}", "task_id": f"t{n}"} for n in range(40)))
    found = dialogue.clarification(said_by, talks).collect().row(0, named=True)
    assert found["clarification_rate_low"] < found["clarification_rate"] < found["clarification_rate_high"]
    # The first says nothing at all.
    assert (found["clarification_rate_clusters"], found["clarification_rate_deff"] > 1) == (39, True)


def test_a_conversation_that_asks_nothing_is_no_asking_one() -> None:
    talks = rows(TRAJECTORIES, {"trajectory_id": "x", "task_id": "1"}, {"trajectory_id": "y", "task_id": "1"})
    said_by = rows(MESSAGES, *said("x", "suqcqt"), *said("y", "suctc"))
    found = dialogue.clarification(said_by, talks).collect().row(0, named=True)
    assert (found["conversations"], found["asking_conversations"]) == (2, 1)
    assert (found["questions"], found["questions_before_calls"], found["text_messages"]) == (2, 1, 4)


def test_one_scenario_has_no_interval() -> None:
    one = times(TRAJECTORIES_SEEN.filter(pl.col("trajectory_id") == "a"), 7)
    found = dialogue.clarification(times(MESSAGES_SEEN, 7), one).collect().row(0, named=True)
    assert found["clarification_rate"] == 1 / 3
    assert (found["clarification_rate_low"], found["clarification_rate_high"]) == (None, None)


def test_a_step_that_few_reach_shows_counts_and_no_rate() -> None:
    found = dialogue.questions_by_step(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    assert found["step"].to_list() == [1, 2, 3, 4]
    assert found["questions"].to_list() == [2, 0, 0, 1]
    assert found["assistant_messages"].to_list() == [3, 2, 2, 1]
    assert found["question_share"].to_list() == [None] * 4


def test_a_step_that_twenty_reach_has_a_rate() -> None:
    names = [f"t{number}" for number in range(20)]
    many = rows(MESSAGES, *(message for name in names for message in said(name, "suq" if name < "t15" else "suc")))
    talks = rows(TRAJECTORIES, *({"trajectory_id": name} for name in names))
    found = dialogue.questions_by_step(many, talks).collect().row(0, named=True)
    assert found["question_share"] == sum(name < "t15" for name in names) / 20
    assert found["question_share_low"] < found["question_share"] < found["question_share_high"]


def test_user_turns_are_those_of_conversations() -> None:
    found = dialogue.user_turns(TRAJECTORIES_SEEN).collect()
    assert found.select("user_turns", "trajectories", "trajectory_share").rows() == [(2, 1, 1 / 3), (3, 2, 2 / 3)]


def test_calls_are_counted_from_a_user_turn_to_the_next_and_the_closing_one_expects_none() -> None:
    found = dialogue.calls_per_user_turn(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
    # a: 0 then 1; b: 2 then 0; d: 0; the last user message of each is not answered
    assert found.select("calls", "user_turns", "all_user_turns").rows() == [(0, 3, 5), (1, 1, 5), (2, 1, 5)]
    assert found["mean_calls"].unique().to_list() == [3 / 5]


def test_the_mean_of_calls_is_over_all_user_turns() -> None:
    talk = rows(MESSAGES, *said("a", "uccuccucccucqu"))
    found = dialogue.calls_per_user_turn(talk, TRAJECTORIES_SEEN.filter(pl.col("trajectory_id") == "a")).collect()
    assert found.select("calls", "user_turns", "user_turn_share").rows() == [
        (1, 1, 1 / 4),
        (2, 2, 2 / 4),
        (3, 1, 1 / 4),
    ]
    assert found["mean_calls"].unique().to_list() == [(1 + 2 + 2 + 3) / 4]


def test_calls_before_any_user_turn_belong_to_none() -> None:
    early = rows(MESSAGES, *said("a", "scrucrt"))
    found = dialogue.calls_per_user_turn(early, TRAJECTORIES_SEEN.filter(pl.col("trajectory_id") == "a")).collect()
    assert found.select("calls", "user_turns", "all_user_turns").rows() == [(1, 1, 1)]


def test_the_first_call_is_found_and_its_absence_is_a_row_of_its_own() -> None:
    found = dialogue.first_calls(CALLS_SEEN, TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "step", "trajectories", "cumulative_share").rows() == [
        (CONVERSATION, 0, 1, 0.0),  # d never calls
        (CONVERSATION, 1, 1, 1 / 3),
        (CONVERSATION, 2, 1, 2 / 3),
        (SOLO, 1, 1, 1.0),
    ]
    assert found["trajectory_share"].to_list() == [1 / 3, 1 / 3, 1 / 3, 1]


def test_only_scenarios_run_in_both_modes_are_paired() -> None:
    found = (
        dialogue.paired_difference(TRAJECTORIES_SEEN, CALLS_SEEN)
        .collect()
        .rows_by_key("quantity", named=True, unique=True)
    )
    assert found["tool calls"]["scenarios"] == 1  # only scenario 1 has both
    assert found["tool calls"]["difference"] == 1 - 2
    assert found["calls that failed"]["difference"] == 1 - 0
    assert (found["tool calls"]["higher_scenarios"], found["tool calls"]["lower_scenarios"]) == (0, 1)


def test_each_quantity_is_paired_by_its_own_column() -> None:
    def run(name: str, task: str, mode: str, *sizes: int) -> dict[str, object]:
        columns = ("assistant_messages", "tool_calls", "tools_used", "user_messages")
        return {
            "trajectory_id": name, "env_id": "bank", "task_id": task, "traj_type": mode,
            **dict(zip(columns, sizes, strict=True)),
        }  # fmt: skip

    runs = rows(
        TRAJECTORIES,
        run("1", "x", CONVERSATION, 9, 8, 7, 6),
        run("2", "x", SOLO, 4, 5, 6, 7),
        run("3", "y", CONVERSATION, 3, 3, 3, 3),
        run("4", "y", SOLO, 3, 1, 1, 9),
    )
    failed = rows(
        TOOL_CALLS, *({"trajectory_id": name, "call": n, "outcome": "error"} for n, name in enumerate("1144"))
    )
    found = dialogue.paired_difference(runs, failed).collect()
    columns = ("quantity", "scenarios", "conversation_mean", "non_conversation_mean", "difference")
    assert found.select(*columns, "higher_scenarios", "lower_scenarios").rows() == [
        ("assistant messages", 2, 6, 3.5, 2.5, 1, 0),  # 9 - 4 and 3 - 3
        ("tool calls", 2, 5.5, 3, 2.5, 2, 0),
        ("distinct tools used", 2, 5, 3.5, 1.5, 2, 0),
        ("user messages", 2, 4.5, 8, -3.5, 0, 2),
        ("calls that failed", 2, 1, 1, 0, 1, 1),  # 2 - 0 and 0 - 2
    ]


def test_the_interval_of_the_difference_hangs_on_the_seed_and_a_run_of_no_scenario_on_nothing() -> None:
    runs = [
        {
            "trajectory_id": f"{mode}{n}",
            "task_id": str(n),
            "traj_type": mode,
            "tool_calls": n * n if mode == SOLO else 3,
        }
        for n in range(40)
        for mode in (CONVERSATION, SOLO)
    ]
    nameless = [{"trajectory_id": f"none{mode}", "traj_type": mode, "tool_calls": 99} for mode in (CONVERSATION, SOLO)]
    seen = rows(TRAJECTORIES, *runs, *nameless)
    found = [dialogue.paired_difference(seen, CALLS_SEEN.clear(), seed=seed).collect() for seed in (0, 1)]
    usual = dialogue.paired_difference(seen, CALLS_SEEN.clear()).collect()
    assert_frame_equal(usual, found[0])
    calls = pl.col("quantity") == "tool calls"
    assert found[0].filter(calls)["scenarios"].item() == 40
    assert found[0].filter(calls)["difference_low"].item() != found[1].filter(calls)["difference_low"].item()


def test_runs_of_a_scenario_in_one_mode_are_averaged_before_they_are_paired() -> None:
    runs = rows(
        TRAJECTORIES,
        {"trajectory_id": "1", "task_id": "x", "tool_calls": 2},
        {"trajectory_id": "2", "task_id": "x", "tool_calls": 6},
        {"trajectory_id": "3", "task_id": "x", "tool_calls": 1, "traj_type": SOLO},
        {"trajectory_id": "4", "task_id": "y", "tool_calls": 5},
        {"trajectory_id": "5", "task_id": "y", "tool_calls": 4, "traj_type": SOLO},
    )
    found = dialogue.paired_difference(runs, TOOL_CALLS.empty().lazy()).collect()
    calls = found.row(by_predicate=pl.col("quantity") == "tool calls", named=True)
    assert calls["difference"] == ((2 + 6) / 2 - 1 + 5 - 4) / 2
    assert (calls["difference_low"], calls["difference_high"]) == (None, None), "two scenarios have no interval"


def test_scenarios_of_two_environments_with_one_id_are_two_scenarios() -> None:
    runs = rows(
        TRAJECTORIES,
        {"trajectory_id": "1", "env_id": "a", "task_id": "0"},
        {"trajectory_id": "2", "env_id": "b", "task_id": "0", "traj_type": SOLO},
    )
    assert dialogue.paired_difference(runs, TOOL_CALLS.empty().lazy()).collect().is_empty()


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    frame = pl.DataFrame({"value": [float(value) for value in range(100)]})
    first, again, other = (frame.select(mean_interval(pl.col("value"), seed)).item().to_list() for seed in (0, 0, 1))
    assert first == again != other


MEASURES: list[tuple[Callable[[], pl.LazyFrame], Callable[[], pl.LazyFrame], Callable[[], pl.LazyFrame], Table]] = [
    (
        lambda: dialogue.end_classes(TRAJECTORIES_SEEN),
        lambda: dialogue.end_classes(shuffled(TRAJECTORIES_SEEN)),
        lambda: dialogue.end_classes(TRAJECTORIES.empty().lazy()),
        dialogue.ENDS,
    ),
    (
        lambda: dialogue.clarification(MESSAGES_SEEN, TRAJECTORIES_SEEN),
        lambda: dialogue.clarification(shuffled(MESSAGES_SEEN), shuffled(TRAJECTORIES_SEEN)),
        lambda: dialogue.clarification(MESSAGES.empty().lazy(), TRAJECTORIES.empty().lazy()),
        dialogue.CLARIFICATION,
    ),
    (
        lambda: dialogue.questions_by_step(MESSAGES_SEEN, TRAJECTORIES_SEEN),
        lambda: dialogue.questions_by_step(shuffled(MESSAGES_SEEN), shuffled(TRAJECTORIES_SEEN)),
        lambda: dialogue.questions_by_step(MESSAGES.empty().lazy(), TRAJECTORIES.empty().lazy()),
        dialogue.QUESTIONS,
    ),
    (
        lambda: dialogue.user_turns(TRAJECTORIES_SEEN),
        lambda: dialogue.user_turns(shuffled(TRAJECTORIES_SEEN)),
        lambda: dialogue.user_turns(TRAJECTORIES.empty().lazy()),
        dialogue.USER_TURNS,
    ),
    (
        lambda: dialogue.calls_per_user_turn(MESSAGES_SEEN, TRAJECTORIES_SEEN),
        lambda: dialogue.calls_per_user_turn(shuffled(MESSAGES_SEEN), shuffled(TRAJECTORIES_SEEN)),
        lambda: dialogue.calls_per_user_turn(MESSAGES.empty().lazy(), TRAJECTORIES.empty().lazy()),
        dialogue.CALLS_PER_TURN,
    ),
    (
        lambda: dialogue.first_calls(CALLS_SEEN, TRAJECTORIES_SEEN),
        lambda: dialogue.first_calls(shuffled(CALLS_SEEN), shuffled(TRAJECTORIES_SEEN)),
        lambda: dialogue.first_calls(TOOL_CALLS.empty().lazy(), TRAJECTORIES.empty().lazy()),
        dialogue.FIRST_CALLS,
    ),
    (
        lambda: dialogue.paired_difference(TRAJECTORIES_SEEN, CALLS_SEEN),
        lambda: dialogue.paired_difference(shuffled(TRAJECTORIES_SEEN), shuffled(CALLS_SEEN)),
        lambda: dialogue.paired_difference(TRAJECTORIES.empty().lazy(), TOOL_CALLS.empty().lazy()),
        dialogue.PAIRED,
    ),
]


@pytest.mark.parametrize(("seen", "mixed", "nothing", "result"), MEASURES, ids=[m[3].name for m in MEASURES])
def test_order_is_irrelevant_and_nothing_gives_the_declared_empty_frame(
    seen: Callable[[], pl.LazyFrame],
    mixed: Callable[[], pl.LazyFrame],
    nothing: Callable[[], pl.LazyFrame],
    result: Table,
) -> None:
    assert_frame_equal(seen().collect(), mixed().collect())
    assert_frame_equal(nothing().collect(), result.empty())
