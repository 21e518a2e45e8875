"""What goes with a reward: pairs counted by hand, by plain loops, and tau-bench's figures."""

from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import load
from analysis.measures import effects as m
from analysis.schema import ENVIRONMENT_TOOLS, REPLAYS, TOOL_CALLS, TRAJECTORIES
from tests.measures.frames import rows, shuffled
from tests.measures.small import NO_CALLS, NO_TRAJECTORIES

NO_KINDS = ENVIRONMENT_TOOLS.empty().lazy()
# Scenario, reward, steps: hard scenarios are long, and within each the solved run is the longer one.
RUNS = [(f"easy{i}", float(n > 3), 4 + n) for i in range(11) for n in range(5)]
RUNS += [(f"hard{i}", float(n == 4), 40 + n) for i in range(11) for n in range(5)]


def runs(*made: tuple[str, float, int], **everywhere: Any) -> pl.LazyFrame:
    """Trajectories as (task, reward, steps)."""
    names = ("task_id", "total_reward", "assistant_messages")
    given = [dict(zip(names, run, strict=True)) | {"trajectory_id": str(i)} for i, run in enumerate(made)]
    return rows(TRAJECTORIES, *given, **{"env_id": "bank"} | everywhere)


def of(found: pl.LazyFrame, quantity: str = "steps") -> dict[str, Any]:
    return found.filter(pl.col("quantity") == quantity).collect().row(0, named=True)


def test_within_a_scenario_the_solved_run_is_longer_and_over_all_it_is_not() -> None:
    found = of(m.effects(runs(*RUNS), NO_CALLS, NO_KINDS))
    assert (found["within_share"], found["pairs"], found["within_share_clusters"]) == (1, 22 * 4, 22)
    solved = [steps for _, reward, steps in RUNS if reward == 1]
    unsolved = [steps for _, reward, steps in RUNS if reward != 1]
    wins = sum(one > other for one, other in product(solved, unsolved))
    ties = sum(one == other for one, other in product(solved, unsolved))
    assert found["pooled_share"] == pytest.approx((wins + ties / 2) / len(solved) / len(unsolved))
    assert found["pooled_pairs"] == len(solved) * len(unsolved)


def test_ties_count_half_and_are_told() -> None:
    found = of(m.effects(runs(*RUNS), NO_CALLS, NO_KINDS), "writes")
    assert (found["within_share"], found["more"], found["ties"]) == (0.5, 0, 88)


def test_modes_and_models_are_never_paired_with_each_other() -> None:
    one = runs(*[(task, 1.0, 5) for task, _, _ in RUNS], model="one")
    other = runs(*[(task, 0.0, 9) for task, _, _ in RUNS], model="other").with_columns(pl.col("trajectory_id") + "b")
    found = of(m.effects(pl.concat([one, other]), NO_CALLS, NO_KINDS))
    assert (found["pairs"], found["within_share"]) == (0, None)
    assert found["pooled_pairs"] == 110 * 110


def test_few_pairs_have_no_share_and_none_no_row() -> None:
    found = of(m.effects(runs(("a", 1.0, 3), ("a", 0.0, 2)), NO_CALLS, NO_KINDS))
    assert (found["within_share"], found["pooled_share"], found["more"], found["pairs"]) == (None, None, 1, 1)
    assert m.effects(runs(("a", 1.0, 3), ("b", 1.0, 2)), NO_CALLS, NO_KINDS).collect().is_empty()
    assert m.effects(NO_TRAJECTORIES, NO_CALLS, NO_KINDS).collect().is_empty()


def test_a_hand_over_is_no_write_and_no_outcome_no_error() -> None:
    seen = runs(("a", 1.0, 3), ("a", 0.0, 2))
    calls = rows(
        TOOL_CALLS,
        {"trajectory_id": "0", "call": 1, "tool_name": "transfer_to_human_agents", "outcome": "unknown"},
        {"trajectory_id": "1", "call": 1, "tool_name": "book_flight", "outcome": "error"},
    )
    found = m.effects(seen, calls, NO_KINDS)
    assert (of(found, "writes")["more"], of(found, "writes")["ties"]) == (0, 0)
    assert (of(found, "error rate")["more"], of(found, "error rate")["ties"]) == (0, 0)


def test_checks_as_played_again_take_the_place_of_recorded_rewards() -> None:
    unsaid = runs(*[(task, 0.0, steps) for task, _, steps in RUNS])
    anew = [{"trajectory_id": str(i), "reward": reward} for i, (_, reward, _) in enumerate(RUNS)]
    played = rows(REPLAYS, *anew)
    recorded = m.effects(runs(*RUNS), NO_CALLS, NO_KINDS).collect()
    assert m.effects(unsaid, NO_CALLS, NO_KINDS).collect().is_empty()
    assert m.effects(unsaid, NO_CALLS, NO_KINDS, played).collect().equals(recorded)


def test_the_order_of_rows_is_irrelevant() -> None:
    seen = runs(*RUNS)
    assert of(m.effects(shuffled(seen), NO_CALLS, NO_KINDS)) == of(m.effects(seen, NO_CALLS, NO_KINDS))


def test_tau_benchs_effects_turn_round_within_scenarios(shared_data: Path) -> None:
    data = load(str(shared_data / "tau_bench_airline_gpt4o.json"))
    found = m.effects(data.trajectories, data.tool_calls, data.environment_tools)
    for quantity, pooled, within in (("steps", 0.32, 0.57), ("writes", 0.29, 0.45), ("error rate", 0.44, 0.50)):
        row = of(found, quantity)
        assert (row["pooled_share"], row["within_share"]) == pytest.approx((pooled, within), abs=0.005)
        assert (row["pairs"], row["within_share_clusters"]) == (88, 26)
        assert row["within_share_low"] < row["within_share"] < row["within_share_high"]
