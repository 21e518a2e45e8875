"""Secrets and personal data: trajectories counted by kind, those of reserved form apart."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import load
from analysis.brief.private import finding
from analysis.cli.main import main
from analysis.gate import QUANTITIES
from analysis.gate.config import Gate
from analysis.measures import private
from analysis.schema import PRIVATE, TRAJECTORIES
from tests.measures.frames import rows

SCANNED = rows(TRAJECTORIES, *({"trajectory_id": id_} for id_ in "abcd"))
FINDS = pl.DataFrame(
    [
        ("a", "e-mail", "open", "user", 2),
        ("a", "e-mail", "reserved", "user", 1),
        ("b", "e-mail", "reserved", "tool", 3),
        ("b", "key", "open", "assistant", 1),
        ("c", "phone", "reserved", "task", 1),
    ],
    PRIVATE.schema,
    orient="row",
).lazy()
MAIL, KEY = "ann.berg@mail.org", "ghp_" + "aB3" * 12


def test_kinds_are_counted_by_trajectory_with_reserved_forms_apart() -> None:
    found = private.kinds(FINDS, SCANNED).collect()
    counts = found.select("kind", "trajectories", "reserved_only", "all_trajectories", "finds", "reserved_finds")
    assert counts.rows() == [
        ("key", 1, 0, 4, 1, 0),
        ("password", 0, 0, 4, 0, 0),
        ("e-mail", 1, 1, 4, 2, 4),
        ("phone", 0, 1, 4, 0, 1),
        ("card", 0, 0, 4, 0, 0),
    ]


def test_the_finding_has_its_denominator_and_none_is_made_of_reserved_forms() -> None:
    summary = private.summary(FINDS, SCANNED).collect()
    assert summary.rows() == [(4, 1, 1, 2, 1)]
    assert finding(summary).startswith("2 of 4 trajectories hold what may be secrets or personal data: 1 a key")
    reserved = private.summary(FINDS.filter(pl.col("form") == "reserved"), SCANNED).collect()
    assert finding(reserved) == ""
    assert finding(private.summary(PRIVATE.empty().lazy(), SCANNED).collect()) == ""


@pytest.fixture
def planted(tmp_path: Path, own_cache: None) -> Path:
    """Three conversations: with an address and a key, with a reserved address, with nothing."""
    said = [f"I am {MAIL}, {KEY}", "I am ann@example.com", "Who am I?"]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(json.dumps(record(text)) for text in said) + "\n", encoding="utf-8")
    return path


def record(text: str) -> dict[str, Any]:
    arguments = json.dumps({"who": text, "password": "Tr0ub4dor"})
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": arguments}}
    return {
        "messages": [
            {"role": "user", "content": text},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"found": text})},
            {"role": "assistant", "content": "Done."},
        ]
    }


def test_a_gate_counts_what_was_planted(planted: Path) -> None:
    data = load(planted, progress=False)
    secrets, personal = (QUANTITIES[name].find(data, Gate()) for name in ("secrets_share", "personal_data_share"))
    assert (secrets.events, secrets.of) == (3, 3)  # each gives a password
    assert (personal.events, personal.of) == (1, 3)
    by_role = data.private.filter(pl.col("kind").cast(pl.String) == "e-mail").collect().select("form", "role", "finds")
    assert sorted(by_role.rows()) == [(f, r, 1) for f in ("open", "reserved") for r in ("assistant", "tool", "user")]


@pytest.mark.parametrize("shape", ["messages", "openai", "sharegpt", "parquet"])
def test_an_export_holds_nothing_of_what_was_redacted(planted: Path, tmp_path: Path, shape: str) -> None:
    out = tmp_path / "out"
    assert main(["export", str(planted), str(out), "--format", shape, "--redact", "--quiet"]) == 0
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["redacted"] == {"key": 3, "password": 3, "e-mail": 6, "phone": 0, "card": 0}
    (file,) = manifest["splits"]["train"]["files"]
    text = str(pl.read_parquet(out / file).to_dicts()) if shape == "parquet" else (out / file).read_text("utf-8")
    assert [word for word in (MAIL, KEY, "ann@example.com", "Tr0ub4dor") if word in text] == []
    assert "Who am I?" in text


def test_an_export_that_is_repeated_is_redacted_again(planted: Path, tmp_path: Path) -> None:
    words = ["export", str(planted), str(tmp_path / "first"), "--quiet", "--redact", "--format", "messages"]
    assert main(words) == 0
    manifest = tmp_path / "first" / "manifest.json"
    assert main(["export", str(planted), str(tmp_path / "again"), "--quiet", "--like", str(manifest)]) == 0
    first, again = ((tmp_path / name / "train.jsonl").read_bytes() for name in ("first", "again"))
    assert first == again
    assert MAIL.encode() not in again


def test_raw_records_cannot_be_redacted(planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(planted), str(tmp_path / "out"), "--format", "raw", "--redact", "--quiet"]) == 2
    assert "raw writes records as they are" in capsys.readouterr().err
