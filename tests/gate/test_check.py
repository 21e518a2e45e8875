"""A gate says of every bound whether it holds, of how many, and never lets what is not known pass for good."""

import json
from pathlib import Path

import msgspec
import pytest

from analysis import gate
from analysis.gate import QUANTITIES, Check, Gate, GateError
from analysis.gate.config import Finding, Threshold
from analysis.measures import claims
from analysis.tables import Tables, load
from tests.builders import decode, step, trajectory

CALL, FAILURE = step(tool="get_user"), step(tool="get_user", error="no funds")


@pytest.fixture(scope="module")
def sample() -> Tables:
    return load("sample")


def one(data: Tables, threshold: Threshold, baseline: Tables | None = None) -> Check:
    return gate.check(data, Gate(threshold=[threshold]), baseline)[-1]


def test_the_default_gate_is_passed_by_the_sample(sample: Tables) -> None:
    # Tokens are a pass over all texts, and have tests of their own.
    bounds = gate.read()
    cheap = Gate(threshold=[t for t in bounds.threshold if t.quantity != "cut_share"], finding=bounds.finding)
    checks = gate.check(sample, cheap)
    assert {check.verdict for check in checks} == {"holds"}
    assert len(checks) == len(cheap.threshold) + len(cheap.finding)


def test_the_default_gate_is_passed_by_what_is_published_of_the_release() -> None:
    published = {(claim.quantity, claim.scope, claim.statistic): claim.published for claim in claims.published()}

    def number(quantity: str, scope: str, statistic: str) -> float:
        return float(published[quantity, scope, statistic].replace(",", ""))

    bounds = {threshold.quantity: threshold for threshold in gate.read().threshold}
    findings = {finding.rule: finding for finding in gate.read().finding}
    calls = sum(number("tool calls", mode, "total") for mode in ("conversation", "non_conversation"))
    results = sum(number("tool messages", mode, "total") for mode in ("conversation", "non_conversation"))
    assert 0 < calls - results < 10
    # Even if the nine errors that a user message delivers were no answers.
    assert (calls - results) / calls <= (bounds["unanswered_share"].at_most or 0)
    for mode, (low, high) in {"non_conversation": (3, 29), "conversation": (5, 39)}.items():
        assert low <= number("assistant messages", mode, "p50") <= number("assistant messages", mode, "max") <= high
    assert findings["publisher_bounds"].at_most == findings["steps_mismatch"].at_most == 0
    assert bounds["rejected_share"].at_most == 0


def test_every_quantity_is_a_value_of_its_denominator_or_says_why_not(sample: Tables) -> None:
    replayed = {"reproduced_share", "checks_passed_share", "agreement_share"}
    slow = {"cut_share", "supervised_lost_share", "expansion_factor"}
    of_two = {"overlap_tasks_share", "overlap_tools_share"}
    for name in QUANTITIES.keys() - slow - replayed - of_two:
        found = QUANTITIES[name].find(sample, Gate())
        assert found.value is not None, name
        if found.events is not None and found.of:
            assert found.value == found.events / found.of
        if QUANTITIES[name].is_share:
            assert 0 <= found.value <= 1


def test_of_nothing_nothing_is_known_and_nothing_raises() -> None:
    empty = decode()
    for name, quantity in QUANTITIES.items():
        found = quantity.find(empty, Gate(tokenizer="estimate"))
        assert found.value is None, name
        assert found.reason, name


def test_shares_equal_what_is_counted_by_hand() -> None:
    data = decode(
        trajectory("t1", env_id="bank", steps=[step(tool="get_user"), step(tool="transfer", error="no funds")]),
        trajectory("t2", env_id="shop", steps=[step(tool="get_user"), step(tool="get_user")]),
    )
    found = {name: QUANTITIES[name].find(data, Gate()) for name in ("error_rate", "unanswered_share", "repeat_share")}
    assert found["error_rate"][:3] == (0.25, 1, 4)
    assert found["unanswered_share"][:3] == (0.0, 0, 4)
    assert found["repeat_share"][:3] == (0.25, 1, 4)
    assert QUANTITIES["environment_evenness"].find(data, Gate()).value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("threshold", "verdict"),
    [
        (Threshold("error_rate", at_most=0.25), "holds"),
        (Threshold("error_rate", at_most=0.24), "falls short"),
        (Threshold("error_rate", at_least=0.25), "holds"),
        (Threshold("error_rate", at_least=0.26), "falls short"),
        (Threshold("error_rate", at_least=0.2, at_most=0.24), "falls short"),
        (Threshold("environment_coverage", at_least=0.9), "not known"),
        (Threshold("environment_coverage", at_least=0.9, must_be_known=True), "falls short"),
    ],
)
def test_a_bound_holds_up_to_and_including_itself(threshold: Threshold, verdict: str) -> None:
    data = decode(trajectory("t1", env_id="bank", steps=[CALL, CALL, CALL, FAILURE]))
    assert one(data, threshold).verdict == verdict


