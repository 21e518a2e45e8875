"""Overlap: planted copies, light paraphrases and unrelated tasks; tools by schema; against a plain comparison."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis import load
from analysis.cli.main import main
from analysis.gate import QUANTITIES
from analysis.gate.config import Gate
from analysis.measures import overlap
from analysis.schema import COMPARED
from tests.measures.frames import shuffled

GET, PAY = (
    '{"properties":{"id":{"type":"string"}},"type":"object"}',
    '{"properties":{"sum":{},"to":{}},"type":"object"}',
)
VOCABULARY = [f"{a}{b}" for a in ("ka", "lo", "mi", "ne", "pu", "ra", "si", "to") for b in ("n", "r", "st", "l", "m")]


def side(*items: tuple[str, str | None, str]) -> pl.LazyFrame:
    """Items of (kind, name, text), each of a record of its own."""
    rows = [(f"t{n}", kind, "bank", name, text) for n, (kind, name, text) in enumerate(items)]
    return pl.DataFrame(rows, COMPARED.schema, orient="row").lazy()


OWN = side(
    ("task", "1", "Pay Ann 30 now, please."),
    ("task", "2", "Close the account of Bob and send what is left on it to his sister."),
    ("task", "3", "Where is my parcel?"),
    ("tool", "get_user", GET),
    ("tool", "get_user", PAY),
    ("tool", "payNow", PAY),
    ("value", "id", "U-1"),
    ("value", "id", "U-2"),
)
OTHER = side(
    ("task", "a", "pay ann 30 NOW please"),
    ("task", "b", "Close the account of Bob and send what is left on it to his brother."),
    ("tool", "get_user", GET),
    ("tool", "pay_now", PAY),
    ("value", "user", "U-2"),
    ("value", "user", "U-9"),
)


def test_a_task_is_the_same_by_its_words_near_by_its_shingles() -> None:
    found = overlap.tasks(OWN, OTHER).collect().sort("name")
    assert found.select("name", "match", "other_name").rows() == [
        ("1", "same", "a"),
        ("2", "near", "b"),
        ("3", "none", None),
    ]
    assert found["similarity"].to_list() == [1.0, 12 / 14, None]  # 13 shingles of three words each, the last differs
    strict = overlap.tasks(OWN, OTHER, threshold=0.9).collect().filter(name="2")
    assert strict["match"].to_list() == ["none"]


def test_a_tool_is_the_same_by_name_and_parameters_only() -> None:
    found = overlap.tools(OWN, OTHER).collect()
    assert {(row["name"], row["text"]): row["match"] for row in found.iter_rows(named=True)} == {
        ("get_user", GET): "same",
        ("get_user", PAY): "none",  # get, user, sum, to beside pay, now, sum, to
        ("payNow", PAY): "near",
    }


def test_the_summary_has_denominators_and_shares_sum_to_one() -> None:
    found = overlap.summary(OWN, OTHER).collect()
    counts = found.select("kind", "items", "others", "same", "near", "none")
    assert counts.rows() == [("tasks", 3, 2, 1, 1, 1), ("tools", 3, 2, 1, 1, 1), ("values", 2, 2, 1, 0, 1)]
    sums = overlap.shares(found.lazy()).collect().group_by("kind").agg(pl.col("share").sum())
    assert sums["share"].round(9).to_list() == [1.0, 1.0, 1.0]
    assert overlap.values(OWN, OTHER).collect().rows() == [("U-2", "id", 1, 1)]


def test_nothing_is_new_where_there_is_nothing_to_compare_with() -> None:
    tools_alone = OTHER.filter(pl.col("kind") == "tool")
    assert overlap.summary(OWN, tools_alone).collect()["kind"].to_list() == ["tools"]
    assert overlap.summary(OWN, COMPARED.empty().lazy()).collect().is_empty()


def test_the_order_of_rows_does_not_matter() -> None:
    for measure in (overlap.tasks, overlap.tools, overlap.values, overlap.summary, overlap.recall):
        assert_frame_equal(measure(OWN, OTHER).collect(), measure(shuffled(OWN), shuffled(OTHER)).collect())


def said(rng: random.Random) -> str:
    return " ".join(rng.choice(VOCABULARY) for _ in range(rng.randint(40, 90)))


def reworded(text: str, every: int) -> str:
    """Each n-th word is another one."""
    return " ".join("another" if n % every == every - 1 else word for n, word in enumerate(text.split()))


def jaccard(one: str, other: str) -> float:
    """Over runs of three words, in plain Python."""
    left, right = (
        {tuple(words[n : n + 3]) for n in range(len(words) - 2)}
        for words in (one.lower().split(), other.lower().split())
    )
    return len(left & right) / len(left | right)


@pytest.fixture(scope="module")
def planted() -> tuple[list[str], list[tuple[str, str]]]:
    """Tasks of a benchmark; and of a source, with what was done: copied, reworded a little, or unrelated."""
    rng = random.Random(3)
    benchmark = [said(rng) for _ in range(120)]
    copies = [("copy", text.upper() + "!") for text in benchmark[:40]]
    light = [("light", reworded(text, rng.randint(11, 25))) for text in benchmark[40:]]
    return benchmark, [*copies, *light, *(("unrelated", said(rng)) for _ in range(150))]


def test_planted_tasks_are_found_and_unrelated_ones_are_not(
    planted: tuple[list[str], list[tuple[str, str]]],
) -> None:
    benchmark, source = planted
    own = side(*(("task", f"{kind} {n}", text) for n, (kind, text) in enumerate(source)))
    other = side(*(("task", str(n), text) for n, text in enumerate(benchmark)))
    found = overlap.tasks(own, other).collect()
    matches = dict(found.select("name", "match").rows())
    by_kind = [(name.split()[0], match) for name, match in matches.items()]
    assert by_kind.count(("copy", "same")) == 40
    alike = {
        f"{kind} {n}"
        for n, (kind, text) in enumerate(source)
        if kind == "light" and any(jaccard(text, known) >= overlap.THRESHOLD for known in benchmark)
    }
    assert len(alike) > 60
    proposed = {name for name, match in matches.items() if match == "near"}
    (tasks, _) = overlap.recall(own, other).collect().to_dicts()
    assert proposed <= alike
    assert len(proposed) >= tasks["expected_recall"] * len(alike) - 1
    assert tasks["recall"] >= 0.99
    assert by_kind.count(("unrelated", "none")) == 150


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.9])
def test_the_recall_stands_as_every_pair_compared_has_it(
    planted: tuple[list[str], list[tuple[str, str]]], threshold: float
) -> None:
    benchmark, source = planted
    texts = [text for _, text in source if not text.endswith("!")][:100]
    own = side(*(("task", str(n), text) for n, text in enumerate(texts)))
    other = side(*(("task", str(n), text) for n, text in enumerate(benchmark)))
    (row, _) = overlap.recall(own, other, threshold=threshold).collect().to_dicts()
    assert row["pairs"] == sum(jaccard(text, known) >= threshold for text in texts for known in benchmark)
    assert row["pairs_proposed"] >= 0.95 * row["pairs"]


def words_of(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def test_real_conversations_overlap_with_the_benchmark_they_come_from(shared_data: Path) -> None:
    data = load(
        shared_data / "tau_bench_airline_gpt4o.json", against=str(shared_data / "tau_bench_tasks.jsonl"), progress=False
    )
    tasks = {words_of(text) for text in _texts(shared_data / "tau_bench_tasks.jsonl", "instruction")}
    own = {words_of(row["task_info"]["task"]) for row in _json(shared_data / "tau_bench_airline_gpt4o.json")}
    (row, *_) = overlap.summary(data.compared, data.reference).collect().to_dicts()
    assert (row["items"], row["same"], row["none"]) == (len(own), len(own & tasks), 0)
    measured = QUANTITIES["overlap_tasks_share"].find(data, Gate())
    assert (measured.value, measured.events, measured.of) == (1.0, 50, 50)
    assert QUANTITIES["overlap_tools_share"].find(data, Gate()).reason == "the other set has no tools"


def asked(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}]}


def lines(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.usefixtures("own_cache")
def test_an_export_leaves_out_what_a_benchmark_has(
    tmp_path: Path, planted: tuple[list[str], list[tuple[str, str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    known = planted[0]
    # The first is asked twice, the second reworded, three are unlike any.
    said_here = [known[0].upper(), known[0], reworded(known[1], 20), *(text for _, text in planted[1][-3:])]
    source = lines(tmp_path / "own.jsonl", [asked(text) for text in said_here])
    benchmark = lines(tmp_path / "benchmark.jsonl", [{"id": "q", "question": [[{"content": t}]]} for t in known[:9]])
    words = ["export", source, "--format", "messages", "--quiet", "--where", "NOT overlaps"]
    assert main([*words, str(tmp_path / "none")]) == 2
    assert "name one with --against" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "out"), "--against", benchmark]) == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert (manifest["exported"], manifest["filtered"]) == (3, 3)
    like = ["export", source, str(tmp_path / "again"), "--quiet", "--like", str(tmp_path / "out" / "manifest.json")]
    assert main([*like, "--against", benchmark]) == 0
    first, again = ((tmp_path / name / "train.jsonl").read_bytes() for name in ("out", "again"))
    assert first == again
    lines(tmp_path / "benchmark.jsonl", [{"id": "q", "question": known[5]}])
    assert main([*like, "--against", benchmark]) == 2
    assert "not the set of the export to repeat" in capsys.readouterr().err


def test_a_gate_says_what_it_needs_where_nothing_was_named() -> None:
    assert "name one with --against" in QUANTITIES["overlap_tasks_share"].find(load("sample"), Gate()).reason


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _texts(path: Path, key: str) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)[key]
