"""A mask takes what it says, counted again over the raw records, and nothing that recovers."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import load
from analysis.cli.main import main
from analysis.export import ExportError, ExportRequest, export, masks
from analysis.export.on_demand import qwen_tokens
from analysis.measures import masks as measure
from analysis.measures import samples
from analysis.records import read
from analysis.records.model import Trajectory
from tests.builders import decode, step, trajectory
from tests.conftest import ROOT

ALL = ("errors", "unrun", "repeats")


def taken(*steps: Any, rules: tuple[str, ...] = ALL) -> list[tuple[str, ...]]:
    """Of each assistant message the rules that take it."""
    record = read(json.dumps(trajectory(steps=list(steps))).encode(), "here", 0)
    assert isinstance(record, Trajectory)
    found = masks.masked(record, rules)
    spoken = [place for place, message in enumerate(record.messages) if message.role == "assistant"]
    return [found.get(place, ()) for place in spoken]


def test_a_failing_call_is_masked_and_what_recovers_is_not() -> None:
    steps = step("pay", error="no funds"), step("pay", arguments={"a": 1})
    assert taken(*steps)[:2] == [("errors",), ()]


def test_a_call_without_a_result_is_masked_and_a_text_is_not() -> None:
    assert taken(step("pay", answered=False), step(says="Hello."))[:2] == [("unrun",), ()]


def test_a_call_repeats_with_the_same_arguments_and_result_only() -> None:
    first = step("get", arguments={"a": 1, "b": 2}, result="x")
    others = [step("get", arguments={"a": 1, "b": 2}, result="y"), step("get", arguments={"a": 1}, result="x")]
    again = step("get", arguments='{"b": 2, "a": 1}', result="x")
    assert taken(first, *others, again)[:4] == [(), (), (), ("repeats",)]


def test_only_the_rules_asked_for_mask() -> None:
    assert taken(step("pay", error="no funds"), step("pay", error="no funds"), rules=("repeats",))[:2] == [
        (),
        ("repeats",),
    ]
    with pytest.raises(ExportError, match="no rule 'error'; nearest: errors"):
        masks.rules_of("error")
    assert masks.rules_of(" errors, repeats,errors") == ("errors", "repeats")


# Assistant messages of the sample.
STEPS = 7_655


def plain_counts(path: Path) -> Counter[str]:
    """The same over raw records of the release's shape by plain Python, on the sample's own result texts."""
    counts: Counter[str] = Counter()
    for record in json.loads(path.read_text("utf-8")):
        seen: set[tuple[str, str, str]] = set()
        messages = json.loads(record["messages"]) if isinstance(record["messages"], str) else record["messages"]
        for message, answer in zip(messages, [*messages[1:], None], strict=True):
            if message["role"] != "assistant" or not message.get("tool_calls"):
                continue
            ((call),) = message["tool_calls"]
            function = call["function"]
            arguments = function["arguments"]
            value = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
            told = answer["content"] if answer else ""
            is_error = "'success': False" in told or told.startswith("Error:")
            made = (function["name"], json.dumps(value, sort_keys=True), told)
            counts["errors"] += is_error
            counts["repeats"] += made in seen
            counts["any"] += is_error or made in seen
            seen.add(made)
    return counts


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masks")
    export(ExportRequest("sample", folder / "raw", "raw", progress=False))
    return folder / "raw" / "train.json"


@pytest.mark.parametrize("shape", ["messages", "openai", "sharegpt", "alpaca-mask-history", "parquet"])
def test_every_format_masks_what_plain_python_counts(sample: Path, shape: str, tmp_path: Path) -> None:
    counts = plain_counts(sample)
    manifest = export(ExportRequest(str(sample), tmp_path / "out", shape, mask=ALL, progress=False))
    told = manifest["mask"]["messages"]
    assert (told["errors"], told["repeats"], told["any"]) == (counts["errors"], counts["repeats"], counts["any"])
    assert counts["errors"] == 703
    assert masked_in(tmp_path / "out", shape) == counts["any"]


def masked_in(folder: Path, shape: str) -> int:
    if shape == "parquet":
        rows = pl.read_parquet(folder / "*.parquet")["messages"].to_list()
        return sum(message["loss_mask"] == 0 for messages in rows for message in messages)
    rows = [json.loads(line) for line in (folder / "train.jsonl").read_text("utf-8").splitlines()]
    if shape == "alpaca-mask-history":
        return STEPS - len(rows)
    key, of = ("loss", "conversations") if shape == "sharegpt" else ("weight", "messages")
    key = "loss_mask" if shape == "messages" else key
    weights = [message.get(key) for row in rows for message in row[of]]
    return sum(weight is not None and not weight for weight in weights)


def test_tokens_of_the_manifest_are_those_of_the_masked_messages(tmp_path: Path) -> None:
    data = load("sample", progress=False)
    manifest = export(ExportRequest("sample", tmp_path / "out", "openai", mask=("errors",), progress=False))
    failing = {
        (row["trajectory_id"], row["message"])
        for row in data.tool_calls.filter(pl.col("outcome") == "error").collect().iter_rows(named=True)
    }
    counts = samples.supervised(qwen_tokens(data)).collect()
    expected = sum(n for id_, message, n in counts.rows() if (id_, message) in failing)
    assert manifest["mask"]["supervised_tokens"] == {"errors": expected, "any": expected}


def test_the_price_on_the_page_is_what_an_export_takes_at_most(tmp_path: Path) -> None:
    data = load("sample", progress=False)
    manifest = export(ExportRequest("sample", tmp_path / "out", "openai", mask=ALL, progress=False))
    rows = measure.price(qwen_tokens(data), data.tool_calls, data.findings).collect()
    told = {row["rule"]: row for row in rows.iter_rows(named=True)}
    for rule in ("errors", "unrun"):
        assert told[rule]["messages"] == manifest["mask"]["messages"][rule]
        assert told[rule]["supervised"] == manifest["mask"]["supervised_tokens"][rule]
    for rule in ("repeats", "any"):
        assert told[rule]["messages"] >= manifest["mask"]["messages"][rule]
    assert told["any"]["all_messages"] == manifest["mask"]["of_messages"]


def test_the_projects_page_tells_the_price_on_the_sample(tmp_path: Path) -> None:
    mask = export(ExportRequest("sample", tmp_path / "out", "openai", mask=ALL, progress=False))["mask"]
    said = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert f"The sample's {mask['of_messages']:,} assistant messages lose {mask['messages']['any']:,} to it" in said
    assert f"{mask['supervised_tokens']['any']:,} of {mask['of_supervised_tokens']:,} supervised tokens" in said


def test_nothing_has_no_price() -> None:
    data = decode()
    assert measure.price(qwen_tokens(data), data.tool_calls, data.findings).collect().is_empty()


@pytest.mark.parametrize("shape", ["raw", "atif"])
def test_a_format_without_a_place_for_a_mask_refuses_it(
    shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "sample", str(tmp_path / "out"), "--format", shape, "--mask", "errors", "--quiet"]) == 2
    assert "has no place for it; one of messages, openai" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