@pytest.mark.parametrize(("value", "verdict"), [(True, "falls short"), (False, "not known")])
def test_a_gate_can_ask_that_all_be_known(value: bool, verdict: str) -> None:
    bounds = Gate(
        threshold=[Threshold("environment_coverage", at_least=0.9), Threshold("error_rate", tolerance=0.1)],
        finding=[Finding("undeclared_tool", at_most=0)],
        must_be_known=value,
    )
    checks = gate.check(decode(), bounds, decode())
    assert {check.verdict for check in checks} == {verdict}
    assert all(check.value is None and check.reason for check in checks)


def test_to_be_known_is_a_bound_of_its_own() -> None:
    data = decode(trajectory("t1", env_id="bank", steps=[CALL]))
    told = [one(data, Threshold(name, must_be_known=True)) for name in ("error_rate", "environment_coverage")]
    assert [(check.verdict, check.bound) for check in told] == [("holds", "known"), ("falls short", "known")]


def test_of_all_bounds_together_not_known_is_no_pass() -> None:
    data = decode(trajectory("t1", env_id="bank", steps=[CALL]))
    unknown = one(data, Threshold("environment_coverage", at_least=0.9))
    holds, short = one(data, Threshold("error_rate", at_most=0)), one(data, Threshold("error_rate", at_least=1))
    assert gate.outcome([unknown]) == gate.outcome([]) == "not known"
    assert gate.outcome([unknown, holds]) == "holds"
    assert gate.outcome([unknown, holds, short]) == "falls short"
    assert gate.counts([unknown, holds, short]) == {"holds": 1, "falls short": 1, "not known": 1}


def test_a_baseline_is_missed_only_by_what_is_worse_than_the_tolerance() -> None:
    good = decode(trajectory("t1", env_id="bank", steps=[CALL, CALL, CALL, CALL]))
    bad = decode(trajectory("t1", env_id="bank", steps=[CALL, CALL, CALL, FAILURE]))
    error_rate = Threshold("error_rate", tolerance=0.2)
    assert one(bad, error_rate, good).verdict == "falls short"
    assert one(good, error_rate, bad).verdict == "holds", "better is never too much"
    assert one(bad, Threshold("error_rate", tolerance=0.25), good).verdict == "holds"
    assert one(bad, error_rate, good).baseline == 0
    assert one(bad, error_rate, decode()).verdict == "not known"


def test_findings_are_counted_by_record_not_by_finding() -> None:
    undeclared = [step(tool="nowhere"), step(tool="elsewhere")]
    tools = ["get_user"]
    data = decode(
        trajectory("t1", env_id="bank", steps=undeclared, tools=tools),
        trajectory("t2", env_id="bank", steps=[step(tool="get_user")], tools=tools),
    )
    (check,) = gate.check(data, Gate(finding=[Finding("undeclared_tool", at_most=0.5)]))
    assert (check.verdict, check.events, check.of) == ("holds", 1, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "everything would pass"),
        ("[[threshold]]\nquantity = 'eror_rate'\nat_most = 1", "nearest: error_rate"),
        ("[[threshold]]\nquantity = 'error_rate'", "give at_most or at_least"),
        ("[[threshold]]\nquantity = 'error_rate'\nat_mots = 1", "at_mots"),
        ("[[threshold]]\nquantity = 'error_rate'\nat_most = 'few'", "threshold[0].at_most"),
        ("[[finding]]\nrule = 'undeclared'\nat_most = 0", "nearest: undeclared_tool"),
        ("[[finding]]\nrule = 'undeclared_tool'\nat_most = 2", "a share"),
        ("[[finding", "array declaration"),
        ("[[threshold]]\nquantity = 'error_rate'\nat_most = nan", "nan is no bound"),
        ("[[threshold]]\nquantity = 'error_rate'\nat_least = inf", "inf is no bound"),
        ("[[threshold]]\nquantity = 'error_rate'\nat_least = 0.5\nat_most = 0.4", "nothing is at least 0.5"),
    ],
)
def test_a_gate_that_cannot_be_meant_is_refused_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GateError, match="gate") as refused:
        gate.read(path)
    assert said in str(refused.value)


def test_a_gate_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="No such file"):
        gate.read(tmp_path / "none.toml")


def test_checks_are_plain_json() -> None:
    data = decode(trajectory("t1", env_id="bank", steps=[step(tool="get_user")]))
    checks = gate.check(data, Gate(threshold=[Threshold("error_rate", at_most=0.1, why="because")]))
    (told,) = json.loads(msgspec.json.encode(checks))
    assert told["verdict"] == "holds"
    assert told["why"] == "because"
