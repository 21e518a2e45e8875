"""The verdict counts what breaks a limit, and what it promises of its command is what comes out."""

import json
import shlex
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import gate, load, verdict
from analysis.cli.main import main
from analysis.export import choosable_of, chosen
from analysis.gate.config import Finding, Gate, Threshold
from analysis.records.rules import RULES
from analysis.tables import Tables
from analysis.verdict import remedies
from tests.builders import decode, step, trajectory

SOUND = [trajectory(f"t{n}", steps=[step("get_user", arguments={"id": n})]) for n in range(40)]
COPIES = [SOUND[n] for n in range(5)]
UNANSWERED = [trajectory(f"u{n}", steps=[step("get_user", answered=False)]) for n in range(3)]
LOOPING = [trajectory(f"l{n}", steps=[step("get_user")] * 4) for n in range(2)]


def file_of(folder: Path, records: list[dict[str, Any]]) -> Path:
    path = folder / "records of mine.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def limits(*quantities: str, **findings: float) -> Gate:
    return Gate(
        threshold=[Threshold(name, at_most=0) for name in quantities],
        finding=[Finding(name, at_most=bound) for name, bound in findings.items()],
    )


BOUNDS = limits("exact_copies_share", "unanswered_share", "looping_share")


def test_what_the_command_promises_is_what_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = file_of(tmp_path, [*SOUND, *COPIES, *UNANSWERED, *LOOPING])
    found = verdict.judge(load(str(path), progress=False), BOUNDS)
    assert (found.answer, found.bounds, found.held) == ("ready after these steps", 3, 0)
    assert [(one.mends, one.left_out) for one in found.steps] == [
        ("exact_copies_share", 5),
        ("unanswered_share", 3),
        ("looping_share", 2),
    ]
    python, _, *words = shlex.split(found.command)
    assert python == "python"
    assert main([*words[1:], "--quiet"]) == 0
    manifest = json.loads((tmp_path / "kept/manifest.json").read_text("utf-8"))
    assert manifest["exported"] == found.steps[-1].remains.trajectories == 40
    capsys.readouterr()
    again = verdict.judge(load(str(tmp_path / "kept"), progress=False), BOUNDS)
    assert (again.answer, again.reasons, again.there) == ("ready", [], found.steps[-1].remains)


def test_each_reason_is_counted_over_its_denominator() -> None:
    found = verdict.judge(decode(*SOUND, *UNANSWERED), BOUNDS)
    (reason,) = found.reasons
    assert (reason.name, reason.found, reason.bound) == ("unanswered_share", "7.0 %, 3 of 43", "at most 0 %")
    assert reason.mends == "leave them out: unanswered_calls = 0"


def test_what_no_filter_mends_leaves_a_source_not_ready() -> None:
    failing = [trajectory(f"f{n}", steps=[step("get_user", error="no funds")]) for n in range(20)]
    found = verdict.judge(decode(*SOUND, *COPIES, *failing), limits("error_rate", "exact_copies_share"))
    assert (found.answer, [one.name for one in found.still]) == ("not ready", ["error_rate"])
    assert [one.mends for one in found.steps] == ["exact_copies_share"]


def test_a_step_that_would_leave_nothing_is_not_offered() -> None:
    found = verdict.judge(decode(*COPIES, *UNANSWERED * 20), limits("unanswered_share", closing_marker=0.0))
    all_unanswered = verdict.judge(decode(*UNANSWERED * 20), limits("unanswered_share"))
    assert found.steps[0].remains.trajectories == 5
    assert (all_unanswered.answer, all_unanswered.steps, all_unanswered.command) == ("not ready", [], "")
    assert all_unanswered.reasons[0].mends == "no filter: unanswered_calls = 0 would leave no trajectory"


def test_a_handful_of_trajectories_is_never_called_ready() -> None:
    assert verdict.judge(decode(*SOUND[:19]), BOUNDS).answer == "not known"
    assert verdict.judge(decode(*SOUND[:20]), BOUNDS).answer == "ready"


def test_the_publishers_rules_are_asked_of_the_publishers_records_only() -> None:
    theirs = decode(*(trajectory(f"t{n}", env_id="bank", steps=[step("get_user")]) for n in range(30)))
    asked = limits("unanswered_share", publisher_bounds=0.0, steps_mismatch=0.0)
    found = verdict.judge(theirs, asked, is_own=False)
    assert [one.name for one in found.unjudged] == ["publisher_bounds", "steps_mismatch"]
    assert "--gate FILE" in found.unjudged[0].reason
    assert verdict.judge(theirs, asked).unjudged == []
    assert verdict.judge(decode(*SOUND), asked, is_own=False).unjudged == []


def test_the_command_of_a_selection_selects_it_too() -> None:
    data = decode(*SOUND, *UNANSWERED).where(traj_type="non_conversation")
    found = verdict.judge(data, BOUNDS, where="traj_type = 'non_conversation'")
    assert found.command.endswith("""--where "traj_type = 'non_conversation' AND unanswered_calls = 0\"""")


def test_no_rules_name_is_part_of_anothers() -> None:
    assert [pair for pair in permutations((rule.id for rule in RULES), 2) if pair[0] in pair[1]] == []


def test_every_bound_of_the_default_gate_has_a_condition_that_reads_or_advice() -> None:
    data, bounds = decode(*SOUND), gate.read()
    for check in gate.check(data, bounds):
        where = remedies.condition(check, bounds)
        if where is None:
            assert check.name in remedies._ADVICE
        else:
            chosen(choosable_of(data, where).lazy(), where)


@pytest.fixture(scope="module")
def sample() -> Tables:
    return load("sample", progress=False)


def test_copies_loops_and_tokens_are_those_of_the_pages(sample: Tables) -> None:
    rows = choosable_of(sample, "NOT is_copy AND loops = 0 AND tokens > 0")
    bounds = Gate()
    for column, quantity in (("is_copy", "exact_copies_share"), ("loops", "looping_share")):
        assert (rows[column].cast(pl.UInt32) > 0).sum() == gate.QUANTITIES[quantity].find(sample, bounds).events
    cut = gate.QUANTITIES["cut_share"].find(sample, Gate(cutoff=8_000))
    assert (rows["tokens"] > 8_000).sum() == cut.events
    unasked = choosable_of(sample, "steps > 3")
    assert unasked.select("is_copy", "loops", "tokens").null_count().row(0) == (420, 420, 420)
