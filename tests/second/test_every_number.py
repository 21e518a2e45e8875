"""Every number of every table, figure, title and headline of the pages, beside one that plain Python counts.

It counts from the raw records. A page that gains a table or a column without a second opinion fails here.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import load
from analysis.measures import claims
from analysis.records.rules import RULES
from analysis.sample import DEFAULT, records, siblings
from tests.measures.raw import read
from tests.second import of_calls, of_compare, of_records, of_texts, spelling
from tests.second.pages import Page, Shown, page
from tests.second.world import Rows, World, runs_of

# The method and the dictionary hold definitions, and numbers of simulations that a nightly test repeats.
ABOUT_THE_PROJECT = {"95_method", "96_dictionary"}
NOTEBOOKS = [
    path
    for path in sorted((Path(__file__).parent.parent.parent / "notebooks").glob("[0-9]*.ipynb"))
    if path.stem not in ABOUT_THE_PROJECT
]
OPINIONS: dict[str, Callable[[World], Rows]] = {
    **of_records.OPINIONS,
    **of_calls.OPINIONS,
    **of_texts.OPINIONS,
    **of_compare.OPINIONS,
}
KEYS = of_calls.KEYS | of_compare.KEYS
# Not figures of the source: what others published, and how many of that can be held against it.
NOT_FIGURES = {
    *("claims_verdicts", "claims_explained"),
    # MinHash's candidates are a matter of its hash; those it should have found are counted above.
    "duplicates_tasks_summary.candidates",
}

# The numbers of headlines that name a level or a setting, and the one rate that hangs on a draw of values to swap in.
SETTINGS = {"90 %", "95 %", "20", "32,768"}
# Of the project: rules of the contract, published figures, entries of the tokenizer.
SETTINGS |= {str(len(RULES)), str(len(list(claims.published()))), "151,643", "26"}
DRAWN = "swapped in from other trajectories of the environment, "


def _only_in_headlines(world: World, notebook: str) -> list[float]:
    """Figures that a page says first, or in a title, and in no table of its own."""
    runs, by_mode = world.runs, of_calls.by_mode(world).values()
    steps, made = (sum(run.raw.lengths[name] for run in runs) for name in ("steps", "tool calls"))
    said: dict[str, list[float]] = {
        "00_overview": [
            len({run.env for run in runs}),
            len({run.scenario for run in runs}),
            *(row["median"] for (quantity, _), row in of_records.lengths(world).items() if quantity == "steps"),
            *(sum(row[name] for row in by_mode) for name in ("calls", "errors", "judged", "unknown")),
        ],
        "20_step_lengths": [made / steps, *_own_edges(world)],
        "50_sequences": [
            sum(row["source"] not in ("agent", "none") for row in of_calls.values(world)),
            sum(row["trajectories"] for (_, chain), row in of_calls.chains(world).items() if chain > 1),
        ]
        if notebook == "50_sequences"
        else [],
        "65_diversity": _diverse(world) if notebook == "65_diversity" else [],
        "60_training_budget": _tokens(world) if notebook == "60_training_budget" else [],
        "80_environments": [
            sum(
                row[name] for row in of_records.environments(world).values() for name in ("query_tools", "change_tools")
            )
        ],
        "70_dialogue": [_user_messages(world)],
        "75_duplicates": _alike(world) if notebook == "75_duplicates" else [],
        "85_transcripts": [len(runs)],
    }
    return said.get(notebook, [])


def _user_messages(world: World) -> float:
    """Messages of the user in a conversation, on average."""
    talks = [run.raw for run in world.runs if run.mode == "conversation"]
    messages: int = sum(message["role"] == "user" for raw in talks for message in raw.messages)
    return messages / len(talks)


def _alike(world: World) -> list[float]:
    """Of each kind of pair the share whose calls with arguments are nearly the same."""
    kinds: dict[str, list[tuple[int, bool]]] = {}
    for (kind, compared, start), row in of_texts.similarity(world).items():
        if compared == "calls with arguments":
            kinds.setdefault(kind, []).append((row["pairs"], start >= 0.9))
    return [sum(n for n, is_alike in of if is_alike) / sum(n for n, _ in of) for of in kinds.values()]


def _own_edges(world: World) -> list[float]:
    """Runs at the longest length, in the three lengths below, and solved among the first."""
    longest = max(len(run.raw.assistant) for run in world.runs)
    there = [run for run in world.runs if len(run.raw.assistant) == longest]
    below = sum(longest - 3 <= len(run.raw.assistant) < longest for run in world.runs)
    return [longest, len(there), below, sum(run.reward == 1 for run in there)]


def _diverse(world: World) -> list[float]:
    """Tools not seen by chance at least, and calls of the longest chain and of all, on average."""
    tools = of_calls.hill(world)[("tools",)]
    long = {key: row["trajectories"] for key, row in of_calls.chains(world).items()}
    n, calls = sum(long.values()), sum(len(run.calls) for run in world.runs)
    return [tools["chao1"] - tools["hill_0"], sum(chain * k for (_, chain), k in long.items()) / n, calls / n, n, calls]


def _tokens(world: World) -> list[float]:
    rows = of_texts.budget_expansion(world).values()
    once = sum(row["trajectory_tokens"] for row in rows)
    read = sum(row["prefix_tokens"] + row["output_tokens"] for row in rows)
    return [once / len(world.runs), read, read / once]


def sample() -> World:
    raw = list(records(**DEFAULT))
    family = siblings(DEFAULT["environments"], DEFAULT["seed"])
    return World(runs_of(map(read, raw), raw), family[0], [*family[1], *family[2]], load("sample"))


def tau_bench(path: Path) -> World:
    raw = json.loads(path.read_text(encoding="utf-8"))
    return World(runs_of(map(read, raw), raw), [], [], load(str(path)))


@pytest.fixture(scope="module", params=["sample", "tau_bench_airline_gpt4o.json"])
def source(request: pytest.FixtureRequest) -> tuple[str, World]:
    if request.param == "sample":
        return "sample", sample()
    path: Path = request.getfixturevalue("shared_data") / request.param
    return str(path), tau_bench(path)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_number_of_a_page_has_a_second_opinion(notebook: Path, source: tuple[str, World]) -> None:
    name, world = source
    made = page(notebook, name)
    wrong = [fault for shown in made.shown if shown.result.name not in NOT_FIGURES for fault in faults(shown, world)]
    wrong += unknown(made, _only_in_headlines(world, notebook.stem), world)
    assert not wrong, "\n".join(wrong[:40])


def unknown(made: Page, others: list[float], world: World) -> list[str]:
    """Numbers of the headlines that are no figure of the second opinion, nor a rate of two that are."""
    tables = {shown.result.name for shown in made.shown} & OPINIONS.keys()
    figures = [figure for table in tables for figure in spelling.figures(OPINIONS[table](world))]
    known = spelling.spellings([*figures, *others]) | SETTINGS
    # A title tells of the rows that are drawn, and of their sums.
    drawn = [_of_the_rows(shown, world) for shown in made.shown if shown.result.name in tables]
    in_titles = known | spelling.spellings(
        value for rows in drawn for value in (*spelling.figures(rows), *spelling.shares(rows))
    )
    faults = []
    said = [" ".join(filter(None, (one.label, one.value, one.meaning, one.attention))) for one in made.headlines]
    for sentence, these in [*((one, known) for one in said), *((one, in_titles) for one in made.titles)]:
        told = these | spelling.rates(sentence) | set(spelling.numbers(sentence.partition(DRAWN)[2]))
        faults += [f"{number} in {sentence}" for number in spelling.numbers(sentence) if number not in told]
    return faults


def _of_the_rows(shown: Shown, world: World) -> Rows:
    """The second opinion of the rows that a figure draws."""
    rows = OPINIONS[shown.result.name](world)
    keys = KEYS.get(shown.result.name, shown.result.key)
    drawn = {_key(row, keys) for row in shown.frame.iter_rows(named=True)}
    return {key: row for key, row in rows.items() if key in drawn}


def _key(row: dict[str, Any], keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(round(row[name], 9) if isinstance(row[name], float) else row[name] for name in keys)


def faults(shown: Shown, world: World) -> list[str]:
    table = shown.result.name
    if shown.frame.is_empty():
        return []
    if table not in OPINIONS:
        return [f"{table}: no second opinion"]
    rows = OPINIONS[table](world)
    if table == "step_lengths_summary":
        rows = {key: row | of_texts.lengths_ends(world)[key] for key, row in rows.items()}
    keys = KEYS.get(table, shown.result.key)
    return [fault for row in shown.frame.iter_rows(named=True) for fault in _differences(table, keys, row, rows)]


def _differences(table: str, keys: tuple[str, ...], row: dict[str, Any], rows: Rows) -> list[str]:
    key = _key(row, keys)
    if key not in rows:
        return [f"{table}{key}: not a row of the second opinion"]
    told = rows[key]
    columns = [name for name, value in row.items() if _is_number(value) and name not in keys]
    columns += [name for name, value in told.items() if value is not None and name in row and row[name] is None]
    return [
        f"{table}{key}.{name}: {row[name]} is not {told.get(name, 'known to the second opinion')}"
        for name in columns
        if f"{table}.{name}" not in NOT_FIGURES and not (name in told and _is_same(name, row[name], told[name]))
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _is_same(name: str, found: Any, told: Any) -> bool:
    if found is None or told is None:
        return found is told
    if not isinstance(told, bool | int | float):  # within what a bootstrap can tell
        return bool(found == told)
    # The project has Student's t by a series: SciPy's differs in the fourth digit.
    is_end = name.endswith(("_low", "_high", "_deff")) or name == "smallest_difference"
    return math.isclose(found, told, rel_tol=3e-3 if is_end else 1e-9, abs_tol=2e-4 if is_end else 1e-9)


def test_a_headline_without_a_second_opinion_is_a_fault() -> None:
    rows: Rows = {("a",): {"calls": 1_200, "errors": 30}, ("b",): {"calls": 300, "errors": 7}}
    known = spelling.spellings(spelling.figures(rows))
    assert {"1,200", "1,500", "37"} <= known
    assert spelling.rates("37 of 1,500 calls") == {"2.5 %"}
    said = "2.5 %: 37 of 1,500 calls in env_7 fail; pass^4 is 0.2, 8 of 11 run"
    assert [n for n in spelling.numbers(said) if n not in known | spelling.rates(said)] == ["0.2", "8", "11"]


def test_a_titles_number_that_no_rows_come_to_is_a_fault() -> None:
    rows: Rows = {("a", "x"): {"calls": 1_200, "errors": 30}, ("b", "x"): {"calls": 300, "errors": 7}}
    known = spelling.spellings([*spelling.figures(rows), *spelling.shares(rows)])
    said = "37 errors in 1,500 calls, 2.5 %, of a 2.5 %; the median tool has 750 calls; 4.1 % of b, 38 in all"
    assert [n for n in spelling.numbers(said) if n not in known] == ["4.1 %", "38"]


def test_a_number_without_a_second_opinion_is_a_fault() -> None:
    frame = pl.DataFrame({"traj_type": ["conversation"], "calls": [3], "new": [0.5]})
    rows: Rows = {("conversation",): {"calls": 3}}
    (fault,) = _differences("outcomes_by_mode", ("traj_type",), frame.row(0, named=True), rows)
    assert "new" in fault
    rows["conversation",] = {"calls": 4, "new": 0.5}
    (fault,) = _differences("outcomes_by_mode", ("traj_type",), frame.row(0, named=True), rows)
    assert "calls" in fault
