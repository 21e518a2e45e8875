"""Headlines: what the figures of a page say, both modes together, and what of it needs attention."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import (
    arguments,
    coverage,
    grounding,
    headlines,
    outcomes,
    reasoning,
    recovery,
    repeats,
    sequences,
    step_lengths,
    tool_usage,
    training_budget,
)
from analysis.schema import Table
from tests.measures.frames import rows, shuffled

TALK, SOLO = "conversation", "non_conversation"

Results = dict[Table, list[dict[str, Any]]]
Brief = Callable[..., pl.LazyFrame]

CALLED: Results = {
    outcomes.MODES: [
        {"traj_type": TALK, "calls": 1_040, "errors": 90, "judged": 1_000, "unknown": 40},
        {"traj_type": SOLO, "calls": 260, "errors": 10, "judged": 250, "unknown": 10},
    ]
}
CLASSES: Results = {
    arguments.CLASSES: [
        {"traj_type": TALK, "verdict": "valid", "calls": 1_000},
        {"traj_type": TALK, "verdict": "over_required", "calls": 40},
        {"traj_type": SOLO, "verdict": "valid", "calls": 200},
        {"traj_type": SOLO, "verdict": "wrong_type", "calls": 10},
        {"traj_type": SOLO, "verdict": "unchecked", "calls": 50},
    ]
}
RECOVERED: Results = {
    recovery.SUMMARY: [
        {"traj_type": TALK, "errors": 90, "recovered": 60, "identical_retries": 9},
        {"traj_type": SOLO, "errors": 10, "recovered": 5, "identical_retries": 1},
    ]
}
REPEATED: Results = {
    repeats.SHARES: [
        {"traj_type": TALK, "kind": "query", "calls": 900, "repeats": 30, "idle_repeats": 20},
        {"traj_type": SOLO, "kind": "change", "calls": 300, "repeats": 6, "idle_repeats": 4},
    ],
    repeats.LOOPING: [
        {"traj_type": TALK, "period": 0, "loops": 3, "trajectories": 3, "mode_trajectories": 100},
        {"traj_type": TALK, "period": 1, "loops": 3, "trajectories": 3, "mode_trajectories": 100},
        {"traj_type": SOLO, "period": 0, "loops": 0, "trajectories": 0, "mode_trajectories": 20},
    ],
}
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
        {"traj_type": TALK, "source": "result", "values": 60},
        {"traj_type": TALK, "source": "none", "values": 5},
        {"traj_type": SOLO, "source": "user", "values": 30},
        {"traj_type": SOLO, "source": "agent", "values": 5},
    ],
    grounding.DISTANCES: [
        {"traj_type": TALK, "distance": 1, "values": 20},
        {"traj_type": TALK, "distance": 4, "values": 15},
        {"traj_type": SOLO, "distance": 2, "values": 25},
    ],
    grounding.CHAINS: [
        {"traj_type": TALK, "longest_chain": 1, "trajectories": 30},
        {"traj_type": TALK, "longest_chain": 3, "trajectories": 70},
        {"traj_type": SOLO, "longest_chain": 2, "trajectories": 20},
    ],
}
USED: Results = {
    tool_usage.ACROSS: [
        {
            "environments": 2, "offered_tools": 40, "distinct_names": 35, "used_tools": 34, "unused_tools": 6,
            "calls": 1_000, "undeclared_calls": 10, "top_tenth_share": 0.4,
        }
    ],
    tool_usage.BUSIEST: [
        {"env_id": "bank", "tool_name": None, "calls": 300},
        {"env_id": "bank", "tool_name": "get_user", "calls": 202},
        {"env_id": "shop", "tool_name": "pay", "calls": 100},
    ],
    tool_usage.RATES: [{"band": 0, "tools": 5}, {"band": 9, "tools": 10}, {"band": 10, "tools": 10}],
    tool_usage.BREADTH: [
        {"traj_type": TALK, "breadth_from": 0.2, "median_breadth": 0.254},
        {"traj_type": TALK, "breadth_from": 0.3, "median_breadth": 0.254},
        {"traj_type": SOLO, "breadth_from": 0.4, "median_breadth": 0.5},
    ],
}  # fmt: skip
MEASURED: Results = {
    step_lengths.SUMMARY: [
        {
            "quantity": "steps", "traj_type": TALK, "trajectories": 90, "total": 1_000, "median": 12.5, "p95": 30.0,
            "maximum": 39, "at_edge_low": 1, "at_edge_high": 4, "outside_edges": 0,
        },
        {
            "quantity": "steps", "traj_type": SOLO, "trajectories": 10, "total": 200, "median": 20.0, "p95": 28.5,
            "maximum": 29, "at_edge_low": 0, "at_edge_high": 2, "outside_edges": 0,
        },
        {"quantity": "tool calls", "traj_type": TALK, "trajectories": 90, "total": 700, "median": 7.0},
        {"quantity": "tool calls", "traj_type": SOLO, "trajectories": 10, "total": 190, "median": 19.0},
        {"quantity": "user messages", "traj_type": TALK, "trajectories": 90, "median": 5.0, "maximum": 11},
        {"quantity": "user messages", "traj_type": SOLO, "trajectories": 10, "median": 1.0, "maximum": 1},
    ]
}  # fmt: skip
COVERED: Results = {
    coverage.BALANCE: [
        {
            "grain": "trajectories", "has_catalogue": True, "environments": 30, "seen": 25, "absent": 5, "total": 1_200,
            "minimum": 0, "median": 38.5, "maximum": 90, "effective_environments": 20.04, "top_tenth_share": 0.2,
        },
        {"grain": "scenarios", "has_catalogue": True, "environments": 30, "seen": 25, "total": 600, "median": 20.0},
    ],
    coverage.SCENARIO_SUMMARY: [
        {
            "has_catalogue": True, "scenarios": 800, "present": 600, "missing": 200, "uncatalogued": 0, "seen": 600,
            "paired": 540, "repeats": 7, "trajectories": 1_190, "unnamed": 10,
        }
    ],
}  # fmt: skip
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

# A page's question, what its headlines are made of, and what they say: value, meaning, attention by label.
Said = dict[str, tuple[str, str, str | None]]
CASES: dict[str, tuple[Brief, Results, Said]] = {
    "outcomes": (
        outcomes.in_brief,
        CALLED,
        {
            "tool calls": ("1,300", "unreadable blocks included; the results of 50 say neither ok nor error", None),
            "of calls fail": (
                "8.0 %",
                "100 of 1,250 calls whose result says ok or error; no measure of quality",
                None,
            ),
        },
    ),
    "arguments": (
        arguments.in_brief,
        CLASSES,
        {
            # 1,200 of 1,000 + 40 + 200 + 10; the 50 that nothing could check are left out
            "of calls fit their schema": (
                "96.0 %",
                "1,200 of 1,250 calls that can be held against one; 40 more leave out what the tool did without",
                None,
            ),
        },
    ),
    "recovery": (
        recovery.in_brief,
        RECOVERED,
        {
            "of errors are recovered": ("65.0 %", "after 65 of 100 errors a later call of the same tool is ok", None),
            "of errors are retried unchanged": ("10.0 %", "after 10 of 100 errors the next call is the same", None),
        },
    ),
    "repeats": (
        repeats.in_brief,
        REPEATED,
        {
            "of calls repeat an earlier one": (
                "3.0 %",
                "36 of 1,200 calls that name a tool; 24 with no changing call in between",
                None,
            ),
            # A trajectory that loops at one period counts once: the row of any period has it.
            "of trajectories loop": (
                "2.5 %",
                "3 of 120 with a call repeat a block of calls three times or more",
                "Trajectories that make the same calls three times in a row or more: 3 of 120.",
            ),
        },
    ),
    "sequences": (
        sequences.in_brief,
        FOLLOWED,
        {
            "likely next calls": (
                "3.2",  # (2 + 4.5) / 2, to even
                "equally likely calls after the last, median over 2 environments with 20 transitions or more",
                None,
            ),
            "run that most trajectories share": ("get → set", "30 of 120 trajectories with a call hold it", None),
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
    "tool_usage": (
        tool_usage.in_brief,
        USED,
        {
            "tools offered": ("40", "in 2 environments, under 35 distinct names", None),
            "of tools are called": (
                "85.0 %",
                "34 of 40 tools of an environment, once or more",
                "Tools that are offered and never called: 6 of 40.",
            ),
            "tool calls": (
                "1,010",
                "1,000 of a tool on offer; 10 of a name not on offer, or of none",
                "Calls of a tool that is not on offer, or that name none: 10 of 1,010.",
            ),
            # Blocks that name no tool are more, and are no tool.
            "of calls go to the busiest tool": ("20.0 %", "get_user in bank: 202 of 1,010", None),
            "of tools are called by nearly all": (
                "40.0 %",
                "by over 90 % of the runs offered them: 10 of 25 tools offered to 20 or more",
                None,
            ),
            "of its tools a run calls, median": (
                "25 % / 50 %",
                "distinct tools called of those offered; conversations / without a user",
                None,
            ),
            "of calls go to the busiest tenth": (
                "40.0 %",
                "400 of 1,000 calls, to the most called tenth of the tools on offer",
                None,
            ),
        },
    ),
    "step_lengths": (
        step_lengths.in_brief,
        MEASURED,
        {
            "trajectories": ("100", "90 conversations, 10 without a user", None),
            "steps, median": ("12.5 / 20", "a step is an assistant message; conversations / without a user", None),
            "steps, 95th percentile": (
                "30 / 28.5",
                "one run in twenty is longer; conversations / without a user",
                None,
            ),
            "steps, most": ("39 / 29", "in the longest run; conversations / without a user", None),
            "tool calls, median": (
                "7 / 19",
                "in a run, unreadable blocks included; conversations / without a user",
                None,
            ),
            "calls a step": ("0.74", "890 calls over 1,200 steps", None),
            "user messages, median": ("5", "in one of 90 conversations, the closing one included; 11 at most", None),
            "of runs stand at the edge": (
                "7.0 %",
                "of the publisher's filter: 1 with the fewest steps it kept, 6 with the most; 0 lie outside",
                "Runs with exactly as many steps as the publisher kept at most: 6 of 100, and none longer; those that "
                "were longer are missing.",
            ),
        },
    ),
    "coverage": (
        coverage.in_brief,
        COVERED,
        {
            "environments with a trajectory": (
                "25",
                "of 30, those of the catalogue included; 5 have none",
                "Environments of the catalogue without any trajectory: 5 of 30.",
            ),
            "trajectories an environment, median": ("38.5", "from 0 to 90; 1,200 name an environment", None),
            "effective environments": ("20", "as many equal ones would be as diverse as these 30", None),
            "of trajectories in the largest tenth": (
                "20.0 %",
                "240 of 1,200 belong to the largest tenth of the environments",
                None,
            ),
            "scenarios played": (
                "75.0 %",
                "600 of 800 in the catalogue, and 0 that it does not list",
                "Scenarios of the catalogue without a trajectory: 200 of 800.",
            ),
            "of scenarios run in both modes": ("90.0 %", "540 of 600 that were run", None),
            "runs beyond the first": (
                "7",
                "of a scenario in one mode, among 1,190 that name their scenario",
                "Trajectories that name no scenario: 10 of 1,200.",
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
    ordered = {tool_usage.BUSIEST, sequences.NGRAMS}  # a list with the largest first stays one
    mixed = [
        frame if table in ordered else shuffled(frame)
        for table, frame in ((table, rows(table, *given)) for table, given in results.items())
    ]
    assert_frame_equal(brief(*mixed).collect(), made(brief, results).collect())


NOUGHT = {
    "outcomes": ["0", "0 of 0"],
    "arguments": ["0 of 0"],
    "recovery": ["0 of 0"] * 2,
    "repeats": ["0 of 0"] * 2,
    "sequences": ["–", "–", "0 of 0"],
    "grounding": ["0 of 0", "0 of 0", "–", "0 of 0"],
    "tool_usage": ["0", "0 of 0", "0", "0 of 0", "0 of 0", "– / –", "0 of 0"],
    "step_lengths": ["0", "– / –", "– / –", "– / –", "– / –", "–", "–", "0 of 0"],
    "coverage": ["0", "–", "–", "0 of 0", "0", "0 of 0", "0"],
    "reasoning": ["0 of 0", "– / –"],
    "training_budget": ["0", "0 of 0", "0 of 0", "0 of 0", "0 of 0", "–"],
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
    assert flow["run that most trajectories share"][1] == "no run of calls is held by as many as asked for"
    used = read(tool_usage.in_brief(*[table.empty().lazy() for table in USED]))
    assert used["of calls go to the busiest tool"][1] == "no call names a tool"


def test_the_last_bar_of_distances_says_that_it_holds_more() -> None:
    far = {"traj_type": TALK, "distance": grounding.LONGEST_DISTANCE, "values": 9}
    found = read(made(grounding.in_brief, GROUNDED, grounding_distances=[far]))
    assert found["calls from a result to the use of its value"][0] == "15 or more"


def test_a_rate_over_fewer_than_twenty_is_counts() -> None:
    few = [{"traj_type": TALK, "errors": 19, "recovered": 7}]
    assert read(made(recovery.in_brief, {recovery.SUMMARY: few}))["of errors are recovered"][0] == "7 of 19"


def test_unknown_results_need_attention_from_a_fifth_of_the_calls_on() -> None:
    def noted(unknown: int) -> list[str]:
        return attention(
            made(outcomes.in_brief, {outcomes.MODES: [{"traj_type": TALK, "calls": 100, "unknown": unknown}]})
        )

    assert noted(19) == []
    assert noted(20) == ["Calls whose result says neither ok nor error: 20 of 100; error rates leave them out."]


def test_broken_arguments_need_attention_from_a_twentieth_on_and_over_required_ones_never() -> None:
    def noted(verdict: str, calls: int) -> list[str]:
        classes = [{"traj_type": TALK, "verdict": "valid", "calls": 100 - calls}]
        return attention(
            made(arguments.in_brief, {arguments.CLASSES: [*classes, {"verdict": verdict, "calls": calls}]})
        )

    assert noted("wrong_type", 4) == []
    assert noted("over_required", 50) == []
    assert noted("unchecked", 50) == []
    assert noted("wrong_type", 5) == ["Calls that break the schema of their tool: 5 of 100."]


def test_a_source_without_any_thought_is_not_told_to_miss_some() -> None:
    silent = [{"traj_type": TALK, "assistant_messages": 50, "without_reasoning": 50}]
    found = made(reasoning.in_brief, {reasoning.SUMMARY: silent})
    assert read(found)["of messages carry a thought"][0] == "0.0 %"
    assert read(found)["characters of a thought, median"][0] == "– / –"
    assert attention(found) == []


def test_a_source_with_longer_runs_was_not_cut_at_the_edge() -> None:
    (talk, solo, *others) = MEASURED[step_lengths.SUMMARY]
    given = {step_lengths.SUMMARY: [{**talk, "outside_edges": 1}, solo, *others]}
    assert attention(made(step_lengths.in_brief, given)) == []


def test_without_a_catalogue_what_is_missing_is_not_known() -> None:
    given: Results = {
        coverage.BALANCE: [{"grain": "trajectories", "environments": 3, "seen": 3, "total": 30, "median": 10.0}],
        coverage.SCENARIO_SUMMARY: [{"scenarios": 12, "present": 12, "seen": 12, "trajectories": 30}],
    }
    found = read(made(coverage.in_brief, given))
    unknown = "no catalogue was given: how many are missing is not known"
    assert found["environments with a trajectory"] == ("3", unknown, None)
    assert found["scenarios played"] == ("12", unknown, None)
