"""What the page of a replay, the gate and an export say of the sample, held against what was done to it."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from analysis import load, sample
from analysis.cli.main import main
from analysis.gate import QUANTITIES
from analysis.measures import replay as m
from analysis.tables import Tables
from tests.replay.test_sample import SIZE, calls_of, tampered, truth

pytestmark = pytest.mark.slow

KINDS = ("nothing", "result", "argument", "missing call")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """The folder of a sample of which every fourth record is left as it is, and its records."""
    folder = tmp_path_factory.mktemp("planted")
    rng = Random(7)
    rows = [tampered(row, KINDS[n % len(KINDS)], rng) for n, row in enumerate(sample.records(**SIZE))]
    (folder / "records.json").write_text(json.dumps(rows), encoding="utf-8")
    sample.write_siblings(folder, **SIZE)
    return folder, rows


@pytest.fixture(scope="module")
def data(planted: tuple[Path, list[dict[str, Any]]]) -> Iterator[Tables]:
    folder, _ = planted
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAJECTORY_CACHE", str(folder / "cache"))
        yield load(
            folder / "records.json",
            environments=str(folder / "environments.json"),
            scenarios=str(folder / "scenarios.json"),
            replay=True,
            progress=False,
        )


def test_the_page_counts_what_was_planted_and_nothing_else(
    data: Tables, planted: tuple[Path, list[dict[str, Any]]]
) -> None:
    _, rows = planted
    agree = [truth(row)[0] for row in rows]
    differing = Counter(
        (row["task_info"]["env_id"], name)
        for row, came_out in zip(rows, agree, strict=True)
        for (name, *_), is_same in zip(calls_of(row), came_out, strict=True)
        if not is_same
    )
    (summary,) = m.summary(data.replays).collect().to_dicts()
    calls = sum(map(len, agree))
    assert (summary["trajectories"], summary["replayable"], summary["calls"]) == (len(rows), len(rows), calls)
    assert (summary["differing"], summary["reproduced"]) == (differing.total(), calls - differing.total())
    assert summary["whole"] == sum(map(all, agree))
    by_tool = m.by_tool(data.replayed_calls, data.trajectories, top=999).collect()
    assert {(env, tool): n for env, tool, n in by_tool.select("env_id", "tool_name", "differing").rows()} == differing
    by_environment = m.by_environment(data.replayed_calls, data.trajectories).collect()
    assert by_environment["differing"].sum() == differing.total()
    assert m.differences(data.replayed_calls, data.tool_calls, top=9_999).collect().height == differing.total()


def test_agreement_is_that_of_the_engines_final_states(
    data: Tables, planted: tuple[Path, list[dict[str, Any]]]
) -> None:
    ends: dict[tuple[str, str], list[str]] = {}
    for row in planted[1]:
        for mode in (row["traj_type"], "both"):
            ends.setdefault((mode, row["task_info"]["task_id"]), []).append(repr(truth(row)[1]))
    expected: dict[str, list[int]] = {}
    for (mode, _), states in ends.items():
        if len(states) > 1:
            counts = expected.setdefault(mode, [0, 0])
            counts[0] += 1
            counts[1] += len(set(states)) == 1
    found = m.agreement(data.replays, data.trajectories).collect()
    assert {mode: [n, same] for mode, n, same in found.rows()} == expected


def test_the_gate_knows_shares_after_a_replay_and_says_why_not_before(data: Tables) -> None:
    (summary,) = m.summary(data.replays).collect().to_dicts()
    measured = QUANTITIES["reproduced_share"].find(data, None)  # type: ignore[arg-type]
    assert measured.value == summary["reproduced"] / summary["calls"]
    assert QUANTITIES["checks_passed_share"].find(data, None).reason == "there are no checks"  # type: ignore[arg-type]
    plain = load(data.source, progress=False)
    for name in ("reproduced_share", "checks_passed_share", "agreement_share"):
        assert "ask with --replay" in QUANTITIES[name].find(plain, None).reason  # type: ignore[arg-type]


def test_records_are_exported_by_what_their_replay_came_to(
    data: Tables, planted: tuple[Path, list[dict[str, Any]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, rows = planted
    words = ["export", str(folder / "records.json"), str(tmp_path / "out"), "--format", "messages", "--quiet"]
    words += ["--where", "differing = 0"]
    assert main(words) == 2
    assert "differing is known after a replay only; add --replay" in capsys.readouterr().err
    siblings = [f"--{name}={folder / name}.json" for name in ("environments", "scenarios")]
    assert main([*words, "--replay", *siblings, "--keep-going"]) == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["exported"] + manifest["refused"] == sum(all(truth(row)[0]) for row in rows)


def test_a_page_is_made_where_a_replay_was_asked_for_and_left_out_elsewhere(
    data: Tables, planted: tuple[Path, list[dict[str, Any]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = planted
    siblings = [f"--{name}={folder / name}.json" for name in ("environments", "scenarios")]
    words = [
        "report",
        str(folder / "records.json"),
        "--only",
        "82_replay",
        "--out",
        str(tmp_path),
        *siblings,
        "--quiet",
    ]
    main(words)
    assert "add -p replay true" in capsys.readouterr().out
    assert not (tmp_path / "82_replay.html").exists()
    main([*words, "-p", "replay", "true"])
    (summary,) = m.summary(data.replays).collect().to_dicts()
    page = (tmp_path / "82_replay.html").read_text(encoding="utf-8")
    assert f"of {summary['calls']:,} calls played came out as recorded" in page.replace("\u00a0", " ")
    differing = data.replayed_calls.filter(pl.col("verdict") == "differing").collect()
    shown = differing["trajectory_id"].unique().sort().head(3).to_list()
    beside = differing.filter(pl.col("trajectory_id").is_in(shown)).drop_nulls("replayed_result").height
    assert page.count("played again, otherwise") == beside > 0
