"""The rules of outcomes against 300 results that were read and labelled by hand.

A line of `labelled_results.jsonl` names a result by its source, the record's and the call's number, and the hash of its
text. Texts of the sample are kept with it; those of others are read where they are. The draw was seeded, by source and
rule, and each text stands in it once.
"""

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from analysis import records
from analysis.records.model import Trajectory
from analysis.records.outcome import judge
from analysis.reference import method

HERE = Path(__file__).parent


class Labelled(NamedTuple):
    """A result's text and what a reader says of its call."""

    text: str
    label: str


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / "labelled_results.jsonl").read_text(encoding="utf-8").splitlines()]


def of_sample() -> list[Labelled]:
    return [Labelled(line["text"], line["label"]) for line in lines() if line["source"] == "sample"]


def of_others(folder: Path) -> Iterator[Labelled]:
    @cache
    def source(name: str) -> list[Any]:
        held = json.loads((folder / name).read_text(encoding="utf-8"))
        return held if isinstance(held, list) else [held]

    @cache
    def trajectory(name: str, number: int) -> Trajectory:
        read = records.read(json.dumps(source(name)[number]).encode(), name)
        assert isinstance(read, Trajectory)
        return read

    for line in lines():
        if line["source"] != "sample":
            read = trajectory(line["source"], line["record"])
            call = read.calls[line["call"]]
            assert call.result_message is not None
            text = read.messages[call.result_message].content if call.result_text is None else call.result_text
            assert hashlib.sha256(text.encode()).hexdigest() == line["sha256"], line
            yield Labelled(text, line["label"])


def figures(labelled: list[Labelled]) -> set[tuple[str, str, int, int, int]]:
    """(rule, outcome, results it decides, of these right, results with that label): a second time, in plain Python."""
    decided, right = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    labels = Counter(label for _, label in labelled)
    for text, label in labelled:
        outcome, rule, _ = judge(text)
        decided[rule, outcome] += 1
        right[rule, outcome] += outcome == label
    return {(*key, count, right[key], labels[key[1]]) for key, count in decided.items()}


def printed(material: str) -> set[tuple[str, str, int, int, int]]:
    with method.OUTCOME_RULES_FILE.open(encoding="utf-8") as file:
        return {
            (row["rule"], row["outcome"], int(row["decided"]), int(row["right"]), int(row["labelled"]))
            for row in csv.DictReader(file)
            if row["material"] == material
        }


def test_three_hundred_results_are_labelled_and_none_twice() -> None:
    hashes = [line["sha256"] for line in lines()]
    assert len(hashes) == len(set(hashes)) == 300
    assert all(hashlib.sha256(text.encode()).hexdigest() in hashes for text, _ in of_sample())


def test_the_figures_of_the_sample_are_those_printed() -> None:
    assert figures(of_sample()) == printed("sample")


def test_the_figures_of_real_results_are_those_printed(shared_data: Path) -> None:
    assert figures(list(of_others(shared_data))) == printed("real")


def test_no_error_of_the_sample_is_called_ok() -> None:
    assert not [text for text, label in of_sample() if label == "error" and judge(text)[0] == "ok"]


def test_no_real_error_is_called_ok_and_no_data_an_error(shared_data: Path) -> None:
    wrong = [(text, label) for text, label in of_others(shared_data) if {judge(text)[0], label} == {"ok", "error"}]
    assert not wrong


def test_the_method_page_prints_precision_and_recall() -> None:
    frame = method.outcome_rules()
    for row in frame.iter_rows(named=True):
        assert row["precision"] == pytest.approx(row["right"] / row["decided"])
        assert row["recall"] == (pytest.approx(row["right"] / row["labelled"]) if row["labelled"] else None)
    assert frame["decided"].sum() == 300
