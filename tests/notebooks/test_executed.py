"""Every notebook of a question, executed: on the sample, on real conversations, on a part, and on nothing at all."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.conftest import Suite
from tests.notebooks.run import charts, execute, rows, text

pytestmark = pytest.mark.slow

TAU_BENCH = "tau_bench_airline_gpt4o.json"
REAL = {"source": TAU_BENCH}
NOTHING = {**REAL, "traj_type": "non_conversation"}
ONE_ENVIRONMENT = {"env_id": "env_7_sft"}
SIBLINGS = {
    "source": "envscaler_runner_fc.json",
    "environments": "envscaler_environment.json",
    "scenarios": "envscaler_rl_scenarios.json",
}
SIBLINGS_ALONE = {"source": SIBLINGS["source"]}


@dataclass(frozen=True)
class Case:
    """A notebook, its parameters (without any: on the sample), and what stands in it.

    A value that ends in .json or .jsonl is a file of the shared records. `titles` are words in the title of a chart,
    by its place; `empty` counts the sentences that stand in place of a chart.
    """

    notebook: str
    parameters: dict[str, Any]
    charts: int
    empty: int
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()
    titles: dict[int, str] = field(default_factory=dict)

    @property
    def is_of_the_suite(self) -> bool:
        """Does the suite execute it, too? Not what the sample has not, or was not asked for."""
        return not self.parameters and self.notebook not in ("77_overlap", "82_replay", "87_rewards")

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.parameters.items()]
        return " ".join([self.notebook, *given]).replace("source=", "").replace(".json", "")


CASES = [
    Case("00_overview", ONE_ENVIRONMENT, 4, 0, ("env_id = env_7_sft",)),
    Case("00_overview", NOTHING, 0, 4),  # what was published is known without any record
    Case("10_tool_usage", ONE_ENVIRONMENT, 5, 0, ("env_id = env_7_sft",)),
    Case("10_tool_usage", NOTHING, 0, 7),
    Case("20_step_lengths", ONE_ENVIRONMENT, 6, 0, ("env_id = env_7_sft",)),
    Case("20_step_lengths", NOTHING, 0, 6),
    Case("30_coverage", ONE_ENVIRONMENT, 1, 1, ("env_id = env_7_sft",)),  # it is spread over nothing: no Lorenz curve
    Case("30_coverage", NOTHING, 0, 3),
    Case("40_call_quality", {}, 15, 0, ("errors that are recovered",)),
    Case(
        "40_call_quality", {**REAL, "top": 5}, 11, 1,
        # 73 results start with "Error", of 920 that can be judged: counted over the raw file.
        ("Nothing to draw: tool and class of arguments other than valid", f"{100 * 73 / 920:.1f}"),
    ),
    Case("40_call_quality", NOTHING, 0, 15, ("the results of 0 say neither ok nor error",)),  # headlines, with nought
    Case(
        "50_sequences", {}, 9, 0, ("environments with different tools", "ids in arguments that are grounded")
    ),
    Case(
        "50_sequences", {**ONE_ENVIRONMENT, "min_n": 2}, 8, 0,
        ("One environment: a sequence is made of the names of its tools.",),
        titles={1: "_"},  # a run of whole tool names
    ),
    Case("50_sequences", REAL, 7, 0, ("credit_card_7334",)),  # made up by the agent
    Case("50_sequences", NOTHING, 0, 9, ("no sequence of calls occurs in as many trajectories as required",)),
    Case("60_training_budget", {}, 7, 0, ("is lost at a cutoff of",)),
    Case("60_training_budget", {"env_id": "env_1_sft", "cutoff": 4096}, 8, 0, ("Cut at 4,096 tokens",)),
    Case("60_training_budget", {"tokenizer": "estimate"}, 7, 0, ("an estimate, not a tokenizer",)),
    Case("60_training_budget", REAL, 4, 2),  # records without reasoning
    Case("60_training_budget", NOTHING, 0, 8),
    Case("65_diversity", {}, 1, 0),
    Case("65_diversity", REAL, 1, 0, ("tools, if all were used equally often",)),
    Case("65_diversity", NOTHING, 0, 1),
    Case("70_dialogue", {}, 6, 0),
    Case("70_dialogue", {"traj_type": "non_conversation"}, 0, 4),  # one mode alone has nothing to pair
    Case("70_dialogue", NOTHING, 0, 6),
    Case("75_duplicates", {}, 1, 0),
    Case("75_duplicates", REAL, 1, 0, titles={0: "300 in the same mode"}),  # 50 tasks, 4 trials: 6 pairs each
    Case("75_duplicates", NOTHING, 0, 1),
    Case("77_overlap", {}, 0, 1, ("This source was not held against another set.",)),
    Case(
        "77_overlap", {**REAL, "against": "tau_bench_tasks.jsonl"}, 1, 0,
        # 50 tasks of the airline, of which 13 are written alike: counted over the raw files.
        ("50 of 50 tasks: 13 have the same words, 37 nearly", "The other set has no tools"),
    ),
    Case(
        "77_overlap", {**SIBLINGS_ALONE, "against": "envscaler_environment.json"}, 1, 0,
        ("18 of 18 tools", "The other set has no tasks, no values"),
    ),
    Case("80_environments", {}, 2, 0),
    Case("80_environments", SIBLINGS, 2, 0, titles={1: "n = 3 scenarios with checks"}),
    Case(
        "80_environments", REAL, 0, 2,
        ("name the sibling sets in the parameters environments and scenarios",),
        ("tools an environment, median",),
    ),
    Case("82_replay", {}, 0, 3, ("This source was not replayed: nothing replays unless asked.",)),
    Case(
        "82_replay", {**SIBLINGS, "replay": True}, 1, 0,
        ("All 58 calls played come out as recorded", "3 of 3"),
        ("was not replayed",),
    ),
    Case("85_transcripts", NOTHING, 0, 0, ("no rows in this source or selection",)),
    Case(
        "87_rewards", REAL, 5, 1,
        ("of 200, over 50 scenarios", "Scenarios that no trajectory solves: 14 of 50."),
        ("No rewards here",),
        {1: "that all 4 trials are, 0.2"},
    ),
    Case(
        "87_rewards", {}, 0, 8,
        ("No rewards here: no trajectory of this source has total_reward",),
        ("trajectories with a reward",),
    ),
    Case("90_compare", {}, 5, 0, ("Left: with user; right: without user",)),
    Case(
        "90_compare", {"other": TAU_BENCH}, 3, 2,
        (
            "Nothing to draw: quantity of the scenarios both sides have",
            "Nothing to draw: tool both sides offer",
            "tau_bench_airline",  # its environment is listed as lost
        ),
    ),
    Case("90_compare", REAL, 2, 3),  # a source of one mode has no other half
]  # fmt: skip


@pytest.fixture
def notebook(case: Case, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """The case's notebook, executed; on the sample it is the one that the suite's own pages are made of."""
    if case.is_of_the_suite:
        suite: Suite = request.getfixturevalue("sample_suite")
        return nbformat.read(suite.executed / f"{case.notebook}.ipynb", as_version=4)
    given = {
        name: str(request.getfixturevalue("shared_data") / value) if str(value).endswith((".json", ".jsonl")) else value
        for name, value in case.parameters.items()
    }
    return execute(f"{case.notebook}.ipynb", tmp_path, **given)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_notebook_draws_its_charts_or_says_why_not(case: Case, notebook: Any) -> None:
    drawn, words = charts(notebook), text(notebook)
    assert [0 < rows(chart) <= 2_000 for chart in drawn] == [True] * case.charts
    assert words.count("Nothing to draw") == case.empty
    assert [part for part in case.says if part not in words] == []
    assert [part for part in case.never_says if part in words] == []
    for place, part in case.titles.items():
        assert part in str(drawn[place]["title"])
