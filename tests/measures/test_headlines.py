"""Headlines: what the figures of a page say, both modes together, and what of it needs attention."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import (
    compare,
    dialogue,
    duplicates,
    grounding,
    headlines,
    reasoning,
    rewards,
    sequences,
    training_budget,
)
from analysis.schema import Table
from tests.measures.frames import rows, shuffled

TALK, SOLO = "conversation", "non_conversation"

Results = dict[Table, list[dict[str, Any]]]
Brief = Callable[..., pl.LazyFrame]

FOLLOWED: Results = {
    sequences.ENTROPY: [
        {"env_id": "bank", "effective_choices": 2.0},
        {"env_id": "shop", "effective_choices": 4.5},
        {"env_id": "zoo", "effective_choices": None},
    ],
    sequences.NGRAMS: [
        {"ngram": "get → set", "trajectories": 30, "all_trajectories": 120},
        {"ngram": "get → get", "trajectories": 20, "all_trajectories": 120},
    ],
    sequences.READS_FIRST: [
        {"traj_type": TALK, "changing_calls": 30, "after_read": 27},
        {"traj_type": SOLO, "changing_calls": 10, "after_read": 10},
    ],
}
GROUNDED: Results = {
    grounding.SOURCES: [
        {"traj_type": TALK, "source": "result", "values": 50},
        {"traj_type": TALK, "source": "none", "values": 5},
        {"traj_type": SOLO, "source": "result", "values": 10},
        {"traj_type": SOLO, "source": "user", "values": 30},
        {"traj_type": SOLO, "source": "agent", "values": 5},
    ],
    grounding.DISTANCES: [
        {"traj_type": TALK, "distance": 1, "values": 20},
        {"traj_type": TALK, "distance": 2, "values": 5},
        {"traj_type": TALK, "distance": 4, "values": 15},
        {"traj_type": SOLO, "distance": 2, "values": 20},
    ],
    grounding.CHAINS: [
        {"traj_type": TALK, "longest_chain": 1, "trajectories": 30},
        {"traj_type": TALK, "longest_chain": 3, "trajectories": 70},
        {"traj_type": SOLO, "longest_chain": 2, "trajectories": 20},
    ],
}
THOUGHT: Results = {
    reasoning.SUMMARY: [
        {"traj_type": TALK, "assistant_messages": 900, "without_reasoning": 60, "p50_chars": 310.5, "max_chars": 4_000},
        {"traj_type": SOLO, "assistant_messages": 100, "without_reasoning": 0, "p50_chars": 200.0, "max_chars": 900},
    ]
}
BUDGETED: Results = {
    training_budget.PARTS: [
        {"traj_type": TALK, "part": "user", "trajectories": 40, "tokens": 10_000},
        {"traj_type": TALK, "part": "results", "trajectories": 40, "tokens": 50_000},
        {"traj_type": TALK, "part": "template", "trajectories": 40, "tokens": 0},
        {"traj_type": SOLO, "part": "user", "trajectories": 10, "tokens": 10_000},
        {"traj_type": SOLO, "part": "results", "trajectories": 10, "tokens": 30_000},
    ],
    training_budget.CUTOFF: [
        {
            "layout": layout, "traj_type": mode, "cutoff": 4_096, "samples": samples, "samples_cut": cut,
            "supervised_tokens": supervised, "supervised_lost": lost,
        }
        for layout, mode, samples, cut, supervised, lost in [
            ("whole", TALK, 40, 2, 20_000, 1_000),
            ("whole", SOLO, 10, 0, 5_000, 0),
            ("per_turn", TALK, 300, 3, 20_000, 100),
            ("per_turn", SOLO, 100, 0, 5_000, 0),
        ]
    ],
    training_budget.EXPANSION: [
        {
            "traj_type": TALK, "samples": 300, "trajectory_tokens": 60_000, "prefix_tokens": 380_000,
            "output_tokens": 20_000,
        },
        {
            "traj_type": SOLO, "samples": 100, "trajectory_tokens": 40_000, "prefix_tokens": 45_000,
            "output_tokens": 5_000,
        },
    ],
}  # fmt: skip

SPOKEN: Results = {
    dialogue.ENDS: [
        {"traj_type": TALK, "end_class": "stop_marker", "trajectories": 70},
        {"traj_type": TALK, "end_class": "step_cap", "trajectories": 7},
        {"traj_type": TALK, "end_class": "dangling_call", "trajectories": 3},
        {"traj_type": SOLO, "end_class": "completed_marker", "trajectories": 15},
        {"traj_type": SOLO, "end_class": "text_without_marker", "trajectories": 5},
    ],
    dialogue.CLARIFICATION: [
        {"conversations": 80, "asking_conversations": 60, "assistant_messages": 1_000, "questions": 150}
    ],
    dialogue.USER_TURNS: [{"user_turns": 3, "trajectories": 50}, {"user_turns": 9, "trajectories": 30}],
    dialogue.CALLS_PER_TURN: [
        {"calls": 0, "user_turns": 30, "all_user_turns": 240, "mean_calls": 1.875},
        {"calls": 2, "user_turns": 210, "all_user_turns": 240, "mean_calls": 1.875},
    ],
    dialogue.FIRST_CALLS: [
        {"traj_type": TALK, "step": 0, "trajectories": 6},
        {"traj_type": TALK, "step": 1, "trajectories": 50},
        {"traj_type": TALK, "step": 2, "trajectories": 24},
        {"traj_type": SOLO, "step": 1, "trajectories": 20},
    ],
    dialogue.PAIRED: [
        {
            "quantity": "assistant messages", "scenarios": 18, "difference": 7.56, "difference_low": 6.9,
            "difference_high": 8.04,
        },
        {"quantity": "tool calls", "scenarios": 18, "difference": 0.0},
    ],
}  # fmt: skip
COPIED: Results = {
    duplicates.EXACT_SUMMARY: [
        {"trajectories": 420, "distinct": 400, "groups": 12, "extra_copies": 20, "largest_group": 5}
    ],
    duplicates.PAIRS: [
        {"left_id": "a", "right_id": "b", "kind": "same mode", "similarity": 1.0, "name_similarity": 1.0},
        {"left_id": "d", "right_id": "e", "kind": "same mode", "similarity": 1.0, "name_similarity": 1.0},
        {"left_id": "a", "right_id": "c", "kind": "across modes", "similarity": 0.5, "name_similarity": 0.75},
        {"left_id": "b", "right_id": "c", "kind": "across modes", "similarity": 0.25, "name_similarity": 1.0},
    ],
    duplicates.TASKS_SUMMARY: [{"tasks": 200, "verified": 8, "identical": 2, "tasks_in_pairs": 10}],
}
REWARDED: Results = {
    rewards.SUMMARY: [
        {
            "all_trajectories": 210, "trajectories": 200, "scenarios": 50, "most_runs": 4, "mean_reward": 0.417,
            "mean_low": 0.31, "mean_high": 0.52, "solved": 84, "step_capped": 3,
        }
    ],
    rewards.SOLVED_RUNS: [
        {"runs": 4, "solved": 0, "scenarios": 14},
        {"runs": 2, "solved": 2, "scenarios": 5},
        {"runs": 4, "solved": 2, "scenarios": 21},
        {"runs": 4, "solved": 4, "scenarios": 10},
    ],
    rewards.PASS: [
        {"model": "m", "traj_type": TALK, "k": 1, "pass_all": 0.42, "scenarios": 50},
        {"model": "m", "traj_type": TALK, "k": 4, "pass_all": 0.2, "scenarios": 50},
        {"model": "n", "traj_type": TALK, "k": 4, "pass_all": 0.31, "scenarios": 40},
        {"model": "o", "traj_type": TALK, "k": 1, "pass_all": 0.9, "scenarios": 40},
    ],
}  # fmt: skip
COMPARED: Results = {
    compare.COUNTS: [
        {"counted": "trajectories", "left": 210, "right": 1_200, "shared": None},
        {"counted": "scenarios", "left": 210, "right": 400, "shared": 190},
        {"counted": "environments", "left": 14, "right": 15, "shared": 14},
        {"counted": "tools offered", "left": 262, "right": 270, "shared": 260},
    ],
    compare.HEADLINES: [
        {
            "quantity": "steps per trajectory", "left": 22.0, "right": 14.44, "difference": 7.56,
            "difference_low": 6.9, "difference_high": 8.3,
        },
        {
            "quantity": "error rate of calls", "left": 0.125, "right": 0.119, "difference": 0.006,
            "difference_low": -0.01, "difference_high": 0.02, "left_trials": 2_500.0, "right_trials": 9_000.0,
        },
        {"quantity": "unknown share of calls", "left": 0.25, "right": 0.0, "difference": 0.25, "difference_low": 0.2,
         "difference_high": 0.3},
        {"quantity": "calls per step", "left": 1.0, "right": 2.0, "difference": -1.0, "difference_low": -1.5,
         "difference_high": -0.5},
        {"quantity": "breadth: tools used / offered", "left": 1.0, "right": 2.0, "difference": -1.0},
    ],
    compare.PAIRED: [
        {"quantity": "steps per trajectory", "difference_low": 0.5, "difference_high": 2.0},
        {"quantity": "tool calls per trajectory", "difference_low": -0.5, "difference_high": 2.0},
        {"quantity": "calls per step", "difference_low": -0.5, "difference_high": -0.1},
    ],
    compare.MEMBERSHIP: [
        {"kind": "environment", "change": "gained", "env_id": "shop"},
        {"kind": "environment", "change": "lost", "env_id": "zoo"},
        {"kind": "tool", "change": "gained", "env_id": "bank", "tool_name": "a"},
        {"kind": "tool", "change": "gained", "env_id": "bank", "tool_name": "b"},
        {"kind": "tool", "change": "lost", "env_id": "bank", "tool_name": "c"},
        {"kind": "tool", "change": "lost", "env_id": "bank", "tool_name": "d"},
        {"kind": "tool", "change": "lost", "env_id": "bank", "tool_name": "e"},
    ],
}  # fmt: skip

# A page's question, what its headlines are made of, and what they say: value, meaning, attention by label.
Said = dict[str, tuple[str, str, str | None]]
CASES: dict[str, tuple[Brief, Results, Said]] = {
    "sequences": (
        sequences.in_brief,
        FOLLOWED,
        {
            "likely next calls": (
                "3.2",  # (2 + 4.5) / 2, to even
                "equally likely calls after the last, median over 2 environments with 20 transitions or more",
                None,
            ),
            "of trajectories share a run of calls": (
                "25.0 %",
                "get → set: 30 of 120 with a call; the most, of runs that are part of no longer one",
                None,
            ),
            "of changing calls come after a reading one": (
                "92.5 %",
                "37 of 40 calls of tools that change the state",
                None,
            ),
        },
    ),
    "grounding": (
        grounding.in_brief,
        GROUNDED,
        {
            "of ids in arguments are grounded": (
                "90.0 %",
                "90 of 100 id-like values stood in an earlier text that is not the agent's own",
                "Ids in arguments that no text before held but the agent's own: 10 of 100.",
            ),
            "of ids come from a result": (
                "60.0 %",
                "60 of 100 id-like values stood first in what a tool returned",
                None,
            ),
            # 20 values at 1, 25 at 2, 15 at 4: the middle of 60 is at 2.
            "calls from a result to the use of its value": ("2", "median over 60 values taken from results", None),
            "of trajectories link calls": (
                "75.0 %",
                "90 of 120 with a call use in one what another returned",
                None,
            ),
        },
    ),
    "reasoning": (
        reasoning.in_brief,
        THOUGHT,
        {
            "of messages carry a thought": (
                "94.0 %",
                "940 of 1,000 assistant messages",
                "Assistant messages without a thought: 60 of 1,000; trained on, they teach to leave it out.",
            ),
            "characters of a thought, median": (
                "310.5 / 200",
                "where there is one, the longest has 4,000; conversations / without a user",
                None,
            ),
        },
    ),
    "training_budget": (
        training_budget.in_brief,
        BUDGETED,
        {
            "tokens": (
                "100,000",
                "in 50 trajectories, each rendered once with every thought; 2,000 a trajectory",
                None,
            ),
            "of tokens in the largest part": ("80.0 %", "results: 80,000 of 100,000", None),
            "of tokens are trained on": (
                "25.0 %",
                "25,000 of 100,000: what the assistant says, thinks and calls",
                None,
            ),
            "of runs are over the cutoff": (
                "4.0 %",
                "2 of 50 are longer than 4,096 tokens, and 3 of 400 samples of one turn",
                "Samples longer than the cutoff of 4,096 tokens: 2 of 50 whole trajectories, 3 of 400 turns.",
            ),
            "of trained tokens are cut off": (
                "4.0 %",
                "1,000 of 25,000 when runs are cut at their end; 100 of 25,000 when trained turn by turn",
                None,
            ),
            # (380,000 + 20,000 + 45,000 + 5,000) / 100,000
            "times the tokens, turn by turn": (
                "4.5",
                "450,000 read in 400 samples of one turn, over 100,000 rendered once",
                None,
            ),
        },
    ),
    "dialogue": (
        dialogue.in_brief,
        SPOKEN,
        {
            "trajectories": ("100", "80 conversations, 20 without a user", None),
            "of records end with a marker": (
                "85.0 %",
                "85 of 100 say that they are done, have failed or stop; no label of success",
                # A text without a marker is an end all the same.
                "Records that break off: on an open call, a result, an error, the step limit, with nothing: 10 of 100.",
            ),
            "of conversations are asked back in": (
                "75.0 %",
                "in 60 of 80 a text of the agent ends in a question and makes no call",
                None,
            ),
            "of the agent's messages ask": ("15.0 %", "150 of 1,000 in conversations", None),
            "user messages, median": ("3", "in one of 80 conversations, the closing one included; 9 at most", None),
            "calls a user turn": ("1.88", "mean over 240 user turns that were answered", None),
            "of runs call a tool at once": (
                "70.0 %",
                "70 of 100 in the first assistant message; 6 make no call at all",
                "Trajectories without a call: 6 of 100.",
            ),
            "steps, with a user": (
                "+7.6",
                "more than without, mean over 18 scenarios run in both modes; 95 % interval 6.9 to 8",
                None,
            ),
        },
    ),
    "duplicates": (
        duplicates.in_brief,
        COPIED,
        {
            "trajectories compared": (
                "420",
                "400 distinct ones, by environment, task and calls with arguments",
                None,
            ),
            "of trajectories repeat another": (
                "4.8 %",
                "20 of 420, in 12 groups; the largest holds 5",
                "Trajectories that repeat an earlier one call for call: 20 of 420.",
            ),
            "of pairs of runs are the same": (
                "2 of 4",
                "2 of 4 pairs of runs of one scenario make the same calls with the same arguments",
                None,
            ),
            "similarity of two runs, median": (
                "1 / 0.38",  # (0.5 + 0.25) / 2, to even
                "calls with arguments, 1 = the same; 2 pairs of one mode / 2 across modes",
                None,
            ),
            "the same by tool names": (
                "1 / 0.88",
                "whatever the arguments are; pairs of one mode / across modes",
                None,
            ),
            "of tasks have a near twin": (
                "5.0 %",
                "10 of 200 scenarios, in 8 pairs that read as alike as asked for; 2 pairs share every run of words",
                "Tasks that read nearly like another scenario's: 10 of 200; keep both sides of a pair in one split.",
            ),
        },
    ),
    "rewards": (
        rewards.in_brief,
        REWARDED,
        {
            "trajectories with a reward": (
                "200",
                "of 210, over 50 scenarios",
                "Trajectories without a reward, left out of all that follows: 10 of 210.",
            ),
            "mean reward": ("0.42", "of a trajectory; 95 % interval 0.31 to 0.52", None),
            "of runs are solved": ("42.0 %", "84 of 200 have a reward of 1", None),
            "of scenarios are solved each time": ("30.0 %", "15 of 50, by every one of their runs", None),
            "of scenarios are never solved": (
                "28.0 %",
                "14 of 50, by none of their runs",
                "Scenarios that no run solves: 14 of 50.",
            ),
            # A model whose scenarios were run once is none that four trials tell of.
            "all trials solved": (
                "0.2 to 0.31",
                "pass^4: chance that as many trials are all solved; 2 models and modes with 90 scenarios",
                None,
            ),
            "of runs meet the step limit": (
                "1.5 %",
                "3 of 200 were stopped there by the runner",
                "Runs with a reward that the runner stopped at its step limit: 3 of 200.",
            ),
        },
    ),
    "compare": (
        compare.in_brief,
        COMPARED,
        {
            "trajectories": ("210 / 1,200", "left: left; right: right", None),
            "scenarios on both sides": ("190", "of 210 on the left and 400 on the right", None),
            "steps, mean": ("22 / 14.4", "left / right; of the difference 95 % interval 6.9 to 8.3", None),
            "of calls fail": (
                "12 % / 12 %",
                "of 2,500 calls on the left and 9,000 on the right whose result says ok or error; no measure of "
                "quality",
                "Calls whose result says neither ok nor error: 25 % on the left, 0 % on the right; error rates leave "
                "them out.",
            ),
            # Steps, the unknown share and calls per step; without an interval nothing is told apart.
            "numbers differ": (
                "3 of 5",
                "3 of 5 by more than their interval, over all scenarios of either side",
                None,
            ),
            "differ on the same scenarios": ("2 of 3", "2 of 3 numbers, by more than their interval", None),
            "tools offered on both sides": (
                "260",
                "2 more on the left only and 3 on the right only, in environments both have",
                "Environments that only one side has: 2.",
            ),
        },
    ),
}
EVERY = pytest.mark.parametrize("name", CASES)


def made(brief: Brief, results: Results, **instead: list[dict[str, Any]]) -> pl.LazyFrame:
    """The headlines of these results; a table named in `instead` has those rows."""
    return brief(*[rows(table, *instead.get(table.name, given)) for table, given in results.items()])


def read(found: pl.LazyFrame) -> Said:
    return {label: (value, meaning, attention) for value, label, meaning, attention in found.collect().iter_rows()}


def attention(found: pl.LazyFrame) -> list[str]:
    return found.collect()["attention"].drop_nulls().to_list()


@EVERY
def test_headlines_pool_both_modes_and_name_every_denominator(name: str) -> None:
    brief, results, said = CASES[name]
    found = read(made(brief, results))
    assert found == said
    assert list(found) == list(said), "in the order they are read"


@EVERY
def test_headlines_do_not_depend_on_the_order_of_rows(name: str) -> None:
    brief, results, _ = CASES[name]
    ordered = {sequences.NGRAMS}  # a list with the largest first stays one
    mixed = [
        frame if table in ordered else shuffled(frame)
        for table, frame in ((table, rows(table, *given)) for table, given in results.items())
    ]
    assert_frame_equal(brief(*mixed).collect(), made(brief, results).collect())


NOUGHT = {
    "sequences": ["–", "–", "0 of 0"],
    "grounding": ["0 of 0", "0 of 0", "–", "0 of 0"],
    "reasoning": ["0 of 0", "– / –"],
    "training_budget": ["0", "0 of 0", "0 of 0", "0 of 0", "0 of 0", "–"],
    "dialogue": ["0", "0 of 0", "0 of 0", "0 of 0", "–", "–", "0 of 0", "–"],
    "duplicates": ["0", "0 of 0", "0 of 0", "– / –", "– / –", "0 of 0"],
    # Their notebooks say in a sentence that there is nothing.
    "rewards": [],
    "compare": ["0 / 0", "0", "– / –", "– / –", "0 of 0", "0 of 0", "0"],
}


@EVERY
def test_without_a_record_headlines_say_nought_and_dash_and_nothing_needs_attention(name: str) -> None:
    brief, results, _ = CASES[name]
    found = brief(*[table.empty().lazy() for table in results]).collect()
    assert found["value"].to_list() == NOUGHT[name]
    assert found["meaning"].null_count() == 0
    assert found["attention"].null_count() == found.height
    assert found.schema == headlines.HEADLINES.schema


def test_without_a_record_what_cannot_be_named_is_said_in_words() -> None:
    flow = read(sequences.in_brief(*[table.empty().lazy() for table in FOLLOWED]))
    assert flow["of trajectories share a run of calls"][1] == "no run of calls is held by as many as asked for"


def test_the_last_bar_of_distances_says_that_it_holds_more() -> None:
    far = {"traj_type": TALK, "distance": grounding.LONGEST_DISTANCE, "values": 9}
    found = read(made(grounding.in_brief, GROUNDED, grounding_distances=[far]))
    assert found["calls from a result to the use of its value"][0] == "15 or more"


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((1, 1), "in 1 environment, under 1 name; no more"),
        ((2, 1), "in 2 environments, under 1 name; no more"),
        ((0, 1200), "in 0 environments, under 1,200 names; no more"),
        ((None, 11), "in 0 environments, under 11 names; no more"),
    ],
)
def test_a_noun_agrees_with_the_count_before_it(numbers: tuple[int | None, int], said: str) -> None:
    facts = pl.DataFrame([numbers], schema={"a": pl.UInt32, "b": pl.Int64}, orient="row")
    assert facts.select(headlines.say("in {} environment(s), under {} name(s); no more", "a", "b")).item() == said


def test_a_source_without_any_thought_is_not_told_to_miss_some() -> None:
    silent = [{"traj_type": TALK, "assistant_messages": 50, "without_reasoning": 50}]
    found = made(reasoning.in_brief, {reasoning.SUMMARY: silent})
    assert read(found)["of messages carry a thought"][0] == "0.0 %"
    assert read(found)["characters of a thought, median"] == ("– / –", "no message carries one", None)
    assert attention(found) == []


def test_without_a_scenario_in_both_modes_there_is_no_difference() -> None:
    found = read(made(dialogue.in_brief, {**SPOKEN, dialogue.PAIRED: []}))
    assert found["steps, with a user"] == ("–", "no scenario was run in both modes", None)


def test_fewer_steps_with_a_user_have_their_sign() -> None:
    fewer = {"quantity": "assistant messages", "scenarios": 1, "difference": -2.5}
    found = read(made(dialogue.in_brief, {**SPOKEN, dialogue.PAIRED: [fewer]}))
    assert found["steps, with a user"][0] == "-2.5"
    assert found["steps, with a user"][1].endswith("; too few for an interval")


def test_few_runs_without_a_call_need_no_attention() -> None:
    given = {**SPOKEN, dialogue.FIRST_CALLS: [{"step": 0, "trajectories": 4}, {"step": 1, "trajectories": 96}]}
    assert read(made(dialogue.in_brief, given))["of runs call a tool at once"][2] is None


def test_one_series_of_trials_is_one_number_and_single_runs_are_no_trials() -> None:
    one = {**REWARDED, rewards.PASS: [{"model": "m", "k": 4, "pass_all": 0.2, "scenarios": 50}]}
    assert read(made(rewards.in_brief, one))["all trials solved"] == (
        "0.2",
        "pass^4: chance that as many trials are all solved; over 50 scenarios",
        None,
    )
    single = {**REWARDED, rewards.PASS: [{"model": "m", "k": 1, "pass_all": 0.2, "scenarios": 50}]}
    assert read(made(rewards.in_brief, single))["all trials solved"] == (
        "–",
        "no scenario was run twice in one mode by one model",
        None,
    )


def test_sides_are_called_by_their_names_whatever_these_are() -> None:
    names = ("{} <b>", "runs/*.jsonl")
    given = [rows(table, *results) for table, results in COMPARED.items()]
    assert read(compare.in_brief(*given, names=names))["trajectories"][1] == "left: {} <b>; right: runs/*.jsonl"


@pytest.mark.parametrize(
    ("left", "right", "shared", "noted"),
    [
        (5, 0, 0, ["One side has no trajectory: 5 on the left, 0 on the right. There is nothing to compare."]),
        (5, 7, 0, ["No scenario stands on both sides (5 on the left, 7 on the right): their tasks differ."]),
        (5, 7, 1, []),
        (0, 0, 0, []),
    ],
)
def test_sides_that_share_nothing_are_noted(left: int, right: int, shared: int, noted: list[str]) -> None:
    counts = [
        {"counted": "trajectories", "left": left, "right": right, "shared": None},
        {"counted": "scenarios", "left": left, "right": right, "shared": shared},
    ]
    alone = {table: counts if table is compare.COUNTS else [] for table in COMPARED}
    found = made(compare.in_brief, alone)
    assert attention(found) == noted
    assert read(found)["steps, mean"][1] == "left / right; one side has none"
    assert read(found)["of calls fail"][1] == "left / right; one side has no call whose result says ok or error"
