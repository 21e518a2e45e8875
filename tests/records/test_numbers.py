"""Numbers past what a float or an integer of 64 bits can hold: the record is kept, with a finding."""

import json
from pathlib import Path

import pytest

from analysis import records
from analysis.records.model import Trajectory
from tests.builders import step, trajectory
from tests.dialects import make

PAST = ["1" + "0" * 400, "-1" + "0" * 400, "1" + "0" * 6000, "1e400", "-1e400", "NaN", "Infinity"]
RULES = {"steps_form", "reward_form", "non_finite_number"}


def read(text: str) -> Trajectory:
    record = records.read(text.encode(), "a@0", 0)
    assert isinstance(record, Trajectory)
    return record


@pytest.mark.parametrize("number", PAST, ids=lambda number: f"{number[:6]} {len(number)}")
@pytest.mark.parametrize("member", ["steps", "total_reward", "reward", "score"])
@pytest.mark.parametrize("dialect", ["release", "openai"])
def test_a_number_past_the_range_costs_its_value_and_not_the_record(dialect: str, member: str, number: str) -> None:
    record = {**make(dialect), member: 0}
    text = json.dumps(record).replace(f'"{member}": 0', f'"{member}": {number}')
    told = read(text)
    assert (told.steps if member == "steps" else told.total_reward) is None
    assert {finding.rule for finding in told.findings} & RULES


def test_a_trial_of_many_digits_keeps_them() -> None:
    digits = "1" + "0" * 400
    record = trajectory("t1", steps=[step(tool="get_user")], trial=0)
    assert read(json.dumps(record).replace('"trial": 0', f'"trial": {digits}')).trial == digits


@pytest.mark.parametrize("name", ["steps_400_digits", "reward_400_digits"])
def test_the_numbers_of_the_cases_are_findings(shared_cases: Path, name: str) -> None:
    held = json.loads((shared_cases / "faults" / f"{name}.json").read_text(encoding="utf-8"))
    told = [read(json.dumps(record)) for record in held]
    assert [bool({finding.rule for finding in one.findings} & RULES) for one in told] == [False, True]


@pytest.mark.parametrize(
    ("held", "reward", "is_told"),
    [("1.0", 1.0, False), (" -2e-1 ", -0.2, False), (None, None, False), ("good", None, True), ([1], None, True),
     ({"total": 1}, None, True), ("1e999", None, True), ("", None, True)],
)  # fmt: skip
@pytest.mark.parametrize("member", ["total_reward", "reward"])
def test_a_reward_as_text_is_read_and_one_that_is_no_number_is_told(
    member: str, held: object, reward: float | None, is_told: bool
) -> None:
    record = {"messages": [{"role": "user", "content": "Go."}], member: held}
    told = read(json.dumps(record))
    assert told.total_reward == reward
    assert ("reward_form" in {finding.rule for finding in told.findings}) == is_told
